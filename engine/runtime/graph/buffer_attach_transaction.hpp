// BufferAttachTransaction: attaches the buffers that an update adds to a replica. The buffers know
// the replica from construction on, so conflicting launches are ordered whichever comes first. The
// destructor detaches them unless commit() was called.
// Threads: under DeviceCore::order(), without the replica's mutex.
#pragma once

#include <utility>
#include <vector>

#include "runtime/graph/graph_replica.hpp"

namespace reprise::detail {

class BufferAttachTransaction {
 public:
  // `replica` outlives this. Throws std::bad_alloc, then without having attached any buffer.
  BufferAttachTransaction(GraphReplica& replica, std::vector<BufferUse> uses)
      : BufferAttachTransaction(replica) {  // so that the destructor runs if this throws
    uses_.reserve(uses.size());
    for (BufferUse& use : uses) {
      use.buffer->prepare();
      replica_.attach_pool(use.buffer->pool());
      use.buffer->attach(replica_, use.access);
      uses_.push_back(std::move(use));
    }
  }
  BufferAttachTransaction(const BufferAttachTransaction&) = delete;
  BufferAttachTransaction& operator=(const BufferAttachTransaction&) = delete;
  ~BufferAttachTransaction() {
    for (const BufferUse& use : uses_) use.buffer->detach(replica_, use.access, {});
  }
  [[nodiscard]] const std::vector<BufferUse>& uses() const noexcept { return uses_; }
  void commit() noexcept { uses_.clear(); }

 private:
  explicit BufferAttachTransaction(GraphReplica& replica) noexcept : replica_(replica) {}

  GraphReplica& replica_;
  std::vector<BufferUse> uses_;
};

}  // namespace reprise::detail
