#include "memory/fit.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

// The slab as stretches, each of the transient that held it last. Whoever comes after that one
// comes after all earlier owners too, because each took it only when the owner before was over.
// Each chain keeps a list of stretches that its nodes from now on may take: those whose owner's
// last uses its clock has passed.
class PositionFit {
 public:
  PositionFit(const TransientUses& uses, const ReachabilityIndex& order)
      : uses_(uses),
        order_(order),
        ends_(order.chains()),
        over_(order.chains()),
        looked_at_(std::size_t{order.chains()} * order.chains(), 0),
        passed_(std::size_t{order.chains()} * uses.transients.size(), 0) {
    fit_.offsets.assign(uses.transients.size(), 0);
    stretches_.resize(uses.transients.size());
    list_ends();
  }

  Fit run() {
    for (const std::uint32_t transient : uses_.by_first_use) {
      if (uses_.transients[transient].bytes == 0) continue;
      const std::uint32_t chain = order_.place(uses_.uses_of(transient).front()).chain;
      found_.clear();
      if (chain != kNone) {
        pass_ends(transient, chain);
        find_over(transient, chain);
      }
      place(transient);
    }
    return std::move(fit_);
  }

 private:
  static constexpr std::size_t kMaxFound = 32;  // stretches, for one transient
  static constexpr std::size_t kAllEnds =
      8;  // an owner with more last uses is looked for only at its very last

  struct Stretch {
    std::uint64_t offset = 0, bytes = 0;  // 0 bytes: others have taken it all
  };
  struct End {
    std::uint32_t position = 0, transient = 0;
  };
  struct Run {
    std::size_t first = 0, last = 0;  // in found_
    std::uint64_t bytes = 0;
  };

  // Last uses by chain, in the chain's order. Those of one transient are in the creation order of
  // its uses.
  void list_ends() {
    std::vector<std::vector<End>>& ends = ends_;
    for (std::uint32_t transient = 0; transient < uses_.transients.size(); ++transient) {
      const auto last = order_.last_uses(transient);
      const std::size_t first = last.size() > kAllEnds ? last.size() - 1 : 0;
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

  // Lists the stretches whose last use `chain` passes with `transient`.
  void pass_ends(std::uint32_t transient, std::uint32_t chain) {
    const auto before = order_.before_first_use(transient);
    std::uint8_t* const passed = passed_.data() + std::size_t{chain} * stretches_.size();
    std::uint32_t* const looked_at = looked_at_.data() + std::size_t{chain} * ends_.size();
    for (std::uint32_t other = 0; other < before.size(); ++other) {
      const auto& list = ends_[other];
      std::uint32_t next = looked_at[other];
      if (next == list.size() || list[next].position >= before[other]) continue;
      std::uint32_t& live = first_live_[other];
      while (live < list.size() && list[live].position < before[other] &&
             stretches_[list[live].transient].bytes == 0)
        ++live;
      for (next = std::max(next, live); next < list.size() && list[next].position < before[other];
           ++next) {
        const std::uint32_t owner = list[next].transient;
        if (stretches_[owner].bytes != 0 && has_passed_all(owner, ++passed[owner], transient))
          over_[chain].push_back(owner);
      }
      looked_at[other] = next;
    }
  }

  // `passed` of the owner's listed ends are before `transient`.
  bool has_passed_all(std::uint32_t owner, std::uint32_t passed, std::uint32_t transient) const {
    const std::size_t ends = order_.last_uses(owner).size();
    return ends > kAllEnds ? order_.precedes(owner, transient) : passed == ends;
  }

  // Fills found_ with owners of stretches that `transient` may take, by offset; one alone where it
  // fits exactly.
  void find_over(std::uint32_t transient, std::uint32_t chain) {
    auto& over = over_[chain];
    const bool is_sure = !order_.has_several_beginnings(transient);
    for (std::size_t i = over.size(); i-- > 0 && found_.size() < kMaxFound;) {
      const std::uint32_t owner = over[i];
      if (stretches_[owner].bytes == 0) {
        over[i] = over.back();
        over.pop_back();
        continue;
      }
      if (!is_sure && !order_.precedes(owner, transient)) continue;
      if (stretches_[owner].bytes == uses_.transients[transient].bytes) {
        found_.assign(1, owner);
        return;
      }
      found_.push_back(owner);
    }
    std::sort(found_.begin(), found_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return stretches_[a].offset < stretches_[b].offset;
    });
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  }

  void place(std::uint32_t transient) {
    const std::uint64_t bytes = uses_.transients[transient].bytes;
    Run best, top;
    for (std::size_t first = 0; first < found_.size();) {
      Run run{first, first, stretches_[found_[first]].bytes};
      while (run.last + 1 < found_.size() &&
             end_of(found_[run.last]) == stretches_[found_[run.last + 1]].offset) {
        run.bytes += stretches_[found_[++run.last]].bytes;
      }
      if (run.bytes >= bytes && (best.bytes == 0 || run.bytes < best.bytes)) best = run;
      if (end_of(found_[run.last]) == fit_.slab_bytes) top = run;
      first = run.last + 1;
    }
    std::uint64_t offset = fit_.slab_bytes;
    if (best.bytes != 0) {
      offset = stretches_[found_[best.first]].offset;
      take(best, offset + bytes);
    } else if (top.bytes != 0) {
      offset = stretches_[found_[top.first]].offset;
      take(top, fit_.slab_bytes);
    }
    fit_.offsets[transient] = offset;
    fit_.slab_bytes = std::max(fit_.slab_bytes, offset + bytes);
    stretches_[transient] = {offset, bytes};
  }

  std::uint64_t end_of(std::uint32_t owner) const {
    return stretches_[owner].offset + stretches_[owner].bytes;
  }

  // Takes the run's bytes up to `end` from their owners.
  void take(const Run& run, std::uint64_t end) {
    for (std::size_t i = run.first; i <= run.last; ++i) {
      Stretch& stretch = stretches_[found_[i]];
      if (stretch.offset >= end) return;
      const std::uint64_t taken = std::min(stretch.bytes, end - stretch.offset);
      stretch.offset += taken;
      stretch.bytes -= taken;
    }
  }

  const TransientUses& uses_;
  const ReachabilityIndex& order_;
  Fit fit_;
  std::vector<Stretch> stretches_;         // by owner
  std::vector<std::vector<End>> ends_;     // by chain
  std::vector<std::uint32_t> first_live_;  // by chain: in ends_, all before it have no bytes left
  std::vector<std::vector<std::uint32_t>>
      over_;  // by chain: owners whose stretches its nodes may take
  std::vector<std::uint32_t>
      looked_at_;  // [chain][other]: how many of ends_[other] the chain has passed
  std::vector<std::uint8_t>
      passed_;  // [chain][owner]: how many of its listed ends the chain has passed
  std::vector<std::uint32_t> found_;
};

}  // namespace

Fit fit_by_position(const TransientUses& uses, const ReachabilityIndex& order) {
  return PositionFit(uses, order).run();
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
