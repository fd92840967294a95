// Greedy packings: items are placed one by one in a given order, by first fit or best fit. Knows no
// device. Threads: pure functions; a GreedyPacker belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/packing.hpp"

namespace reprise::detail {

// Selects the lowest gap (first fit) or the smallest gap (best fit) that is large enough.
enum class FitRule : std::uint8_t { FirstFit, BestFit };

class GreedyPacker {
 public:
  // `problem` outlives the packer.
  explicit GreedyPacker(const PackProblem& problem) : problem_(problem) {}
  // `order` contains every item once. O(conflicts log conflicts).
  [[nodiscard]] Packing pack(std::span<const std::uint32_t> order, FitRule rule);

 private:
  struct Placed {
    std::uint64_t begin = 0, end = 0;
    friend auto operator<=>(const Placed&, const Placed&) = default;
  };
  const PackProblem& problem_;
  std::vector<Placed> neighbours_;
};

// Item orders for greedy packing, by index: 0: size; 1, 4: fullest clique of the item; 2: lifetime
// (number of cliques); 3: size * lifetime; 5: size * bytes of conflicting items.
inline constexpr std::uint32_t kPackOrders = 6, kByLifetime = 2, kByConflicts = 5;
[[nodiscard]] std::vector<std::uint32_t> pack_order(const PackProblem& problem,
                                                    std::uint32_t index);

// The packing with the lowest peak over all orders and both rules, or over the `max_packings` most
// promising ones. Returns the first packing whose peak is at most `target`.
[[nodiscard]] Packing best_greedy(const PackProblem& problem, std::uint64_t target,
                                  std::uint64_t max_packings = 2 * kPackOrders);

}  // namespace reprise::detail
