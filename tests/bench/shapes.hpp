// Graphs of the benches as lists of parents, and how they are recorded. Threads: pure functions.
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
  std::array<std::uint32_t, kMaxParents> node{};  // lower than the node itself
};
struct Shape {
  std::string name;
  std::vector<Parents> nodes;
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes.size()); }
};

[[nodiscard]] Shape chain_shape(std::uint32_t nodes);
[[nodiscard]] Shape wide_shape(std::uint32_t nodes);
[[nodiscard]] Shape tree_shape(std::uint32_t nodes);
// Layers of `width`; a node comes after itself and its neighbours of the layer before.
[[nodiscard]] Shape layer_shape(std::uint32_t nodes, std::uint32_t width, std::uint32_t parents);

// Kernels nodeN by number of parents, loaded on one device.
using NodeKernels = std::array<Kernel, kMaxParents + 1>;
[[nodiscard]] NodeKernels load_node_kernels(const Device& device);

// One dispatch of one warp a node; node i writes state[i] and reads its parents' elements.
void record_shape(CommandBuffer& commands, const Shape& shape, const NodeKernels& kernels,
                  const GpuRef<float>& state, std::uint32_t spin_ns);

}  // namespace reprise::bench
