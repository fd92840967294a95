#include "planner/ejection_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/aligned_up.hpp"

namespace reprise::detail {

namespace {

// Up to this ratio of items to conflicts per item, scanning all placed items in order is faster
// than sorting the conflicting ones.
constexpr std::size_t kMaxScannedPerConflict = 12;

}  // namespace

EjectionSearch::EjectionSearch(const PackProblem& problem, std::uint64_t seed)
    : problem_(problem),
      random_(seed),
      is_ordered_(std::size_t{problem.size()} * problem.size() <=
                  kMaxScannedPerConflict * problem.conflicts.size()),
      cost_(problem.size()),
      neighbours_(problem.size() + std::size_t{1}),
      neighbour_ends_(problem.size() + std::size_t{1}) {
  weight_.reserve(problem.size());
  for (std::uint32_t item = 0; item < problem.size(); ++item) {
    double lifetime = 0;  // in cliques
    for (const IndexRange& range : problem.ranges_of(item)) lifetime += range.end - range.begin;
    weight_.push_back(std::sqrt(lifetime * static_cast<double>(problem.items[item].bytes)));
  }
  if (is_ordered_) is_neighbour_.assign(problem.size(), 0);
}

void EjectionSearch::start(const Packing& from, std::uint64_t capacity) {
  capacity_ = capacity;
  cost_ = weight_;
  unplaced_.clear();
  begins_.clear();
  ends_.clear();
  offsets_.assign(problem_.size(), kUnplaced);
  for (std::uint32_t item = 0; item < problem_.size(); ++item) {
    if (from.offsets[item] + problem_.items[item].bytes <= capacity) {
      put(item, from.offsets[item]);
    } else {
      unplaced_.push_back(item);
    }
  }
}

void EjectionSearch::put(std::uint32_t item, std::uint64_t offset) {
  offsets_[item] = offset;
  if (!is_ordered_) return;
  const auto add = [item](std::vector<Boundary>& boundaries, std::uint64_t at) {
    const Boundary boundary{at, item};
    boundaries.insert(std::lower_bound(boundaries.begin(), boundaries.end(), boundary), boundary);
  };
  add(begins_, offset);
  add(ends_, offset + problem_.items[item].bytes);
}

void EjectionSearch::remove(std::uint32_t item) {
  const auto erase = [item](std::vector<Boundary>& boundaries, std::uint64_t at) {
    boundaries.erase(std::lower_bound(boundaries.begin(), boundaries.end(), Boundary{at, item}));
  };
  if (is_ordered_) {
    erase(begins_, offsets_[item]);
    erase(ends_, offsets_[item] + problem_.items[item].bytes);
  }
  offsets_[item] = kUnplaced;
}

bool EjectionSearch::run(std::uint64_t steps, const std::function<bool()>& stop) {
  for (std::uint64_t step = 0; step < steps && !unplaced_.empty(); ++step) {
    if (step % 256 == 255 && stop && stop()) break;
    ++steps_;
    std::uint32_t& next = unplaced_[below(static_cast<std::uint32_t>(unplaced_.size()))];
    const std::uint32_t item = next;
    next = unplaced_.back();
    unplaced_.pop_back();
    insert(item);
    shift_random_item();
  }
  return unplaced_.empty();
}

Packing EjectionSearch::packing() const {
  Packing packing;
  packing.offsets = offsets_;
  for (std::uint32_t item = 0; item < problem_.size(); ++item)
    packing.peak_bytes = std::max(packing.peak_bytes, offsets_[item] + problem_.items[item].bytes);
  return packing;
}

// Lists the placed items that conflict with `item`, by offset. The loops write every candidate and
// advance conditionally, because a branch for each candidate would be unpredictable.
void EjectionSearch::list_neighbours(std::uint32_t item) {
  neighbour_count_ = 0;
  const auto write = [this](std::uint32_t other) {
    const std::uint64_t offset = offsets_[other];
    neighbours_[neighbour_count_] = {offset, offset + problem_.items[other].bytes, cost_[other],
                                     other};
  };
  if (!is_ordered_) {
    for (const std::uint32_t other : problem_.conflicts_of(item)) {
      write(other);
      neighbour_count_ += offsets_[other] != kUnplaced ? 1 : 0;
    }
    const auto begin = neighbours_.begin();
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(neighbour_count_),
              [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    return;
  }
  for (const std::uint32_t other : listed_neighbours_) is_neighbour_[other] = 0;
  listed_neighbours_ = problem_.conflicts_of(item);
  for (const std::uint32_t other : listed_neighbours_) is_neighbour_[other] = 1;
  for (const Boundary& begin : begins_) {
    write(begin.item);
    neighbour_count_ += is_neighbour_[begin.item];
  }
}

// Fills neighbour_ends_ for the neighbours of the last list_neighbours().
void EjectionSearch::list_ends() {
  if (!is_ordered_) {
    for (std::size_t i = 0; i < neighbour_count_; ++i)
      neighbour_ends_[i] = {neighbours_[i].end, neighbours_[i].cost};
    std::sort(neighbour_ends_.begin(),
              neighbour_ends_.begin() + static_cast<std::ptrdiff_t>(neighbour_count_));
    return;
  }
  std::size_t count = 0;
  for (const Boundary& end : ends_) {
    neighbour_ends_[count] = {end.offset, cost_[end.item]};
    count += is_neighbour_[end.item];
  }
}

template <class Visit>
void EjectionSearch::for_each_gap(std::uint32_t item, Visit visit) const {
  const PackItem& it = problem_.items[item];
  std::uint64_t top = 0;
  const auto visit_gap_below = [&](std::uint64_t end) {
    const std::uint64_t min_offset = aligned_up(top, it.alignment);
    if (end >= it.bytes && min_offset <= end - it.bytes)
      visit(min_offset, (end - it.bytes) / it.alignment * it.alignment);
  };
  for (const Placed& placed : neighbours()) {
    if (placed.begin > top) visit_gap_below(placed.begin);
    top = std::max(top, placed.end);
  }
  visit_gap_below(capacity_);
}

// The lowest or highest offset in the smallest gap, at random; kUnplaced if no gap is large enough.
std::uint64_t EjectionSearch::best_fit_gap(std::uint32_t item) {
  std::uint64_t min_slack = kUnplaced, best = kUnplaced;
  for_each_gap(item, [&](std::uint64_t min_offset, std::uint64_t max_offset) {
    if (max_offset - min_offset >= min_slack) return;
    min_slack = max_offset - min_offset;
    best = below(2) == 0 ? min_offset : max_offset;
  });
  return best;
}

std::uint64_t EjectionSearch::random_gap(std::uint32_t item) {
  std::uint32_t gaps = 0;
  std::uint64_t chosen = kUnplaced;
  for_each_gap(item, [&](std::uint64_t min_offset, std::uint64_t max_offset) {
    if (below(++gaps) == 0) chosen = below(2) == 0 ? min_offset : max_offset;
  });
  return chosen;
}

// The offset at which the total cost of overlapping neighbours is minimal. Candidates are offset 0,
// the top of the capacity, and both sides of every neighbour.
std::uint64_t EjectionSearch::cheapest_offset(std::uint32_t item) {
  const PackItem& it = problem_.items[item];
  const std::uint64_t max_offset = (capacity_ - it.bytes) / it.alignment * it.alignment;
  list_ends();
  double begun = 0, ended = 0, min_cost = HUGE_VAL;
  std::uint64_t best = 0;
  std::uint32_t ties = 0;
  std::size_t next_begin = 0, next_end = 0;
  const auto consider = [&](std::uint64_t offset) {  // called with ascending offsets
    for (; next_begin < neighbour_count_ && neighbours_[next_begin].begin < offset + it.bytes;
         ++next_begin)
      begun += neighbours_[next_begin].cost;
    for (; next_end < neighbour_count_ && neighbour_ends_[next_end].first <= offset; ++next_end)
      ended += neighbour_ends_[next_end].second;
    const double cost = begun - ended, tolerance = 1e-9 * begun;
    if (cost < min_cost - tolerance) {
      ties = 1;
    } else if (cost > min_cost + tolerance || below(++ties) != 0) {
      return;
    }
    min_cost = std::min(min_cost, cost);
    best = offset;
  };
  consider(0);
  for (std::size_t i = 0; i < neighbour_count_; ++i) {
    const std::uint64_t above = aligned_up(neighbour_ends_[i].first, it.alignment);
    if (above > max_offset) break;
    consider(above);
  }
  begun = ended = 0;
  next_begin = next_end = 0;
  for (const Placed& placed : neighbours()) {
    if (placed.begin >= it.bytes) consider((placed.begin - it.bytes) / it.alignment * it.alignment);
  }
  consider(max_offset);
  return best;
}

void EjectionSearch::insert(std::uint32_t item) {
  list_neighbours(item);
  std::uint64_t offset = best_fit_gap(item);
  if (offset == kUnplaced) {
    cost_[item] += weight_[item];
    offset = cheapest_offset(item);
    for (const Placed& placed : neighbours()) {
      if (placed.begin >= offset + problem_.items[item].bytes || placed.end <= offset) continue;
      remove(placed.item);
      unplaced_.push_back(placed.item);
    }
  }
  put(item, offset);
}

// Moves a random placed item to a random gap, which can be the other end of its own gap.
void EjectionSearch::shift_random_item() {
  const std::uint32_t item = below(problem_.size());
  if (offsets_[item] == kUnplaced) return;
  list_neighbours(item);
  const std::uint64_t offset = random_gap(item);
  if (offset == kUnplaced || offset == offsets_[item]) return;
  remove(item);
  put(item, offset);
}

std::uint32_t EjectionSearch::below(std::uint32_t limit) {
  return static_cast<std::uint32_t>(((random_.next() >> 32) * limit) >> 32);
}

}  // namespace reprise::detail
