#ifdef REPRISE_HAS_CUDA

#include "turns.hpp"

#include <algorithm>

#include "base/paired_ratios.hpp"
#include "bench.hpp"

namespace reprise::bench {

namespace {

constexpr std::uint32_t kMaxRounds = 400;
constexpr double kNarrowRatio = 0.01, kSampleUs = 2000, kMaxReplays = 200;

bool are_narrow(std::span<const Contender> contenders) {
  return std::all_of(contenders.begin() + 1, contenders.end(), [&](const Contender& contender) {
    const detail::RatioInterval ratio = detail::ratio_interval(contender.us, contenders[0].us);
    return ratio.high - ratio.low <= kNarrowRatio * ratio.median;
  });
}

}  // namespace

void measure_interleaved(const TimedStream& stream, std::span<Contender> contenders,
                         const TurnsDesc& desc) {
  const auto replays =
      static_cast<std::uint32_t>(std::clamp(kSampleUs / desc.once_us, 1.0, kMaxReplays));
  const double until = now_ns() + 1e9 * desc.budget;
  for (std::uint32_t round = 0; round < kMaxRounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      Contender& contender = contenders[(i + round) % contenders.size()];
      contender.us.push_back(stream.gpu_us(replays, [&] { contender.launch(round); }));
    }
    if (round + 1 >= desc.min_rounds && (now_ns() > until || are_narrow(contenders))) return;
  }
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA
