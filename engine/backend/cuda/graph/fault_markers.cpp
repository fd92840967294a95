#include "backend/cuda/graph/fault_markers.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

std::uint64_t now(const std::uint64_t* word) noexcept {
  return *static_cast<const volatile std::uint64_t*>(word);
}

}  // namespace

FaultMarkers::FaultMarkers(const std::shared_ptr<const CudaContext>& context,
                           std::shared_ptr<const CudaKernel> kernel, std::uint32_t nodes)
    : kernel_(std::move(kernel)),
      nodes_(nodes),
      memory_(context, BufferKind::PinnedHost,
              std::uint64_t{2} * std::max(nodes, 1u) * sizeof(std::uint64_t), Stage::Instantiate,
              "fault markers") {
  std::fill_n(memory_.words(), std::size_t{2} * std::max(nodes, 1u), 0);
}

std::vector<UnfinishedNode> FaultMarkers::unfinished() const {
  std::vector<UnfinishedNode> found;
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    const std::uint64_t count = now(begun(node));
    if (count > now(ended(node))) found.push_back({node, count});
  }
  return found;
}

}  // namespace reprise::detail
