// Captures an op into a CUDA graph of its own, which becomes one child graph node. Failures name
// the op. Threads: one; used within a SetupScope.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "record/recorded_op.hpp"

namespace reprise::detail {

// What ops want held while an executable lives; also what replaced ones recorded, since launches of
// before may be pending.
using RetainedResources = std::vector<std::shared_ptr<const void>>;

// A graph that is destroyed with it.
class OwnedGraph {
 public:
  OwnedGraph() = default;
  explicit OwnedGraph(cudaGraph_t graph) noexcept : graph_(graph) {}
  OwnedGraph(OwnedGraph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  OwnedGraph& operator=(OwnedGraph&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }
  ~OwnedGraph() {
    if (graph_ != nullptr) cuda_ignore(cudaGraphDestroy(graph_));
  }
  [[nodiscard]] cudaGraph_t get() const noexcept { return graph_; }
  [[nodiscard]] cudaGraph_t release() noexcept { return std::exchange(graph_, nullptr); }

 private:
  cudaGraph_t graph_ = nullptr;
};

// What the op of `command` records with these addresses: for a node that is made, and for one whose
// bindings changed. Null where it recorded nothing. Throws Unsupported naming the op where it
// allocates or frees memory, and NativeFailure where its work can't be captured.
[[nodiscard]] OwnedGraph capture_op(const CudaContext& context, const Recording& recording,
                                    std::uint32_t command, const Bindings& bindings,
                                    RetainedResources& holdings);

}  // namespace reprise::detail
