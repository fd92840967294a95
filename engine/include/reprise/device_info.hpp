// DeviceInfo: properties and limits of a device, against which validation checks commands.
// Threads: values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <reprise/types.hpp>

namespace reprise::inline REPRISE_ABI {

enum class DeviceKind : std::uint8_t { Host, Cuda };
[[nodiscard]] REPRISE_API std::string_view to_string(DeviceKind kind) noexcept;

// From cudaGetDeviceProperties and cudaDeviceGetAttribute; the host device states its own.
struct DeviceLimits {
  Dim3 max_grid;                          // blocks
  Dim3 max_block;                         // threads
  std::uint32_t max_block_threads = 0;    // threads in a block
  std::uint32_t max_shared_bytes = 0;     // dynamic shared memory of a block, opt-in maximum
  std::uint32_t max_parameter_bytes = 0;  // of a kernel's parameter block
  std::uint32_t max_cluster_blocks = 0;   // portable maximum; 0: no clusters
  // One-thread blocks that can be resident at once; 0: no cooperative launches.
  std::uint32_t max_cooperative_blocks = 0;
  // Resident blocks of a segment whose dispatches have up to 128 threads in a block; half as many
  // with up to 256, and so on. 0: no segments.
  std::uint32_t max_segment_blocks = 0;
  std::uint64_t max_pitch = 0;           // bytes, of 2D and 3D copies and fills
  std::uint32_t buffer_alignment = 256;  // bytes, of every allocation and transient
  // The range of QueueDesc::priority; lower numbers come first. Both are 0 if the device has no
  // priorities, as the host device, and in Instance::devices(), which opens no device.
  std::int32_t lowest_queue_priority = 0, highest_queue_priority = 0;
  // None; Basic: execute_if without an else branch, and execute_while; All: any conditional.
  enum class Conditionals : std::uint8_t { None, Basic, All } conditionals = Conditionals::None;
};
[[nodiscard]] REPRISE_API std::string_view to_string(
    DeviceLimits::Conditionals conditionals) noexcept;

struct DeviceInfo {
  std::string name;      // "NVIDIA H200", "host (2 threads)"
  std::string selector;  // "cuda:0", "host"
  DeviceKind kind = DeviceKind::Host;
  std::array<std::uint8_t, 16> uuid{};
  std::uint32_t compute_major = 0, compute_minor = 0;  // compute capability; 0.0: host device
  std::uint32_t multiprocessors = 0;                   // host device: threads of the executor
  std::uint64_t memory_bytes = 0;                      // installed
  std::uint32_t driver_version = 0;                    // 13000 = CUDA 13.0; 0: host device
  DeviceLimits limits;
};

}  // namespace reprise::inline REPRISE_ABI
