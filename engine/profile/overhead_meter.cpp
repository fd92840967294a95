#include "profile/overhead_meter.hpp"

#include <algorithm>

#include "profile/process_info.hpp"

namespace reprise::detail {

namespace {

constexpr trace::Time kInterval = 1'000'000'000;
// Looks at the clock, and one for what is written down.
constexpr double kLooksOfALaunch = 3, kLooksOfAReplay = 3, kLooksOfANode = 1.5;

}  // namespace

void OverheadMeter::add(const HookCounts& hooks) noexcept {
  if (hooks.launches == 0 && hooks.replays == 0) return;
  used_ = true;
  hooks_ += look_ * (kLooksOfALaunch * static_cast<double>(hooks.launches) +
                     kLooksOfAReplay * static_cast<double>(hooks.replays) +
                     kLooksOfANode * static_cast<double>(hooks.nodes));
}

void OverheadMeter::tick(trace::Time now, ProfileMode mode, trace::Time threads,
                         std::vector<trace::Record>& records) {
  if (!used_) return;
  if (!mode_) mode_ = mode;
  if (mode != *mode_ || now - from_ >= kInterval) tell(now, threads, records);
}

void OverheadMeter::finish(trace::Time now, ProfileMode mode, trace::Time threads,
                           std::vector<trace::Record>& records) {
  if (!used_) return;
  if (!mode_) mode_ = mode;
  tell(now, threads, records);
}

void OverheadMeter::tell(trace::Time now, trace::Time threads,
                         std::vector<trace::Record>& records) {
  trace::ProfileCost cost;
  cost.from = from_;
  cost.to = now;
  cost.mode = static_cast<std::uint8_t>(*mode_);
  cost.host = std::max<trace::Time>(threads - threads_, 0) + static_cast<trace::Time>(hooks_);
  records.emplace_back(cost);
  from_ = now;
  threads_ = threads;
  hooks_ = 0;
  used_ = false;
  mode_.reset();
}

double clock_read_cost() noexcept {
  constexpr int kLooks = 64;
  const trace::Time began = trace_now();
  trace::Time last = began;
  for (int i = 0; i < kLooks; ++i) last = trace_now();
  return static_cast<double>(last - began) / kLooks;
}

}  // namespace reprise::detail
