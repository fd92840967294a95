#include "model/document.hpp"

#include "trace/export/topology.hpp"

namespace reprise::model {

std::vector<double> GraphStatistics::medians() const {
  std::vector<double> medians(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) medians[i] = nodes[i].times.quantile(0.5);
  return medians;
}

const GraphEntry* Document::find(GraphKey key) const {
  const auto found = graphs.find(key);
  return found == graphs.end() ? nullptr : &found->second;
}

std::vector<std::uint32_t> Document::users_of(std::uint32_t pool, trace::PoolRole role,
                                              Uses uses) const {
  std::vector<std::uint32_t> users;
  for (auto at = pool_uses->lower_bound({pool, role, 0}); at != pool_uses->end(); ++at) {
    const trace::PoolUse& use = at->second;
    if (use.pool != pool || use.role != role) break;
    if ((use.to == 0) == (uses == Uses::Current)) users.push_back(use.graph);
  }
  return users;
}

std::string Document::process_name() const {
  return sessions->empty() ? std::string() : trace::process_name(sessions->front());
}

std::string Document::pool_name(std::uint32_t pool) const {
  if (pool == trace::kNone) return {};
  const auto found = pools->find(pool);
  return trace::pool_name(pool, found == pools->end() ? "" : found->second.label);
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
