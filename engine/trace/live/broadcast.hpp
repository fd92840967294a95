// Broadcast: distributes every chunk to the queue of every viewer. The writer's thread and the
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

  // `viewer_bytes`: limit of queued event and sample chunks per viewer.
  explicit Broadcast(std::size_t viewer_bytes) : viewer_bytes_(viewer_bytes) {}

  // Returns true if an idle viewer received work and the sending thread must be woken. Returns true
  // at most once until take_wake().
  [[nodiscard]] bool write(const std::shared_ptr<const Chunk>& chunk);
  void take_wake();

  // Adds a viewer. Its queue starts with all topology chunks so far.
  [[nodiscard]] std::shared_ptr<Viewer> attach();
  std::size_t detach(
      const std::shared_ptr<Viewer>& viewer);  // returns the number of remaining viewers
  // The next chunk for the viewer; null while its queue is empty. A null result marks the viewer as
  // idle until the next write().
  [[nodiscard]] std::shared_ptr<const Chunk> next(Viewer& viewer);

  // Waits until every queue is empty and every viewer idle, or until `limit` has elapsed.
  void wait_until_sent(std::chrono::milliseconds limit);
  [[nodiscard]] std::size_t viewers() const;
  [[nodiscard]] std::uint64_t dropped_chunks() const;

 private:
  const std::size_t viewer_bytes_;
  mutable std::mutex mutex_;  // guards all members below and the state of each viewer
  std::condition_variable sent_;
  std::vector<std::shared_ptr<const Chunk>> topology_;
  std::vector<std::shared_ptr<Viewer>> viewers_;
  std::uint64_t dropped_ = 0;
  bool woken_ = false;
};

}  // namespace reprise::trace
