#include "trace/live/broadcast.hpp"

#include <algorithm>

namespace reprise::trace {

class Broadcast::Viewer {
 public:
  explicit Viewer(std::size_t max_bytes) : queue(max_bytes) {}
  ViewerQueue queue;
  bool idle = false;  // its last next() returned null
};

bool Broadcast::write(const std::shared_ptr<const Chunk>& chunk) {
  const std::lock_guard lock(mutex_);
  if (chunk->header.kind == ChunkKind::Topology) topology_.push_back(chunk);
  bool idle = false;
  for (const auto& viewer : viewers_) {
    if (!viewer->queue.push(chunk)) ++dropped_;
    idle = idle || viewer->idle;
  }
  if (!idle || woken_) return false;
  woken_ = true;
  return true;
}

void Broadcast::take_wake() {
  const std::lock_guard lock(mutex_);
  woken_ = false;
}

std::shared_ptr<Broadcast::Viewer> Broadcast::attach() {
  auto viewer = std::make_shared<Viewer>(viewer_bytes_);
  const std::lock_guard lock(mutex_);
  for (const auto& chunk : topology_) viewer->queue.push(chunk);
  viewers_.push_back(viewer);
  return viewer;
}

std::size_t Broadcast::detach(const std::shared_ptr<Viewer>& viewer) {
  std::size_t left = 0;
  {
    const std::lock_guard lock(mutex_);
    std::erase(viewers_, viewer);
    left = viewers_.size();
  }
  sent_.notify_all();
  return left;
}

std::shared_ptr<const Chunk> Broadcast::next(Viewer& viewer) {
  {
    const std::lock_guard lock(mutex_);
    auto chunk = viewer.queue.pop();
    viewer.idle = chunk == nullptr;
    if (chunk) return chunk;
  }
  sent_.notify_all();
  return nullptr;
}

void Broadcast::wait_until_sent(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  sent_.wait_for(lock, limit, [this] {
    return std::all_of(viewers_.begin(), viewers_.end(),
                       [](const auto& viewer) { return viewer->idle && viewer->queue.empty(); });
  });
}

std::size_t Broadcast::viewers() const {
  const std::lock_guard lock(mutex_);
  return viewers_.size();
}

std::uint64_t Broadcast::dropped_chunks() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace reprise::trace
