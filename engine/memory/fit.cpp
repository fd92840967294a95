#include "memory/fit.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

// Divides the slab into regions. Each region belongs to the transient that used it last. A node
// after the last uses of the owner is also after all earlier owners, because each owner took the
// region only after the previous one had completed. Each chain keeps a list of the regions that its
// next nodes may take: those whose owner's last uses precede the clock of the chain.
class FirstUseFit {
 public:
  FirstUseFit(const TransientUses& uses, const ReachabilityIndex& order)
      : uses_(uses),
        order_(order),
        ends_(order.chains()),
        reusable_(order.chains()),
        next_end_(std::size_t{order.chains()} * order.chains(), 0),
        passed_(std::size_t{order.chains()} * uses.transients.size(), 0) {
    fit_.offsets.assign(uses.transients.size(), 0);
    regions_.resize(uses.transients.size());
    list_ends();
  }

  Fit run() {
    for (const std::uint32_t transient : uses_.by_first_use) {
      if (uses_.transients[transient].bytes == 0) continue;
      const std::uint32_t chain = order_.position(uses_.uses_of(transient).front()).chain;
      candidates_.clear();
      if (chain != kNone) {
        pass_ends(transient, chain);
        find_candidates(transient, chain);
      }
      place(transient);
    }
    return std::move(fit_);
  }

 private:
  static constexpr std::size_t kMaxCandidates = 32;  // regions for one transient
  // Max last uses listed per owner; an owner with more lists only the very last.
  static constexpr std::size_t kMaxListedEnds = 8;

  struct Region {
    std::uint64_t offset = 0, bytes = 0;  // 0 bytes: other transients took all of it
  };
  struct End {
    std::uint32_t position = 0, transient = 0;
  };
  // Adjacent regions.
  struct RegionRun {
    std::size_t first = 0, last = 0;  // in candidates_
    std::uint64_t bytes = 0;
  };

  // Lists the last uses of each chain in the order of the chain.
  void list_ends() {
    std::vector<std::vector<End>>& ends = ends_;
    for (std::uint32_t transient = 0; transient < uses_.transients.size(); ++transient) {
      const auto last = order_.last_uses(transient);
      const std::size_t first = last.size() > kMaxListedEnds ? last.size() - 1 : 0;
      for (std::size_t i = first; i < last.size(); ++i)
        ends[last[i].chain].push_back({last[i].position, transient});
    }
    const auto by_position = [](const End& a, const End& b) { return a.position < b.position; };
    for (auto& list : ends) {
      if (!std::is_sorted(list.begin(), list.end(), by_position))
        std::stable_sort(list.begin(), list.end(), by_position);
    }
    first_live_.assign(ends.size(), 0);
  }

  // Adds the regions whose owners complete before `transient` to the list of `chain`.
  void pass_ends(std::uint32_t transient, std::uint32_t chain) {
    const auto before = order_.before_first_use(transient);
    std::uint8_t* const passed = passed_.data() + std::size_t{chain} * regions_.size();
    std::uint32_t* const cursors = next_end_.data() + std::size_t{chain} * ends_.size();
    for (std::uint32_t other = 0; other < before.size(); ++other) {
      const auto& list = ends_[other];
      std::uint32_t next = cursors[other];
      if (next == list.size() || list[next].position >= before[other]) continue;
      std::uint32_t& live = first_live_[other];
      while (live < list.size() && list[live].position < before[other] &&
             regions_[list[live].transient].bytes == 0)
        ++live;
      for (next = std::max(next, live); next < list.size() && list[next].position < before[other];
           ++next) {
        const std::uint32_t owner = list[next].transient;
        if (regions_[owner].bytes != 0 && has_passed_all(owner, ++passed[owner], transient))
          reusable_[chain].push_back(owner);
      }
      cursors[other] = next;
    }
  }

  // Whether all last uses of the owner precede `transient`; `passed` of the listed ones do.
  bool has_passed_all(std::uint32_t owner, std::uint32_t passed, std::uint32_t transient) const {
    const std::size_t ends = order_.last_uses(owner).size();
    return ends > kMaxListedEnds ? order_.precedes(owner, transient) : passed == ends;
  }

