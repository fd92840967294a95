// SampleSources: which clock the samples of each replay come from: CUPTI, stamps in the graph, or
// the host. Kept as stretches of replays, because one source serves many in a row. Threads: a
// value.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/records.hpp"

namespace reprise::model {

inline constexpr std::array kSampleSources = {
    trace::SampleSource::Host, trace::SampleSource::Timestamp, trace::SampleSource::Cupti};

class SampleSources {
 public:
  // In any order; of a replay with several sources the last counts.
  void add(std::uint64_t replay, trace::SampleSource source) {
    ++counts_[static_cast<std::size_t>(source)];
    const auto after = stretch_after(replay);
    if (after == stretches_.begin()) {
      stretches_.insert(after, {replay, source});
    } else if (const Stretch within = *(after - 1); within.source != source) {
      const bool splits =
          replay < newest_ && (after == stretches_.end() || after->first != replay + 1);
      auto at = after - 1;
      if (within.first == replay) {
        at->source = source;
      } else {
        at = stretches_.insert(after, {replay, source});
      }
      if (splits) stretches_.insert(at + 1, {replay + 1, within.source});
    }
    newest_ = std::max(newest_, replay);
  }
  // Of a replay that has samples; empty: none has.
  [[nodiscard]] std::optional<trace::SampleSource> of(std::uint64_t replay) const {
    if (stretches_.empty()) return {};
    const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), replay, before);
    return after == stretches_.begin() ? stretches_.front().source : (after - 1)->source;
  }
  // How many replays have samples from there.
  [[nodiscard]] std::uint64_t count(trace::SampleSource source) const {
    return counts_[static_cast<std::size_t>(source)];
  }

 private:
  struct Stretch {
    std::uint64_t first = 0;  // replay; up to the next stretch
    trace::SampleSource source = trace::SampleSource::Host;
  };
  static bool before(std::uint64_t replay, const Stretch& stretch) {
    return replay < stretch.first;
  }
  [[nodiscard]] std::vector<Stretch>::iterator stretch_after(std::uint64_t replay) {
    return std::upper_bound(stretches_.begin(), stretches_.end(), replay, before);
  }

  std::vector<Stretch> stretches_;
  std::array<std::uint64_t, 3> counts_{};
  std::uint64_t newest_ = 0;
};

}  // namespace reprise::model
