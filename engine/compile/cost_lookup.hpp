// Costs of a recording's commands: measurements of an earlier run, matched by what the commands do,
// and hints of dispatches. Knows no device and no file. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/cost_profile.hpp>
#include <reprise/message.hpp>

#include "lowering/lowering_config.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

struct CostLookup {
  NodeHints hints;
  const GraphCosts* graph = nullptr;           // in the profile; null: no match
  CostsReport found;                           // without the fields that depend on the plan
  std::vector<std::uint64_t> same_plans = {};  // plan hashes of the profile's graphs of this label

  [[nodiscard]] CostsReport report(std::uint64_t plan_hash) const;
};

// Selects the graph of this label that contains most commands; the last one of several. Matches a
// command by label path, name, work and its number among equal commands; if that fails, by name and
// work, with the median of the matches. A null `costs` gives the recording's hints only.
[[nodiscard]] CostLookup look_up_costs(const CostProfile* costs, std::string_view label,
                                       const Recording& recording,
                                       const DependencyGraph& dependencies);
[[nodiscard]] NodeHints known_hints(const CostProfile* costs, const Plan& plan);

// Throws InvalidArgument (Stage::Lowering) if nothing matched: no graph of this label, or a graph
// of other commands; the error names the first one that differs.
void require_known(const CostLookup& known, const CostProfile& costs, std::string_view label,
                   const Recording& recording, const DependencyGraph& dependencies);

// Warnings about commands without a match ("costs-unmatched") and about costs of another device
// ("costs-of-another-device").
[[nodiscard]] std::vector<Message> cost_warnings(const CostsReport& costs, const Plan& plan,
                                                 std::string_view device);

}  // namespace reprise::detail
