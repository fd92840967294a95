#include "dependencies/same_dependencies.hpp"

#include <algorithm>

namespace reprise::detail {
namespace {

bool same(const Extent& a, const Extent& b) {
  return a.width == b.width && a.height == b.height && a.depth == b.depth;
}
bool same(const Pitch& a, const Pitch& b) { return a.row == b.row && a.slice == b.slice; }
bool same(const AccessShape& a, const AccessShape& b) {
  return same(a.extent, b.extent) && same(a.pitch, b.pitch);
}
bool same(const UserEdge& a, const UserEdge& b) {
  return a.before == b.before && a.after == b.after && a.dependency == b.dependency;
}

bool same(const BufferAccess& a, const BufferAccess& b) {
  return a.buffer == b.buffer && a.access == b.access && a.shape == b.shape && a.begin == b.begin &&
         a.end == b.end;
}

bool same(const BarrierPayload& a, const BarrierPayload& b) {
  return a.buffer == b.buffer && a.begin == b.begin && a.end == b.end && a.before == b.before &&
         a.after == b.after && a.dependency == b.dependency;
}

template <class Value>
bool same(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Value& x, const Value& y) { return same(x, y); });
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
    if (is_barrier && !same(a.payload<BarrierPayload>(i), b.payload<BarrierPayload>(i)))
      return false;
  }
  if (!same(a.accesses, b.accesses) || !same(a.shapes, b.shapes) || !same(a.edges, b.edges))
    return false;
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
