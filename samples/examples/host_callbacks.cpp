// Calls functions of the application in each replay, on a host thread. An exception of a function
// reaches the fence of its replay.
#include <numeric>
#include <stdexcept>

#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance({.application = "host_callbacks"});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto x = pool->allocate<float>(n, "x");
  auto values = pool->host<float>(n, "values");
  float sum = 0;

  CommandBuffer commands = device.create_command_buffer({.label = "callbacks"});
  commands.begin();
  commands.fill(x, 1.0f);
  commands.dispatch(device.load_kernel(shaders::add), {.grid = ceil_div(n, 256), .block = 256},
                    slot("value", 1.0f), read_write(x), n);
  commands.copy(x, values);
  // The accesses that a callback declares order it, as those of a kernel do. It must not call CUDA,
  // nor the engine.
  commands.host(
      [&sum, values] {
        sum = std::accumulate(values.begin(), values.end(), 0.0f);
        if (sum < 0) throw std::range_error("the sum is negative");
      },
      {read(values)});
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool});

  graph.launch(queue).wait();
  std::printf("the sum is %g\n", static_cast<double>(sum));
  example::check(sum == 2.0f * n, "the callback computed a wrong sum");

  graph.scalar<float>("value").set(-2.0f);
  bool was_thrown = false;
  try {
    graph.launch(queue).wait();
  } catch (const std::range_error& error) {
    std::printf("a callback threw: %s\n", error.what());
    was_thrown = true;
  }
  example::check(was_thrown, "the exception of the callback was lost");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
