// TopologyState: what later chunks of a trace may refer to: the latest state of every object that
// has not ended, and the newest messages and updates. A flight recorder and a live server replace
// older topology chunks by it. Knows nothing about files and sockets. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/chunk.hpp"
#include "trace/latest_records.hpp"

namespace reprise::trace {

class TopologyState {
 public:
  // Text of messages, and of updates, that is kept.
  static constexpr std::size_t kHistoryBytes = 16u << 10;

  // Adds topology that follows all topology added before.
  void add(Records records);
  // The state as chunks with this sequence number. At most `max_bytes` in total, unless one record
  // needs more: what does not fit is left out, the oldest graphs last, and becomes a Loss record.
  [[nodiscard]] std::vector<std::shared_ptr<const Chunk>> chunks(
      std::uint64_t sequence, std::uint64_t max_bytes = ~std::uint64_t{0});

 private:
  void add(const Ended& ended);
  [[nodiscard]] std::vector<std::shared_ptr<const Chunk>> encode(std::uint64_t sequence) const;
  [[nodiscard]] bool drop_oldest();  // false: nothing more can be dropped

  LatestRecords latest_;
  ById<Clock> clocks_;  // by device
  std::map<std::tuple<std::uint32_t, PoolRole, std::uint32_t>, PoolUse> pool_uses_;
  ById<BufferLifetime> buffers_;
  std::vector<Message> messages_;
  std::vector<Update> updates_;
  Loss left_out_{0, LossKind::Events, 0, "the trace is too small to describe every object"};
};

}  // namespace reprise::trace
