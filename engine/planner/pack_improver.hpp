// PackImprover: lowers the peak of a packing by a series of short attempts. Each attempt is an
// exact search from a randomly perturbed order. Most attempts are short, because the first steps
// decide whether a search succeeds. Knows no clock. Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/split_mix.hpp"
#include "planner/packing.hpp"

namespace reprise::detail {

class PackImprover {
 public:
  // `target` (bytes) needs no further improvement; `capacity_goal` (bytes, 0: none) is tried before
  // other peaks. `problem` outlives this object and has items.
  PackImprover(const PackProblem& problem, Packing first, std::uint64_t target,
               std::uint64_t capacity_goal = 0);

  [[nodiscard]] const Packing& best() const noexcept { return best_; }
  // Replaces the best packing if the peak of `packing` is lower.
  void offer(Packing packing) {
    if (packing.peak_bytes < best_.peak_bytes) best_ = std::move(packing);
  }
  // True if the target is reached, or if a search proved that no lower peak exists.
  [[nodiscard]] bool is_done() const noexcept {
    return best_.peak_bytes <= target_ || is_optimal();
  }
  [[nodiscard]] bool is_optimal() const noexcept { return best_.peak_bytes == infeasible_ + 1; }
  // Makes one attempt, which takes milliseconds to seconds. Returns early once `stop` returns true,
  // or after `max_steps` steps of a search.
  void attempt(const std::function<bool()>& stop, std::uint64_t max_steps = ~std::uint64_t{0});

 private:
  using Order = std::vector<std::uint32_t>;
  [[nodiscard]] Order perturbed(const Order& order, double part);
  void search(const Order& order, std::uint64_t steps, const std::function<bool()>& stop);
  [[nodiscard]] std::uint64_t intermediate_capacity() const;
  void pack(Order order);
  [[nodiscard]] double random();

  const PackProblem& problem_;
  Packing best_;
  std::uint64_t target_ = 0, capacity_goal_ = 0;
  std::uint64_t infeasible_ = 0;  // bytes; no packing has a peak of at most this
  bool can_search_ = true;        // false: one descent of a search takes too long
  std::vector<Order> orders_;
  Order pack_order_;  // the order of the lowest packing that pack() made
  std::uint64_t pack_peak_ = ~std::uint64_t{0};
  std::uint32_t attempts_ = 0;
  double stride_ = 0.5;  // part of the gap to the target that the next intermediate search covers
  SplitMix64 random_{1};
};

}  // namespace reprise::detail
