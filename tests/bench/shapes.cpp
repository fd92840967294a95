#include "shapes.hpp"

#include "nodes.shaders.hpp"

namespace reprise::bench {

Shape chain_shape(std::uint32_t nodes) {
  Shape shape{"chain", std::vector<Parents>(nodes)};
  for (std::uint32_t i = 1; i < nodes; ++i) shape.nodes[i] = {1, {i - 1}};
  return shape;
}

Shape wide_shape(std::uint32_t nodes) { return {"wide", std::vector<Parents>(nodes)}; }

Shape tree_shape(std::uint32_t nodes) {
  Shape shape{"tree", std::vector<Parents>(nodes)};
  for (std::uint32_t i = 1; i < nodes; ++i) shape.nodes[i] = {1, {(i - 1) / 2}};
  return shape;
}

Shape layer_shape(std::uint32_t nodes, std::uint32_t width, std::uint32_t parents) {
  Shape shape{"layers " + std::to_string(width) + "/" + std::to_string(parents),
              std::vector<Parents>(nodes)};
  for (std::uint32_t i = width; i < nodes; ++i) {
    Parents& node = shape.nodes[i];
    for (; node.count < parents; ++node.count)
      node.node[node.count] = (i / width - 1) * width + (i + node.count) % width;
  }
  return shape;
}

NodeKernels load_node_kernels(const Device& device) {
  return {device.load_kernel(shaders::node0), device.load_kernel(shaders::node1),
          device.load_kernel(shaders::node2), device.load_kernel(shaders::node3),
          device.load_kernel(shaders::node4)};
}

void record_shape(CommandBuffer& commands, const Shape& shape, const NodeKernels& kernels,
                  const GpuRef<float>& state, std::uint32_t spin_ns) {
  commands.begin();
  for (std::uint32_t i = 0; i < shape.size(); ++i) {
    const Parents& parents = shape.nodes[i];
    const DispatchDesc desc = {.grid = 1, .block = 32};
    const AccessedView own = write(state.slice(i, 1));
    const auto parent = [&](std::uint32_t p) { return read(state.slice(parents.node[p], 1)); };
    const Kernel& kernel = kernels[parents.count];
    switch (parents.count) {
      case 0: commands.dispatch(kernel, desc, spin_ns, own); break;
      case 1: commands.dispatch(kernel, desc, spin_ns, own, parent(0)); break;
      case 2: commands.dispatch(kernel, desc, spin_ns, own, parent(0), parent(1)); break;
      case 3: commands.dispatch(kernel, desc, spin_ns, own, parent(0), parent(1), parent(2)); break;
      default:
        commands.dispatch(kernel, desc, spin_ns, own, parent(0), parent(1), parent(2), parent(3));
        break;
    }
  }
  commands.end();
}

}  // namespace reprise::bench
