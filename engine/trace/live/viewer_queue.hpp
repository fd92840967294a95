// ViewerQueue: the chunks that wait for one viewer. Bounded: what does not fit is dropped for this
// viewer and counted, and the viewer is told how much it missed, at the place where it is missing.
// Topology is never dropped: later chunks refer to it, and the session keeps it anyway. Knows no
// socket. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "trace/chunk.hpp"

namespace reprise::trace {

class ViewerQueue {
 public:
  // `max_bytes` of events and samples wait at most; one chunk always fits.
  explicit ViewerQueue(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // False: dropped, and counted.
  bool push(const std::shared_ptr<const Chunk>& chunk);
  // The next chunk to send; where chunks were dropped, one made of a Loss for each kind. Null:
  // nothing waits.
  [[nodiscard]] std::shared_ptr<const Chunk> pop();
  [[nodiscard]] bool empty() const noexcept { return items_.empty() && !missing_.any(); }

 private:
  struct Missing {
    std::uint64_t samples = 0, events = 0, chunks = 0;
    std::uint64_t sequence = 0;  // of the first
    [[nodiscard]] bool any() const noexcept { return chunks != 0; }
  };
  struct Item {
    std::shared_ptr<const Chunk> chunk;
    Missing before;  // what was dropped right before it
  };
  [[nodiscard]] static std::shared_ptr<const Chunk> loss_chunk(const Missing& missing);

  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;  // of events and samples in items_
  std::deque<Item> items_;
  Missing missing_;  // since the last item
};

}  // namespace reprise::trace
