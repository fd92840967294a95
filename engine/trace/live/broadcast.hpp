// Broadcast: hands every chunk to the queue of every viewer. Where the writer's thread and the
// server's meet: each call takes one mutex for a few pointers' time, and neither thread ever waits
// for a socket in it. Knows no socket. Threads: any.
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

  // `viewer_bytes` wait for each viewer at most.
  explicit Broadcast(std::size_t viewer_bytes) : viewer_bytes_(viewer_bytes) {}

  // True: a viewer had nothing to do and has now; whoever sends has to be woken. Said once until
  // take_wake().
  [[nodiscard]] bool write(const std::shared_ptr<const Chunk>& chunk);
  void take_wake();

  // A viewer that gets all the topology made so far, and then every chunk from now on.
  [[nodiscard]] std::shared_ptr<Viewer> attach();
  std::size_t detach(const std::shared_ptr<Viewer>& viewer);  // how many are left
  // What the viewer is to be sent now that all before has been. Null: nothing, until the next
  // write.
  [[nodiscard]] std::shared_ptr<const Chunk> next(Viewer& viewer);

  // Waits until all viewers have been sent everything, or for `limit`.
  void wait_until_sent(std::chrono::milliseconds limit);
  [[nodiscard]] std::size_t viewers() const;
  [[nodiscard]] std::uint64_t dropped_chunks() const;

 private:
  const std::size_t viewer_bytes_;
  mutable std::mutex mutex_;  // of what stands below, and of what is in viewers
  std::condition_variable sent_;
  std::vector<std::shared_ptr<const Chunk>> topology_;
  std::vector<std::shared_ptr<Viewer>> viewers_;
  std::uint64_t dropped_ = 0;
  bool woken_ = false;
};

}  // namespace reprise::trace
