// PointerResolver: from addresses to buffers of a device. Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/device.hpp>

#include "runtime/memory/pool_buffer.hpp"

namespace reprise::detail {

class PointerResolver {
 public:
  explicit PointerResolver(Device device) noexcept : device_(std::move(device)) {}

  // The buffers that there are now are the known ones.
  void look();
  // From the address to the end of the known buffer that holds it; empty where none does.
  [[nodiscard]] BufferView find_known(const void* address) const;
  // The same, with a look where it is in none.
  [[nodiscard]] BufferView find(const void* address);
  // The same of memory that the device can reach: on a GPU what CUDA knows is adopted. Throws
  // InvalidArgument naming `role`, and what adopt_buffer throws.
  [[nodiscard]] BufferView reach(const void* address, std::string_view role);
  // `bytes` from the address on. Throws OutOfRange too.
  [[nodiscard]] BufferView reach(const void* address, std::uint64_t bytes, std::string_view role);

 private:
  Device device_;
  std::vector<std::shared_ptr<PoolBuffer>> known_;  // by address
};

// The rest of the allocation that `address` is in, adopted; empty where CUDA does not know it. On
// the CUDA device only.
[[nodiscard]] BufferView adopt_allocation(const Device& device, const void* address);

}  // namespace reprise::detail
