#include <reprise/instance.hpp>

#include <utility>

#include "profile/host_span.hpp"
#include "runtime/core/instance_core.hpp"

namespace reprise {

TraceRange::TraceRange() noexcept = default;
TraceRange::TraceRange(std::unique_ptr<detail::HostSpan> span) noexcept : span_(std::move(span)) {}
TraceRange::TraceRange(TraceRange&&) noexcept = default;
TraceRange& TraceRange::operator=(TraceRange&&) noexcept = default;
TraceRange::~TraceRange() = default;

TraceRange Instance::trace_range(std::string_view name) const {
  return core_->trace() ? TraceRange(std::make_unique<detail::HostSpan>(core_->trace(), name))
                        : TraceRange();
}

}  // namespace reprise
