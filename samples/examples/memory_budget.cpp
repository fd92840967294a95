// Limits the memory of a pool. Idle graphs release their pages when another one needs them, or by
// trim(); a graph that does not fit is refused with SlabExhausted.
#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned kMiB = 1u << 20;
  Instance instance({.application = "memory_budget"});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto results = device.create_pool({.label = "results"});
  auto result = results->host<float>(1, "result");
  auto pool = device.create_pool({.label = "step", .budget = 12 * kMiB});
  Kernel add = device.load_kernel(shaders::add);

  const auto compile = [&](unsigned bytes, float value) {
    const unsigned n = bytes / sizeof(float);
    auto x = pool->transient<float>(n, "x");
    CommandBuffer commands = device.create_command_buffer({.label = "step"});
    commands.begin();
    commands.fill(x, value);
    commands.dispatch(add, {.grid = ceil_div(n, 256), .block = 256}, 1.0f, read_write(x), n);
    commands.copy(x.slice(n - 1, 1), result);
    commands.end();
    return device.compile(commands, {.pool = pool});
  };
  const auto check = [&](CapturedGraph& graph, float value) {
    graph.launch(queue).wait();
    example::check(result[0] == value, "the result is wrong");
  };

  CapturedGraph first = compile(8 * kMiB, 1.0f);
  check(first, 2.0f);
  CapturedGraph second = compile(8 * kMiB, 2.0f);  // takes the pages of the idle graph
  check(second, 3.0f);
  check(first, 2.0f);  // maps pages again, at the same addresses
  const MemoryStatistics used = pool->statistics();
  std::printf("%llu MiB of addresses, %llu MiB in use, %llu trims\n",
              static_cast<unsigned long long>(used.reserved / kMiB),
              static_cast<unsigned long long>(used.mapped / kMiB),
              static_cast<unsigned long long>(used.trims));
  example::check(used.mapped <= 12 * kMiB && used.trims >= 2, "the budget had no effect");

  const TrimReport trimmed = pool->trim();
  example::check(trimmed.slabs == 1 && pool->statistics().mapped == 0, "trim() kept pages");

  try {
    static_cast<void>(compile(16 * kMiB, 1.0f));
    example::check(false, "16 MiB were placed within a budget of 12 MiB");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::SlabExhausted) throw;
    std::printf("%s\n", error.what());
  }
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
