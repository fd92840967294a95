#include "run/launch_meter.hpp"

#include <algorithm>
#include <bit>

namespace reprise::detail {

// Below 16 ns a bin for each; from there on 16 for each power of two.
std::uint32_t LaunchMeter::bin_of(std::uint64_t ns) noexcept {
  if (ns < kBinsPerOctave) return static_cast<std::uint32_t>(ns);
  const auto octave = static_cast<std::uint32_t>(std::bit_width(ns)) - 5;  // 0: from 16 to 31
  const auto within = static_cast<std::uint32_t>((ns >> octave) & (kBinsPerOctave - 1));
  return std::min((octave + 1) * kBinsPerOctave + within, kBins - 1);
}

double LaunchMeter::end_of(std::uint32_t bin) noexcept {
  if (bin < kBinsPerOctave) return bin + 1.0;
  const std::uint32_t octave = bin / kBinsPerOctave - 1, within = bin % kBinsPerOctave;
  return static_cast<double>((std::uint64_t{kBinsPerOctave} + within + 1) << octave);
}

void LaunchMeter::note(std::chrono::nanoseconds duration) noexcept {
  Histogram& histogram = histograms_[static_cast<std::size_t>(stretch_.load(std::memory_order_relaxed))];
  const auto ns = static_cast<std::uint64_t>(std::max<std::chrono::nanoseconds::rep>(duration.count(), 0));
  histogram[bin_of(ns)].fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t LaunchMeter::launches(Stretch stretch) const noexcept {
  std::uint64_t sum = 0;
  for (const auto& count : of(stretch)) sum += count.load(std::memory_order_relaxed);
  return sum;
}

LaunchTimes LaunchMeter::times(Stretch stretch) const noexcept {
  LaunchTimes times{.launches = launches(stretch)};
  if (times.launches == 0) return times;
  std::uint64_t below = 0;
  for (std::uint32_t bin = 0; bin < kBins; ++bin) {
    below += of(stretch)[bin].load(std::memory_order_relaxed);
    if (times.median_us == 0 && 2 * below >= times.launches) times.median_us = 1e-3 * end_of(bin);
    if (100 * below >= 99 * times.launches) {
      times.p99_us = 1e-3 * end_of(bin);
      break;
    }
  }
  return times;
}

}  // namespace reprise::detail
