// A slab that graphs share: a buffer of a pool, which each of them writes and reads as a whole. That is what orders their launches, holds it
// and gives it back, as with any buffer. Threads: any.
#pragma once

#include <cstddef>
#include <memory>

#include <reprise/buffer.hpp>

#include "plan/plan.hpp"

namespace reprise::detail {

class DeviceCore;
class PoolBuffer;

struct SharedSlab {
  std::shared_ptr<PoolBuffer> buffer;  // null: there is none
  std::byte* address = nullptr;        // of the first transient byte
};

// `slab` of a CompileDesc, for the transients of `plan`. Throws InvalidArgument for what is no Device buffer of a pool, is aligned worse than
// transients are, or is used by a command; WrongDevice, StaleHandle; OutOfMemory where it is too small, naming the bytes needed.
[[nodiscard]] SharedSlab shared_slab(const DeviceCore& device, const GpuRef<std::byte>& slab, const Plan& plan);

}  // namespace reprise::detail
