// What a device is and what it can do: the values that validation checks against. Threads: values.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <reprise/types.hpp>

namespace reprise {

enum class DeviceKind : std::uint8_t { Host, Cuda };

struct DeviceLimits {
  Dim3 max_grid;                          // blocks
  Dim3 max_block;                         // threads
  std::uint32_t max_block_threads = 0;    // threads of a block
  std::uint32_t max_shared_bytes = 0;     // dynamic shared memory of a block, opt-in maximum
  std::uint32_t max_parameter_bytes = 0;  // of a kernel's parameter block
  std::uint32_t max_cluster_blocks = 0;   // portable maximum; 0: no clusters
  std::uint32_t max_cooperative_blocks =
      0;                                 // of one-thread blocks at once; 0: no cooperative launches
  std::uint64_t max_pitch = 0;           // bytes, of 2D and 3D copies
  std::uint32_t buffer_alignment = 256;  // bytes, of every allocation and transient
  // Basic: execute_if without an else, and execute_while.
  enum class Conditionals : std::uint8_t { None, Basic, All } conditionals = Conditionals::None;
};

struct DeviceInfo {
  std::string name;      // "NVIDIA H200", "host (2 threads)"
  std::string selector;  // "cuda:0", "host"
  DeviceKind kind = DeviceKind::Host;
  std::array<std::uint8_t, 16> uuid{};
  std::uint32_t compute_major = 0, compute_minor = 0;  // 0.0 for the host device
  std::uint32_t multiprocessors = 0;  // threads of the executor for the host device
  std::uint64_t memory_bytes = 0;
  std::uint32_t driver_version = 0;  // 13000 = 13.0; 0 for the host device
  DeviceLimits limits;
};

}  // namespace reprise
