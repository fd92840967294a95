#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "shapes.hpp"
#include "support/counting_allocator.hpp"

namespace reprise::bench {

void run_record(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  const Device device = instance.open_device(DeviceSelector::named("host"));
  const NodeKernels kernels = load_node_kernels(device);
  const auto pool = device.create_pool();
  const GpuRef<float> x = pool->allocate<float>(256, "x"), y = pool->allocate<float>(256, "y");
  CommandBuffer commands = device.create_command_buffer();

  const std::uint32_t count = options.is_quick() ? 1000 : 10000,
                      samples = options.is_quick() ? 5 : 60;
  Line dispatch{.what = "dispatch, three arguments",
                .nodes = count,
                .unit = "ns/command",
                .goal = {Goal::Of::Median, 60}};
  Line allocations{.what = "heap allocations while recording", .nodes = count, .unit = "total"};
  Line end{.what = "end", .nodes = count, .unit = "ns/command"};
  for (std::uint32_t sample = 0; sample <= samples; ++sample) {
    commands.begin();
    const std::uint64_t before = test::allocations_of_this_thread();
    const double dispatch_ns = cpu_ns_of([&] {
      for (std::uint32_t i = 0; i < count; ++i)
        commands.dispatch(kernels[1], {.grid = 1, .block = 32}, 0u, write(y), read(x));
    });
    const std::uint64_t after = test::allocations_of_this_thread();
    const double end_ns = cpu_ns_of([&] { commands.end(); });
    if (sample == 0) continue;  // warms up caches and arenas
    dispatch.ours.push_back(dispatch_ns / count);
    allocations.ours.push_back(static_cast<double>(after - before));
    end.ours.push_back(end_ns / count);
  }
  report.add(dispatch);
  report.add(allocations);
  report.add(end);
}

}  // namespace reprise::bench
