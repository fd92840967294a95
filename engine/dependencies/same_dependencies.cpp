#include "dependencies/same_dependencies.hpp"

#include <algorithm>

namespace reprise::detail {
namespace {

// Where they were recorded makes no difference.
bool are_same(const std::vector<UserEdge>& a, const std::vector<UserEdge>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const UserEdge& x, const UserEdge& y) {
        return x.before == y.before && x.after == y.after && x.dependency == y.dependency;
      });
}

}  // namespace

bool has_same_ordering(const Recording& a, const Recording& b) {
  if (a.ordering != b.ordering || a.commands.size() != b.commands.size() ||
      a.buffers.size() != b.buffers.size() || a.places != b.places)
    return false;
  for (std::uint32_t i = 0; i < a.commands.size(); ++i) {
    const Command &x = a.commands[i], &y = b.commands[i];
    const bool is_barrier = x.kind == CommandKind::Barrier;
    if (is_barrier != (y.kind == CommandKind::Barrier) || x.first_access != y.first_access ||
        x.access_count != y.access_count)
      return false;
    if (is_barrier && a.payload<BarrierPayload>(i) != b.payload<BarrierPayload>(i)) return false;
  }
  if (a.accesses != b.accesses || a.shapes != b.shapes || !are_same(a.edges, b.edges)) return false;
  if (!b.has_programmatic_dependencies()) return true;
  for (std::uint32_t i = 0; i < a.commands.size(); ++i) {
    if (a.starts_programmatically(i) != b.starts_programmatically(i)) return false;
  }
  return true;
}

bool same_structure(const DependencyGraph& a, const DependencyGraph& b) {
  return a.is_join == b.is_join && a.first_edge == b.first_edge &&
         std::equal(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end(),
                    [](const Edge& x, const Edge& y) { return x.from == y.from; });
}

}  // namespace reprise::detail
