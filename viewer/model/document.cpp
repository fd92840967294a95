#include "model/document.hpp"

namespace reprise::model {

double GraphStatistics::share(std::uint32_t node) const {
  return sum == 0 ? 0 : static_cast<double>(nodes[node].times.sum()) / static_cast<double>(sum);
}

std::vector<double> GraphStatistics::medians() const {
  std::vector<double> medians(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    medians[i] = nodes[i].times.nearest_rank_quantile(0.5);
  return medians;
}

const GraphEntry* Document::find(GraphKey key) const {
  const auto found = graphs.find(key);
  return found == graphs.end() ? nullptr : &found->second;
}

const trace::Replay* Document::find_replay(GraphKey key, std::uint64_t replay) const {
  const GraphEntry* entry = find(key);
  if (entry == nullptr) return nullptr;
  const std::size_t at = entry->replays.lower_bound(
      replay, [](const trace::Replay& r, std::uint64_t n) { return r.replay < n; });
  return at < entry->replays.size() && entry->replays[at].replay == replay ? &entry->replays[at]
                                                                           : nullptr;
}

}  // namespace reprise::model
