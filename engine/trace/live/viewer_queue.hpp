// ViewerQueue: the chunks queued for one viewer. The queue is bounded: a chunk that does not fit is
// dropped and counted, and the viewer receives the count as Loss records at the position of the
// gap. Topology is never dropped, because later chunks refer to it; the owner limits it by
// disconnecting the viewer. Knows nothing about sockets. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "trace/chunk.hpp"

namespace reprise::trace {

class ViewerQueue {
 public:
  // `max_bytes`: limit of queued events and samples; one chunk always fits.
  explicit ViewerQueue(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Returns false if the chunk was dropped and counted.
  bool push(const std::shared_ptr<const Chunk>& chunk);
  // The next chunk to send. After a gap, this is a chunk with one Loss per kind. Null: the queue is
  // empty.
  [[nodiscard]] std::shared_ptr<const Chunk> pop();
  // Drops everything without a report.
  void clear() noexcept;
  [[nodiscard]] std::size_t topology_bytes() const noexcept { return topology_bytes_; }
  [[nodiscard]] bool empty() const noexcept { return items_.empty() && !missing_.any(); }

 private:
  struct Missing {
    std::uint64_t samples = 0, events = 0, chunks = 0;
    std::uint64_t sequence = 0;  // of the first dropped chunk
    [[nodiscard]] bool any() const noexcept { return chunks != 0; }
  };
  struct Item {
    std::shared_ptr<const Chunk> chunk;
    Missing before;  // dropped immediately before this chunk
  };
  [[nodiscard]] static std::shared_ptr<const Chunk> loss_chunk(const Missing& missing);

  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;           // of events and samples in items_
  std::size_t topology_bytes_ = 0;  // in items_
  std::deque<Item> items_;
  Missing missing_;  // dropped since the last item
};

}  // namespace reprise::trace
