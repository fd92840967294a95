// What a DOT of a graph tells of its nodes: DotFlags, and export_dot as a free function. The first
// 16 bits are CUDA's (cudaGraphDebugDotFlags), so that the same flags go to cuda_debug_dot in
// <reprise/cuda_interop.hpp>. Threads: values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace reprise {

class CapturedGraph;

enum class DotFlags : std::uint32_t {
  None = 0,
  Verbose = 1u << 0,       // all of what follows
  RuntimeTypes = 1u << 1,  // CUDA's name for what each node is
  KernelNodeParams =
      1u << 2,  // of dispatches: grid, block, shared memory, arguments; of ops: their parameters
  MemcpyNodeParams = 1u << 3,  // of copies and updates: offsets, rows and pitches
  MemsetNodeParams = 1u << 4,  // of fills: the value, its size, rows and pitch
  HostNodeParams = 1u << 5,    // of host callbacks: which one
  EventNodeParams = 1u << 6,   // this and the following up to BatchMemOpNodeParams: of nodes that a
                               // captured or adopted
  ExtSemasSignalNodeParams = 1u << 7,  // graph may have, what the driver tells of them
  ExtSemasWaitNodeParams = 1u << 8,
  KernelNodeAttributes =
      1u << 9,         // of dispatches: cluster, cooperative launch, what the kernel itself needs
  Handles = 1u << 10,  // identities and addresses of buffers
  MemAllocNodeParams = 1u << 11,
  MemFreeNodeParams = 1u << 12,
  BatchMemOpNodeParams = 1u << 13,
  ExtraTopoInfo = 1u << 14,          // the number of each edge among those into its node
  ConditionalNodeParams = 1u << 15,  // of conditionals: the kind, and what bounds it
  Accesses = 1u << 16,               // buffers and ranges
  Causes = 1u << 17,                 // why each edge exists
  AddedEdges = 1u << 18,             // lane and frame edges, dashed
  Locations = 1u << 19,              // file:line of each command
  Default = Accesses | Causes | AddedEdges
};
[[nodiscard]] constexpr DotFlags operator|(DotFlags a, DotFlags b) noexcept {
  return static_cast<DotFlags>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
// Whether `flags` ask for `one`, by name or by Verbose.
[[nodiscard]] constexpr bool has_flag(DotFlags flags, DotFlags one) noexcept {
  const auto bits = static_cast<std::uint32_t>(flags);
  return (bits & static_cast<std::uint32_t>(DotFlags::Verbose)) != 0 ||
         (bits & static_cast<std::uint32_t>(one)) != 0;
}

// Bits for export_dot and to_dot.
struct DotOptions {
  bool accesses = true;             // buffers and ranges in node labels
  bool causes = true;               // why each edge exists
  bool added_edges = true;          // lane and frame edges, dashed
  bool locations = false;           // file:line of each command
  DotFlags flags = DotFlags::None;  // what of each node's parameters
};

// The plan of the graph as DOT, and as a file of it. Throws InvalidState for an empty graph, Error
// naming the path.
[[nodiscard]] std::string to_dot(const CapturedGraph& graph, DotFlags flags);
void export_dot(const CapturedGraph& graph, const std::filesystem::path& path,
                DotFlags flags = DotFlags::Default);

}  // namespace reprise
