// A trace of replays on a GPU, end to end: record, compile, launch with a trace, drop everything,
// and read the file.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gpu_kernels.shaders.hpp>

#include "cuda/gpu.hpp"
#include "trace/record_names.hpp"
#include "unit/profile/traced_run.hpp"

namespace reprise::test {
namespace {

constexpr std::uint32_t kWidth = 12;

// Calls `launch` with an instance that has a trace, a graph and a queue.
template <class Launch>
trace::Records traced(ProfileMode mode, const Launch& launch, const TraceFolder& folder = {},
                      Lowering lowering = Lowering::Auto) {
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
      CapturedGraph graph = device.compile(commands, {.pool = pool, .lowering = lowering});
      launch(instance, graph, queue);
    }
    device.wait_idle();
  }
  const trace::Records records = all_records(folder.file());
  for (const trace::Message& message : records.messages) MESSAGE(message.text);
  for (const trace::Loss& loss : records.losses)
    MESSAGE("lost ", loss.count, " ", trace::loss_name(loss.kind), ": ", loss.reason);
  return records;
}

}  // namespace

TEST_CASE(
    "traced replays on a GPU: each has its start and end, after its launch, and the clock has an "
    "error bound") {
  if (!have_gpu()) return;
  const trace::Records records =
      traced(ProfileMode::Replays, [](Instance&, CapturedGraph& graph, const Queue& queue) {
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

TEST_CASE(
    "traced replays on a GPU: every replay has the time of every node, marked as timestamps") {
  if (!have_gpu()) return;
  const trace::Records records =
      traced(ProfileMode::Every, [](Instance&, CapturedGraph& graph, const Queue& queue) {
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
    "traced replays on a GPU: a flush writes completed replays to the file while others run") {
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
    "traced replays on a GPU: only some replays are sampled when the mode changes during replays") {
  if (!have_gpu()) return;
  std::uint64_t launched = 0;
  const trace::Records records =
      traced(ProfileMode::Off, [&](Instance& instance, CapturedGraph& graph, const Queue& queue) {
        const auto launch = [&](int times) {
          for (int i = 0; i < times; ++i, ++launched) graph.launch(queue).wait();
        };
        launch(50);
        // The trace's thread makes the profiling clone; replays continue meanwhile.
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

TEST_CASE(
    "traced replays on a GPU: of a graph in segments, samples and the slowest replay have node "
    "times") {
  if (!have_gpu() || gpu().info().limits.max_segment_blocks == 0) return;
  const auto launch = [](Instance&, CapturedGraph& graph, const Queue& queue) {
    for (int i = 0; i < 30'000; ++i) {
      const Fence fence = graph.launch(queue);
      if (i % 8 == 0) fence.wait();
    }
  };
  const trace::Records records = traced(ProfileMode::Sampled, launch, {}, Lowering::Persistent);
  REQUIRE(records.graph_versions.size() == 1);
  REQUIRE(records.graph_versions[0].segments.size() == 1);
  CHECK(records.graph_versions[0].segments[0].nodes == kWidth);
  CHECK(records.losses.empty());
  CHECK(records.replays.size() == 30'000);
  const auto took = [](const trace::Replay& replay) { return replay.ended - replay.started; };
  const trace::Replay* slowest = nullptr;
  std::size_t sampled = 0;
  for (const trace::Replay& replay : records.replays) {
    if (replay.sampled != 0) ++sampled;
    if (sampled != 0 && (slowest == nullptr || took(replay) > took(*slowest))) slowest = &replay;
  }
  REQUIRE(slowest != nullptr);
  CHECK(slowest->sampled == 1);
  CHECK(sampled > 50);
  CHECK(sampled < records.replays.size() / 4);
  for (const trace::SampleBlock& block : records.sample_blocks) {
    CHECK(block.samples.size() == kWidth);
    for (const trace::Sample& sample : block.samples) CHECK(sample.worker != 0);
  }
}

}  // namespace reprise::test
