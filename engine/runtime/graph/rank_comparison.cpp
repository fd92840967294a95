#include "runtime/graph/rank_comparison.hpp"

#include <exception>
#include <utility>
#include <vector>

#include <reprise/error.hpp>

#include "base/text.hpp"

namespace reprise::detail {

LaunchedCollectives compare_collectives(std::string_view graph, const Recording& recording) {
  LaunchedCollectives all = launched_collectives(recording);
  for (RankAgreement* const ranks : all.ranks) {
    std::vector<RankAgreement::Collective> collectives;
    for (const RecordedCollective& one : collectives_of(recording)) {
      if (ranks_of(*one.op) != ranks) continue;
      const Command& command = one.recording->commands[one.command];
      collectives.push_back(
          {one.op, one.recording->label_path(command.label), command.where, one.is_conditional});
    }
    ranks->compare(graph, all.hash, collectives);
  }
  return all;
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
  const std::vector<RecordedCollective> found = collectives_of(recording);
  if (found.empty()) return;
  const RecordedCollective& first = found.front();
  const Recording& of = *first.recording;
  ErrorDetails details;
  details.code = ErrorCode::Unsupported;
  details.stage = Stage::Validate;
  details.command = first.command;
  details.label = of.label_path(of.commands[first.command].label);
  throw Error(std::move(details),
              concat(verb, " cannot run command buffer ", recording.label, " with command ",
                     first.command, ", ", of.command_name(first.command),
                     ", which runs only together with those of the other ranks: ", reason));
}

}  // namespace reprise::detail
