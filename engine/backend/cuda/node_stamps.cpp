#include "backend/cuda/node_stamps.hpp"

#include <algorithm>
#include <limits>

namespace reprise::detail {
namespace {

constexpr std::size_t kMostWords = std::size_t{1} << 20;

std::uint32_t rows_for(const Plan& plan) {
  const std::size_t fit = kMostWords / std::max<std::size_t>(1, plan.lowered.nodes.size());
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(fit, 1, NodeStamps::kMostRows));
}

}  // namespace

NodeStamps::NodeStamps(std::shared_ptr<const CudaContext> context, std::shared_ptr<Readback> readback, std::shared_ptr<const Plan> plan)
    : readback_(std::move(readback)),
      plan_(std::move(plan)),
      rows_(rows_for(*plan_)),
      memory_(std::move(context), *readback_, std::size_t{rows_} * plan_->lowered.nodes.size()),
      row_(plan_->lowered.nodes.size()) {}

void NodeStamps::read(const ReplayStamps& replay, const GpuClock& clock, NodeTime* times) {
  const LoweredGraph& lowered = plan_->lowered;
  readback_->read(memory() + replay.replay % rows_ * lowered.nodes.size(), row_);
  for (std::uint32_t node = 0; node < lowered.nodes.size(); ++node) {
    if (lowered.nodes[node].kind != LoweredKind::Work || row_[node] == 0) continue;
    std::uint64_t began = replay.began;
    for (const LoweredEdge& edge : lowered.edges_into(node)) {
      if (lowered.nodes[edge.from].kind == LoweredKind::Work) began = std::max(began, row_[edge.from]);
    }
    times[node].started = clock.to_host(began);
    times[node].duration = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(row_[node] - std::min(began, row_[node]), std::numeric_limits<std::uint32_t>::max()));
  }
}

}  // namespace reprise::detail
