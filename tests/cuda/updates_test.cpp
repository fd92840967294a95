// Updates of executables that time nodes, of released graphs, and of the application's own graphs.
#include <algorithm>
#include <vector>

#include <reprise/cuda_interop.hpp>

#include "cuda/gpu.hpp"
#include "support/thrown_by.hpp"
#include "unit/profile/traced_run.hpp"

namespace reprise::test {
namespace {

constexpr unsigned kCount = 64;

// Fills `values` with a value that update() changes, and reads it back into `seen`.
CommandBuffer record(const Device& device, const GpuRef<unsigned>& values,
                     const HostRef<unsigned>& seen, unsigned value) {
  CommandBuffer commands = device.create_command_buffer({.label = "value"});
  commands.begin();
  commands.fill(values, value);
  commands.copy(values, seen);
  commands.end();
  return commands;
}

}  // namespace

TEST_CASE(
    "updates on a GPU: every executable, including the one that times nodes, gets the update") {
  if (!have_gpu()) return;
  for (const CudaGraphs cuda_graphs : {CudaGraphs::Foreign, CudaGraphs::Exclusive}) {
    const TraceFolder folder;
    {
      const Instance instance({.application = "gpu test",
                               .trace = {.target = folder.file(), .profile = ProfileMode::Every},
                               .cuda_graphs = cuda_graphs});
      const Device device = instance.open_device(DeviceSelector::named(gpu().info().selector));
      {
        const Queue queue = device.create_queue({.label = "main"});
        const auto pool = device.create_pool();
        const auto values = pool->allocate<unsigned>(kCount, "values"),
                   other = pool->allocate<unsigned>(kCount, "other");
        const auto seen = pool->host<unsigned>(kCount, "seen");
        CapturedGraph graph = device.compile(record(device, values, seen, 1), {.pool = pool});
        for (unsigned i = 1; i <= 200; ++i) {
          const CommandBuffer next = record(device, i % 2 == 0 ? values : other, seen, i);
          const UpdateReport report = graph.update(
              next, {.first = i % 3 == 0 ? UpdateMethod::WholeGraph : UpdateMethod::Nodes,
                     .last = UpdateMethod::WholeGraph});
          CAPTURE(report.reason);
          REQUIRE(report.done());
          graph.launch(queue).wait();
          REQUIRE(seen[0] == i);
          REQUIRE(seen[kCount - 1] == i);
        }
      }
      device.wait_idle();  // frees dropped objects and completes the trace
    }
    const trace::Records records = all_records(folder.file());
    CHECK(std::any_of(records.messages.begin(), records.messages.end(),
                      [](const trace::Message& message) { return message.id == "graph-updated"; }));
    // Each recording is a version of the graph, and each replay names its version.
    CHECK(records.graph_versions.size() == 201);
    CHECK(records.updates.size() == 200);
    for (const trace::Replay& replay : records.replays) CHECK(replay.version == replay.replay + 1);
  }
}

TEST_CASE("updates on a GPU: a released graph is the graph in its current state") {
  if (!have_gpu()) return;
  const Device& device = gpu();
  const Queue queue = device.create_queue({.label = "main"});
  const auto pool = device.create_pool();
  const auto values = pool->allocate<unsigned>(kCount, "values");
  const auto seen = pool->host<unsigned>(kCount, "seen");
  CapturedGraph graph = device.compile(record(device, values, seen, 1), {.pool = pool});
  REQUIRE(graph.update(record(device, values, seen, 2)).done());
  const CUgraph copy = release(graph);
  CapturedGraph adopted = from_native(device, copy, {.label = "copy"});
  REQUIRE(cudaGraphDestroy(copy) == cudaSuccess);
  adopted.launch(queue).wait();
  CHECK(seen[0] == 2u);
  // An adopted graph cannot be updated from a recording.
  const Error refused =
      thrown_by([&] { static_cast<void>(adopted.update(record(device, values, seen, 3))); });
  CHECK(refused.code() == ErrorCode::Unsupported);
}

}  // namespace reprise::test
