// Changes values between replays in two ways. A scalar slot is an argument of kernels, and costs
// the device nothing. A DeviceScalar is memory that is set in the order of a queue.
#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  Instance instance({.application = "scalars"});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto x = pool->allocate<float>(1, "x");
  auto result = pool->host<float>(1, "result");
  DeviceScalar<float> input(*pool, queue, 3.0f, "input");  // recorded like a buffer
  Kernel scale = device.load_kernel(shaders::scale), add = device.load_kernel(shaders::add);

  CommandBuffer commands = device.create_command_buffer({.label = "scalars"});
  commands.begin();
  commands.dispatch(scale, {}, slot("factor", 2.0f), read(input), write(x), 1u);
  commands.dispatch(add, {}, slot("offset", 1.0f), read_write(x), 1u);
  commands.copy(x, result);
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool});
  GraphScalar<float> factor = graph.scalar<float>("factor"), offset = graph.scalar<float>("offset");

  graph.launch(queue).wait();
  example::check(result[0] == 7.0f, "the recorded values were not used");
  for (float value = 1.0f; value <= 3.0f; ++value) {
    const std::uint32_t nodes = factor.set(value) + offset.set(10.0f);
    input.set(5.0f);  // copied by the queue: needs no update of the graph
    graph.launch(queue).wait();
    std::printf("%u nodes set: %g\n", nodes, static_cast<double>(result[0]));
    example::check(result[0] == value * 5.0f + 10.0f, "the values that were set were not used");
  }
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
