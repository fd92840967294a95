#include "planner/pack_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/aligned_up.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kNoIndex = 0xffffffffu;

// `Bytes` counts units of memory. The 32-bit version is faster, because a search spends most of its
// time in the loop over cliques.
template <class Bytes>
class PackSearch {
 public:
  PackSearch(const PackProblem& problem, const SearchDesc& desc, std::uint64_t unit,
             std::uint64_t common_alignment)
      : problem_(problem),
        desc_(desc),
        unit_(unit),
        capacity_(static_cast<Bytes>(desc.capacity / unit)),
        min_offset_(problem.size(), 0),
        is_placed_(problem.size(), 0),
        rank_(problem.size()),
        deferred_at_(problem.size(), -1),
        cliques_(problem.clique_count) {
    for (std::uint32_t item = 0; item < problem.size(); ++item) {
      size_.push_back(static_cast<Bytes>(problem.items[item].bytes / unit));
      alignment_.push_back(
          static_cast<Bytes>(std::max<std::uint64_t>(problem.items[item].alignment / unit, 1)));
      pitch_.push_back(
          static_cast<Bytes>(aligned_up(problem.items[item].bytes, common_alignment) / unit));
      max_padding_ = std::max<Bytes>(max_padding_, pitch_.back() - size_.back());
    }
    for (std::uint32_t i = 0; i < desc.order.size(); ++i) rank_[desc.order[i]] = i + 1;
  }

  SearchResult run() {
    SearchResult result;
    std::vector<std::uint32_t> all(problem_.size());
    std::iota(all.begin(), all.end(), 0u);
    if (problem_.is_interval) {
      std::stable_sort(all.begin(), all.end(), [this](std::uint32_t a, std::uint32_t b) {
        return range(a).begin < range(b).begin;
      });
    }
    members_ = all;
    const bool is_found = solve_groups(0);
    result.steps = steps_;
    result.outcome = is_found            ? SearchOutcome::Found
                     : budget_exhausted_ ? SearchOutcome::BudgetExhausted
                                         : SearchOutcome::Infeasible;
    if (!is_found) return result;
    for (std::uint32_t item = 0; item < problem_.size(); ++item) {
      result.packing.offsets.push_back(static_cast<std::uint64_t>(min_offset_[item]) * unit_);
      result.packing.peak_bytes = std::max(
          result.packing.peak_bytes, result.packing.offsets.back() + problem_.items[item].bytes);
    }
    return result;
  }

 private:
  struct Open {
    Bytes offset = 0;
    std::uint32_t item = 0;
    bool may_rest = false;  // at this offset; not excluded so far
  };
  struct Change {
    std::uint32_t item = 0;
    Bytes before = 0;
  };
  static constexpr Bytes kNever = std::numeric_limits<Bytes>::max();

  const IndexRange& range(std::uint32_t item) const { return problem_.ranges[item]; }
  // The search failed with the item at its minimum offset; another item must lift it first.
  bool is_deferred(std::uint32_t item) const { return deferred_at_[item] == min_offset_[item]; }

  // Solves the independent groups of members_[first..) one after the other and removes them from
  // members_.
  bool solve_groups(std::size_t first) {
    const std::size_t last = members_.size();
    bool is_found = true;
    for (std::size_t begin = first; begin < last && is_found;) {
      std::size_t end = last;
      if (problem_.is_interval) {
        std::uint32_t reach = range(members_[begin]).end;
        for (end = begin + 1; end < last && range(members_[end]).begin < reach; ++end)
          reach = std::max(reach, range(members_[end]).end);
      }
      is_found = solve(begin, end);
      begin = end;
    }
    members_.resize(first);
    return is_found;
  }

  bool solve(std::size_t begin, std::size_t end) {
    const std::size_t first_deferral = deferrals_.size();
    bool is_found = false;
    while (!is_found) {
      if (++steps_ > desc_.max_steps || (steps_ % 256 == 0 && desc_.stop && desc_.stop()))
        budget_exhausted_ = true;
      if (budget_exhausted_ || !list_open(begin, end) || !all_cliques_fit()) break;
      const std::uint32_t next = choose();
      is_found = try_next(next, begin, end);
      if (is_found) break;
      deferrals_.push_back({next, deferred_at_[next]});
      deferred_at_[next] = min_offset_[next];
    }
    while (deferrals_.size() > first_deferral) {
      deferred_at_[deferrals_.back().item] = deferrals_.back().before;
      deferrals_.pop_back();
    }
    return is_found;
  }

