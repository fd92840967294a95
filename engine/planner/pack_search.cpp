#include "planner/pack_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace reprise::detail {

namespace {

constexpr std::uint32_t kNowhere = 0xffffffffu;

// Bytes counts units of memory; int where they fit, since the walk over sections is what a search
// spends its time on.
template <class Bytes>
class PackSearch {
 public:
  PackSearch(const PackProblem& problem, const SearchDesc& desc, std::uint64_t unit,
             std::uint64_t common_alignment)
      : problem_(problem),
        desc_(desc),
        unit_(unit),
        height_(static_cast<Bytes>(desc.height / unit)),
        lowest_(problem.size(), 0),
        is_placed_(problem.size(), 0),
        rank_(problem.size()),
        passed_at_(problem.size(), -1),
        sections_(problem.sections) {
    for (std::uint32_t item = 0; item < problem.size(); ++item) {
      size_.push_back(static_cast<Bytes>(problem.items[item].bytes / unit));
      alignment_.push_back(
          static_cast<Bytes>(std::max<std::uint64_t>(problem.items[item].alignment / unit, 1)));
      pitch_.push_back(
          static_cast<Bytes>(aligned_up(problem.items[item].bytes, common_alignment) / unit));
      most_more_ = std::max<Bytes>(most_more_, pitch_.back() - size_.back());
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
    result.outcome = is_found   ? SearchOutcome::Found
                     : gave_up_ ? SearchOutcome::BudgetExhausted
                                : SearchOutcome::Impossible;
    if (!is_found) return result;
    for (std::uint32_t item = 0; item < problem_.size(); ++item) {
      result.packing.offsets.push_back(static_cast<std::uint64_t>(lowest_[item]) * unit_);
      result.packing.height = std::max(result.packing.height,
                                       result.packing.offsets.back() + problem_.items[item].bytes);
    }
    return result;
  }

 private:
  struct Open {
    Bytes offset = 0;
    std::uint32_t item = 0;
    bool may_rest = false;  // at this offset, as far as is known
  };
  struct Change {
    std::uint32_t item = 0;
    Bytes before = 0;
  };
  static constexpr Bytes kNever = std::numeric_limits<Bytes>::max();

  const IndexRange& range(std::uint32_t item) const { return problem_.ranges[item]; }
  // It was tried at its lowest offset, in vain: something still has to lift it.
  bool is_passed(std::uint32_t item) const { return passed_at_[item] == lowest_[item]; }

  // Solves members_[first..), one independent group after the other; takes them off members_.
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
    const std::size_t first_pass = passes_.size();
    bool is_found = false;
    while (!is_found) {
      if (++steps_ > desc_.max_steps || (steps_ % 256 == 0 && desc_.stop && desc_.stop()))
        gave_up_ = true;
      if (gave_up_ || !list_open(begin, end) || !all_sections_end()) break;
      const std::uint32_t next = choose();
      is_found = try_next(next, begin, end);
      if (is_found) break;
      passes_.push_back({next, passed_at_[next]});
      passed_at_[next] = lowest_[next];
    }
    while (passes_.size() > first_pass) {
      passed_at_[passes_.back().item] = passes_.back().before;
      passes_.pop_back();
    }
    return is_found;
  }

