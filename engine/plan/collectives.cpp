#include "plan/collectives.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "plan/hash.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

// In the recorded order, which is that of the replays: collectives of a device depend on each
// other.
template <class Visit>
void for_each_collective(const Recording& recording, const Visit& visit,
                         bool is_conditional = false) {
  for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
    const Command& c = recording.commands[command];
    if (c.kind == CommandKind::Op) {
      const GraphOp& op = *recording.ops[recording.payload<OpPayload>(command).op]->op;
      if (op.ranks() != nullptr) visit(recording, command, op, is_conditional);
    }
    for (const Body& body : bodies_of(c))
      for_each_collective(*recording.bodies[body.index], visit,
                          is_conditional || c.kind == CommandKind::Conditional);
  }
}

}  // namespace

LaunchedCollectives launched_collectives(const Recording& recording) {
  LaunchedCollectives found;
  Hash64 hash;
  for_each_collective(recording, [&](const Recording&, std::uint32_t, const GraphOp& op, bool) {
    if (std::find(found.ranks.begin(), found.ranks.end(), op.ranks()) == found.ranks.end())
      found.ranks.push_back(op.ranks());
    hash.add(op.op_name());
    hash.add(std::string_view(op.parameters()));
  });
  found.hash = hash.value();
  return found;
}

void compare_collectives(std::string_view graph, const Recording& recording) {
  const LaunchedCollectives all = launched_collectives(recording);
  for (RankAgreement* const ranks : all.ranks) {
    std::vector<RankAgreement::Collective> collectives;
    for_each_collective(recording, [&](const Recording& of, std::uint32_t command,
                                       const GraphOp& op, bool is_conditional) {
      if (op.ranks() != ranks) return;
      collectives.push_back({&op, of.label_path(of.commands[command].label),
                             of.commands[command].where, is_conditional});
    });
    ranks->compare(graph, all.hash, collectives);
  }
}

void make_on_all_ranks(const LaunchedCollectives& collectives, const std::function<void()>& make) {
  try {
    make();
  } catch (const std::exception& error) {
    try {
      for (RankAgreement* const ranks : collectives.ranks)
        ranks->compare_outcomes(collectives.hash, error.what());
    } catch (const Error&) {
      // A rank is lost as well; this error came first.
    }
    throw;
  }
  for (RankAgreement* const ranks : collectives.ranks)
    ranks->compare_outcomes(collectives.hash, {});
}

void require_no_collectives(const Recording& recording, std::string_view verb,
                            std::string_view reason) {
  for_each_collective(
      recording, [&](const Recording& of, std::uint32_t command, const GraphOp&, bool) {
        ErrorDetails details;
        details.code = ErrorCode::Unsupported;
        details.stage = Stage::Validate;
        details.command = command;
        details.label = of.label_path(of.commands[command].label);
        throw Error(std::move(details),
                    concat(verb, " cannot run command buffer ", recording.label, " with command ",
                           command, ", ", of.command_name(command),
                           ", which runs only together with those of the other ranks: ", reason));
      });
}

}  // namespace reprise::detail
