// What is known of how long the commands of a recording take: what an earlier run measured, found
// again by what commands are, and hints. Knows no device and no file. Threads: pure functions.
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
  const GraphCosts* graph = nullptr;           // whose costs they are; null: there is none
  CostsReport found;                           // without what only the plan tells
  std::vector<std::uint64_t> same_plans = {};  // plan hashes of the graphs of this label

  [[nodiscard]] CostsReport report(std::uint64_t plan_hash) const;
};

// Of the graphs of this label the one that most commands are found in; of several such the last. A
// command is found by label path, name, work and how many alike come before it; else by name and
// work alone, with the median of those. `costs` null: what the recording says.
[[nodiscard]] CostLookup look_up_costs(const CostProfile* costs, std::string_view label,
                                       const Recording& recording,
                                       const DependencyGraph& dependencies);
[[nodiscard]] NodeHints known_hints(const CostProfile* costs, const Plan& plan);

// Throws InvalidArgument (Stage::Lowering) where nothing was found: no graph of this label, or one
// of other commands, the first of which it names.
void require_known(const CostLookup& known, const CostProfile& costs, std::string_view label,
                   const Recording& recording, const DependencyGraph& dependencies);

// Commands that were not found ("costs-unmatched"), and costs of another device
// ("costs-of-another-device").
[[nodiscard]] std::vector<Message> cost_warnings(const CostsReport& costs, const Plan& plan,
                                                 std::string_view device);

}  // namespace reprise::detail
