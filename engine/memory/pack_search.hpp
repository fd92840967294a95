// The exact search: a packing of at most a given height, or the proof that there is none, or neither within a number of steps.
//
// In a packing that nothing can fall in, each item rests on the ground or on another one, and placing items by offset puts each at the
// lowest offset that those before it leave. So a step takes the next item in that order, and each that is passed over has to be lifted by
// an item yet to come. A step is given up where some section cannot end in time: its items, each not before its lowest offset, one
// after the other. What no section connects any more is searched on its own. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "memory/packing.hpp"

namespace reprise::detail {

enum class SearchOutcome : std::uint8_t { Found, Impossible, GaveUp };

struct SearchDesc {
  std::uint64_t height = 0;              // bytes, at most
  std::span<const std::uint32_t> order;  // items: which to try first of those at one offset
  std::uint64_t max_steps = 0;
  std::function<bool()> stop;  // asked every few hundred steps
};

struct SearchResult {
  SearchOutcome outcome = SearchOutcome::GaveUp;
  std::uint64_t steps = 0;
  Packing packing;  // of Found
};

[[nodiscard]] SearchResult search_packing(const PackProblem& problem, const SearchDesc& desc);

}  // namespace reprise::detail
