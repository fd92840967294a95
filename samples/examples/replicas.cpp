// Replays one graph twice at once: two replicas on two queues, each with its own transients and its
// own copy of the buffers that outlive a replay.
#include <array>

#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024, kReplicas = 2;
  Instance instance({.application = "replicas"});
  Device device = instance.open_device(selector);
  auto pool = device.create_pool();
  auto input = pool->host<float>(n, "input", PerReplica{kReplicas});
  auto output = pool->host<float>(n, "output", PerReplica{kReplicas});
  auto x = pool->transient<float>(n, "x"), y = pool->transient<float>(n, "y");
  Kernel scale = device.load_kernel(shaders::scale);

  CommandBuffer commands = device.create_command_buffer({.label = "step"});
  commands.begin();
  commands.copy(input, x);
  commands.dispatch(scale, {.grid = ceil_div(n, 256), .block = 256}, 3.0f, read(x), write(y), n);
  commands.copy(y, output);
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool, .replicas = kReplicas});

  const std::array queues = {device.create_queue({.label = "left"}),
                             device.create_queue({.label = "right"})};
  std::array<Fence, kReplicas> fences;
  for (unsigned i = 0; i < kReplicas; ++i) {
    for (float& value : input.replica(i).span()) value = static_cast<float>(i + 1);
    fences[i] = graph.launch(queues[i], {.replica = i});  // waits for no other replica
  }
  for (const Fence& fence : fences) {
    fence.wait();
    const float value = output.replica(fence.replica())[n - 1];
    std::printf("replica %u: %g\n", fence.replica(), static_cast<double>(value));
    example::check(value == 3.0f * static_cast<float>(fence.replica() + 1),
                   "a replica has a wrong result");
  }
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
