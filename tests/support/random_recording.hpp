// Recordings of known shapes, and random ones from a seed: the inputs of property tests and of
// benches. Every command writes a buffer of its own and reads its parents' buffers, where nothing
// else is said. The same arguments give the same recording.
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

[[nodiscard]] RecordingPtr chain(
    std::uint32_t commands, const ShapeDesc& desc = {});  // one buffer, read and written by all
[[nodiscard]] RecordingPtr wide(std::uint32_t commands, const ShapeDesc& desc = {});  // no edge
[[nodiscard]] RecordingPtr binary_tree(std::uint32_t commands,
                                       const ShapeDesc& desc = {});  // command i reads (i - 1) / 2
[[nodiscard]] RecordingPtr reverse_tree(
    std::uint32_t commands, const ShapeDesc& desc = {});  // the same, all edges turned round
// Layers of `width`; a command reads `parents` of the layer before: itself, its neighbours to the
// right. 0: all of it.
[[nodiscard]] RecordingPtr layers(std::uint32_t commands, std::uint32_t width,
                                  std::uint32_t parents, const ShapeDesc& desc = {});
// `rounds` times: one command, `width` that read it, one that reads those.
[[nodiscard]] RecordingPtr fork_join(std::uint32_t width, std::uint32_t rounds,
                                     const ShapeDesc& desc = {});
[[nodiscard]] RecordingPtr wavefront(
    std::uint32_t side, const ShapeDesc& desc = {});  // side x side, reads left and upper
[[nodiscard]] RecordingPtr cholesky(
    std::uint32_t tiles,
    const ShapeDesc& desc = {});  // tiled, in place, of tiles x tiles; 16: 816 commands

struct RandomDesc {
  std::uint64_t seed = 1;
  std::uint32_t commands = 40;
  std::uint32_t buffers = 8;
  std::uint32_t max_accesses = 3;  // of a command, at least 1
  std::uint64_t bytes = 64;        // of every buffer
  std::uint32_t whole_percent =
      50;  // accesses of a whole buffer; the others take a random range of at least a byte
  std::uint32_t rows_percent = 0;     // accesses of rows with gaps
  std::uint32_t write_percent = 40;   // accesses that write; half of those read as well
  std::uint32_t barrier_percent = 0;  // commands that are barriers, a quarter of them global
  std::uint32_t user_edges = 0;       // forward in recorded order
  std::uint32_t backward_edges = 0;   // against it: may close a cycle
  std::uint32_t programmatic_percent =
      0;  // barriers and edges that are; half of the dispatches start early then
  BufferKind kind = BufferKind::Device;
  Ordering ordering = Ordering::Inferred;
};
[[nodiscard]] RecordingPtr random_recording(const RandomDesc& desc);

// A DAG given by edges: command i reads the buffers of `parents` random commands among the `window`
// before it.
struct RandomDagDesc {
  std::uint64_t seed = 1;
  std::uint32_t commands = 1000;
  std::uint32_t parents = 3;
  std::uint32_t window = 1000;
};
[[nodiscard]] RecordingPtr random_dag(const RandomDagDesc& desc, const ShapeDesc& shape = {});

// Small numbers from a seed, the same on every machine.
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
