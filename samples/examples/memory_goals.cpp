// Trades concurrency for memory: the slab that the transients of a graph share is smaller where
// fewer commands may run at once.
#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 64 * 1024, kBranches = 8;
  Instance instance({.application = "memory_goals"});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto result = pool->host<float>(kBranches, "result");
  Kernel scale = device.load_kernel(shaders::scale);

  CommandBuffer commands = device.create_command_buffer({.label = "branches"});
  commands.begin();
  for (unsigned branch = 0; branch < kBranches; ++branch) {  // which depend on nothing
    auto x = pool->transient<float>(n, "x"), y = pool->transient<float>(n, "y");
    commands.fill(x, static_cast<float>(branch));
    commands.dispatch(scale, {.grid = ceil_div(n, 256), .block = 256}, 3.0f, read(x), write(y), n);
    commands.copy(y.slice(n - 1, 1), result.slice(branch, 1));
  }
  commands.end();

  CapturedGraph graph =
      device.compile(commands, {.pool = pool, .memory_goal = MemoryGoal::Minimum});
  const MemoryTradeoff tradeoff = graph.report().memory_tradeoff;
  for (const MemoryTradeoff::Side& side : {tradeoff.before, tradeoff.after})
    std::printf("a slab of %llu KiB, %u commands on the longest path\n",
                static_cast<unsigned long long>(side.slab_bytes / 1024), side.critical_path);
  example::check(tradeoff.after.slab_bytes < tradeoff.before.slab_bytes, "no memory was saved");

  graph.launch(queue).wait();
  for (unsigned branch = 0; branch < kBranches; ++branch)
    example::check(result[branch] == 3.0f * static_cast<float>(branch), "a result is wrong");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
