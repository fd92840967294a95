// Samples as replays of a graph give them, for benches of what takes and reads traces. The same
// seed gives the same ones. Threads: pure functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "trace/records.hpp"

namespace reprise::bench {

// How much the times of a node differ from one replay to the next.
enum class Times : std::uint8_t {
  Steady,  // by a twentieth
  Wild     // by a factor of a thousand
};

// A graph of `nodes` nodes in layers of 32, each after two of the layer before, on four lanes.
[[nodiscard]] trace::GraphVersion layered_graph(std::uint32_t nodes);
// Samples of replays first, first + 1, ...: the nodes of 2 us each on four workers.
[[nodiscard]] std::vector<trace::SampleBlock> sample_blocks(const trace::GraphVersion& graph,
                                                            std::uint64_t first,
                                                            std::uint32_t count, Times times);
// The replay that gave a block.
[[nodiscard]] trace::Replay replay_of(const trace::SampleBlock& block);

// A folder for what a bench writes; it goes with everything in it.
class BenchFolder {
 public:
  BenchFolder();
  BenchFolder(const BenchFolder&) = delete;
  BenchFolder& operator=(const BenchFolder&) = delete;
  ~BenchFolder();
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace reprise::bench
