#include "model/node_matching.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace reprise::model {

namespace {

using Key = std::tuple<std::string, std::string, trace::NodeKind>;
using NodesByKey = std::map<Key, std::vector<std::uint32_t>>;  // node indices in command order

NodesByKey group_by_key(const std::vector<NodeIdentity>& nodes) {
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
    return nodes[x].command < nodes[y].command;
  });
  NodesByKey groups;
  for (const std::uint32_t n : order)
    groups[{nodes[n].label_path, nodes[n].name, nodes[n].kind}].push_back(n);
  return groups;
}

}  // namespace

NodeMatching match_nodes(const std::vector<NodeIdentity>& a, const std::vector<NodeIdentity>& b) {
  NodeMatching result;
  const NodesByKey in_a = group_by_key(a), in_b = group_by_key(b);
  std::vector<bool> is_matched(b.size());
  for (const auto& [key, nodes] : in_a) {
    const auto found = in_b.find(key);
    const std::size_t both = found == in_b.end() ? 0 : std::min(nodes.size(), found->second.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i >= both) {
        result.removed.push_back(nodes[i]);
      } else {
        result.pairs.emplace_back(nodes[i], found->second[i]);
        is_matched[found->second[i]] = true;
      }
    }
  }
  std::sort(result.pairs.begin(), result.pairs.end());
  std::sort(result.removed.begin(), result.removed.end());
  for (std::uint32_t n = 0; n < b.size(); ++n) {
    if (!is_matched[n]) result.added.push_back(n);
  }
  return result;
}

}  // namespace reprise::model
