// Compiles recordings of one structure again and again: from its third compile on, a structure's
// order and placement come from the cache of the device.
#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 256, kSteps = 64;
  Instance instance({.application = "compile_cache"});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto result = pool->host<float>(n, "result");
  Kernel add = device.load_kernel(shaders::add);
  device.set_compile_cache_budget(8u << 20);  // bytes; 64 MiB without this call

  for (int compile = 1; compile <= 5; ++compile) {
    const auto value = static_cast<float>(compile);  // other values, buffers and kernels may differ
    auto x = pool->allocate<float>(n, "x");
    CommandBuffer commands = device.create_command_buffer({.label = "steps"});
    commands.begin();
    commands.fill(x, 0.0f);
    for (unsigned step = 0; step < kSteps; ++step)
      commands.dispatch(add, {.block = n}, value, read_write(x), n);
    commands.copy(x, result);
    commands.end();
    CapturedGraph graph = device.compile(commands, {.pool = pool});

    const CompileCacheReport cache = device.compile_cache();
    std::printf("compile %d: %llu hits, %llu bytes\n", compile,
                static_cast<unsigned long long>(cache.hits),
                static_cast<unsigned long long>(cache.bytes));
    graph.launch(queue).wait();
    example::check(result[n - 1] == value * kSteps, "a result is wrong");
  }
  example::check(device.compile_cache().hits == 3, "the cache did not help three times");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
