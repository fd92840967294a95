#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include <reprise/reprise.hpp>

#include "saxpy.shaders.hpp"  // generated from saxpy.cu by reprise_add_shaders

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1u << 20;
  Instance instance({.application = "saxpy", .cuda_graphs = CudaGraphs::Exclusive});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto input = pool->host<float>(n, "input"), result = pool->host<float>(n, "result");
  auto x = pool->transient<float>(n, "x"), y = pool->transient<float>(n, "y");
  Kernel saxpy = device.load_kernel(shaders::saxpy);

  CommandBuffer commands = device.create_command_buffer({.label = "saxpy"});
  commands.begin();  // records only; declared accesses determine the order
  commands.copy(input, x);
  commands.fill(y, 1.0f);
  const DispatchDesc all{.grid = ceil_div(n, 256), .block = 256};
  commands.dispatch(saxpy, all, 2.0f, read(x), read_write(y), n);
  commands.copy(y, result);
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool});

  for (int replay = 1; replay <= 10; ++replay) {  // each replay reads `input`
    std::ranges::fill(input.span(), static_cast<float>(replay));
    graph.launch(queue).wait();
    const auto correct =
        std::ranges::count(result.span(), 2.0f * static_cast<float>(replay) + 1.0f);
    if (correct != n) throw std::runtime_error("replay " + std::to_string(replay) + " is wrong");
  }
  std::printf("saxpy: 10 replays of %u nodes on %s, all correct\n", graph.node_count(),
              device.info().name.c_str());
}

int main(int argc, char** argv) try {
  const bool named = argc == 3 && std::string_view(argv[1]) == "--device";
  const bool help = argc == 2 && std::string_view(argv[1]) == "--help";
  if (argc > 1 && !named)
    return std::fputs("usage: saxpy [--device NAME]\n", help ? stdout : stderr), help ? 0 : 2;
  run(named ? DeviceSelector::named(argv[2]) : DeviceSelector::best());
} catch (const std::exception& error) {
  return std::fprintf(stderr, "saxpy: %s\n", error.what()), 1;
}
