// PoolTrace: records the state of one pool, the graphs that use it and the lifetimes of its
// buffers. Knows nothing about the pool's implementation. Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/pool.hpp>
#include <reprise/types.hpp>

#include "profile/describe_graph.hpp"
#include "profile/lifetime_recorder.hpp"
#include "profile/trace_session.hpp"

namespace reprise::detail {

// The trace data of a live buffer, stored by the buffer's owner.
struct TracedBuffer {
  std::uint32_t id = trace::kNone;  // kNone: transient
  trace::Time allocated = 0;        // 0: not traced
};

class PoolTrace final : public TraceSession::Source {
 public:
  // Called for every state record, on any thread.
  using Memory = std::function<MemoryStatistics()>;
  PoolTrace(std::shared_ptr<TraceSession> session, std::uint32_t device, std::string_view label,
            Memory memory);
  PoolTrace(const PoolTrace&) = delete;
  PoolTrace& operator=(const PoolTrace&) = delete;
  ~PoolTrace() override;

  [[nodiscard]] std::uint32_t id() const noexcept { return state_.pool; }
  [[nodiscard]] TracedBuffer add(const BufferCore& buffer, BufferIdentity::Memory memory);
  void remove(const BufferCore& buffer, BufferIdentity::Memory memory,
              const TracedBuffer& traced) noexcept;
  void add_holder(std::uint32_t graph) noexcept;
  void remove_holder(std::uint32_t graph) noexcept;
  void record_memory() noexcept;  // called after the pool's memory changed
  // `graph` uses a shared slab. Called once per executable.
  void add_sharer(std::uint32_t graph) noexcept;
  void remove_sharer(std::uint32_t graph) noexcept;
  void push_waiting(Push push) noexcept override;

 private:
  enum class Change : std::uint8_t { Added, Removed };
  void count(const BufferCore& buffer, Change change);     // requires mutex_
  void push_state();                                       // requires mutex_
  void push_records(std::vector<trace::Record>& records);  // requires mutex_
  [[nodiscard]] trace::BufferLifetime lifetime_of(const BufferCore& buffer,
                                                  BufferIdentity::Memory memory,
                                                  const TracedBuffer& traced) const;
  void begin_use(trace::PoolRole role, std::uint32_t graph);  // requires mutex_
  void end_use(trace::PoolRole role, std::uint32_t graph);    // requires mutex_

  // A graph in one role, from its first executable on.
  struct Use {
    std::uint32_t executables = 0;
    trace::Time from = 0;
  };

  std::shared_ptr<TraceSession> session_;
  const Memory memory_;
  std::mutex mutex_;                                               // guards the members below
  trace::PoolState state_;                                         // the ids never change
  std::map<std::pair<trace::PoolRole, std::uint32_t>, Use> uses_;  // by role and graph
  RateLimit state_rate_{kStateRate};
  LifetimeRecorder lifetimes_;
  bool state_waits_ = false;   // state_ is newer than its last record
  bool is_scheduled_ = false;  // the collector will call push_waiting()
};

}  // namespace reprise::detail
