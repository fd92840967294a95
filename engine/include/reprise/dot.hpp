// DotFlags: the contents of a DOT file of a graph (CapturedGraph::to_dot). The low 16 bits are
// those of cudaGraphDebugDotFlags, so the same flags work with cuda_debug_dot in
// <reprise/cuda_interop.hpp>. Threads: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI {

enum class DotFlags : std::uint32_t {
  None = 0,
  Verbose = 1u << 0,           // everything below
  RuntimeTypes = 1u << 1,      // CUDA's name of each node's type
  KernelNodeParams = 1u << 2,  // dispatches: grid, block, shared memory, arguments; ops: parameters
  MemcpyNodeParams = 1u << 3,  // copies and updates: offsets, rows and pitches
  MemsetNodeParams = 1u << 4,  // fills: value, element size, rows and pitch
  HostNodeParams = 1u << 5,    // host callbacks: the function
  // Events, semaphores, allocations and memory operations occur in captured and adopted graphs;
  // their parameters are those that the driver reports.
  EventNodeParams = 1u << 6,
  ExtSemasSignalNodeParams = 1u << 7,
  ExtSemasWaitNodeParams = 1u << 8,
  KernelNodeAttributes = 1u << 9,  // dispatches: cluster, cooperative launch, kernel resources
  Handles = 1u << 10,              // ids and addresses of buffers
  MemAllocNodeParams = 1u << 11,
  MemFreeNodeParams = 1u << 12,
  BatchMemOpNodeParams = 1u << 13,
  ExtraTopoInfo = 1u << 14,          // index of each edge among the incoming edges of its node
  ConditionalNodeParams = 1u << 15,  // conditionals: kind and iteration limit
  Accesses = 1u << 16,               // buffers and byte ranges
  Causes = 1u << 17,                 // cause of each edge
  AddedEdges = 1u << 18,             // edges that lowering added, dashed
  Locations = 1u << 19,              // file:line of each command
  Default = Accesses | Causes | AddedEdges
};
[[nodiscard]] constexpr DotFlags operator|(DotFlags a, DotFlags b) noexcept {
  return static_cast<DotFlags>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
// The names of the set bits, "Accesses | Causes", or "None".
[[nodiscard]] REPRISE_API std::string to_string(DotFlags flags);
// True if `flags` contain `one` or Verbose.
[[nodiscard]] constexpr bool has_flag(DotFlags flags, DotFlags one) noexcept {
  const auto bits = static_cast<std::uint32_t>(flags);
  return (bits & static_cast<std::uint32_t>(DotFlags::Verbose)) != 0 ||
         (bits & static_cast<std::uint32_t>(one)) != 0;
}

}  // namespace reprise::inline REPRISE_ABI
