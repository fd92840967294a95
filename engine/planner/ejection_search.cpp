#include "planner/ejection_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planner/greedy_pack.hpp"

namespace reprise::detail {

namespace {

// Items for each one that an item conflicts with, on average: up to there it is quicker to pass all
// that are placed than to sort those few.
constexpr std::size_t kPassedForOne = 12;

}  // namespace

EjectionSearch::EjectionSearch(const PackProblem& problem, std::uint64_t seed)
    : problem_(problem),
      random_(seed),
      is_ordered_(std::size_t{problem.size()} * problem.size() <=
                  kPassedForOne * problem.conflicts.size()),
      cost_(problem.size()),
      around_(problem.size() + std::size_t{1}),
      ends_(problem.size() + std::size_t{1}) {
  weight_.reserve(problem.size());
  for (std::uint32_t item = 0; item < problem.size(); ++item) {
    double sections = 0;
    for (const IndexRange& range : problem.ranges_of(item)) sections += range.end - range.begin;
    weight_.push_back(std::sqrt(sections * static_cast<double>(problem.items[item].bytes)));
  }
  if (is_ordered_) is_around_.assign(problem.size(), 0);
}

void EjectionSearch::begin(const Packing& from, std::uint64_t height) {
  height_ = height;
  cost_ = weight_;
  missing_.clear();
  by_begin_.clear();
  by_end_.clear();
  offsets_.assign(problem_.size(), kUnplaced);
  for (std::uint32_t item = 0; item < problem_.size(); ++item) {
    if (from.offsets[item] + problem_.items[item].bytes <= height) {
      put(item, from.offsets[item]);
    } else {
      missing_.push_back(item);
    }
  }
}

void EjectionSearch::put(std::uint32_t item, std::uint64_t offset) {
  offsets_[item] = offset;
  if (!is_ordered_) return;
  const auto insert = [item](std::vector<End>& ends, std::uint64_t at) {
    const End end{at, item};
    ends.insert(std::lower_bound(ends.begin(), ends.end(), end), end);
  };
  insert(by_begin_, offset);
  insert(by_end_, offset + problem_.items[item].bytes);
}

void EjectionSearch::take(std::uint32_t item) {
  const auto erase = [item](std::vector<End>& ends, std::uint64_t at) {
    ends.erase(std::lower_bound(ends.begin(), ends.end(), End{at, item}));
  };
  if (is_ordered_) {
    erase(by_begin_, offsets_[item]);
    erase(by_end_, offsets_[item] + problem_.items[item].bytes);
  }
  offsets_[item] = kUnplaced;
}

bool EjectionSearch::run(std::uint64_t steps, const std::function<bool()>& stop) {
  for (std::uint64_t step = 0; step < steps && !missing_.empty(); ++step) {
    if (step % 256 == 255 && stop && stop()) break;
    ++steps_;
    std::uint32_t& next = missing_[below(static_cast<std::uint32_t>(missing_.size()))];
    const std::uint32_t item = next;
    next = missing_.back();
    missing_.pop_back();
    place(item);
    shift_one();
  }
  return missing_.empty();
}

Packing EjectionSearch::packing() const {
  Packing packing;
  packing.offsets = offsets_;
  for (std::uint32_t item = 0; item < problem_.size(); ++item)
    packing.height = std::max(packing.height, offsets_[item] + problem_.items[item].bytes);
  return packing;
}

// The others that are placed, by offset. Without a branch for each one that is passed: none could
// be foreseen.
void EjectionSearch::list_around(std::uint32_t item) {
  around_count_ = 0;
  const auto list = [this](std::uint32_t other) {
    const std::uint64_t offset = offsets_[other];
    around_[around_count_] = {offset, offset + problem_.items[other].bytes, cost_[other], other};
  };
  if (!is_ordered_) {
    for (const std::uint32_t other : problem_.conflicts_of(item)) {
      list(other);
      around_count_ += offsets_[other] != kUnplaced ? 1 : 0;
    }
    const auto begin = around_.begin();
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(around_count_),
              [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    return;
  }
  for (const std::uint32_t other : listed_around_) is_around_[other] = 0;
  listed_around_ = problem_.conflicts_of(item);
  for (const std::uint32_t other : listed_around_) is_around_[other] = 1;
  for (const End& begin : by_begin_) {
    list(begin.item);
    around_count_ += is_around_[begin.item];
  }
}

// Of list_around().
void EjectionSearch::list_ends() {
  if (!is_ordered_) {
    for (std::size_t i = 0; i < around_count_; ++i) ends_[i] = {around_[i].end, around_[i].cost};
    std::sort(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(around_count_));
    return;
  }
  std::size_t count = 0;
  for (const End& end : by_end_) {
    ends_[count] = {end.at, cost_[end.item]};
    count += is_around_[end.item];
  }
}

template <class Visit>
void EjectionSearch::for_each_gap(std::uint32_t item, Visit visit) const {
  const PackItem& it = problem_.items[item];
  std::uint64_t top = 0;
  const auto see = [&](std::uint64_t end) {
    const std::uint64_t lowest = aligned_up(top, it.alignment);
    if (end >= it.bytes && lowest <= end - it.bytes)
      visit(lowest, (end - it.bytes) / it.alignment * it.alignment);
  };
  for (const Placed& placed : around()) {
    if (placed.begin > top) see(placed.begin);
    top = std::max(top, placed.end);
  }
  see(height_);
}

// At one end of the gap, or kUnplaced where there is none.
std::uint64_t EjectionSearch::tightest_gap(std::uint32_t item) {
  std::uint64_t least = kUnplaced, best = kUnplaced;
  for_each_gap(item, [&](std::uint64_t lowest, std::uint64_t highest) {
    if (highest - lowest >= least) return;
    least = highest - lowest;
    best = below(2) == 0 ? lowest : highest;
  });
  return best;
}

std::uint64_t EjectionSearch::any_gap(std::uint32_t item) {
  std::uint32_t gaps = 0;
  std::uint64_t chosen = kUnplaced;
  for_each_gap(item, [&](std::uint64_t lowest, std::uint64_t highest) {
    if (below(++gaps) == 0) chosen = below(2) == 0 ? lowest : highest;
  });
  return chosen;
}

// Beside another one, on the ground or at the top: where what lies there costs least.
std::uint64_t EjectionSearch::cheapest_place(std::uint32_t item) {
  const PackItem& it = problem_.items[item];
  const std::uint64_t highest = (height_ - it.bytes) / it.alignment * it.alignment;
  list_ends();
  double begun = 0, ended = 0, least = HUGE_VAL;
  std::uint64_t best = 0;
  std::uint32_t as_good = 0;
  std::size_t next_begin = 0, next_end = 0;
  const auto look = [&](std::uint64_t place) {  // places in ascending order
    for (; next_begin < around_count_ && around_[next_begin].begin < place + it.bytes; ++next_begin)
      begun += around_[next_begin].cost;
    for (; next_end < around_count_ && ends_[next_end].first <= place; ++next_end)
      ended += ends_[next_end].second;
    const double cost = begun - ended, same = 1e-9 * begun;
    if (cost < least - same) {
      as_good = 1;
    } else if (cost > least + same || below(++as_good) != 0) {
      return;
    }
    least = std::min(least, cost);
    best = place;
  };
  look(0);
  for (std::size_t i = 0; i < around_count_; ++i) {
    const std::uint64_t above = aligned_up(ends_[i].first, it.alignment);
    if (above > highest) break;
    look(above);
  }
  begun = ended = 0;
  next_begin = next_end = 0;
  for (const Placed& placed : around()) {
    if (placed.begin >= it.bytes) look((placed.begin - it.bytes) / it.alignment * it.alignment);
  }
  look(highest);
  return best;
}

void EjectionSearch::place(std::uint32_t item) {
  list_around(item);
  std::uint64_t offset = tightest_gap(item);
  if (offset == kUnplaced) {
    cost_[item] += weight_[item];
    offset = cheapest_place(item);
    for (const Placed& placed : around()) {
      if (placed.begin >= offset + problem_.items[item].bytes || placed.end <= offset) continue;
      take(placed.item);
      missing_.push_back(placed.item);
    }
  }
  put(item, offset);
}

// One that is there goes to another gap, or to the other end of its own.
void EjectionSearch::shift_one() {
  const std::uint32_t item = below(problem_.size());
  if (offsets_[item] == kUnplaced) return;
  list_around(item);
  const std::uint64_t offset = any_gap(item);
  if (offset == kUnplaced || offset == offsets_[item]) return;
  take(item);
  put(item, offset);
}

std::uint32_t EjectionSearch::below(std::uint32_t limit) {
  return static_cast<std::uint32_t>(((random_.next() >> 32) * limit) >> 32);
}

}  // namespace reprise::detail
