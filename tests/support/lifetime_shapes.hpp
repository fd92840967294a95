// Lists of lifetimes from a seed, for tests and benchmarks of memory planning. Deterministic across
// platforms. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include <reprise/memory_plan.hpp>

namespace reprise::test {

// A rectangle of `capacity` bytes by `time`, cut into pieces by straight cuts and pinwheels of
// five. Some pieces are removed, except those live at one chosen instant; `capacity` bytes are live
// there, and an optimal plan needs exactly that. Sizes are multiples of `unit`, which divides
// `capacity`.
struct CutDesc {
  std::uint64_t seed = 1;
  std::uint32_t pieces = 200;  // or a few more, before removal
  std::uint64_t capacity = std::uint64_t{1} << 20;
  std::uint64_t unit = 1024;
  std::int64_t time = std::int64_t{1} << 20;
  std::uint32_t removed_percent = 10;
  // Share of pinwheel cuts; with 0, repeatedly merging pairs of pieces restores the rectangle.
  std::uint32_t pinwheel_percent = 40;
};
[[nodiscard]] std::vector<BufferLifetime> cut_lifetimes(const CutDesc& desc);

// Buffers with random lifetimes: nine of ten are short, the others last up to a tenth of the time.
struct RandomLifetimesDesc {
  std::uint64_t seed = 1;
  std::uint32_t buffers = 1000;
  std::int64_t time = 10000;
  std::uint64_t most_bytes = 4096;
  // of all buffers; with `mixed_alignment`, random powers of two up to it
  std::uint64_t alignment = 1;
  bool mixed_alignment = false;
};
[[nodiscard]] std::vector<BufferLifetime> random_lifetimes(const RandomLifetimesDesc& desc);

// A training step with `layers` layers: activations kept for the backward pass, temporaries of both
// passes, and gradients.
[[nodiscard]] std::vector<BufferLifetime> training_lifetimes(std::uint64_t seed,
                                                             std::uint32_t layers);

}  // namespace reprise::test
