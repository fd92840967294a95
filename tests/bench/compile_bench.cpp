#include <array>
#include <future>
#include <numeric>
#include <string>

#include <reprise/reprise.hpp>

#include "base/handle_access.hpp"
#include "bench.hpp"
#include "compile/stages.hpp"
#include "dependencies/dependency_graph.hpp"
#include "lowering/lowered_graph.hpp"
#include "memory/placement.hpp"
#include "plan/plan.hpp"
#include "record/command_buffer_core.hpp"
#include "shapes.hpp"
#include "support/random_recording.hpp"
#include "validate/validate.hpp"

namespace reprise::bench {

namespace {

using namespace detail;

constexpr std::array kStages = {"validate", "schedule", "lanes", "check", "memory", "plan"};

struct Input {
  const char* name;
  test::RecordingPtr (*make)(std::uint32_t commands, const test::ShapeDesc& desc);
  bool has_goal;
};
constexpr Input kInputs[] = {
    {"chain", [](std::uint32_t n, const test::ShapeDesc& d) { return test::chain(n, d); }, true},
    {"wide", [](std::uint32_t n, const test::ShapeDesc& d) { return test::wide(n, d); }, true},
    {"tree", [](std::uint32_t n, const test::ShapeDesc& d) { return test::binary_tree(n, d); },
     true},
    {"layers 32/3",
     [](std::uint32_t n, const test::ShapeDesc& d) { return test::layers(n, 32, 3, d); }, true},
    {"random",
     [](std::uint32_t n, const test::ShapeDesc& d) { return test::random_dag({.commands = n}, d); },
     false},
};

using StageTimes = std::array<double, kStages.size()>;

StageTimes compile_once(const test::RecordingPtr& recording, const DeviceInfo& device) {
  StageTimes ns{};
  ns[0] = cpu_ns_of(
      [&] { throw_first_error(validate(*recording, device, Validation::Full), *recording); });
  DependencyGraph dependencies;
  ns[1] = cpu_ns_of([&] { dependencies = build_dependencies(*recording); });
  LoweredGraph lowered;
  ns[2] = cpu_ns_of([&] { lowered = build_lowered_graph(dependencies, Lowering::Auto); });
  ns[3] = cpu_ns_of([&] { check_lowered_graph(dependencies, lowered); });
  Placement placement;
  ns[4] = cpu_ns_of([&] {
    placement = place_transients(*recording, dependencies, lowered, device.limits.buffer_alignment);
  });
  ns[5] = cpu_ns_of([&] {
    static_cast<void>(freeze_plan("bench", recording, std::move(dependencies), std::move(lowered),
                                  std::move(placement)));
  });
  return ns;
}

// Measures each stage and their total. Returns the totals.
std::vector<double> measure(const Input& input, std::uint32_t commands, BufferKind kind,
                            const DeviceInfo& device, const Options& options, Report& report,
                            const std::vector<double>& smaller) {
  const test::RecordingPtr recording = input.make(commands, {.kind = kind});
  const std::uint32_t samples = options.is_quick() ? 3 : commands >= 100000 ? 9 : 25;
  std::array<Line, kStages.size()> lines;
  const bool is_transient = kind == BufferKind::Transient;
  Line total{.what = is_transient ? "all stages, transients" : "all stages",
             .shape = input.name,
             .nodes = commands,
             .unit = "ns/command"};
  for (std::uint32_t sample = 0; sample <= samples; ++sample) {
    const StageTimes ns = compile_once(recording, device);
    if (sample == 0) continue;
    double sum = 0;
    for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
      lines[stage].ours.push_back(ns[stage] / commands);
      sum += ns[stage] / commands;
    }
    total.ours.push_back(sum);
  }
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    if (is_transient && std::string_view(kStages[stage]) != "memory") continue;
    lines[stage].what = is_transient ? "memory, one transient per command" : kStages[stage];
    lines[stage].shape = input.name;
    lines[stage].nodes = commands;
    lines[stage].unit = "ns/command";
    report.add(lines[stage]);
  }
  if (!is_transient && input.has_goal && commands == 10000) total.goal = {Goal::Of::Median, 800};
  if (!is_transient && !smaller.empty()) {
    // The smaller size's median is the peer of the larger one.
    total.peer = "10,000 commands";
    total.peers.assign(total.ours.size(), summarise(smaller).median);
    if (input.has_goal) total.goal = {Goal::Of::Ratio, 2};
  }
  report.add(total);
  return total.ours;
}

