// Records to the bytes of one chunk and back: FlatBuffers as schema.fbs says. Compression and
// framing are chunk.hpp's. Knows no file and no socket. Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/records.hpp"

namespace reprise::trace {

// The records of one chunk, by kind; each kind in the order it was written.
struct Records {
  std::vector<Session> sessions;
  std::vector<Clock> clocks;
  std::vector<Device> devices;
  std::vector<Queue> queues;
  std::vector<GraphVersion> graph_versions;
  std::vector<Replay> replays;
  std::vector<SampleBlock> sample_blocks;
  std::vector<HostRange> host_ranges;
  std::vector<ThreadName> thread_names;
  std::vector<PoolState> pool_states;
  std::vector<BufferLife> buffer_lives;
  std::vector<Message> messages;
  std::vector<Update> updates;
  std::vector<Loss> losses;
  std::vector<ProfileCost> profile_costs;
  std::vector<LoopRun> loop_runs;
  std::vector<DeviceTotals> device_totals;

  void add(Record record);
  [[nodiscard]] std::size_t count() const noexcept;  // of all kinds
  [[nodiscard]] bool empty() const noexcept { return count() == 0; }
  void clear() noexcept;
  friend bool operator==(const Records&, const Records&) = default;
};

[[nodiscard]] std::vector<std::uint8_t> encode(const Records& records);

// Verifies first; then checks that every index leads somewhere, so that nobody after this needs to.
// Throws TraceError (Corrupt) naming what is wrong. Allocates only what the verified bytes hold.
[[nodiscard]] Records decode(std::span<const std::uint8_t> bytes);

}  // namespace reprise::trace
