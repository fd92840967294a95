// Recordings of known shapes and random recordings, for property tests and benchmarks. Unless
// stated otherwise, every command writes its own buffer and reads the buffers of its parents.
// Deterministic. Threads: pure functions.
#pragma once

#include <cstdint>
#include <memory>

#include "support/recording_builder.hpp"

namespace reprise::test {

struct ShapeDesc {
  Ordering ordering = Ordering::Inferred;
  BufferKind kind = BufferKind::Device;
  std::uint64_t bytes = 256;  // of every buffer
};

// All commands read and write one buffer.
[[nodiscard]] RecordingPtr chain(std::uint32_t commands, const ShapeDesc& desc = {});
// No edges.
[[nodiscard]] RecordingPtr wide(std::uint32_t commands, const ShapeDesc& desc = {});
// Command i reads (i - 1) / 2.
[[nodiscard]] RecordingPtr binary_tree(std::uint32_t commands, const ShapeDesc& desc = {});
// A binary tree with all edges reversed.
[[nodiscard]] RecordingPtr reverse_tree(std::uint32_t commands, const ShapeDesc& desc = {});
// Layers of `width`: a command reads `parents` commands of the previous layer: its counterpart and
// the neighbours to the right. 0: the whole layer.
[[nodiscard]] RecordingPtr layers(std::uint32_t commands, std::uint32_t width,
                                  std::uint32_t parents, const ShapeDesc& desc = {});
// `repetitions` times: one command, `width` commands that read it, and one that reads those.
[[nodiscard]] RecordingPtr fork_join(std::uint32_t width, std::uint32_t repetitions,
                                     const ShapeDesc& desc = {});
// side x side commands; each reads its left and upper neighbours.
[[nodiscard]] RecordingPtr wavefront(std::uint32_t side, const ShapeDesc& desc = {});
// In-place tiled Cholesky factorization of tiles x tiles; 16 tiles: 816 commands.
[[nodiscard]] RecordingPtr cholesky(std::uint32_t tiles, const ShapeDesc& desc = {});

struct RandomDesc {
  std::uint64_t seed = 1;
  std::uint32_t commands = 40;
  std::uint32_t buffers = 8;
  std::uint32_t max_accesses = 3;  // per command, at least 1
  std::uint64_t bytes = 64;        // of every buffer
  // Accesses of a whole buffer; the others have a random non-empty range.
  std::uint32_t whole_percent = 50;
  std::uint32_t shared_percent = 0;   // buffers that share bytes with the previous one
  std::uint32_t rows_percent = 0;     // accesses of rows with gaps
  std::uint32_t write_percent = 40;   // accesses that write; half of those read as well
  std::uint32_t barrier_percent = 0;  // commands that are barriers, a quarter of them global
  std::uint32_t user_edges = 0;       // forward in recorded order
  std::uint32_t backward_edges = 0;   // against recorded order; may close a cycle
  // Programmatic barriers and edges. If not 0, half of the dispatches have a programmatic start.
  std::uint32_t programmatic_percent = 0;
  BufferKind kind = BufferKind::Device;
  Ordering ordering = Ordering::Inferred;
};
[[nodiscard]] RecordingPtr random_recording(const RandomDesc& desc);

// A DAG of edges: command i reads the buffers of `parents` random commands among the previous
// `window`.
struct RandomDagDesc {
  std::uint64_t seed = 1;
  std::uint32_t commands = 1000;
  std::uint32_t parents = 3;
  std::uint32_t window = 1000;
};
[[nodiscard]] RecordingPtr random_dag(const RandomDagDesc& desc, const ShapeDesc& shape = {});

// A pseudorandom generator (SplitMix64), identical on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x1234567) {}
  [[nodiscard]] std::uint64_t next();
  [[nodiscard]] std::uint32_t below(std::uint64_t limit) {
    return static_cast<std::uint32_t>(next() % limit);
  }
  [[nodiscard]] bool percent(std::uint32_t p) { return below(100) < p; }

 private:
  std::uint64_t state_;
};

}  // namespace reprise::test
