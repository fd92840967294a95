// Uploads values to constant memory, which kernels read without a parameter. kernels.cu declares
// it: REPRISE_CONSTANT(weights, float[4]).
#include <array>

#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance({.application = "constant_memory"});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto x = pool->allocate<float>(n, "x");
  auto result = pool->host<float>(n, "result");
  GpuRef<float> weights = device.constant<float>(shaders::weights);

  CommandBuffer commands = device.create_command_buffer({.label = "weigh"});
  commands.begin();
  commands.copy(snapshot(std::array{1.0f, 2.0f, 3.0f, 4.0f}), weights);
  commands.fill(x, 10.0f);
  commands.barrier();  // a dispatch does not declare which constants its kernel reads
  commands.dispatch(device.load_kernel(shaders::weigh), {.grid = ceil_div(n, 256), .block = 256},
                    read_write(x), n);
  commands.copy(x, result);
  commands.end();
  device.compile(commands, {.pool = pool}).launch(queue).wait();

  for (unsigned i = 0; i < n; ++i)
    example::check(result[i] == 10.0f * static_cast<float>(i % 4 + 1), "a weight is wrong");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
