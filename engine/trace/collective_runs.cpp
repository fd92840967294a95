#include "trace/collective_runs.hpp"

#include <algorithm>

namespace reprise::trace {

std::vector<CollectiveRun> collective_runs(const GraphVersion& graph, const SampleBlock& block) {
  std::vector<CollectiveRun> runs;
  for (const Sample& sample : block.samples) {
    const auto found = std::lower_bound(
        graph.collectives.begin(), graph.collectives.end(), sample.node,
        [](const Collective& one, std::uint32_t node) { return one.node < node; });
    if (found == graph.collectives.end() || found->node != sample.node || sample.started == 0)
      continue;
    runs.push_back(
        {{found->communicator, found->number, block.replay, found->index, sample.occurrence},
         static_cast<std::uint32_t>(found - graph.collectives.begin()),
         sample.started,
         sample.started + sample.duration});
  }
  return runs;
}

}  // namespace reprise::trace
