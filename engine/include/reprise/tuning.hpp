// Tuning: options and report of CapturedGraph::tune, which measures other lowerings of a graph
// (with or without entry and exit kernels, numbers of lanes, cost-based schedules). Every lowering
// keeps all needed edges. Must not depend on native headers. Threads: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI {

struct TuneDesc {
  // The contents of buffers after the measured replays.
  enum class Contents : std::uint8_t {
    // All memory that the graph writes is saved, and restored before each measurement and at the
    // end: pool buffers, scalars, random number streams, host memory that copies write. Needs as
    // much memory again.
    Restored,
    // The caller permits any number of replays, and nothing is saved.
    Repeatable
  } contents = Contents::Restored;
  std::uint32_t pairs = 21;                // measurements of each candidate; at least 9
  std::chrono::milliseconds budget{5000};  // time limit; incomplete candidates are not chosen
};
[[nodiscard]] REPRISE_API std::string_view to_string(TuneDesc::Contents contents) noexcept;

// A measured lowering. Times are those of one replay on the device's clock.
struct TuneCandidate {
  std::string name;  // "lanes 16 by cost"
  std::uint32_t nodes = 0, edges = 0, lanes = 0;
  std::uint64_t slab_bytes = 0;
  std::uint32_t pairs = 0;  // measurements; 0: see `reason`
  std::chrono::duration<double, std::micro> median{0};
  // Time relative to the initial lowering, measured in alternation: the median of the ratios and
  // its 95 % confidence interval.
  double ratio = 0, ratio_low = 0, ratio_high = 0;
  std::string reason = {};  // why the candidate was not measured completely
};

struct TuneReport {
  std::vector<TuneCandidate> candidates;  // [0]: the initial lowering
  // Index of the chosen candidate. Not 0 only if it is significantly faster in two series of pairs.
  std::uint32_t chosen = 0;
  std::uint64_t plan_hash = 0;
  std::chrono::nanoseconds time{0};  // duration of the call
  double confirmed_ratio = 1;        // of the chosen candidate, in the second series
  [[nodiscard]] bool has_changed() const noexcept { return chosen != 0; }
};

}  // namespace reprise::inline REPRISE_ABI
