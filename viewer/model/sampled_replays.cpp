#include "model/sampled_replays.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace reprise::model {

void for_each_sampled(
    const Document& document, const GraphEntry& entry, const ReplayRange& range,
    std::size_t max_replays,
    const std::function<void(const trace::Replay&, const SampleStore::Block&)>& each) {
  std::vector<std::size_t> sampled;
  for_each_replay(entry.replays, range, [&](std::size_t i, const trace::Replay& replay) {
    if (replay.sampled != 0) sampled.push_back(i);
  });
  const std::size_t count = std::min(max_replays, sampled.size());
  for (std::size_t i = 0; i < count; ++i) {
    const trace::Replay& replay = entry.replays[sampled[i * sampled.size() / count]];
    if (const auto block = document.samples->find(replay)) each(replay, block);
  }
}

std::vector<SampleStore::Block> blocks_of(const Document& document, GraphKey graph,
                                          const ReplayRange& range, std::size_t max_blocks) {
  std::vector<SampleStore::Block> blocks;
  if (const GraphEntry* entry = document.find(graph)) {
    for_each_sampled(
        document, *entry, range, max_blocks,
        [&](const trace::Replay&, const SampleStore::Block& block) { blocks.push_back(block); });
  }
  return blocks;
}

std::shared_ptr<const GraphStatistics> statistics_of(const Document& document,
                                                     const GraphEntry& entry,
                                                     const ReplayRange& range) {
  if (range == ReplayRange{}) return entry.statistics;
  auto statistics = std::make_shared<GraphStatistics>(entry.graph->node_count());
  for_each_sampled(document, entry, range, std::numeric_limits<std::size_t>::max(),
                   [&](const trace::Replay&, const SampleStore::Block& block) {
                     statistics->add(*entry.graph, *block);
                   });
  return statistics;
}

}  // namespace reprise::model
