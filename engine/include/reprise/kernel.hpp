// Kernels: what the build knows of one (KernelDesc, made by reprise_add_shaders) and one loaded on
// a device (Kernel). Recording needs the description alone. Threads: a Kernel is immutable and may
// be used by many recorders at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <reprise/types.hpp>

namespace reprise {

// One parameter of a kernel in its parameter block.
struct KernelParameter {
  std::uint32_t offset = 0;     // bytes, as the CUDA ABI lays the block out
  std::uint32_t size = 0;       // bytes
  bool is_pointer = false;      // takes a buffer; anything else is passed by value
  bool may_be_pointer = false;  // of an adopted kernel, whose image does not say: takes a buffer, a
                                // Condition or 8 bytes by value
  bool is_condition = false;    // a reprise_condition: takes a Condition
};

// One block of a host-device launch. `parameters` is the parameter block; the function runs every
// thread of block `block_index`.
struct HostBlock {
  Dim3 grid, block, block_index;
  std::byte* dynamic_shared = nullptr;  // `shared_bytes` bytes of scratch of this block
  std::uint32_t shared_bytes = 0;
  const std::byte* parameters = nullptr;
};
using HostKernelFunction = void (*)(const HostBlock&);

// A kernel that was built from a shader file: the fatbin that holds it (empty without CUDA) and its
// host function (null for kernels that only exist on the GPU). Lives for ever.
struct KernelDesc {
  const char* name = "";                        // entry point in the fatbin (extern "C")
  std::span<const KernelParameter> parameters;  // reflected from the signature
  HostKernelFunction host = nullptr;
  std::span<const std::byte> (*image)() =
      nullptr;              // fatbin, cubin or PTX; null where the build had no CUDA
  const char* source = "";  // file it was built from
};

namespace detail {
struct KernelCore;
}

// A kernel loaded on one device. Copies share it; it stays loaded until the last copy, recording
// and graph is gone.
class Kernel {
 public:
  Kernel() = default;
  explicit Kernel(std::shared_ptr<const detail::KernelCore> core) noexcept
      : core_(std::move(core)) {}

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] std::string_view name() const noexcept;  // empty for a default-constructed one
  [[nodiscard]] std::span<const KernelParameter> parameters() const noexcept;
  [[nodiscard]] const std::shared_ptr<const detail::KernelCore>& core() const noexcept {
    return core_;
  }

 private:
  std::shared_ptr<const detail::KernelCore> core_;
};

}  // namespace reprise