// Measures the stages as a compilation runs them: independent stages concurrently.
void compile_beside(const test::RecordingPtr& recording, const DeviceInfo& device) {
  std::future<DependencyGraph> ahead = build_dependencies_async(recording);
  throw_first_error(validate(*recording, device, Validation::Full), *recording);
  static_cast<void>(make_plan("bench", recording, {.alignment = device.limits.buffer_alignment},
                              {.dependencies = std::move(ahead)}));
}

// Records dispatches over slices of one buffer, and runs all stages with Validation::Full up to the
// plan.
void measure_recorded(const Shape& shape, const Device& device, const NodeKernels& kernels,
                      const Options& options, Report& report) {
  const auto state = device.create_pool()->allocate<float>(shape.size(), "state");
  CommandBuffer commands = device.create_command_buffer({.label = "recorded"});
  Line record{
      .what = "record and end", .shape = shape.name, .nodes = shape.size(), .unit = "ns/command"};
  Line all{.what = "record and compile",
           .shape = shape.name,
           .nodes = shape.size(),
           .unit = "ns/command"};
  if (shape.size() == 100000) all.goal = {Goal::Of::Median, 1000};
  Line beside{.what = "compile, wall clock",
              .shape = shape.name,
              .nodes = shape.size(),
              .unit = "ns/command",
              .peer = "stage by stage"};
  const std::uint32_t samples = options.is_quick() ? 3 : 9;
  for (std::uint32_t sample = 0; sample <= samples; ++sample) {
    const double recorded = cpu_ns_of([&] { record_shape(commands, shape, kernels, state, 0); });
    const auto recording = detail::core_of(commands)->recording();
    StageTimes stages{};
    const double alone = ns_of([&] { stages = compile_once(recording, device.info()); });
    const double together = ns_of([&] { compile_beside(recording, device.info()); });
    if (sample == 0) continue;  // warms up caches and arenas
    record.ours.push_back(recorded / shape.size());
    all.ours.push_back((recorded + std::accumulate(stages.begin(), stages.end(), 0.0)) /
                       shape.size());
    beside.ours.push_back(together / shape.size());
    beside.peers.push_back(alone / shape.size());
  }
  report.add(record);
  report.add(all);
  report.add(beside);
}

}  // namespace

void run_compile(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  const Device host = instance.open_device(DeviceSelector::named("host"));
  const DeviceInfo device = host.info();
  for (const Input& input : kInputs) {
    std::vector<double> at_10000;
    for (const std::uint32_t commands : {100u, 1000u, 10000u, 100000u}) {
      if (options.is_quick() && commands > 1000) break;
      const auto total = measure(input, commands, BufferKind::Device, device, options, report,
                                 commands == 100000 ? at_10000 : std::vector<double>{});
      if (commands == 10000) at_10000 = total;
    }
    measure(input, options.is_quick() ? 1000 : 10000, BufferKind::Transient, device, options,
            report, {});
  }
  const NodeKernels kernels = load_node_kernels(host);
  const std::uint32_t most = options.is_quick() ? 1000 : 100000;
  for (const Shape& shape :
       {chain_shape(most), wide_shape(most), tree_shape(most), layer_shape(most, 32, 3)}) {
    measure_recorded(shape, host, kernels, options, report);
  }
}

}  // namespace reprise::bench
