// PointerResolver: maps addresses to buffers of a device. Threads: one thread at a time.
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

  // Loads the list of the device's current buffers.
  void refresh();
  // The rest of the listed buffer that contains the address, from the address on; empty if no
  // listed buffer contains it.
  [[nodiscard]] BufferView find_listed(const void* address) const;
  // As find_listed(), but reloads the list if no listed buffer contains the address.
  [[nodiscard]] BufferView find(const void* address);
  // As find(). On a GPU, also adopts an allocation of the application that contains the address.
  // Throws InvalidArgument naming `role` if no buffer and no allocation contains it, and the errors
  // of adopt_allocation().
  [[nodiscard]] BufferView resolve(const void* address, std::string_view role);
  // Exactly `bytes` from the address on. Also throws OutOfRange.
  [[nodiscard]] BufferView resolve(const void* address, std::uint64_t bytes, std::string_view role);

 private:
  Device device_;
  std::vector<std::shared_ptr<PoolBuffer>> buffers_;  // by address
};

// Adopts the allocation that contains `address` and returns its rest from there on; empty if CUDA
// does not know it. CUDA device only.
[[nodiscard]] BufferView adopt_allocation(const Device& device, const void* address);

}  // namespace reprise::detail
