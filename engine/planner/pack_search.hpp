// The exact search: a packing of at most a given height, or the proof that there is none, or
// neither within a number of steps.
//
// In a packing that nothing can fall in, each item rests on the ground or on another one. A step
// takes an item that may rest lowest of all and tries it there; in vain, and it is passed:
// something that begins below its end has to lift it, or it might as well have stayed. Which one it
// takes is free: where a section needs an item at the lowest offset, one of the section with the
// fewest. A step is given up where some section cannot end in time: its items, each not before its
// lowest offset, one after the other. What no section connects any more is searched on its own.
// Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "planner/packing.hpp"

namespace reprise::detail {

enum class SearchOutcome : std::uint8_t { Found, Impossible, BudgetExhausted };

struct SearchDesc {
  std::uint64_t height = 0;              // bytes, at most
  std::span<const std::uint32_t> order;  // items: which to try first, other things being equal
  std::uint64_t max_steps = 0;
  std::function<bool()> stop;  // asked every few hundred steps
};

struct SearchResult {
  SearchOutcome outcome = SearchOutcome::BudgetExhausted;
  std::uint64_t steps = 0;
  Packing packing;  // of Found
};

[[nodiscard]] SearchResult search_packing(const PackProblem& problem, const SearchDesc& desc);

}  // namespace reprise::detail
