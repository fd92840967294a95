// EjectionSearch: looks for a packing of at most a given height among packings that some items are
// missing from. A missing item goes into a free gap; where there is none, it takes the place of
// those that are the least hard to place, which are missing then, and counts as harder from then on
// (guided ejection: Y. Nagata, O. Braysy, 2009). It proves nothing; it is at its best where there
// is a little room everywhere, which is where an exact search is lost. Knows no clock. Threads: one
// at a time.
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
  // `problem` outlives this.
  EjectionSearch(const PackProblem& problem, std::uint64_t seed);

  // From a packing of all items; those that end above `height`, which no item is larger than, are
  // missing at first.
  void begin(const Packing& from, std::uint64_t height);
  // Some steps; true as soon as no item is missing. Each is O(conflicts log conflicts) of an item,
  // or of two, or O(items) where that is less.
  [[nodiscard]] bool run(std::uint64_t steps, const std::function<bool()>& stop);
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }  // of all runs
  [[nodiscard]] bool is_complete() const noexcept { return missing_.empty(); }
  // Of all items, once none is missing.
  [[nodiscard]] Packing packing() const;

 private:
  struct Placed {
    std::uint64_t begin = 0, end = 0;
    double cost = 0;
    std::uint32_t item = 0;
  };
  struct End {  // or beginning
    std::uint64_t at = 0;
    std::uint32_t item = 0;
    friend auto operator<=>(const End&, const End&) = default;
  };
  void put(std::uint32_t item, std::uint64_t offset);
  void take(std::uint32_t item);
  void list_around(std::uint32_t item);
  void list_ends();
  [[nodiscard]] std::span<const Placed> around() const { return {around_.data(), around_count_}; }
  [[nodiscard]] std::uint64_t tightest_gap(std::uint32_t item);
  [[nodiscard]] std::uint64_t any_gap(std::uint32_t item);
  [[nodiscard]] std::uint64_t cheapest_place(std::uint32_t item);
  void place(std::uint32_t item);
  void shift_one();
  // Calls visit(lowest, highest) with the aligned offsets in each gap that the item fits in; of
  // list_around().
  template <class Visit>
  void for_each_gap(std::uint32_t item, Visit visit) const;
  [[nodiscard]] std::uint32_t below(std::uint32_t limit);

  const PackProblem& problem_;
  std::uint64_t height_ = 0;
  SplitMix64 random_;
  std::uint64_t steps_ = 0;
  const bool is_ordered_;               // all that are placed are kept in order
  std::vector<std::uint64_t> offsets_;  // by item; kUnplaced: missing
  std::vector<double> weight_, cost_;   // by item: what it is to find room for it; that, and once
                                        // more for each time that there was none
  std::vector<std::uint32_t> missing_;
  std::vector<End> by_begin_, by_end_;  // ascending, where is_ordered_
  std::vector<std::uint8_t> is_around_;
  std::span<const std::uint32_t> listed_around_;  // those of is_around_
  std::size_t around_count_ = 0;
  std::vector<Placed> around_;                          // the first around_count_, by begin
  std::vector<std::pair<std::uint64_t, double>> ends_;  // of those, ascending
};

}  // namespace reprise::detail
