#include "model/collective_waits.hpp"

#include <algorithm>

namespace reprise::model {

using trace::CollectiveKind;
using trace::Time;

WaitRole wait_role(const trace::Collective& call) noexcept {
  const bool is_root = call.rank == call.peer;
  if (trace::waits_for_all(call.kind)) return {.waits = true, .is_awaited = true};
  if (call.kind == CollectiveKind::Broadcast) return {.waits = true, .is_awaited = is_root};
  if (call.kind == CollectiveKind::Reduce) return {.waits = is_root, .is_awaited = !is_root};
  return {};
}

void AwaitedArrival::add(const trace::Collective& call, std::uint32_t of, Time started) noexcept {
  const WaitRole role = wait_role(call);
  ++known_ranks;
  is_awaited |= role.waits;
  if (!role.is_awaited || (member != trace::kNone && started <= at)) return;
  member = of;
  at = started;
}

Time AwaitedArrival::wait_of(const trace::Collective& call, Time started,
                             Time ended) const noexcept {
  if (!has_waits()) return -1;
  return wait_role(call).waits ? std::max(started, std::min(at, ended)) - started : 0;
}

}  // namespace reprise::model
