// Writes a trace with inspections of a chain of kernels: write_inspection FILE KERNELS
// [nan|wrong|rows]. The kernel after three sevenths multiplies by NaN, or by a slightly wrong
// factor. rows: then a copy of three rows of two values, which are four values apart. On
// $REPRISE_DEVICE.
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/reprise.hpp>

#include "inspection.shaders.hpp"

int main(int argc, char** argv) {
  using namespace reprise;
  if (argc < 3) return 2;
  const std::string_view fault = argc > 3 ? argv[3] : "";
  const unsigned kernels = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)), count = 1000;
  const float odd = fault == "nan"     ? std::numeric_limits<float>::quiet_NaN()
                    : fault == "wrong" ? 1.0001f
                                       : 1.0f;
  try {
    Instance instance({.trace = {.target = argv[1]}});
    const Device device = instance.open_device();
    const auto pool = device.create_pool();
    const auto in = pool->allocate<float>(count, "in"), out = pool->allocate<float>(count, "out");
    const GpuRef<float> between[2] = {pool->transient<float>(count, "even"),
                                      pool->transient<float>(count, "odd")};
    const Kernel scale = device.load_kernel(shaders::inspected_scale);
    CommandBuffer commands = device.create_command_buffer({.label = "chain"});
    commands.begin();
    commands.fill(in, 3.0f);
    for (unsigned i = 0; i < kernels; ++i) {
      const auto label = commands.label("step " + std::to_string(i));
      commands.dispatch(scale, {.grid = 4, .block = 256}, read(i == 0 ? in : between[i % 2]),
                        write(i + 1 == kernels ? out : between[(i + 1) % 2]),
                        i == kernels * 3 / 7 ? odd : 1.0f, count);
    }
    if (fault == "rows")
      commands.copy(
          out, in,
          {.extent = {.width = 8, .height = 3}, .source = {.row = 16}, .destination = {.row = 16}});
    commands.end();
    CapturedGraph graph = device.compile(commands);
    const Queue queue = device.create_queue();
    graph.launch(queue).wait();
    static_cast<void>(graph.inspect(queue, {.contents = InspectDesc::Contents::StatisticsOnly}));
    static_cast<void>(graph.inspect(queue));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
