// Lists of lifetimes from a seed, for tests and benches of memory planning. The same arguments give
// the same list on every machine. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include <reprise/memory_plan.hpp>

namespace reprise::test {

// A rectangle of `capacity` bytes by `time`, cut into pieces by straight cuts and by pinwheels of
// five, from which some are taken out; never those of one instant, so that `capacity` is what lives
// at once there, and what a plan of the least height needs. Sizes are multiples of `unit`, which
// divides `capacity`.
struct CutDesc {
  std::uint64_t seed = 1;
  std::uint32_t pieces = 200;  // or a few more, before some are taken out
  std::uint64_t capacity = std::uint64_t{1} << 20;
  std::uint64_t unit = 1024;
  std::int64_t time = std::int64_t{1} << 20;
  std::uint32_t removed_percent = 10;
  std::uint32_t pinwheel_percent =
      40;  // of the cuts; without any, pairs of pieces can be put together until all is whole
};
[[nodiscard]] std::vector<BufferLifetime> cut_lifetimes(const CutDesc& desc);

// Buffers of any lifetime: nine of ten short, the others up to a tenth of the time.
struct RandomLifetimesDesc {
  std::uint64_t seed = 1;
  std::uint32_t buffers = 1000;
  std::int64_t time = 10000;
  std::uint64_t most_bytes = 4096;
  std::uint64_t alignment = 1;  // of all, or up to that, powers of two, where `mixed`
  bool mixed_alignment = false;
};
[[nodiscard]] std::vector<BufferLifetime> random_lifetimes(const RandomLifetimesDesc& desc);

// A training step of `layers`: what each layer keeps for its backward pass, temporaries of both
// ways, gradients.
[[nodiscard]] std::vector<BufferLifetime> training_lifetimes(std::uint64_t seed,
                                                             std::uint32_t layers);

}  // namespace reprise::test
