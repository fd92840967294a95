// Contributions: what each node adds to the mean replay. A replay's time is split along its
// measured critical path: each node on it takes the time since the node before it on the path
// ended. So the contributions of all nodes and the time outside them add up to the mean device
// time, and their differences between two sets of replays to the difference of the means. Threads:
// pure functions; sampled_figures() may read the disk.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/sampled_replays.hpp"

namespace reprise::model {

struct Contributions {
  // Sampled replays that were read: all, or of very many evenly spread ones.
  std::size_t replays = 0;
  // ns, means over these replays. `time`: on the device; without known device times, from the start
  // of the first node to the end of the last.
  double time = 0;
  double outside = 0;         // of `time`: before the first node and after the last
  std::vector<double> nodes;  // by node, with the gap before it; 0 for the nodes of bodies
  std::vector<double> gaps;   // by node, the gaps alone; negative where nodes overlap
  std::vector<double> on_path;  // by node, the share of the replays with it on their path, 0 to 1;
                                // 0 for those of bodies
};

struct SampledFigures {
  Contributions contributions;
  std::shared_ptr<const GraphStatistics> statistics;  // see statistics_of(); never null
};

// Reads each sample of the range once. Throws TraceError.
[[nodiscard]] SampledFigures sampled_figures(const Document& document, const GraphEntry& entry,
                                             const ReplayRange& range);

}  // namespace reprise::model
