#include "memory/placement.hpp"

#include <algorithm>
#include <utility>

#include "base/steady_clock.hpp"
#include "memory/fit.hpp"
#include "memory/greedy_pack.hpp"
#include "memory/lower_bound.hpp"
#include "memory/order_problem.hpp"
#include "memory/pack_improver.hpp"
#include "memory/transient_uses.hpp"
#include "memory/use_order.hpp"

namespace reprise::detail {

namespace {

// Up to here the quadratic fit is a few milliseconds; a flow and packings of all orders are, up to there.
constexpr std::size_t kFitBySizeTransients = 1024, kPackedTransients = 400, kSearchedTransients = 4096;
constexpr std::uint64_t kPlacementSteps = 500;

Fit quick_fit(const TransientUses& uses, const UseOrder& order, std::uint64_t lower_bound) {
  Fit fit = fit_by_position(uses, order);
  if (fit.slab_bytes <= lower_bound || uses.by_first_use.size() > kFitBySizeTransients) return fit;
  Fit other = fit_by_size(uses, order);
  return other.slab_bytes < fit.slab_bytes ? other : fit;
}

class OrderPlanner {
 public:
  OrderPlanner(const TransientUses& uses, const UseOrder& order, std::uint64_t lower_bound)
      : uses_(uses), order_(order), bound_(lower_bound), fit_(quick_fit(uses, order, lower_bound)) {}

  void improve(std::chrono::nanoseconds budget) {
    const std::size_t most = budget.count() > 0 ? kSearchedTransients : kPackedTransients;
    if (fit_.slab_bytes <= bound_ || uses_.by_first_use.size() > most) return;
    const std::int64_t began = steady_now();
    const auto stop = [&] { return steady_now() - began >= budget.count(); };
    const HeaviestSet heaviest = find_heaviest_set(uses_, order_);
    bound_ = std::max(bound_, heaviest.bytes);
    if (fit_.slab_bytes <= bound_) return;
    const OrderProblem problem = make_order_problem(uses_, order_, heaviest);
    Packing first = best_greedy(problem.packing, bound_);
    if (first.height >= fit_.slab_bytes) {
      for (std::size_t i = 0; i < problem.transients.size(); ++i) first.offsets[i] = fit_.offsets[problem.transients[i]];
      first.height = fit_.slab_bytes;
    }
    PackImprover improver(problem.packing, std::move(first), bound_);
    for (int attempt = 0; attempt < 2 && !improver.is_done(); ++attempt) improver.attempt(nullptr, kPlacementSteps);
    while (!improver.is_done() && !stop()) improver.attempt(stop);
    if (improver.best().height >= fit_.slab_bytes) return;
    for (std::size_t i = 0; i < problem.transients.size(); ++i) fit_.offsets[problem.transients[i]] = improver.best().offsets[i];
    fit_.slab_bytes = improver.best().height;
  }

  [[nodiscard]] const Fit& fit() const noexcept { return fit_; }
  [[nodiscard]] std::uint64_t bound() const noexcept { return bound_; }

 private:
  const TransientUses& uses_;
  const UseOrder& order_;
  std::uint64_t bound_;
  Fit fit_;
};

}  // namespace

Placement place_transients(const Recording& recording, const Schedule& schedule, const LoweredGraph& lowered, std::uint32_t alignment,
                           std::chrono::nanoseconds budget) {
  Placement placement;
  const TransientUses uses = collect_transient_uses(recording, schedule, lowered, alignment);
  if (uses.transients.empty()) return placement;

  const UseOrder order(lowered, uses);
  OrderPlanner planner(uses, order, slab_lower_bound(lowered, uses));
  planner.improve(budget);
  placement.lower_bound = planner.bound();
  const Fit& fit = planner.fit();
  placement.slab_bytes = fit.slab_bytes;
  placement.buffers.reserve(uses.transients.size());
  for (std::size_t i = 0; i < uses.transients.size(); ++i) {
    const Transient& transient = uses.transients[i];
    placement.buffers.push_back({transient.buffer, fit.offsets[i], recording.buffers[transient.buffer]->bytes});
    placement.naive_bytes += transient.bytes;
    // One that nothing uses still has to lie inside.
    placement.slab_bytes = std::max(placement.slab_bytes, fit.offsets[i] + transient.bytes);
  }
  return placement;
}

}  // namespace reprise::detail
