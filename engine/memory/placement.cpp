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

// Up to this many transients, the quadratic fit takes a few milliseconds.
constexpr std::size_t kMaxFitBySize = 1024;
// Up to this many transients, the maximum flow and the greedy packings run without a budget, and
// with one.
constexpr std::size_t kMaxPackedWithoutBudget = 1024, kMaxPacked = 4096;
// Step budget of the ejection search: about ten milliseconds.
constexpr std::uint64_t kPlacementEjectionSteps = 300'000;

// A fast packing of the interval relaxation. Empty if no packing of it can be below `slab_bytes`.
Fit fit_by_lifetimes(const TransientUses& uses, const ReachabilityIndex& order,
                     std::uint64_t lower_bound, std::uint64_t slab_bytes) {
  const IntervalRelaxation relaxation = relax_to_intervals(uses, order);
  PackProblem packing;
  const LifetimeCliques cliques = find_cliques(relaxation.lifetimes);
  packing.clique_count = cliques.count;
  for (std::size_t i = 0; i < relaxation.transients.size(); ++i) {
    packing.items.push_back({relaxation.lifetimes[i].size, 1});
    packing.first_range.push_back(static_cast<std::uint32_t>(i));
    packing.ranges.push_back(cliques.ranges[i]);
  }
  packing.first_range.push_back(static_cast<std::uint32_t>(relaxation.transients.size()));
  const std::uint64_t bound = clique_bound(packing);
  if (bound >= slab_bytes) return {};
  const Packing found = fit_intervals(cliques, packing.items, std::max(bound, lower_bound));
  Fit fit;
  fit.offsets.assign(uses.transients.size(), 0);
  for (std::size_t i = 0; i < relaxation.transients.size(); ++i)
    fit.offsets[relaxation.transients[i]] = found.offsets[i];
  fit.slab_bytes = found.peak_bytes;
  return fit;
}

Fit fast_fit(const TransientUses& uses, const ReachabilityIndex& order, std::uint64_t lower_bound) {
  Fit fit = fit_by_first_use(uses, order);
  const auto keep_smaller = [&](Fit other) {
    if (!other.offsets.empty() && other.slab_bytes < fit.slab_bytes) fit = std::move(other);
  };
  if (fit.slab_bytes > lower_bound)
    keep_smaller(fit_by_lifetimes(uses, order, lower_bound, fit.slab_bytes));
  if (fit.slab_bytes > lower_bound && uses.by_first_use.size() <= kMaxFitBySize)
    keep_smaller(fit_by_size(uses, order));
  return fit;
}

class OrderPlanner {
 public:
  OrderPlanner(const TransientUses& uses, const ReachabilityIndex& order, std::uint64_t lower_bound)
      : uses_(uses),
        order_(order),
        lower_bound_(lower_bound),
        fit_(fast_fit(uses, order, lower_bound)) {}

  void improve(std::chrono::nanoseconds budget) {
    const std::size_t max_packed = budget.count() > 0 ? kMaxPacked : kMaxPackedWithoutBudget;
    if (fit_.slab_bytes <= lower_bound_ || uses_.by_first_use.size() > max_packed) return;
    const std::int64_t start = steady_now();
    const auto stop = [&] { return steady_now() - start >= budget.count(); };
    const Precedence precedence = find_precedence(uses_, order_);
    const MaxWeightAntichain antichain = find_max_weight_antichain(uses_, precedence);
    lower_bound_ = std::max(lower_bound_, antichain.bytes);
    if (fit_.slab_bytes <= lower_bound_) return;
    const PackProblem problem = make_order_problem(uses_, precedence, antichain);
    Packing first = first_packing(problem, precedence);
    PackImprover improver(
        problem,
        descend_by_ejections(problem, std::move(first),
                             {.target = lower_bound_, .step_budget = kPlacementEjectionSteps}),
        lower_bound_);
    if (!improver.is_done() && !stop()) {
      PortfolioSearch search(problem, improver, lower_bound_);
      while (!improver.is_done() && !stop()) search.attempt(stop);
    }
    if (improver.best().peak_bytes >= fit_.slab_bytes) return;
    for (std::size_t i = 0; i < precedence.transients.size(); ++i)
      fit_.offsets[precedence.transients[i]] = improver.best().offsets[i];
    fit_.slab_bytes = improver.best().peak_bytes;
  }

  // The lowest of the fast fit and of greedy packings.
  [[nodiscard]] Packing first_packing(const PackProblem& problem,
                                      const Precedence& precedence) const {
    Packing best;
    for (const std::uint32_t transient : precedence.transients)
      best.offsets.push_back(fit_.offsets[transient]);
    best.peak_bytes = fit_.slab_bytes;
    GreedyPacker packer(problem);
    for (const std::uint32_t index : {kByConflicts, kByLifetime}) {
      if (best.peak_bytes <= lower_bound_) break;
      Packing packing = packer.pack(pack_order(problem, index), FitRule::FirstFit);
      if (packing.peak_bytes < best.peak_bytes) best = std::move(packing);
    }
    return best;
  }

  [[nodiscard]] const Fit& fit() const noexcept { return fit_; }
  [[nodiscard]] std::uint64_t lower_bound() const noexcept { return lower_bound_; }

 private:
  const TransientUses& uses_;
  const ReachabilityIndex& order_;
  std::uint64_t lower_bound_;
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
  placement.lower_bound = planner.lower_bound();
  const Fit& fit = planner.fit();
  placement.slab_bytes = fit.slab_bytes;
  placement.buffers.reserve(uses.transients.size());
  for (std::size_t i = 0; i < uses.transients.size(); ++i) {
    const Transient& transient = uses.transients[i];
    placement.buffers.push_back(
        {transient.buffer, fit.offsets[i], recording.buffers[transient.buffer]->bytes});
    placement.naive_bytes += transient.bytes;
    // A transient without uses also lies inside the slab.
    placement.slab_bytes = std::max(placement.slab_bytes, fit.offsets[i] + transient.bytes);
  }
  return placement;
}

}  // namespace reprise::detail
