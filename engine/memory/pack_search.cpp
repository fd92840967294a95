#include "memory/pack_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace reprise::detail {

namespace {

// Bytes counts units of memory; int where they fit, since the walk over sections is what a search spends its time on.
template <class Bytes>
class PackSearch {
 public:
  PackSearch(const PackProblem& problem, const SearchDesc& desc, std::uint64_t unit, std::uint64_t common_alignment)
      : problem_(problem),
        desc_(desc),
        unit_(unit),
        height_(static_cast<Bytes>(desc.height / unit)),
        lowest_(problem.size(), 0),
        is_placed_(problem.size(), 0),
        rank_(problem.size()),
        ends_(problem.sections) {
    for (std::uint32_t item = 0; item < problem.size(); ++item) {
      size_.push_back(static_cast<Bytes>(problem.items[item].bytes / unit));
      alignment_.push_back(static_cast<Bytes>(std::max<std::uint64_t>(problem.items[item].alignment / unit, 1)));
      pitch_.push_back(static_cast<Bytes>(aligned_up(problem.items[item].bytes, common_alignment) / unit));
      most_more_ = std::max<Bytes>(most_more_, pitch_.back() - size_.back());
    }
    for (std::uint32_t i = 0; i < desc.order.size(); ++i) rank_[desc.order[i]] = i + 1;
  }

  SearchResult run() {
    SearchResult result;
    std::vector<std::uint32_t> all(problem_.size());
    std::iota(all.begin(), all.end(), 0u);
    if (problem_.is_interval) {
      std::stable_sort(all.begin(), all.end(), [this](std::uint32_t a, std::uint32_t b) { return range(a).begin < range(b).begin; });
    }
    members_ = all;
    const bool is_found = solve_groups(0, {0, 0});
    result.steps = steps_;
    result.outcome = is_found ? SearchOutcome::Found : gave_up_ ? SearchOutcome::GaveUp : SearchOutcome::Impossible;
    if (!is_found) return result;
    for (std::uint32_t item = 0; item < problem_.size(); ++item) {
      result.packing.offsets.push_back(static_cast<std::uint64_t>(lowest_[item]) * unit_);
      result.packing.height = std::max(result.packing.height, result.packing.offsets.back() + problem_.items[item].bytes);
    }
    return result;
  }

 private:
  // A place in the order of offsets: everything from here on comes after it.
  struct Level {
    Bytes offset = 0;
    std::uint32_t rank = 0;
  };
  struct Open {
    Bytes offset = 0;
    std::uint32_t rank = 0, item = 0;
    bool is_passed = false;  // has to be lifted
  };
  struct Change {
    std::uint32_t item = 0;
    Bytes lowest = 0;
  };

  const IndexRange& range(std::uint32_t item) const { return problem_.ranges[item]; }

  // Solves members_[first..), one independent group after the other; takes them off members_.
  bool solve_groups(std::size_t first, Level level) {
    const std::size_t last = members_.size();
    bool is_found = true;
    for (std::size_t begin = first; begin < last && is_found;) {
      std::size_t end = last;
      if (problem_.is_interval) {
        std::uint32_t reach = range(members_[begin]).end;
        for (end = begin + 1; end < last && range(members_[end]).begin < reach; ++end) reach = std::max(reach, range(members_[end]).end);
      }
      is_found = solve(begin, end, level);
      begin = end;
    }
    members_.resize(first);
    return is_found;
  }

  bool solve(std::size_t begin, std::size_t end, Level level) {
    if (++steps_ > desc_.max_steps || (steps_ % 256 == 0 && desc_.stop && desc_.stop())) gave_up_ = true;
    if (gave_up_) return false;
    const std::size_t first_open = open_.size();
    const Bytes limit = list_open(begin, end, level);
    bool is_found = false;
    if (all_sections_end(first_open)) {
      const std::size_t last_open = open_.size();
      for (std::size_t i = first_open; i < last_open && !is_found && !gave_up_; ++i) {
        const Open next = open_[i];
        if (next.offset >= limit) break;  // whoever ends below it could have gone there first
        if (!next.is_passed) is_found = try_next(next, begin, end);
      }
    }
    open_.resize(first_open);
    return is_found;
  }

