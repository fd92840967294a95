// EjectionSearch: searches for a packing that fits in a given capacity, by ejection chains. The
// state is a packing with some items unplaced. A step inserts an unplaced item into a free gap. If
// no gap is large enough, the step ejects the overlapping items with the lowest cost and raises the
// cost of the inserted item (guided ejection search: Y. Nagata, O. Braysy, 2009). The search proves
// nothing. It is most effective if a little space is free everywhere, where an exact search is
// weakest. Knows no clock. Threads: one at a time.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/split_mix.hpp"
#include "planner/packing.hpp"

namespace reprise::detail {

class EjectionSearch {
 public:
  // `problem` outlives this object.
  EjectionSearch(const PackProblem& problem, std::uint64_t seed);

  // Starts from a complete packing. Items that end above `capacity` become unplaced. No item is
  // larger than `capacity`.
  void start(const Packing& from, std::uint64_t capacity);
  // Makes up to `steps` steps and returns true once every item is placed. A step takes
  // O(conflicts log conflicts) of one or two items, or O(items) if that is less.
  [[nodiscard]] bool run(std::uint64_t steps, const std::function<bool()>& stop);
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }  // total of all runs
  [[nodiscard]] bool is_complete() const noexcept { return unplaced_.empty(); }
  // Valid if is_complete().
  [[nodiscard]] Packing packing() const;

 private:
  struct Placed {
    std::uint64_t begin = 0, end = 0;
    double cost = 0;
    std::uint32_t item = 0;
  };
  struct Boundary {  // begin or end of an item
    std::uint64_t offset = 0;
    std::uint32_t item = 0;
    friend auto operator<=>(const Boundary&, const Boundary&) = default;
  };
  void put(std::uint32_t item, std::uint64_t offset);
  void remove(std::uint32_t item);
  void list_neighbours(std::uint32_t item);
  void list_ends();
  [[nodiscard]] std::span<const Placed> neighbours() const {
    return {neighbours_.data(), neighbour_count_};
  }
  [[nodiscard]] std::uint64_t best_fit_gap(std::uint32_t item);
  [[nodiscard]] std::uint64_t random_gap(std::uint32_t item);
  [[nodiscard]] std::uint64_t cheapest_offset(std::uint32_t item);
  void insert(std::uint32_t item);
  void shift_random_item();
  // Calls visit(min_offset, max_offset) for each gap between the neighbours that is large enough
  // for the item, with the lowest and highest aligned offset in the gap.
  template <class Visit>
  void for_each_gap(std::uint32_t item, Visit visit) const;
  [[nodiscard]] std::uint32_t below(std::uint32_t limit);

  const PackProblem& problem_;
  std::uint64_t capacity_ = 0;
  SplitMix64 random_;
  std::uint64_t steps_ = 0;
  const bool is_ordered_;               // boundaries of all placed items are kept sorted
  std::vector<std::uint64_t> offsets_;  // by item; kUnplaced: not placed
  std::vector<double> weight_;          // by item: initial cost of ejection
  std::vector<double> cost_;            // by item: weight times (1 + failed insertions)
  std::vector<std::uint32_t> unplaced_;
  std::vector<Boundary> begins_, ends_;  // ascending; maintained if is_ordered_
  std::vector<std::uint8_t> is_neighbour_;
  std::span<const std::uint32_t> listed_neighbours_;  // the items set in is_neighbour_
  std::size_t neighbour_count_ = 0;
  std::vector<Placed> neighbours_;  // the first neighbour_count_ are valid, by begin
  std::vector<std::pair<std::uint64_t, double>> neighbour_ends_;  // end and cost, ascending by end
};

}  // namespace reprise::detail
