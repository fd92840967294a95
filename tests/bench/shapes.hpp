// Graph shapes of the benchmarks as lists of parents, and their recording. Threads: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

namespace reprise::bench {

inline constexpr std::uint32_t kMaxParents = 4;

struct Parents {
  std::uint32_t count = 0;
  std::array<std::uint32_t, kMaxParents> node{};  // smaller than the node's own index
};
struct Shape {
  std::string name;
  std::vector<Parents> nodes;
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes.size()); }
};

[[nodiscard]] Shape chain_shape(std::uint32_t nodes);
[[nodiscard]] Shape wide_shape(std::uint32_t nodes);
[[nodiscard]] Shape tree_shape(std::uint32_t nodes);
// Layers of `width` nodes; each node depends on the same and adjacent nodes of the previous layer.
[[nodiscard]] Shape layer_shape(std::uint32_t nodes, std::uint32_t width, std::uint32_t parents);

// The kernels nodeN (N: number of parents), loaded on one device.
using NodeKernels = std::array<Kernel, kMaxParents + 1>;
[[nodiscard]] NodeKernels load_node_kernels(const Device& device);

// Records one single-warp dispatch per node; node i writes state[i] and reads its parents'
// elements.
void record_shape(CommandBuffer& commands, const Shape& shape, const NodeKernels& kernels,
                  const GpuRef<float>& state, std::uint32_t spin_ns);

}  // namespace reprise::bench
