#include "trace/live/viewer_queue.hpp"

#include <chrono>
#include <utility>

namespace reprise::trace {

namespace {

// Includes the overhead of an item, so that many tiny chunks are bounded.
std::size_t weight(const Chunk& chunk) { return chunk.size() + 128; }

}  // namespace

bool ViewerQueue::push(const std::shared_ptr<const Chunk>& chunk) {
  const std::size_t bytes = weight(*chunk);
  const ChunkHeader& h = chunk->header;
  const bool is_topology = h.kind == ChunkKind::Topology;
  if (!is_topology && bytes_ != 0 && bytes_ + bytes > max_bytes_) {
    if (!missing_.any()) missing_.sequence = h.sequence;
    ++missing_.chunks;
    (h.kind == ChunkKind::Samples ? missing_.samples : missing_.events) +=
        h.kind == ChunkKind::Samples ? h.sample_count : h.record_count;
    return false;
  }
  (is_topology ? topology_bytes_ : bytes_) += bytes;
  items_.push_back({chunk, std::exchange(missing_, {})});
  return true;
}

std::shared_ptr<const Chunk> ViewerQueue::pop() {
  if (items_.empty()) return missing_.any() ? loss_chunk(std::exchange(missing_, {})) : nullptr;
  Item& item = items_.front();
  if (item.before.any()) return loss_chunk(std::exchange(item.before, {}));
  const std::shared_ptr<const Chunk> chunk = std::move(item.chunk);
  (chunk->header.kind == ChunkKind::Topology ? topology_bytes_ : bytes_) -= weight(*chunk);
  items_.pop_front();
  return chunk;
}

void ViewerQueue::clear() noexcept {
  items_.clear();
  missing_ = {};
  bytes_ = topology_bytes_ = 0;
}

// The chunk takes the sequence number of the first missing chunk.
std::shared_ptr<const Chunk> ViewerQueue::loss_chunk(const Missing& missing) {
  const Time now = std::chrono::steady_clock::now().time_since_epoch().count();
  Records records;
  for (const auto& [kind, count] : {std::pair(LossKind::Samples, missing.samples),
                                    std::pair(LossKind::Events, missing.events)}) {
    if (count != 0) records.losses.push_back({now, kind, count, "the viewer read too slowly"});
  }
  return std::make_shared<const Chunk>(make_chunk(ChunkKind::Events, records, missing.sequence));
}

}  // namespace reprise::trace
