// RecordRanges: each recording of a command buffer as a range of the host in the trace, and with
// its labels as ranges of NVTX. Threads: as RecordObserver says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "profile/host_span.hpp"
#include "profile/trace_session.hpp"
#include "record/record_observer.hpp"

namespace reprise::detail {

class RecordRanges final : public RecordObserver {
 public:
  // For a new command buffer called `label`; null where there is no trace and nobody listens. Keeps
  // no session from ending.
  [[nodiscard]] static std::unique_ptr<RecordObserver> make(
      const std::shared_ptr<TraceSession>& session, std::string_view label);

  RecordRanges(std::weak_ptr<TraceSession> session, std::string_view label);
  RecordRanges(const RecordRanges&) = delete;
  RecordRanges& operator=(const RecordRanges&) = delete;
  ~RecordRanges() override { ended(); }

  void began() noexcept override;
  void ended() noexcept override;
  [[nodiscard]] std::uint64_t label_began(std::string_view name) noexcept override;
  void label_ended(std::uint64_t label) noexcept override;

 private:
  const std::weak_ptr<TraceSession> session_;
  const std::string label_, name_;  // of the command buffer, of its ranges
  std::optional<HostSpan> span_;
  std::uint64_t range_ = 0;
};

}  // namespace reprise::detail
