// RecordRanges: records each recording of a command buffer as a host range of the trace, and its
// labels as NVTX ranges. Threads: see RecordObserver.
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
  // An observer for the command buffer `label`; null if there is neither a trace nor an NVTX tool.
  // Does not keep the session alive.
  [[nodiscard]] static std::unique_ptr<RecordObserver> make(
      const std::shared_ptr<TraceSession>& session, std::string_view label);

  RecordRanges(std::weak_ptr<TraceSession> session, std::string_view label);
  RecordRanges(const RecordRanges&) = delete;
  RecordRanges& operator=(const RecordRanges&) = delete;
  ~RecordRanges() override { ended(); }

  void started() noexcept override;
  void ended() noexcept override;
  [[nodiscard]] std::uint64_t label_began(std::string_view name) noexcept override;
  void label_ended(std::uint64_t label) noexcept override;

 private:
  const std::weak_ptr<TraceSession> session_;
  const std::string label_, name_;  // name of the command buffer; name of its ranges
  std::optional<HostSpan> span_;
  std::uint64_t range_ = 0;
};

}  // namespace reprise::detail
