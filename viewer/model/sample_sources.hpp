// SampleSources: the clock behind the samples of each replay: CUPTI, timestamps in the graph, or
// the host. Run-length encoded, because consecutive replays usually share a source. Threads: a
// value without synchronisation.
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
  // Accepts replays in any order. If a replay has several sources, the last one added wins.
  void add(std::uint64_t replay, trace::SampleSource source) {
    ++counts_[static_cast<std::size_t>(source)];
    const auto after = run_after(replay);
    if (after == runs_.begin()) {
      runs_.insert(after, {replay, source});
    } else if (const Run within = *(after - 1); within.source != source) {
      const bool splits = replay < newest_ && (after == runs_.end() || after->first != replay + 1);
      auto at = after - 1;
      if (within.first == replay) {
        at->source = source;
      } else {
        at = runs_.insert(after, {replay, source});
      }
      if (splits) runs_.insert(at + 1, {replay + 1, within.source});
    }
    newest_ = std::max(newest_, replay);
  }
  // The source of a replay that has samples; empty if no replay has.
  [[nodiscard]] std::optional<trace::SampleSource> of(std::uint64_t replay) const {
    if (runs_.empty()) return {};
    const auto after = std::upper_bound(runs_.begin(), runs_.end(), replay, before);
    return after == runs_.begin() ? runs_.front().source : (after - 1)->source;
  }
  // The number of replays with samples from `source`.
  [[nodiscard]] std::uint64_t count(trace::SampleSource source) const {
    return counts_[static_cast<std::size_t>(source)];
  }

 private:
  struct Run {
    std::uint64_t first = 0;  // replay number; the run ends at the next entry
    trace::SampleSource source = trace::SampleSource::Host;
  };
  static bool before(std::uint64_t replay, const Run& run) { return replay < run.first; }
  [[nodiscard]] std::vector<Run>::iterator run_after(std::uint64_t replay) {
    return std::upper_bound(runs_.begin(), runs_.end(), replay, before);
  }

  std::vector<Run> runs_;
  std::array<std::uint64_t, 3> counts_{};
  std::uint64_t newest_ = 0;
};

}  // namespace reprise::model
