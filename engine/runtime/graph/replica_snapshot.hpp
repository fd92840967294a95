// ReplicaSnapshot: saves the memory that replays of one replica write, and restores it, in the
// order of the replica's launches. Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/graph/graph_replica.hpp"
#include "runtime/memory/saved_memory.hpp"

namespace reprise::detail {

// Blocks until everything that was launched for the replica is complete. Throws DeviceLost.
void wait_for_launches(const GraphReplica& replica);

class ReplicaSnapshot {
 public:
  // Saves the contents into memory of `kind`, Device or PinnedHost, by work on `queue`, and waits.
  // `replica` outlives the object. Throws OutOfMemory, and Unsupported with `verb` and `remedy` for
  // host callbacks, whose effects cannot be undone.
  ReplicaSnapshot(GraphReplica& replica, std::shared_ptr<QueueCore> queue, BufferKind kind,
                  std::string_view verb, std::string_view remedy);
  ReplicaSnapshot(const ReplicaSnapshot&) = delete;
  ReplicaSnapshot& operator=(const ReplicaSnapshot&) = delete;
  ~ReplicaSnapshot();  // waits for the replica's launches

  // Waits for the replica's launches, then starts to restore the contents; later launches follow.
  void restore();

 private:
  [[nodiscard]] std::unique_ptr<BackendExec> instantiate(SavedMemory::Direction direction) const;

  GraphReplica& replica_;
  const std::shared_ptr<QueueCore> queue_;
  std::optional<SavedMemory> saved_;
  std::vector<std::byte> host_;           // contents of host memory
  std::unique_ptr<BackendExec> restore_;  // null without buffers
};

}  // namespace reprise::detail
