// Machine-independent counts: the parts of a graph, and the allocations of creating and replaying
// it. They make regressions visible immediately.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <reprise/reprise.hpp>

#include "base/handle_access.hpp"
#include "bench.hpp"
#include "plan/plan.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "shapes.hpp"
#include "support/counting_allocator.hpp"
#include "support/task_graphs.hpp"
#include "trace/codec.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::bench {

namespace {

using test::TaskGraph;

constexpr std::uint32_t kNodes = 500;
constexpr std::uint32_t kLaunches = 5;
constexpr std::uint32_t kCountedReplays = 2;  // recorded in the trace

using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

template <class Work>
std::uint64_t allocations_of(const Work& work) {
  const std::uint64_t before = test::allocations_of_this_thread();
  work();
  return test::allocations_of_this_thread() - before;
}

// Task graphs as recordings for the host device: each node writes a transient of its own size and
// reads those of up to four parents; explicit edges represent further parents.
class TaskRecording {
 public:
  TaskRecording(const Device& device, const TaskGraph& tasks)
      : tasks_(tasks), pool_(device.create_pool()) {
    const NodeKernels kernels = load_node_kernels(device);
    std::vector<GpuRef<float>> outputs;
    for (std::uint32_t i = 0; i < tasks.size(); ++i)
      outputs.push_back(pool_->transient<float>(256 * (1 + i % 7)));
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      const auto& parents = tasks.parents[i];
      LaunchArgs& args = *arguments_.emplace_back(std::make_unique<LaunchArgs>());
      args.push(std::uint32_t{0});
      args.push(write(outputs[i]));
      const std::size_t read_count = std::min<std::size_t>(parents.size(), kMaxParents);
      for (std::size_t p = 0; p < read_count; ++p) args.push(read(outputs[parents[p]]));
      kernels_.push_back(kernels[read_count]);
    }
    made_.resize(tasks.size());
  }

  void record(CommandBuffer& commands, float cost) {
    commands.begin();
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      made_[i] = commands.dispatch(
          kernels_[i],
          {.grid = 1, .block = 32, .cost = std::chrono::duration<float, std::micro>(cost)},
          *arguments_[i]);
      for (std::size_t p = kMaxParents; p < tasks_.parents[i].size(); ++p)
        commands.edge(made_[tasks_.parents[i][p]], made_[i]);
    }
    commands.end();
  }
  [[nodiscard]] const std::shared_ptr<CapturePool>& pool() const { return pool_; }

 private:
  const TaskGraph& tasks_;
  std::shared_ptr<CapturePool> pool_;
  std::vector<std::unique_ptr<LaunchArgs>> arguments_;
  std::vector<Kernel> kernels_;
  std::vector<CommandRef> made_;
};

Counts count(const Device& device, const TaskGraph& tasks, Lowering lowering, float cost) {
  const Queue queue = device.create_queue();
  TaskRecording recording(device, tasks);
  CommandBuffer commands = device.create_command_buffer({.label = tasks.name});
  const std::uint64_t recorded = allocations_of([&] { recording.record(commands, cost); });
  CapturedGraph graph;
  const std::uint64_t compiled = allocations_of(
      [&] { graph = device.compile(commands, {.pool = recording.pool(), .lowering = lowering}); });
  // The minimum of several runs: a launch allocates another workspace if a worker has not yet
  // released the previous one.
  std::uint64_t launched = ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < 1 + kLaunches; ++i) {
    const std::uint64_t once = allocations_of([&] { graph.launch(queue).wait(); });
    if (i != 0) launched = std::min(launched, once);
  }
  const CompileReport& report = graph.report();
  return {{"nodes", report.nodes},
          {"edges", detail::core_of(graph)->plan().lowered.edges.size()},
          {"needed", report.needed_edges},
          {"added", report.added_edges},
          {"lanes", report.lanes},
          {"slab", report.slab_bytes},
          {"bound", report.slab_lower_bound},
          {"record_allocs", recorded},
          {"compile_allocs", compiled},
          {"launch_allocs", launched}};
}

// Counts the records in the trace of a graph and its replays.
std::uint64_t trace_records(const TaskGraph& tasks) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() /
      ("reprise_bench." + std::to_string(::getpid()) + "." + tasks.name + ".reprise");
  const std::string target = file.string();
  {
    const Instance instance({.application = "reprise_bench",
                             .trace = {.target = target, .profile = ProfileMode::Every}});
    Device device = instance.open_device(DeviceSelector::named("host"));
    const Queue queue = device.create_queue();
    TaskRecording recording(device, tasks);
    CommandBuffer commands = device.create_command_buffer({.label = tasks.name});
    recording.record(commands, 0);
    {
      CapturedGraph graph = device.compile(commands, {.pool = recording.pool()});
      for (std::uint32_t i = 0; i < kCountedReplays; ++i) graph.launch(queue).wait();
    }
    device.wait_idle();  // frees the graph, so that the file is complete at the end of the block
  }
  std::uint64_t records = 0;
  const trace::TraceReader reader(file);
  for (const trace::ChunkEntry& entry : reader.chunks()) {
    const trace::Records read = reader.read(entry);
    for (const trace::GraphVersion& graph : read.graph_versions) {
      records +=
          graph.nodes.size() + graph.edges.size() + graph.accesses.size() + graph.buffers.size();
    }
    for (const trace::SampleBlock& block : read.sample_blocks) records += block.samples.size();
    records += read.replays.size();
  }
  std::filesystem::remove(file);
  return records;
}

}  // namespace

void run_counts(const Options&, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  Device device = instance.open_device(DeviceSelector::named("host"));
  // disables the cache, so that each compilation runs every stage
  device.set_compile_cache_budget(0);
  struct LoweringVariant {
    const char* name;
    Lowering lowering;
    float cost;
  };
  for (const std::string_view shape : test::task_graph_names()) {
    const TaskGraph tasks = test::make_task_graph(shape, kNodes);
    for (const LoweringVariant& variant :
         {LoweringVariant{"auto", Lowering::Auto, 0}, LoweringVariant{"costs", Lowering::Auto, 2},
          LoweringVariant{"lanes-16", Lowering::Lanes(16), 0}}) {
      static_cast<void>(count(device, tasks, variant.lowering, variant.cost));  // warm-up
      Counts counts = count(device, tasks, variant.lowering, variant.cost);
      if (variant.lowering == Lowering::Auto && variant.cost == 0)
        counts.emplace_back("records", trace_records(tasks));
      for (const auto& [what, value] : counts) {
        report.add({.what = what,
                    .shape = tasks.name,
                    .nodes = tasks.size(),
                    .unit = variant.name,
                    .axes = {{"lowering", variant.name}},
                    .ours = {static_cast<double>(value)}});
      }
    }
  }
}

}  // namespace reprise::bench
