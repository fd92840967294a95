#include "backend/cuda/fault_markers.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

std::uint64_t now(const std::uint64_t* word) noexcept {
  return *static_cast<const volatile std::uint64_t*>(word);
}

}  // namespace

FaultMarkers::FaultMarkers(std::shared_ptr<const CudaContext> context,
                           std::shared_ptr<const CudaKernel> kernel, std::uint32_t nodes)
    : context_(std::move(context)), kernel_(std::move(kernel)), nodes_(nodes) {
  const SetupScope scope(*context_, Stage::Instantiate);
  const std::size_t count = std::size_t{2} * std::max(nodes, 1u);
  void* memory = nullptr;
  cuda_check(cudaHostAlloc(&memory, count * sizeof(std::uint64_t),
                           cudaHostAllocPortable | cudaHostAllocMapped),
             "cudaHostAlloc", context_->at(Stage::Instantiate, "fault markers"));
  words_ = static_cast<std::uint64_t*>(memory);
  std::fill_n(words_, count, 0);
}

FaultMarkers::~FaultMarkers() {
  const SetupScope scope(*context_, std::nothrow);
  if (scope) cuda_ignore(cudaFreeHost(words_));
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
