#include "memory/ejection_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "memory/greedy_pack.hpp"

namespace reprise::detail {

EjectionSearch::EjectionSearch(const PackProblem& problem, std::uint64_t seed) : problem_(problem), random_(seed), times_(problem.size(), 1.0) {
  weight_.reserve(problem.size());
  for (std::uint32_t item = 0; item < problem.size(); ++item) {
    double sections = 0;
    for (const IndexRange& range : problem.ranges_of(item)) sections += range.end - range.begin;
    weight_.push_back(std::sqrt(sections * static_cast<double>(problem.items[item].bytes)));
  }
}

void EjectionSearch::begin(const Packing& from, std::uint64_t height) {
  height_ = height;
  offsets_ = from.offsets;
  std::fill(times_.begin(), times_.end(), 1.0);
  missing_.clear();
  for (std::uint32_t item = 0; item < problem_.size(); ++item) {
    if (offsets_[item] + problem_.items[item].bytes <= height) continue;
    offsets_[item] = kUnplaced;
    missing_.push_back(item);
  }
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
  for (std::uint32_t item = 0; item < problem_.size(); ++item) packing.height = std::max(packing.height, offsets_[item] + problem_.items[item].bytes);
  return packing;
}

void EjectionSearch::list_around(std::uint32_t item) {
  around_.clear();
  for (const std::uint32_t other : problem_.conflicts_of(item)) {
    const std::uint64_t offset = offsets_[other];
    if (offset != kUnplaced) around_.push_back({offset, offset + problem_.items[other].bytes, weight_[other] * times_[other], other});
  }
  std::sort(around_.begin(), around_.end(), [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
}

template <class Visit>
void EjectionSearch::for_each_gap(std::uint32_t item, Visit visit) const {
  const PackItem& it = problem_.items[item];
  std::uint64_t top = 0;
  const auto see = [&](std::uint64_t end) {
    const std::uint64_t lowest = aligned_up(top, it.alignment);
    if (end >= it.bytes && lowest <= end - it.bytes) visit(lowest, (end - it.bytes) / it.alignment * it.alignment);
  };
  for (const Placed& placed : around_) {
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
  ends_.clear();
  places_.assign({0, highest});
  for (const Placed& placed : around_) {
    ends_.emplace_back(placed.end, placed.cost);
    const std::uint64_t above = aligned_up(placed.end, it.alignment);
    if (above <= highest) places_.push_back(above);
    if (placed.begin >= it.bytes) places_.push_back((placed.begin - it.bytes) / it.alignment * it.alignment);
  }
  std::sort(ends_.begin(), ends_.end());
  std::sort(places_.begin(), places_.end());
  double begun = 0, ended = 0, least = HUGE_VAL;
  std::uint64_t best = 0;
  std::uint32_t as_good = 0;
  std::size_t next_begin = 0, next_end = 0;
  for (const std::uint64_t place : places_) {
    for (; next_begin < around_.size() && around_[next_begin].begin < place + it.bytes; ++next_begin) begun += around_[next_begin].cost;
    for (; next_end < ends_.size() && ends_[next_end].first <= place; ++next_end) ended += ends_[next_end].second;
    const double cost = begun - ended, same = 1e-9 * begun;
    if (cost < least - same) {
      as_good = 1;
    } else if (cost > least + same || below(++as_good) != 0) {
      continue;
    }
    least = std::min(least, cost);
    best = place;
  }
  return best;
}

void EjectionSearch::place(std::uint32_t item) {
  list_around(item);
  std::uint64_t offset = tightest_gap(item);
  if (offset == kUnplaced) {
    times_[item] += 1;
    offset = cheapest_place(item);
    for (const Placed& placed : around_) {
      if (placed.begin >= offset + problem_.items[item].bytes || placed.end <= offset) continue;
      offsets_[placed.item] = kUnplaced;
      missing_.push_back(placed.item);
    }
  }
  offsets_[item] = offset;
}

// One that is there goes to another gap, or to the other end of its own.
void EjectionSearch::shift_one() {
  const std::uint32_t item = below(problem_.size());
  if (offsets_[item] == kUnplaced) return;
  list_around(item);
  const std::uint64_t offset = any_gap(item);
  if (offset != kUnplaced) offsets_[item] = offset;
}

std::uint32_t EjectionSearch::below(std::uint32_t limit) { return static_cast<std::uint32_t>(((random_.next() >> 32) * limit) >> 32); }

}  // namespace reprise::detail
