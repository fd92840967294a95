// Captures an op into its own CUDA graph, which becomes one child graph node. Errors name the op.
// Threads: one; used within a SetupScope.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "record/recorded_op.hpp"

namespace reprise::detail {

// The resources that ops retain for the lifetime of an executable, including those of replaced ops,
// which pending launches may use.
using RetainedResources = std::vector<std::shared_ptr<const void>>;

// Owns a graph.
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

enum class OpLocation : std::uint8_t { Graph, Conditional };  // Conditional: in a body of one

// Captures the op of `command` with these bindings, for a new node or a changed one. Null if the op
// records nothing. Throws Unsupported naming the op if it allocates or frees memory, or if a
// conditional cannot contain one of its nodes, and NativeFailure if its work cannot be captured.
[[nodiscard]] OwnedGraph capture_op(const CudaContext& context, const Recording& recording,
                                    std::uint32_t command, const Bindings& bindings,
                                    RetainedResources& retained, OpLocation location);

}  // namespace reprise::detail
