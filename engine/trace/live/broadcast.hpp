// Broadcast: distributes every chunk to the queue of every viewer, except data of the program
// (ChunkKind::Contents), which a viewer must not get unasked. The writer's thread and the
// server's thread share it; each call holds one mutex only to copy pointers, never during socket
// I/O. Knows nothing about sockets. Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "trace/live/viewer_queue.hpp"

namespace reprise::trace {

class Broadcast {
 public:
  class Viewer;

  // Topology below this size is not compacted.
  static constexpr std::size_t kMinCompactBytes = 256u << 10;

  // `viewer_bytes`: limit of queued event and sample chunks per viewer, and of outdated topology.
  explicit Broadcast(std::size_t viewer_bytes) : viewer_bytes_(viewer_bytes) {}

  // Returns true if the sending thread must be woken: an idle viewer received work, or a viewer was
  // overrun. Returns true at most once until take_wake().
  [[nodiscard]] bool write(const std::shared_ptr<const Chunk>& chunk);
  void take_wake();

  // Adds a viewer. Its queue starts with the topology so far.
  [[nodiscard]] std::shared_ptr<Viewer> attach();
  std::size_t detach(
      const std::shared_ptr<Viewer>& viewer);  // returns the number of remaining viewers
  // The next chunk for the viewer; null while its queue is empty. A null result marks the viewer as
  // idle until the next write().
  [[nodiscard]] std::shared_ptr<const Chunk> next(Viewer& viewer);
  // True if the viewer must be disconnected: it read so slowly that its queue held more topology
  // than a new viewer would receive, by more than the limit. It receives no further chunks.
  [[nodiscard]] bool is_overrun(const Viewer& viewer) const;

  // Waits until every queue is empty and every viewer idle, or until `limit` has elapsed.
  void wait_until_sent(std::chrono::milliseconds limit);
  [[nodiscard]] std::size_t viewers() const;
  [[nodiscard]] std::uint64_t dropped_chunks() const;

 private:
  void compact_topology();

  const std::size_t viewer_bytes_;
  mutable std::mutex mutex_;  // guards all members below and the state of each viewer
  std::condition_variable sent_;
  // For later viewers. Changed only by write(), which therefore reads it without the mutex.
  std::vector<std::shared_ptr<const Chunk>> topology_;
  std::size_t topology_bytes_ = 0, compact_at_ = kMinCompactBytes;  // used by write()
  std::vector<std::shared_ptr<Viewer>> viewers_;
  std::uint64_t dropped_ = 0;
  bool woken_ = false;
};

}  // namespace reprise::trace
