#include "model/communication.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace reprise::model {

using trace::NodeKind;
using trace::Time;

namespace {

using Intervals = std::vector<std::pair<Time, Time>>;

enum class Role : std::uint8_t { Work, Collective, None };

std::vector<Role> roles_of(const trace::GraphVersion& graph) {
  std::vector<Role> roles(graph.nodes.size(), Role::Work);
  for (std::size_t n = 0; n < roles.size(); ++n) {
    const NodeKind kind = graph.nodes[n].kind;
    if (kind == NodeKind::Entry || kind == NodeKind::Exit || kind == NodeKind::Join)
      roles[n] = Role::None;
  }
  for (const trace::Body& body : graph.bodies) roles[body.parent] = Role::None;
  for (const trace::Collective& one : graph.collectives) roles[one.node] = Role::Collective;
  return roles;
}

// Sorts and merges; returns the sum of the lengths.
Time unite(Intervals& all) {
  std::sort(all.begin(), all.end());
  std::size_t count = 0;
  Time sum = 0;
  for (const auto& [started, ended] : all) {
    if (count != 0 && started <= all[count - 1].second) {
      const Time later = std::max(all[count - 1].second, ended);
      sum += later - all[count - 1].second;
      all[count - 1].second = later;
    } else {
      all[count++] = {started, ended};
      sum += ended - started;
    }
  }
  all.resize(count);
  return sum;
}

}  // namespace

Communication communication(const Graph& graph, const trace::SampleBlock& block) {
  const std::vector<Role> roles = roles_of(graph.record());
  Intervals collectives, work;
  for (const trace::Sample& sample : block.samples) {
    if (sample.node >= roles.size() || sample.started == 0 || roles[sample.node] == Role::None)
      continue;
    (roles[sample.node] == Role::Collective ? collectives : work)
        .emplace_back(sample.started, sample.started + sample.duration);
  }
  Communication c{.replay = block.replay, .total = unite(collectives)};
  c.exposed = c.total;
  unite(work);
  auto other = work.begin();
  for (const auto& [started, ended] : collectives) {
    while (other != work.end() && other->second <= started) ++other;
    for (auto at = other; at != work.end() && at->first < ended; ++at)
      c.exposed -= std::min(ended, at->second) - std::max(started, at->first);
  }
  return c;
}

}  // namespace reprise::model
