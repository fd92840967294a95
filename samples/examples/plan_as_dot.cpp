// Writes the plan of a graph for Graphviz (`dot -Tsvg plan.dot -o plan.svg`): nodes with the bytes
// that they access, and edges with their causes.
#include <fstream>
#include <iterator>

#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance({.application = "plan_as_dot"});
  Device device = instance.open_device(selector);
  auto pool = device.create_pool();
  auto x = pool->allocate<float>(n, "x");
  auto y = pool->transient<float>(n, "y"), z = pool->transient<float>(n, "z");
  auto result = pool->host<float>(2 * n, "result");
  Kernel scale = device.load_kernel(shaders::scale);
  const DispatchDesc all{.grid = ceil_div(n, 256), .block = 256};

  CommandBuffer commands = device.create_command_buffer({.label = "diamond"});
  commands.begin();
  commands.fill(x, 1.0f);
  commands.dispatch(scale, all, 2.0f, read(x), write(y), n);  // these two dispatches
  commands.dispatch(scale, all, 3.0f, read(x), write(z), n);  // can run concurrently
  commands.copy(y, result.slice(0, n));
  commands.copy(z, result.slice(n, n));
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool, .lowering = Lowering::Faithful});

  graph.export_dot("plan.dot");  // a second argument selects more, such as source locations
  std::printf("%s", graph.to_text().c_str());  // the same for people, diffs and tests

  std::ifstream file("plan.dot");
  const std::string dot{std::istreambuf_iterator<char>(file), {}};
  example::check(dot.starts_with("digraph"), "plan.dot does not contain a graph");
  example::check(dot.find("n0 -> n1 [label=\"RAW x") != std::string::npos,
                 "plan.dot does not say why the first dispatch waits for the fill");
  example::check(graph.report().needed_edges == 4, "the diamond has other edges");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