  // Appends the members to open_, by offset and rank; gives the lowest end that any item from here on can have.
  Bytes list_open(std::size_t begin, std::size_t end, Level level) {
    const std::size_t first = open_.size();
    Bytes limit = std::numeric_limits<Bytes>::max();
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t item = members_[i];
      const Bytes lowest = lowest_[item];
      const bool is_passed = lowest < level.offset || (lowest == level.offset && rank_[item] < level.rank);
      if (!is_passed) limit = std::min<Bytes>(limit, lowest + size_[item]);
      open_.push_back({lowest, rank_[item], item, is_passed});
    }
    for (std::size_t i = first; i < open_.size(); ++i) {
      if (open_[i].is_passed) open_[i].offset = std::max(open_[i].offset, limit);
    }
    std::sort(open_.begin() + static_cast<std::ptrdiff_t>(first), open_.end(),
              [](const Open& a, const Open& b) { return a.offset != b.offset ? a.offset < b.offset : a.rank < b.rank; });
    return limit;
  }

  bool all_sections_end(std::size_t first_open) {
    std::uint32_t first = problem_.sections, last = 0;
    for (std::size_t i = first_open; i < open_.size(); ++i) {
      const auto ranges = problem_.ranges_of(open_[i].item);
      first = std::min(first, ranges.front().begin);
      last = std::max(last, ranges.back().end);
    }
    Bytes* const ends = ends_.data();
    std::fill(ends + first, ends + last, Bytes{0});
    for (std::size_t i = first_open; i < open_.size(); ++i) {
      const Bytes offset = open_[i].offset, pitch = pitch_[open_[i].item];
      if (offset > height_ - size_[open_[i].item]) return false;
      for (const IndexRange& range : problem_.ranges_of(open_[i].item)) {
        for (std::uint32_t s = range.begin; s < range.end; ++s) ends[s] = (ends[s] < offset ? offset : ends[s]) + pitch;
      }
    }
    Bytes most = 0;
    for (std::uint32_t s = first; s < last; ++s) most = ends[s] < most ? most : ends[s];
    return most <= height_ + most_more_;  // the topmost needs no more than its size
  }

  bool try_next(const Open& next, std::size_t begin, std::size_t end) {
    const std::size_t first_change = changes_.size(), first_placed = placed_.size(), first_member = members_.size();
    place(next.item);
    for (std::size_t i = begin; i < end; ++i) {
      if (members_[i] != next.item) members_.push_back(members_[i]);
    }
    if (solve_groups(first_member, {next.offset, next.rank})) return true;
    while (changes_.size() > first_change) {
      lowest_[changes_.back().item] = changes_.back().lowest;
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
    const Bytes top = lowest_[item] + size_[item];
    for (const std::uint32_t other : problem_.conflicts_of(item)) {
      if (is_placed_[other] != 0 || lowest_[other] >= top) continue;
      changes_.push_back({other, lowest_[other]});
      const Bytes alignment = alignment_[other];
      lowest_[other] = alignment == 1 ? top : (top + alignment - 1) / alignment * alignment;
    }
  }

  const PackProblem& problem_;
  const SearchDesc& desc_;
  std::uint64_t unit_;
  Bytes height_;
  std::vector<Bytes> size_, alignment_, lowest_;  // by item; the lowest offset, final once it is placed
  std::vector<Bytes> pitch_;                      // by item: from its offset to the lowest one that something above it can have
  Bytes most_more_ = 0;                           // of a pitch than of a size
  std::vector<std::uint8_t> is_placed_;
  std::vector<std::uint32_t> rank_;
  std::vector<Bytes> ends_;  // by section
  // Stacks: each step takes off what it put on.
  std::vector<std::uint32_t> members_, placed_;
  std::vector<Open> open_;
  std::vector<Change> changes_;
  std::uint64_t steps_ = 0;
  bool gave_up_ = false;
};

}  // namespace

SearchResult search_packing(const PackProblem& problem, const SearchDesc& desc) {
  std::uint64_t unit = 0, sum = 0, most_alignment = 1, common_alignment = 0;
  for (const PackItem& item : problem.items) {
    unit = std::gcd(unit, item.bytes);
    if (item.alignment != 1) unit = std::gcd(unit, item.alignment);
    sum += aligned_up(item.bytes, item.alignment);
    most_alignment = std::max(most_alignment, item.alignment);
    common_alignment = std::gcd(common_alignment, item.alignment);
  }
  unit = std::max<std::uint64_t>(unit, 1);
  common_alignment = std::max<std::uint64_t>(common_alignment, 1);
  const std::uint64_t most = (std::max(sum, desc.height) + most_alignment) / unit;
  if (most < static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max() / 2)) {
    return PackSearch<std::int32_t>(problem, desc, unit, common_alignment).run();
  }
  return PackSearch<std::int64_t>(problem, desc, unit, common_alignment).run();
}

}  // namespace reprise::detail
