#include "plan/collectives.hpp"

#include <algorithm>

#include "plan/hash.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

void add_collectives(const Recording& recording, bool is_conditional,
                     std::vector<RecordedCollective>& found) {
  if (recording.ops.empty() && recording.bodies.empty()) return;
  for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
    const Command& c = recording.commands[command];
    if (c.kind == CommandKind::Op) {
      const GraphOp& op = *recording.ops[recording.payload<OpPayload>(command).op]->op;
      if (ranks_of(op) != nullptr) found.push_back({&recording, command, &op, is_conditional});
    }
    for (const Body& body : bodies_of(c))
      add_collectives(*recording.bodies[body.index],
                      is_conditional || c.kind == CommandKind::Conditional, found);
  }
}

}  // namespace

std::vector<RecordedCollective> collectives_of(const Recording& recording) {
  std::vector<RecordedCollective> found;
  add_collectives(recording, false, found);
  return found;
}

LaunchedCollectives launched_collectives(const Recording& recording) {
  LaunchedCollectives launched;
  const std::vector<RecordedCollective> found = collectives_of(recording);
  if (found.empty()) return launched;
  Hash64 hash;
  for (const RecordedCollective& one : found) {
    RankAgreement* const ranks = ranks_of(*one.op);
    if (std::find(launched.ranks.begin(), launched.ranks.end(), ranks) == launched.ranks.end())
      launched.ranks.push_back(ranks);
    hash.add(one.op->op_name());
    hash.add(std::string_view(one.op->parameters()));
  }
  launched.hash = hash.value();
  return launched;
}

}  // namespace reprise::detail
