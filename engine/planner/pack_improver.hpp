// PackImprover: a packing that gets lower, one short attempt after the other: searches from orders
// with some chance in them, most of them cut off early, since luck in the first steps decides.
// Knows no clock. Threads: one at a time.
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
  // `target`: what is low enough; `wish`: a height to reach before others, 0 for none. `problem`
  // outlives this; it has items.
  PackImprover(const PackProblem& problem, Packing first, std::uint64_t target,
               std::uint64_t wish = 0);

  [[nodiscard]] const Packing& best() const noexcept { return best_; }
  // Goes on from a packing that was found elsewhere, if it is lower.
  void offer(Packing packing) {
    if (packing.height < best_.height) best_ = std::move(packing);
  }
  // Nothing lower is wanted, or a search has proved that there is nothing lower.
  [[nodiscard]] bool is_done() const noexcept { return best_.height <= target_ || is_optimal(); }
  [[nodiscard]] bool is_optimal() const noexcept { return best_.height == impossible_ + 1; }
  // One attempt, some milliseconds to some seconds; ends early once `stop` says so, or after
  // `most_steps` of a search.
  void attempt(const std::function<bool()>& stop, std::uint64_t most_steps = ~std::uint64_t{0});

 private:
  using Order = std::vector<std::uint32_t>;
  [[nodiscard]] Order disturbed(const Order& order, double part);
  void search(const Order& order, std::uint64_t steps, const std::function<bool()>& stop);
  [[nodiscard]] std::uint64_t modest_height() const;
  void pack(Order order);
  [[nodiscard]] double random();

  const PackProblem& problem_;
  Packing best_;
  std::uint64_t target_ = 0, wish_ = 0;
  std::uint64_t impossible_ = 0;  // no packing is of this height or less
  bool can_search_ = true;        // else the way down to a first packing would take too long
  std::vector<Order> orders_;
  Order pack_order_;  // of the lowest that pack() made
  std::uint64_t pack_height_ = ~std::uint64_t{0};
  std::uint32_t attempts_ = 0;
  double stride_ = 0.5;  // part of what is above the target that the next modest search is to win
  SplitMix64 random_{1};
};

}  // namespace reprise::detail
