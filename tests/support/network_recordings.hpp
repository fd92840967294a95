// Recordings shaped like training steps of known networks: forward, loss, backward, with
// activations, gradients and temporaries as transients and weights and their gradients as device
// buffers. For tests and benches of memory and lanes. Threads: pure functions.
#pragma once

#include <cstdint>

#include "support/recording_builder.hpp"

namespace reprise::test {

struct NetworkDesc {
  std::uint32_t blocks = 8;
  Ordering ordering = Ordering::Inferred;
};

[[nodiscard]] RecordingPtr mlp_step(const NetworkDesc& desc = {});  // layers of several widths
[[nodiscard]] RecordingPtr resnet_step(
    const NetworkDesc& desc = {});  // two convolutions and a sum; bytes halve every fourth block
[[nodiscard]] RecordingPtr transformer_step(
    const NetworkDesc& desc =
        {});  // attention with q, k, v, scores and a softmax, then two products
[[nodiscard]] RecordingPtr unet_step(
    const NetworkDesc& desc = {});  // down, then up with what was kept on the way down

}  // namespace reprise::test
