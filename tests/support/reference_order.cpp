#include "support/reference_order.hpp"

namespace reprise::test {

using namespace detail;

void Relation::close() {
  for (std::uint32_t middle = 0; middle < size_; ++middle) {
    for (std::uint32_t a = 0; a < size_; ++a) {
      if (!before(a, middle)) continue;
      for (std::uint32_t b = 0; b < size_; ++b) {
        if (before(middle, b)) set(a, b);
      }
    }
  }
}

bool Relation::is_cyclic() const {
  for (std::uint32_t a = 0; a < size_; ++a) {
    if (before(a, a)) return true;
  }
  return false;
}

namespace {

std::vector<BufferAccess> accesses_of(const Recording& recording, std::uint32_t command) {
  const Command& c = recording.commands[command];
  return {recording.accesses.begin() + c.first_access,
          recording.accesses.begin() + c.first_access + c.access_count};
}

bool waits_itself(const Recording& recording, std::uint32_t command) {
  if (recording.commands[command].kind != CommandKind::Dispatch) return false;
  const auto& dispatch = recording.payload<DispatchPayload>(command);
  return dispatch.start == DispatchDesc::Start::Programmatic &&
         dispatch.launch != DispatchDesc::Launch::Cooperative;
}

bool accesses_range(const Recording& recording, std::uint32_t command,
                    const BarrierPayload& barrier, Access access) {
  for (const BufferAccess& a : accesses_of(recording, command)) {
    const bool kind = (reads(a.access) && reads(access)) || (writes(a.access) && writes(access));
    if (!kind) continue;
    if (barrier.buffer == kNone) return true;
    const BufferAccess range =
        recording.in_memory({barrier.buffer, access, 0, barrier.begin, barrier.end});
    const BufferAccess bytes = recording.in_memory(a);
    if (bytes.buffer == range.buffer && bytes.begin < range.end && range.begin < bytes.end)
      return true;
  }
  return false;
}

}  // namespace

bool conflict(const Recording& recording, std::uint32_t a, std::uint32_t b) {
  for (const BufferAccess& x : accesses_of(recording, a)) {
    for (const BufferAccess& y : accesses_of(recording, b)) {
      if ((writes(x.access) || writes(y.access)) &&
          overlaps(recording, recording.in_memory(x), recording.in_memory(y)))
        return true;
    }
  }
  return false;
}

bool orders(const Recording& recording, std::uint32_t barrier, std::uint32_t a, std::uint32_t b) {
  if (barrier < a || b < barrier || recording.commands[barrier].kind != CommandKind::Barrier)
    return false;
  const auto& payload = recording.payload<BarrierPayload>(barrier);
  if (payload.dependency == Dependency::Programmatic && !waits_itself(recording, b)) return false;
  return accesses_range(recording, a, payload, payload.before) &&
         accesses_range(recording, b, payload, payload.after);
}

Relation direct_order(const Recording& recording) {
  const auto count = static_cast<std::uint32_t>(recording.commands.size());
  Relation order(count);
  for (std::uint32_t b = 0; b < count; ++b) {
    if (recording.commands[b].kind == CommandKind::Barrier) continue;
    for (std::uint32_t a = 0; a < b; ++a) {
      if (recording.commands[a].kind == CommandKind::Barrier) continue;
      bool is_before = recording.ordering == Ordering::Linear;
      if (recording.ordering == Ordering::Inferred) is_before = conflict(recording, a, b);
      for (std::uint32_t barrier = a + 1; barrier < b && !is_before; ++barrier)
        is_before = orders(recording, barrier, a, b);
      if (is_before) order.set(a, b);
    }
  }
  for (const UserEdge& edge : recording.edges) {
    if (edge.dependency == Dependency::Full || waits_itself(recording, edge.after))
      order.set(edge.before, edge.after);
  }
  return order;
}

Relation node_order(const DependencyGraph& dependencies) {
  Relation order(dependencies.node_count());
  for (const Edge& edge : dependencies.edges) order.set(edge.from, edge.to);
  order.close();
  return order;
}

Relation order_of(const Recording& recording, const DependencyGraph& dependencies) {
  const Relation nodes = node_order(dependencies);
  Relation order(static_cast<std::uint32_t>(recording.commands.size()));
  for (std::uint32_t a = 0; a < nodes.size(); ++a) {
    for (std::uint32_t b = 0; b < nodes.size(); ++b) {
      if (nodes.before(a, b) && dependencies.is_join[a] == 0 && dependencies.is_join[b] == 0)
        order.set(dependencies.node_command[a], dependencies.node_command[b]);
    }
  }
  return order;
}

}  // namespace reprise::test
