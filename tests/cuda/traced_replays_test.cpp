// A trace of replays on a GPU, the whole way: record, compile, launch with a trace, drop
// everything, and read the file.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gpu_kernels.shaders.hpp>

#include "cuda/gpu.hpp"
#include "unit/profile/traced_run.hpp"

namespace reprise::test {
namespace {

constexpr std::uint32_t kWidth = 12;

// `launch` gets a device with a trace, a graph of it, and a queue.
template <class Launch>
trace::Records traced(ProfileMode mode, const Launch& launch, const TraceFolder& folder = {}) {
  const NoTraceEnvironment none;
  {
    Instance instance(
        {.application = "gpu test", .trace = {.target = folder.file(), .profile = mode}});
    const Device device = instance.open_device(DeviceSelector::named(gpu().info().selector));
    {
      const Queue queue = device.create_queue({.label = "main"});
      const auto pool = device.create_pool();
      const auto values = pool->allocate<unsigned long long>(kWidth, "values");
      const Kernel kernel = device.load_kernel(shaders::gpu_count);
      CommandBuffer commands = device.create_command_buffer({.label = "counters"});
      commands.begin();
      for (std::uint32_t i = 0; i < kWidth; ++i)
        commands.dispatch(kernel, {.grid = 1, .block = 1}, read_write(values.slice(i, 1)));
      commands.end();
      CapturedGraph graph = device.compile(commands, {.pool = pool});
      launch(instance, graph, queue);
    }
    device.wait_idle();
  }
  const trace::Records records = all_records(folder.file());
  for (const trace::Message& message : records.messages) MESSAGE(message.text);
  return records;
}

}  // namespace

TEST_CASE(
    "traced replays on a GPU: each has its begin and end, after its launch, and the clock says how "
    "sure that is") {
  if (!have_gpu()) return;
  const trace::Records records =
      traced(ProfileMode::Replays, [](const Instance&, CapturedGraph& graph, const Queue& queue) {
        for (int i = 0; i < 500; ++i) static_cast<void>(graph.launch(queue));
      });
  CHECK(records.sample_blocks.empty());
  const auto clock =
      std::find_if(records.clocks.begin(), records.clocks.end(),
                   [](const trace::Clock& one) { return one.device != trace::kNone; });
  REQUIRE(clock != records.clocks.end());
  CHECK(clock->error > 0);
  CHECK(clock->error < 1'000'000);
  REQUIRE(records.replays.size() == 500);
  for (const trace::Replay& replay : records.replays) {
    CAPTURE(replay.replay);
    CHECK(replay.started + 2 * clock->error + 50'000 >= replay.launched);
    CHECK(replay.ended > replay.started);
    CHECK(replay.sampled == 0);
  }
}

TEST_CASE("traced replays on a GPU: of every replay the time of every node, marked as stamps") {
  if (!have_gpu()) return;
  const trace::Records records =
      traced(ProfileMode::Every, [](const Instance&, CapturedGraph& graph, const Queue& queue) {
        for (int i = 0; i < 200; ++i) graph.launch(queue).wait();
      });
  REQUIRE(records.replays.size() == 200);
  REQUIRE(records.graph_versions.size() == 1);
  REQUIRE(records.sample_blocks.size() == 200);
  for (const trace::SampleBlock& block : records.sample_blocks) {
    CHECK(block.source == trace::SampleSource::Timestamp);
    std::set<std::uint32_t> nodes;
    for (const trace::Sample& sample : block.samples) nodes.insert(sample.node);
    CHECK(nodes.size() == kWidth);
  }
  for (const trace::Replay& replay : records.replays) CHECK(replay.sampled == 1);
}

TEST_CASE(
    "traced replays on a GPU: what was over before a flush is in the file while replays go on") {
  if (!have_gpu()) return;
  const TraceFolder folder;
  const auto launch = [&](Instance& instance, CapturedGraph& graph, const Queue& queue) {
    for (std::size_t replays = 1; replays <= 50; ++replays) {
      graph.launch(queue).wait();
      if (replays % 10 != 0) continue;
      instance.flush_trace();
      const trace::Records now = all_records(folder.file());
      CHECK(now.replays.size() == replays);
      CHECK(now.sample_blocks.size() == replays);
    }
  };
  CHECK(traced(ProfileMode::Every, launch, folder).replays.size() == 50);
}

TEST_CASE(
    "traced replays on a GPU: samples of some replays, and a mode that changes while they run") {
  if (!have_gpu()) return;
  std::uint64_t launched = 0;
  const trace::Records records =
      traced(ProfileMode::Off, [&](Instance& instance, CapturedGraph& graph, const Queue& queue) {
        const auto launch = [&](int times) {
          for (int i = 0; i < times; ++i, ++launched) graph.launch(queue).wait();
        };
        launch(50);
        // The trace's own thread makes the twin: until it is there, replays go on.
        instance.set_profile(ProfileMode::Every);
        launch(20'000);
        instance.set_profile(ProfileMode::Replays);
        launch(50);
      });
  CHECK(records.replays.size() == launched - 50);
  CHECK(records.sample_blocks.size() > 100);
  CHECK(records.sample_blocks.size() < records.replays.size());
  CHECK(records.replays.front().replay == 51);
}

}  // namespace reprise::test