  // Fills open_ with the members, by offset. Returns false if a deferred item cannot be lifted.
  bool list_open(std::size_t begin, std::size_t end) {
    open_.clear();
    min_rest_ = min_end_ = kNever;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t item = members_[i];
      if (is_deferred(item)) continue;
      min_rest_ = std::min(min_rest_, min_offset_[item]);
      min_end_ = std::min<Bytes>(min_end_, min_offset_[item] + size_[item]);
    }
    if (min_rest_ == kNever) return false;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t item = members_[i];
      const bool may_rest = !is_deferred(item);
      const Bytes offset = may_rest ? min_offset_[item] : lifted(item);
      if (offset > capacity_ - size_[item]) return false;
      open_.push_back({offset, item, may_rest});
    }
    std::sort(open_.begin(), open_.end(),
              [](const Open& a, const Open& b) { return a.offset < b.offset; });
    return true;
  }

  // The minimum offset of a deferred item: above an item that starts below its end, because
  // otherwise it could rest at its old offset. kNever if no such item exists.
  Bytes lifted(std::uint32_t item) const {
    const Bytes end = min_offset_[item] + size_[item];
    Bytes offset = kNever;
    for (const std::uint32_t other : problem_.conflicts_of(item)) {
      if (is_placed_[other] != 0) continue;
      const Bytes begin = is_deferred(other) ? std::max(min_offset_[other], min_end_)
                                             : std::max(min_offset_[other], min_rest_);
      if (begin < end) offset = std::min<Bytes>(offset, begin + size_[other]);
    }
    return offset;
  }

  // Returns false if the open items of a clique exceed the capacity. Fills cliques_ for choose().
  bool all_cliques_fit() {
    std::uint32_t first = problem_.clique_count, last = 0;
    for (const Open& open : open_) {
      const auto ranges = problem_.ranges_of(open.item);
      first = std::min(first, ranges.front().begin);
      last = std::max(last, ranges.back().end);
    }
    first_clique_ = first;
    last_clique_ = last;
    std::fill(cliques_.begin() + first, cliques_.begin() + last, CliqueState{});
    for (const Open& open : open_) {
      const Bytes pitch = pitch_[open.item];
      const bool is_lowest = open.may_rest && open.offset == min_rest_;
      for (const IndexRange& range : problem_.ranges_of(open.item)) {
        for (std::uint32_t s = range.begin; s < range.end; ++s) {
          CliqueState& clique = cliques_[s];
          clique.end = std::max(clique.end, open.offset) + pitch;
          clique.remaining += pitch;
          clique.lowest += is_lowest ? 1 : 0;
          clique.next = std::min(clique.next, is_lowest ? kNever : open.offset);
        }
      }
    }
    Bytes max_end = 0;
    for (std::uint32_t s = first; s < last; ++s) max_end = std::max(max_end, cliques_[s].end);
    return max_end <= capacity_ + max_padding_;  // the topmost item needs no padding
  }

  // Selects one of the items that may rest at the minimum offset. If some clique needs such an
  // item, selects from the clique with the fewest candidates, otherwise from all. The lowest rank
  // wins.
  std::uint32_t choose() const {
    std::uint32_t constrained = kNoIndex, fewest = kNoIndex;
    Bytes min_spare = kNever;
    for (std::uint32_t s = first_clique_; s < last_clique_; ++s) {
      const CliqueState& clique = cliques_[s];
      if (clique.lowest == 0) continue;
      // The bytes that the clique can leave empty here; negative: it needs one of these items.
      const Bytes spare =
          capacity_ + max_padding_ - clique.remaining - std::min(clique.next, min_end_);
      const std::uint32_t candidates = spare < 0 ? clique.lowest : kNoIndex;
      if (candidates < fewest || (candidates == fewest && spare < min_spare)) {
        constrained = s;
        fewest = candidates;
        min_spare = spare;
      }
    }
    std::uint32_t best = kNoIndex;
    for (const Open& open : open_) {
      if (open.offset > min_rest_) break;
      if (!open.may_rest || (best != kNoIndex && rank_[best] <= rank_[open.item])) continue;
      if (constrained == kNoIndex || is_in(open.item, constrained)) best = open.item;
    }
    return best;
  }
  bool is_in(std::uint32_t item, std::uint32_t clique) const {
    for (const IndexRange& range : problem_.ranges_of(item)) {
      if (range.begin <= clique && clique < range.end) return true;
    }
    return false;
  }

  bool try_next(std::uint32_t next, std::size_t begin, std::size_t end) {
    const std::size_t first_change = changes_.size(), first_placed = placed_.size(),
                      first_member = members_.size();
    place(next);
    for (std::size_t i = begin; i < end; ++i) {
      if (members_[i] != next) members_.push_back(members_[i]);
    }
    if (solve_groups(first_member)) return true;
    while (changes_.size() > first_change) {
      min_offset_[changes_.back().item] = changes_.back().before;
      changes_.pop_back();
    }
    while (placed_.size() > first_placed) {
      is_placed_[placed_.back()] = 0;
      placed_.pop_back();
    }
    return false;
  }

  void place(std::uint32_t item) {
    is_placed_[item] = 1;
    placed_.push_back(item);
    const Bytes top = min_offset_[item] + size_[item];
    for (const std::uint32_t other : problem_.conflicts_of(item)) {
      if (is_placed_[other] != 0 || min_offset_[other] >= top) continue;
      changes_.push_back({other, min_offset_[other]});
      const Bytes alignment = alignment_[other];
      min_offset_[other] = aligned_up(top, alignment);
    }
  }

  const PackProblem& problem_;
  const SearchDesc& desc_;
  std::uint64_t unit_;
  Bytes capacity_;
  std::vector<Bytes> size_, alignment_;  // by item
  std::vector<Bytes> min_offset_;        // by item; final once the item is placed
  std::vector<Bytes> pitch_;  // by item: distance from its offset to the minimum offset above it
  Bytes max_padding_ = 0;     // maximum difference of pitch and size
  std::vector<std::uint8_t> is_placed_;
  std::vector<std::uint32_t> rank_;
  std::vector<Bytes> deferred_at_;  // by item: the offset of the last deferral
  // State of one step: members by offset, the minimum resting offset, the minimum end of a resting
  // item, and the cliques.
  struct CliqueState {
    Bytes end = 0;             // minimum end of its open items
    Bytes remaining = 0;       // bytes of its open items
    Bytes next = kNever;       // minimum offset of items that may not rest at min_rest_
    std::uint32_t lowest = 0;  // number of items that may rest at min_rest_
  };
  std::vector<Open> open_;
  Bytes min_rest_ = 0, min_end_ = 0;
  std::vector<CliqueState> cliques_;
  std::uint32_t first_clique_ = 0, last_clique_ = 0;
  // Stacks: each step pops what it pushed.
  std::vector<std::uint32_t> members_, placed_;
  std::vector<Change> changes_, deferrals_;
  std::uint64_t steps_ = 0;
  bool budget_exhausted_ = false;
};

}  // namespace

SearchResult search_packing(const PackProblem& problem, const SearchDesc& desc) {
  std::uint64_t unit = 0, sum = 0, max_alignment = 1, common_alignment = 0;
  for (const PackItem& item : problem.items) {
    unit = std::gcd(unit, item.bytes);
    if (item.alignment != 1) unit = std::gcd(unit, item.alignment);
    sum += aligned_up(item.bytes, item.alignment);
    max_alignment = std::max(max_alignment, item.alignment);
    common_alignment = std::gcd(common_alignment, item.alignment);
  }
  unit = std::max<std::uint64_t>(unit, 1);
  common_alignment = std::max<std::uint64_t>(common_alignment, 1);
  const std::uint64_t max_units = (std::max(sum, desc.capacity) + max_alignment) / unit;
  if (max_units < static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max() / 2)) {
    return PackSearch<std::int32_t>(problem, desc, unit, common_alignment).run();
  }
  return PackSearch<std::int64_t>(problem, desc, unit, common_alignment).run();
}

}  // namespace reprise::detail
