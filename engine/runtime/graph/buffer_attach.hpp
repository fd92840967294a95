// GraphCore::BufferAttachTransaction: buffers that an update brings into a graph. They know the
// graph from construction on, so that launches which conflict are ordered whoever comes first;
// unless keep() is called they forget it again. Threads: under DeviceCore::order(), without the
// graph's mutex.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/graph/graph_core.hpp"
#include "runtime/memory/pool_core.hpp"

namespace reprise::detail {

class GraphCore::BufferAttachTransaction {
 public:
  // The graph outlives this. Throws std::bad_alloc, having attached none.
  BufferAttachTransaction(GraphCore& graph, std::vector<Use> uses)
      : graph_(graph), uses_(std::move(uses)) {
    for (const Use& use : uses_) {
      use.buffer->prepare();
      if (graph.instance_.number != 0) continue;
      const auto& pool = use.buffer->pool();
      if (std::find(graph.pools_.begin(), graph.pools_.end(), pool) != graph.pools_.end()) continue;
      pool->prepare();
      graph.pools_.push_back(pool);
      pool->attach(graph);
    }
    for (const Use& use : uses_) use.buffer->attach(graph_, use.access);
  }
  BufferAttachTransaction(const BufferAttachTransaction&) = delete;
  BufferAttachTransaction& operator=(const BufferAttachTransaction&) = delete;
  ~BufferAttachTransaction() {
    for (const Use& use : uses_) use.buffer->detach(graph_, {});
  }
  [[nodiscard]] const std::vector<Use>& list() const noexcept { return uses_; }
  void keep() noexcept { uses_.clear(); }

 private:
  GraphCore& graph_;
  std::vector<Use> uses_;
};

}  // namespace reprise::detail
