#include "memory/placement.hpp"

#include <algorithm>

#include "memory/fit.hpp"
#include "memory/lower_bound.hpp"
#include "memory/transient_uses.hpp"
#include "memory/use_order.hpp"

namespace reprise::detail {

namespace {

// Up to here the quadratic fit is a few milliseconds.
constexpr std::size_t kFitBySizeTransients = 1024;

Fit best_fit(const TransientUses& uses, const UseOrder& order, std::uint64_t lower_bound) {
  Fit fit = fit_by_position(uses, order);
  if (fit.slab_bytes <= lower_bound || uses.by_first_use.size() > kFitBySizeTransients) return fit;
  Fit other = fit_by_size(uses, order);
  return other.slab_bytes < fit.slab_bytes ? other : fit;
}

}  // namespace

Placement place_transients(const Recording& recording, const Schedule& schedule, const LoweredGraph& lowered, std::uint32_t alignment) {
  Placement placement;
  const TransientUses uses = collect_transient_uses(recording, schedule, lowered, alignment);
  if (uses.transients.empty()) return placement;

  const UseOrder order(lowered, uses);
  placement.lower_bound = slab_lower_bound(lowered, uses);
  const Fit fit = best_fit(uses, order, placement.lower_bound);
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