  // Fills candidates_ with the owners of regions that `transient` may take, by offset. A region of
  // exactly the required size becomes the only candidate.
  void find_candidates(std::uint32_t transient, std::uint32_t chain) {
    auto& reusable = reusable_[chain];
    const bool is_exact = !order_.has_several_first_uses(transient);
    for (std::size_t i = reusable.size(); i-- > 0 && candidates_.size() < kMaxCandidates;) {
      const std::uint32_t owner = reusable[i];
      if (regions_[owner].bytes == 0) {
        reusable[i] = reusable.back();
        reusable.pop_back();
        continue;
      }
      if (!is_exact && !order_.precedes(owner, transient)) continue;
      if (regions_[owner].bytes == uses_.transients[transient].bytes) {
        candidates_.assign(1, owner);
        return;
      }
      candidates_.push_back(owner);
    }
    std::sort(candidates_.begin(), candidates_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return regions_[a].offset < regions_[b].offset;
    });
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
  }

  void place(std::uint32_t transient) {
    const std::uint64_t bytes = uses_.transients[transient].bytes;
    RegionRun best, top;
    for (std::size_t first = 0; first < candidates_.size();) {
      RegionRun run{first, first, regions_[candidates_[first]].bytes};
      while (run.last + 1 < candidates_.size() &&
             end_of(candidates_[run.last]) == regions_[candidates_[run.last + 1]].offset) {
        run.bytes += regions_[candidates_[++run.last]].bytes;
      }
      if (run.bytes >= bytes && (best.bytes == 0 || run.bytes < best.bytes)) best = run;
      if (end_of(candidates_[run.last]) == fit_.slab_bytes) top = run;
      first = run.last + 1;
    }
    std::uint64_t offset = fit_.slab_bytes;
    if (best.bytes != 0) {
      offset = regions_[candidates_[best.first]].offset;
      take(best, offset + bytes);
    } else if (top.bytes != 0) {
      offset = regions_[candidates_[top.first]].offset;
      take(top, fit_.slab_bytes);
    }
    fit_.offsets[transient] = offset;
    fit_.slab_bytes = std::max(fit_.slab_bytes, offset + bytes);
    regions_[transient] = {offset, bytes};
  }

  std::uint64_t end_of(std::uint32_t owner) const {
    return regions_[owner].offset + regions_[owner].bytes;
  }

  // Transfers the bytes of the run up to `end` from their owners.
  void take(const RegionRun& run, std::uint64_t end) {
    for (std::size_t i = run.first; i <= run.last; ++i) {
      Region& region = regions_[candidates_[i]];
      if (region.offset >= end) return;
      const std::uint64_t taken = std::min(region.bytes, end - region.offset);
      region.offset += taken;
      region.bytes -= taken;
    }
  }

  const TransientUses& uses_;
  const ReachabilityIndex& order_;
  Fit fit_;
  std::vector<Region> regions_;            // by owner
  std::vector<std::vector<End>> ends_;     // by chain
  std::vector<std::uint32_t> first_live_;  // by chain: index in ends_; earlier regions are empty
  // By chain: owners whose regions its nodes may take.
  std::vector<std::vector<std::uint32_t>> reusable_;
  std::vector<std::uint32_t> next_end_;  // [chain][other]: number of passed ends_[other]
  std::vector<std::uint8_t> passed_;  // [chain][owner]: number of passed listed ends of the owner
  std::vector<std::uint32_t> candidates_;
};

}  // namespace

Fit fit_by_first_use(const TransientUses& uses, const ReachabilityIndex& order) {
  return FirstUseFit(uses, order).run();
}

Fit fit_by_size(const TransientUses& uses, const ReachabilityIndex& order) {
  Fit fit;
  fit.offsets.assign(uses.transients.size(), 0);
  std::vector<std::uint32_t> by_size = uses.by_first_use;
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::uint32_t a, std::uint32_t b) {
    return uses.transients[a].bytes > uses.transients[b].bytes;
  });
  std::vector<std::uint32_t> placed;  // by offset
  placed.reserve(by_size.size());
  for (const std::uint32_t transient : by_size) {
    const std::uint64_t bytes = uses.transients[transient].bytes;
    std::uint64_t end = 0, best = 0, best_gap = ~std::uint64_t{0};
    for (const std::uint32_t other : placed) {
      if (order.precedes(other, transient) || order.precedes(transient, other)) continue;
      const std::uint64_t offset = fit.offsets[other];
      if (offset > end && offset - end >= bytes && offset - end < best_gap) {
        best = end;
        best_gap = offset - end;
      }
      end = std::max(end, offset + uses.transients[other].bytes);
    }
    fit.offsets[transient] = best_gap == ~std::uint64_t{0} ? end : best;
    fit.slab_bytes = std::max(fit.slab_bytes, fit.offsets[transient] + bytes);
    const auto at = std::upper_bound(
        placed.begin(), placed.end(), transient,
        [&](std::uint32_t a, std::uint32_t b) { return fit.offsets[a] < fit.offsets[b]; });
    placed.insert(at, transient);
  }
  return fit;
}

}  // namespace reprise::detail
