#include <algorithm>
#include <memory>
#include <vector>

#include <oneapi/tbb/flow_graph.h>

#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "reductions.shaders.hpp"
#include "shapes.hpp"

namespace reprise::bench {

namespace {

namespace flow = oneapi::tbb::flow;

// The same nodes and edges without the engine.
class BareFlowGraph {
 public:
  explicit BareFlowGraph(const Shape& shape) {
    for (const Parents& parents : shape.nodes) {
      nodes_.push_back(std::make_unique<Node>(graph_, [](const flow::continue_msg&) {}));
      for (std::uint32_t i = 0; i < parents.count; ++i)
        flow::make_edge(*nodes_[parents.node[i]], *nodes_.back());
      if (parents.count == 0) roots_.push_back(nodes_.back().get());
    }
  }
  void run() {
    for (Node* root : roots_) root->try_put(flow::continue_msg());
    graph_.wait_for_all();
  }

 private:
  using Node = flow::continue_node<flow::continue_msg>;
  flow::graph graph_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Node*> roots_;
};

}  // namespace

void run_host_replay(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  const Device device = instance.open_device(DeviceSelector::named("host"));
  const NodeKernels kernels = load_node_kernels(device);
  const Queue queue = device.create_queue();
  const auto pool = device.create_pool();

  for (const std::uint32_t nodes : {10u, 100u, 1000u, 10000u}) {
    if (options.is_quick() && nodes > 100) break;
    for (const Shape& shape : {chain_shape(nodes), wide_shape(nodes), tree_shape(nodes),
                               layer_shape(nodes, std::min(nodes, 32u), 3)}) {
      const GpuRef<float> state = pool->allocate<float>(nodes, "state");
      CommandBuffer commands = device.create_command_buffer({.label = shape.name});
      record_shape(commands, shape, kernels, state, 0);
      BareFlowGraph bare(shape);
      const std::uint32_t replays = std::max(1u, (options.is_quick() ? 1000u : 20000u) / nodes);
      for (const Lowering lowering : {Lowering::Faithful, Lowering::Auto}) {
        CapturedGraph graph = device.compile(commands, {.pool = pool, .lowering = lowering});
        const bool is_faithful = lowering == Lowering::Faithful;
        Line line{.what = is_faithful ? "replay, Faithful" : "replay, Auto",
                  .shape = shape.name,
                  .nodes = nodes,
                  .unit = "ns/node",
                  .peer = "bare flow graph",
                  .goal = is_faithful ? Goal{Goal::Of::Ratio, 1.2} : Goal{}};
        const double per_node = 1.0 / (static_cast<double>(replays) * nodes);
        measure_pairs(
            line, options.is_quick() ? 3 : 31,
            [&] {
              return per_node * ns_of([&] {
                       for (std::uint32_t i = 0; i < replays; ++i) graph.launch(queue).wait();
                     });
            },
            [&] {
              return per_node * ns_of([&] {
                       for (std::uint32_t i = 0; i < replays; ++i) bare.run();
                     });
            });
        report.add(line);
      }
    }
  }
}

void run_host_warps(const Options& options, Report& report) {
  constexpr std::uint32_t kBlock = 256;
  const std::uint32_t blocks = options.is_quick() ? 10 : 1000;
  const Instance instance({.application = "reprise_bench"});
  const Device device = instance.open_device(DeviceSelector::named("host"));
  const Queue queue = device.create_queue();
  const auto pool = device.create_pool();
  const auto in = pool->allocate<float>(std::uint64_t{blocks} * kBlock, "in"),
             out = pool->allocate<float>(blocks, "out");
  const auto graph_of = [&](const KernelDesc& kernel) {
    CommandBuffer commands = device.create_command_buffer({.label = kernel.name});
    commands.begin();
    commands.dispatch(device.load_kernel(kernel), {.grid = blocks, .block = kBlock}, read(in),
                      write(out));
    commands.end();
    return device.compile(commands, {.pool = pool});
  };
  CapturedGraph warps = graph_of(shaders::warp_sum), shared = graph_of(shaders::shared_sum);
  Line line{.what = "sum of 256 values by shuffles",
            .nodes = 1,
            .unit = "us/block",
            .peer = "shared memory",
            .goal = {Goal::Of::Ratio, 3}};
  const auto us_a_block = [&](CapturedGraph& graph) {
    return 1e-3 * ns_of([&] { graph.launch(queue).wait(); }) / blocks;
  };
  measure_pairs(
      line, options.is_quick() ? 3 : 31, [&] { return us_a_block(warps); },
      [&] { return us_a_block(shared); });
  report.add(line);
}

}  // namespace reprise::bench
