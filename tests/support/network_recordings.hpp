// Recordings shaped like training steps of known networks: forward, loss, backward. Activations,
// gradients and temporaries are transients; weights and their gradients are device buffers. For
// tests and benchmarks of memory and lowering. Threads: pure functions.
#pragma once

#include <cstdint>

#include "support/recording_builder.hpp"

namespace reprise::test {

struct NetworkDesc {
  std::uint32_t blocks = 8;
  Ordering ordering = Ordering::Inferred;
};

// Layers of several widths.
[[nodiscard]] RecordingPtr mlp_step(const NetworkDesc& desc = {});
// Two convolutions and a sum per block; sizes halve every fourth block.
[[nodiscard]] RecordingPtr resnet_step(const NetworkDesc& desc = {});
// Attention with q, k, v, scores and a softmax, followed by two products.
[[nodiscard]] RecordingPtr transformer_step(const NetworkDesc& desc = {});
// A contracting path, then an expanding path with skip connections.
[[nodiscard]] RecordingPtr unet_step(const NetworkDesc& desc = {});

}  // namespace reprise::test
