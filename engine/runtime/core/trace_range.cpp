#include <reprise/instance.hpp>

#include <utility>

#include "base/handle_access.hpp"
#include "profile/host_span.hpp"
#include "runtime/core/instance_core.hpp"

namespace reprise {

TraceRange::TraceRange() noexcept = default;
TraceRange::TraceRange(std::unique_ptr<detail::HostSpan> span) noexcept : span_(std::move(span)) {}
TraceRange::TraceRange(TraceRange&&) noexcept = default;
TraceRange& TraceRange::operator=(TraceRange&&) noexcept = default;
TraceRange::~TraceRange() = default;

TraceRange Instance::trace_range(std::string_view name) const {
  const auto& trace =
      detail::require_handle(core_, "Instance", "trace_range", Stage::Profile).trace();
  return trace ? detail::make_handle<TraceRange>(std::make_unique<detail::HostSpan>(trace, name))
               : TraceRange();
}

}  // namespace reprise
