#include "memory/placement.hpp"

#include <algorithm>
#include <utility>

#include "base/steady_clock.hpp"
#include "memory/fit.hpp"
#include "memory/interval_relaxation.hpp"
#include "memory/lower_bound.hpp"
#include "memory/order_problem.hpp"
#include "memory/precedence.hpp"
#include "memory/reachability_index.hpp"
#include "memory/transient_uses.hpp"
#include "planner/ejection_descent.hpp"
#include "planner/greedy_pack.hpp"
#include "planner/interval_fit.hpp"
#include "planner/pack_improver.hpp"
#include "planner/portfolio_search.hpp"

namespace reprise::detail {

namespace {

// Up to here the quadratic fit is a few milliseconds; a flow and packings of all orders are, up to
// there.
constexpr std::size_t kFitBySizeTransients = 1024, kPackedTransients = 1024,
                      kSearchedTransients = 4096;
// At one transient beside another: ten milliseconds, about.
constexpr std::uint64_t kFitLooks = 300'000;

// A packing of lifetimes that live at once wherever two transients may not share; nothing where
// none can be below `slab_bytes`.
Fit fit_by_lifetimes(const TransientUses& uses, const ReachabilityIndex& order,
                     std::uint64_t lower_bound, std::uint64_t slab_bytes) {
  const IntervalRelaxation cover = relax_to_intervals(uses, order);
  PackProblem packing;
  const LifetimeCliques sections = find_cliques(cover.lifetimes);
  packing.sections = sections.sections;
  for (std::size_t i = 0; i < cover.transients.size(); ++i) {
    packing.items.push_back({cover.lifetimes[i].size, 1});
    packing.first_range.push_back(static_cast<std::uint32_t>(i));
    packing.ranges.push_back(sections.ranges[i]);
  }
  packing.first_range.push_back(static_cast<std::uint32_t>(cover.transients.size()));
  const std::uint64_t least = section_bound(packing);
  if (least >= slab_bytes) return {};
  const Packing found = fit_intervals(sections, packing.items, std::max(least, lower_bound));
  Fit fit;
  fit.offsets.assign(uses.transients.size(), 0);
  for (std::size_t i = 0; i < cover.transients.size(); ++i)
    fit.offsets[cover.transients[i]] = found.offsets[i];
  fit.slab_bytes = found.height;
  return fit;
}

Fit quick_fit(const TransientUses& uses, const ReachabilityIndex& order,
              std::uint64_t lower_bound) {
  Fit fit = fit_by_position(uses, order);
  const auto keep_smaller = [&](Fit other) {
    if (!other.offsets.empty() && other.slab_bytes < fit.slab_bytes) fit = std::move(other);
  };
  if (fit.slab_bytes > lower_bound)
    keep_smaller(fit_by_lifetimes(uses, order, lower_bound, fit.slab_bytes));
  if (fit.slab_bytes > lower_bound && uses.by_first_use.size() <= kFitBySizeTransients)
    keep_smaller(fit_by_size(uses, order));
  return fit;
}

class OrderPlanner {
 public:
  OrderPlanner(const TransientUses& uses, const ReachabilityIndex& order, std::uint64_t lower_bound)
      : uses_(uses),
        order_(order),
        bound_(lower_bound),
        fit_(quick_fit(uses, order, lower_bound)) {}

  void improve(std::chrono::nanoseconds budget) {
    const std::size_t most = budget.count() > 0 ? kSearchedTransients : kPackedTransients;
    if (fit_.slab_bytes <= bound_ || uses_.by_first_use.size() > most) return;
    const std::int64_t began = steady_now();
    const auto stop = [&] { return steady_now() - began >= budget.count(); };
    const Precedence precedence = find_precedence(uses_, order_);
    const MaxWeightAntichain heaviest = find_max_weight_antichain(uses_, precedence);
    bound_ = std::max(bound_, heaviest.bytes);
    if (fit_.slab_bytes <= bound_) return;
    const PackProblem problem = make_order_problem(uses_, precedence, heaviest);
    Packing first = first_packing(problem, precedence);
    PackImprover improver(
        problem,
        descend_by_ejections(problem, std::move(first), {.target = bound_, .looks = kFitLooks}),
        bound_);
    if (!improver.is_done() && !stop()) {
      PortfolioSearch search(problem, improver, bound_);
      while (!improver.is_done() && !stop()) search.attempt(stop);
    }
    if (improver.best().height >= fit_.slab_bytes) return;
    for (std::size_t i = 0; i < precedence.transients.size(); ++i)
      fit_.offsets[precedence.transients[i]] = improver.best().offsets[i];
    fit_.slab_bytes = improver.best().height;
  }

  // The lowest of the quick fit and of packings in orders.
  [[nodiscard]] Packing first_packing(const PackProblem& problem,
                                      const Precedence& precedence) const {
    Packing best;
    for (const std::uint32_t transient : precedence.transients)
      best.offsets.push_back(fit_.offsets[transient]);
    best.height = fit_.slab_bytes;
    GreedyPacker packer(problem);
    for (const std::uint32_t number : {kByConflicts, kBySections}) {
      if (best.height <= bound_) break;
      Packing packing = packer.pack(pack_order(problem, number), GapRule::Lowest);
      if (packing.height < best.height) best = std::move(packing);
    }
    return best;
  }

  [[nodiscard]] const Fit& fit() const noexcept { return fit_; }
  [[nodiscard]] std::uint64_t bound() const noexcept { return bound_; }

 private:
  const TransientUses& uses_;
  const ReachabilityIndex& order_;
  std::uint64_t bound_;
  Fit fit_;
};

}  // namespace

Placement place_transients(const Recording& recording, const DependencyGraph& dependencies,
                           const LoweredGraph& lowered, std::uint32_t alignment,
                           std::chrono::nanoseconds budget) {
  Placement placement;
  const TransientUses uses = collect_transient_uses(recording, dependencies, lowered, alignment);
  if (uses.transients.empty()) return placement;

  const ReachabilityIndex order(lowered, uses);
  OrderPlanner planner(uses, order, slab_lower_bound(lowered, uses));
  planner.improve(budget);
  placement.lower_bound = planner.bound();
  const Fit& fit = planner.fit();
  placement.slab_bytes = fit.slab_bytes;
  placement.buffers.reserve(uses.transients.size());
  for (std::size_t i = 0; i < uses.transients.size(); ++i) {
    const Transient& transient = uses.transients[i];
    placement.buffers.push_back(
        {transient.buffer, fit.offsets[i], recording.buffers[transient.buffer]->bytes});
    placement.naive_bytes += transient.bytes;
    // One that nothing uses still has to lie inside.
    placement.slab_bytes = std::max(placement.slab_bytes, fit.offsets[i] + transient.bytes);
  }
  return placement;
}

}  // namespace reprise::detail
