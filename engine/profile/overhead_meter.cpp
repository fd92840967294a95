#include "profile/overhead_meter.hpp"

#include <algorithm>

#include "profile/process_info.hpp"

namespace reprise::detail {

namespace {

constexpr trace::Time kInterval = 1'000'000'000;
// Costs in clock reads, including the storing of the result.
constexpr double kReadsPerLaunch = 3, kReadsPerReplay = 3, kReadsPerNode = 1.5;

}  // namespace

void OverheadMeter::add(const HookCounts& hooks) noexcept {
  if (hooks.launches == 0 && hooks.replays == 0) return;
  has_hooks_ = true;
  hooks_ += clock_read_ * (kReadsPerLaunch * static_cast<double>(hooks.launches) +
                           kReadsPerReplay * static_cast<double>(hooks.replays) +
                           kReadsPerNode * static_cast<double>(hooks.nodes));
}

void OverheadMeter::tick(trace::Time now, ProfileMode mode, trace::Time threads,
                         std::vector<trace::Record>& records) {
  if (!has_hooks_) return;
  if (!mode_) mode_ = mode;
  if (mode != *mode_ || now - from_ >= kInterval) emit(now, threads, records);
}

void OverheadMeter::finish(trace::Time now, ProfileMode mode, trace::Time threads,
                           std::vector<trace::Record>& records) {
  if (!has_hooks_) return;
  if (!mode_) mode_ = mode;
  emit(now, threads, records);
}

void OverheadMeter::emit(trace::Time now, trace::Time threads,
                         std::vector<trace::Record>& records) {
  trace::ProfilingOverhead overhead;
  overhead.from = from_;
  overhead.to = now;
  overhead.mode = static_cast<std::uint8_t>(*mode_);
  overhead.host = std::max<trace::Time>(threads - threads_, 0) + static_cast<trace::Time>(hooks_);
  records.emplace_back(overhead);
  from_ = now;
  threads_ = threads;
  hooks_ = 0;
  has_hooks_ = false;
  mode_.reset();
}

double clock_read_cost() noexcept {
  constexpr int kReads = 64;
  const trace::Time start = trace_now();
  trace::Time last = start;
  for (int i = 0; i < kReads; ++i) last = trace_now();
  return static_cast<double>(last - start) / kReads;
}

}  // namespace reprise::detail
