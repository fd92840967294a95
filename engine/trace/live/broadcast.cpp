#include "trace/live/broadcast.hpp"

#include <algorithm>
#include <utility>

#include "trace/topology_state.hpp"

namespace reprise::trace {

class Broadcast::Viewer {
 public:
  explicit Viewer(std::size_t max_bytes) : queue(max_bytes) {}
  ViewerQueue queue;
  bool idle = false;     // its last next() returned null
  bool overrun = false;  // see is_overrun()
};

// Replaces the topology by its latest state. The cost is proportional to what was added since.
void Broadcast::compact_topology() {
  TopologyState state;
  for (const auto& chunk : topology_) state.add(read_chunk(chunk->header, chunk->payload));
  auto compact = state.chunks(topology_.back()->header.sequence);
  topology_bytes_ = 0;
  for (const auto& chunk : compact) topology_bytes_ += chunk->size();
  compact_at_ = std::max(kMinCompactBytes, 2 * topology_bytes_);
  const std::lock_guard lock(mutex_);
  topology_ = std::move(compact);
}

bool Broadcast::write(const std::shared_ptr<const Chunk>& chunk) {
  if (chunk->header.kind == ChunkKind::Contents) return false;
  const bool is_topology = chunk->header.kind == ChunkKind::Topology;
  if (is_topology) {
    if (topology_bytes_ > compact_at_) compact_topology();
    topology_bytes_ += chunk->size();
  }
  const std::lock_guard lock(mutex_);
  if (is_topology) topology_.push_back(chunk);
  bool wake = false;
  for (const auto& viewer : viewers_) {
    if (viewer->overrun) continue;
    if (!viewer->queue.push(chunk)) ++dropped_;
    wake = wake || viewer->idle;
    if (viewer->queue.topology_bytes() <= topology_bytes_ + viewer_bytes_) continue;
    viewer->queue.clear();
    viewer->overrun = wake = true;
  }
  if (!wake || woken_) return false;
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

bool Broadcast::is_overrun(const Viewer& viewer) const {
  const std::lock_guard lock(mutex_);
  return viewer.overrun;
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
