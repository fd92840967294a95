// LaunchMeter: how long launches take, as two histograms of fixed size: before something began, and meanwhile. Knows no graph.
// Threads: note() from any, at any time; the rest from any.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include <reprise/tuning.hpp>

namespace reprise::detail {

class LaunchMeter {
 public:
  enum class Stretch : std::uint8_t { Before, Meanwhile };
  // Launches count from now on as of this stretch.
  void begin(Stretch stretch) noexcept { stretch_.store(stretch, std::memory_order_relaxed); }
  void note(std::chrono::nanoseconds duration) noexcept;
  [[nodiscard]] std::uint64_t launches(Stretch stretch) const noexcept;
  // Quantiles are the upper ends of the bins that they lie in, which are 1/16 wide.
  [[nodiscard]] LaunchTimes times(Stretch stretch) const noexcept;

 private:
  static constexpr std::uint32_t kBinsPerOctave = 16, kBins = kBinsPerOctave * 40;
  using Histogram = std::array<std::atomic<std::uint32_t>, kBins>;
  [[nodiscard]] static std::uint32_t bin_of(std::uint64_t ns) noexcept;
  [[nodiscard]] static double end_of(std::uint32_t bin) noexcept;  // ns
  [[nodiscard]] const Histogram& of(Stretch stretch) const noexcept { return histograms_[static_cast<std::size_t>(stretch)]; }

  std::atomic<Stretch> stretch_{Stretch::Before};
  std::array<Histogram, 2> histograms_{};
};

}  // namespace reprise::detail