  // Makes open_ of the members, by offset. False where one that has to be lifted cannot be.
  bool list_open(std::size_t begin, std::size_t end) {
    open_.clear();
    lowest_rest_ = limit_ = kNever;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t item = members_[i];
      if (is_passed(item)) continue;
      lowest_rest_ = std::min(lowest_rest_, lowest_[item]);
      limit_ = std::min<Bytes>(limit_, lowest_[item] + size_[item]);
    }
    if (lowest_rest_ == kNever) return false;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t item = members_[i];
      const bool may_rest = !is_passed(item);
      const Bytes offset = may_rest ? lowest_[item] : lifted(item);
      if (offset > height_ - size_[item]) return false;
      open_.push_back({offset, item, may_rest});
    }
    std::sort(open_.begin(), open_.end(),
              [](const Open& a, const Open& b) { return a.offset < b.offset; });
    return true;
  }

  // The lowest offset of a passed item: on something that begins below its end, or else it might as
  // well have stayed; kNever where nothing does.
  Bytes lifted(std::uint32_t item) const {
    const Bytes end = lowest_[item] + size_[item];
    Bytes offset = kNever;
    for (const std::uint32_t other : problem_.conflicts_of(item)) {
      if (is_placed_[other] != 0) continue;
      const Bytes begin = is_passed(other) ? std::max(lowest_[other], limit_)
                                           : std::max(lowest_[other], lowest_rest_);
      if (begin < end) offset = std::min<Bytes>(offset, begin + size_[other]);
    }
    return offset;
  }

  // Fills what choose() looks at.
  bool all_sections_end() {
    std::uint32_t first = problem_.sections, last = 0;
    for (const Open& open : open_) {
      const auto ranges = problem_.ranges_of(open.item);
      first = std::min(first, ranges.front().begin);
      last = std::max(last, ranges.back().end);
    }
    first_section_ = first;
    last_section_ = last;
    std::fill(sections_.begin() + first, sections_.begin() + last, Section{});
    for (const Open& open : open_) {
      const Bytes pitch = pitch_[open.item];
      const bool is_lowest = open.may_rest && open.offset == lowest_rest_;
      for (const IndexRange& range : problem_.ranges_of(open.item)) {
        for (std::uint32_t s = range.begin; s < range.end; ++s) {
          Section& section = sections_[s];
          section.end = std::max(section.end, open.offset) + pitch;
          section.rest += pitch;
          section.lowest += is_lowest ? 1 : 0;
          section.next = std::min(section.next, is_lowest ? kNever : open.offset);
        }
      }
    }
    Bytes most = 0;
    for (std::uint32_t s = first; s < last; ++s) most = std::max(most, sections_[s].end);
    return most <= height_ + most_more_;  // the topmost needs no more than its size
  }

  // Of those that may rest lowest: where a section needs one of them there, one of the section with
  // the fewest; else the first in rank.
  std::uint32_t choose() const {
    std::uint32_t needy = kNowhere, fewest = kNowhere;
    Bytes least = kNever;
    for (std::uint32_t s = first_section_; s < last_section_; ++s) {
      const Section& section = sections_[s];
      if (section.lowest == 0) continue;
      // What could be wasted there and no more; below 0 it needs one of them.
      const Bytes spare = height_ + most_more_ - section.rest - std::min(section.next, limit_);
      const std::uint32_t few = spare < 0 ? section.lowest : kNowhere;
      if (few < fewest || (few == fewest && spare < least)) {
        needy = s;
        fewest = few;
        least = spare;
      }
    }
    std::uint32_t best = kNowhere;
    for (const Open& open : open_) {
      if (open.offset > lowest_rest_) break;
      if (!open.may_rest || (best != kNowhere && rank_[best] <= rank_[open.item])) continue;
      if (needy == kNowhere || is_in(open.item, needy)) best = open.item;
    }
    return best;
  }
  bool is_in(std::uint32_t item, std::uint32_t section) const {
    for (const IndexRange& range : problem_.ranges_of(item)) {
      if (range.begin <= section && section < range.end) return true;
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
      lowest_[changes_.back().item] = changes_.back().before;
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
  std::vector<Bytes> size_, alignment_,
      lowest_;  // by item; the lowest offset, final once it is placed
  std::vector<Bytes>
      pitch_;  // by item: from its offset to the lowest one that something above it can have
  Bytes most_more_ = 0;  // of a pitch than of a size
  std::vector<std::uint8_t> is_placed_;
  std::vector<std::uint32_t> rank_;
  std::vector<Bytes> passed_at_;  // by item: the offset at which it was passed last
  // Of a step: members by offset, the lowest offset that one may rest at, the lowest end that any
  // can have, and all sections.
  struct Section {
    Bytes end = 0, rest = 0;   // where it ends at best; bytes yet to come
    Bytes next = kNever;       // the lowest offset of those that may not rest lowest
    std::uint32_t lowest = 0;  // how many may
  };
  std::vector<Open> open_;
  Bytes lowest_rest_ = 0, limit_ = 0;
  std::vector<Section> sections_;
  std::uint32_t first_section_ = 0, last_section_ = 0;
  // Stacks: each step takes off what it put on.
  std::vector<std::uint32_t> members_, placed_;
  std::vector<Change> changes_, passes_;
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
