// Tuning: finding by measurement how a graph is lowered best: with or without a frame, in how many
// lanes, with what is known of its kernels. Nothing of it happens unless it is asked for, and
// whatever the lowering, every needed edge is kept. Knows no native header. Threads: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace reprise {

struct TuneDesc {
  // What the replays that are measured leave behind in buffers.
  enum class Contents : std::uint8_t {
    // Everything that the graph writes is saved first, and is as it was before each measurement and
    // at the end: pool buffers, scalars, random
    // number streams, host memory that copies write. Costs their bytes once more.
    Restored,
    Repeatable  // the caller's word that the graph may be replayed at will; for graphs with host
                // callbacks there is no other way
  } contents = Contents::Restored;
  std::uint32_t pairs = 21;  // measurements of each candidate beside the graph as it is; at least 9
  std::chrono::milliseconds budget{5000};  // what was not measured by then is not chosen
};

// One way of lowering the graph. Times are GPU time of one replay, on the host device time by its
// clock.
struct TuneCandidate {
  std::string name;  // "lanes 16 by cost"
  std::uint32_t nodes = 0, edges = 0, lanes = 0;
  std::uint64_t slab_bytes = 0;  // of transients that it needs
  std::uint32_t pairs = 0;       // measured; 0: see `reason`
  double median_us = 0;
  double ratio = 0, ratio_low = 0,
         ratio_high = 0;    // to the graph as it was, measured in between: median, and the interval
                            // that holds it at 95 %
  std::string reason = {};  // why it was not measured, or not to the end
};

struct TuneReport {
  std::vector<TuneCandidate> candidates;  // [0]: the graph as it was
  std::uint32_t chosen =
      0;  // differs from 0 only where it is faster beyond doubt, in two series of pairs
  std::uint64_t plan_hash = 0;
  std::chrono::nanoseconds time{0};  // of all of it
  double confirmed_ratio = 1;        // of the one chosen, in a second series of pairs
  [[nodiscard]] bool has_changed() const noexcept { return chosen != 0; }
};

}  // namespace reprise
