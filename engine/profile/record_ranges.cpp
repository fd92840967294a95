#include "profile/record_ranges.hpp"

#include <new>
#include <utility>

#include "base/text.hpp"
#include "profile/nvtx.hpp"

namespace reprise::detail {

std::unique_ptr<RecordObserver> RecordRanges::make(const std::shared_ptr<TraceSession>& session,
                                                   std::string_view label) {
  if (!session && !nvtx_enabled()) return nullptr;
  return std::make_unique<RecordRanges>(session, label);
}

RecordRanges::RecordRanges(std::weak_ptr<TraceSession> session, std::string_view label)
    : session_(std::move(session)), label_(label), name_(concat("record ", label)) {}

void RecordRanges::started() noexcept {
  ended();
  range_ = nvtx_start(NvtxWork::Record, label_);
  try {
    if (auto session = session_.lock()) span_.emplace(std::move(session), name_);
  } catch (const std::bad_alloc&) {
    // The range is omitted.
  }
}

void RecordRanges::ended() noexcept {
  span_.reset();
  nvtx_end(std::exchange(range_, 0));
}

std::uint64_t RecordRanges::label_began(std::string_view name) noexcept {
  return nvtx_start(NvtxWork::Label, name);
}

void RecordRanges::label_ended(std::uint64_t label) noexcept { nvtx_end(label); }

}  // namespace reprise::detail
