// The exact search: finds a packing that fits in a given capacity, proves that none exists, or
// exhausts a step budget.
//
// The search is restricted to packings in which no item can move down: each item rests at offset 0
// or on another item. A step selects an item with the lowest possible resting offset and places it
// there. If that fails, the item is deferred: another item that starts below its end must lift it,
// because otherwise it could rest at the same offset. If some clique needs an item at the lowest
// offset, the step selects an item of the clique with the fewest candidates. A branch is pruned if
// the items of some clique, each at its lowest offset or above, do not fit in the capacity. Groups
// without a common clique are searched independently. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "planner/packing.hpp"

namespace reprise::detail {

enum class SearchOutcome : std::uint8_t { Found, Infeasible, BudgetExhausted };

struct SearchDesc {
  std::uint64_t capacity = 0;            // bytes
  std::span<const std::uint32_t> order;  // items; the first ones are preferred in case of a tie
  std::uint64_t max_steps = 0;
  std::function<bool()> stop;  // called every few hundred steps; may be empty
};

struct SearchResult {
  SearchOutcome outcome = SearchOutcome::BudgetExhausted;
  std::uint64_t steps = 0;
  Packing packing;  // set if outcome is Found
};

[[nodiscard]] SearchResult search_packing(const PackProblem& problem, const SearchDesc& desc);

}  // namespace reprise::detail
