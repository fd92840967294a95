// Registers executables and their updates with the trace of their device. Threads: the owner's
// lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/graph_op.hpp>
#include <reprise/message.hpp>

#include "profile/trace_session.hpp"

namespace reprise::detail {

class GraphExecutable;

// Registers an executable, whose replays the trace logs from now on: as a new graph if
// executable.trace has no version yet, else as another version of that graph. Replicas after the
// first are executables of the first one's graph. `messages`: of its compilation. Requires a trace.
void register_in_trace(GraphExecutable& executable, const std::vector<Message>& messages);

// Call after an update in place: from the executable's replay `replay` on, the trace uses a version
// of the graph for the new plan. Requires a trace.
void trace_update(GraphExecutable& executable, std::uint64_t replay);

// Has the trace's collector record the exchanges of clocks with the ranks of an executable's
// collectives, as long as this object lives.
class RankClocks final : private TraceSession::Source {
 public:
  // `ranks` outlive the object.
  RankClocks(std::shared_ptr<TraceSession> session, std::vector<RankAgreement*> ranks);
  RankClocks(const RankClocks&) = delete;
  RankClocks& operator=(const RankClocks&) = delete;
  ~RankClocks() override;

  [[nodiscard]] const std::vector<RankAgreement*>& ranks() const noexcept { return ranks_; }

 private:
  void push_waiting(Push push) noexcept override;
  void record() noexcept;

  const std::shared_ptr<TraceSession> session_;
  const std::vector<RankAgreement*> ranks_;
};

}  // namespace reprise::detail
