#include "memory/fit.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

// The slab as stretches, each with the transient that held it last. Whoever comes after that one comes after all earlier
// owners too, because each took it only when the owner before was over.
class PositionFit {
 public:
  PositionFit(const TransientUses& uses, const UseOrder& order) : uses_(uses), order_(order), in_chain_(order.chains()) {
    fit_.offsets.assign(uses.transients.size(), 0);
  }

  Fit run() {
    for (const std::uint32_t transient : uses_.by_first_use) {
      if (uses_.transients[transient].bytes == 0) continue;
      find_over(transient);
      place(transient);
    }
    return std::move(fit_);
  }

 private:
  static constexpr std::uint32_t kMaxFound = 64, kMaxLooked = 512;  // stretches, for one transient

  struct Stretch {
    std::uint64_t offset = 0, bytes = 0;
    std::uint32_t owner = kNone;
    std::uint32_t chain = kNone, index = 0;  // listed as in_chain_[chain][index]; kNone: never free again
  };
  struct Run {
    std::size_t first = 0, last = 0;  // in found_
    std::uint64_t bytes = 0;
  };

  // Fills found_ with stretches that `transient` may take, by offset.
  void find_over(std::uint32_t transient) {
    found_.clear();
    std::uint32_t looked = 0;
    const auto before = order_.before_first_use(transient);
    for (std::uint32_t chain = 0; chain < before.size(); ++chain) {
      if (before[chain] == 0) continue;
      const auto& list = in_chain_[chain];
      for (std::size_t i = list.size(); i-- > 0;) {
        if (found_.size() == kMaxFound || ++looked > kMaxLooked) break;
        if (order_.precedes(stretches_[list[i]].owner, transient)) found_.push_back(list[i]);
      }
    }
    std::sort(found_.begin(), found_.end(), [this](std::uint32_t a, std::uint32_t b) { return stretches_[a].offset < stretches_[b].offset; });
  }

  void place(std::uint32_t transient) {
    const std::uint64_t bytes = uses_.transients[transient].bytes;
    Run best, top;
    for (std::size_t first = 0; first < found_.size();) {
      Run run{first, first, stretches_[found_[first]].bytes};
      while (run.last + 1 < found_.size() && end_of(found_[run.last]) == stretches_[found_[run.last + 1]].offset) {
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
    add(offset, bytes, transient);
  }

  std::uint64_t end_of(std::uint32_t stretch) const { return stretches_[stretch].offset + stretches_[stretch].bytes; }

  // Takes the run's bytes up to `end` from their stretches.
  void take(const Run& run, std::uint64_t end) {
    for (std::size_t i = run.first; i <= run.last; ++i) {
      Stretch& stretch = stretches_[found_[i]];
      if (stretch.offset >= end) return;
      if (end_of(found_[i]) <= end) {
        remove(found_[i]);
      } else {
        stretch.bytes = end_of(found_[i]) - end;
        stretch.offset = end;
      }
    }
  }

  void add(std::uint64_t offset, std::uint64_t bytes, std::uint32_t owner) {
    const std::uint32_t chain = order_.place(uses_.uses_of(owner).back()).chain;
    if (chain == kNone) return;
    std::uint32_t stretch = static_cast<std::uint32_t>(stretches_.size());
    if (unused_.empty()) {
      stretches_.emplace_back();
    } else {
      stretch = unused_.back();
      unused_.pop_back();
    }
    stretches_[stretch] = {offset, bytes, owner, chain, static_cast<std::uint32_t>(in_chain_[chain].size())};
    in_chain_[chain].push_back(stretch);
  }
  void remove(std::uint32_t stretch) {
    auto& list = in_chain_[stretches_[stretch].chain];
    const std::uint32_t index = stretches_[stretch].index;
    list[index] = list.back();
    stretches_[list[index]].index = index;
    list.pop_back();
    unused_.push_back(stretch);
  }

  const TransientUses& uses_;
  const UseOrder& order_;
  Fit fit_;
  std::vector<Stretch> stretches_;
  std::vector<std::uint32_t> unused_;                  // in stretches_
  std::vector<std::vector<std::uint32_t>> in_chain_;   // by chain of the owner's last use: stretches
  std::vector<std::uint32_t> found_;
};

}  // namespace

Fit fit_by_position(const TransientUses& uses, const UseOrder& order) { return PositionFit(uses, order).run(); }

Fit fit_by_size(const TransientUses& uses, const UseOrder& order) {
  Fit fit;
  fit.offsets.assign(uses.transients.size(), 0);
  std::vector<std::uint32_t> by_size = uses.by_first_use;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return uses.transients[a].bytes > uses.transients[b].bytes; });
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
    const auto at = std::upper_bound(placed.begin(), placed.end(), transient,
                                     [&](std::uint32_t a, std::uint32_t b) { return fit.offsets[a] < fit.offsets[b]; });
    placed.insert(at, transient);
  }
  return fit;
}

}  // namespace reprise::detail
