// Packings made item by item in a given order, each where it fits best among those before it. Knows
// no device. Threads: pure functions; a GreedyPacker belongs to one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/packing.hpp"

namespace reprise::detail {

enum class GapRule : std::uint8_t { Lowest, Tightest };

class GreedyPacker {
 public:
  explicit GreedyPacker(const PackProblem& problem) : problem_(problem) {}
  // `order` names each item once. Items of `kept` have offsets already and are not in `order`.
  // O(conflicts log conflicts).
  [[nodiscard]] Packing pack(std::span<const std::uint32_t> order, GapRule rule,
                             const std::vector<std::uint64_t>* kept = nullptr);

 private:
  struct Placed {
    std::uint64_t begin = 0, end = 0;
    friend auto operator<=>(const Placed&, const Placed&) = default;
  };
  const PackProblem& problem_;
  std::vector<Placed> around_;
};

inline constexpr std::uint64_t kUnplaced = ~std::uint64_t{0};

// Orders that are worth a try: by bytes, by what the fullest section of an item holds, by sections,
// by products of these, and by bytes and what conflicts with them.
inline constexpr std::uint32_t kPackOrders = 6, kBySections = 2, kByConflicts = 5;
[[nodiscard]] std::vector<std::uint32_t> pack_order(const PackProblem& problem,
                                                    std::uint32_t number);

// The lowest of packings in all orders, or of so many, the most promising; ends as soon as one is
// not above `target`.
[[nodiscard]] Packing best_greedy(const PackProblem& problem, std::uint64_t target,
                                  std::uint64_t most_packings = 2 * kPackOrders);

}  // namespace reprise::detail
