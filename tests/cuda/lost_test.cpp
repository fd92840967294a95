// Device loss. A lost device stays lost to its process, so each case runs in its own process: this
// program with one of the skipped cases below.
#include <string>

#include <gpu_kernels.shaders.hpp>

#include "cuda/child_test.hpp"
#include "cuda/gpu.hpp"

namespace reprise::test {
namespace {

constexpr std::chrono::seconds kLimit{120};

int run_alone(const std::string& name) { return exit_code_of(start_child(name), kLimit); }

// Launches a kernel that writes to an invalid address.
Fence launch_fault(const Gpu& t, CapturedGraph& graph) {
  const Kernel poke = t.device.load_kernel(shaders::gpu_poke);
  graph = t.compile([&](CommandBuffer& cmd) {
    auto scope = cmd.label("faulting");
    cmd.dispatch(poke, {.grid = 1, .block = 1}, 0x10ull);
  });
  return graph.launch(t.queue);
}

}  // namespace

TEST_CASE(
    "cuda loss: after a faulting kernel its fence throws DeviceLost, and all objects of the device "
    "are stale") {
  if (!have_gpu()) return;
  CHECK(run_alone("child: a faulting kernel") == 0);
}

TEST_CASE("cuda loss: dropping everything after a fault, in any order, is silent") {
  if (!have_gpu()) return;
  CHECK(run_alone("child: dropped after a fault") == 0);
}

TEST_CASE("cuda loss: with fault markers a fault names the commands that started and did not end") {
  if (!have_gpu()) return;
  CHECK(run_alone("child: a fault among markers") == 0);
}

TEST_CASE("cuda loss: with fault markers a fault in a segment names the command that ran") {
  if (!have_gpu() || gpu().info().limits.max_segment_blocks == 0) return;
  CHECK(run_alone("child: a fault in a marked segment") == 0);
}

TEST_CASE(
    "cuda loss: a launch after a fault in another graph, and the queue itself, report the device "
    "loss") {
  if (!have_gpu()) return;
  CHECK(run_alone("child: a fault and the others") == 0);
}

TEST_CASE("child: a faulting kernel" * doctest::skip()) {
  Gpu t;
  const auto other = t.pool->allocate<float>(100, "other");
  CapturedGraph graph;
  const Fence fence = launch_fault(t, graph);
  std::string text;
  const ErrorDetails error = error_of([&] { fence.wait(); }, &text);
  CHECK(error.code == ErrorCode::DeviceLost);
  CHECK(error.native_name.find("ILLEGAL_ADDRESS") != std::string::npos);
  CHECK(text.find("test") != std::string::npos);  // graph and queue
  CHECK(t.device.is_lost());
  CHECK(t.device.generation() == 2);
  CHECK(other.is_stale());

  CHECK(error_of([&] { fence.wait(); }).code == ErrorCode::DeviceLost);
  CHECK(error_of([&] { static_cast<void>(fence.done()); }).code == ErrorCode::DeviceLost);
  CHECK(error_of([&] { static_cast<void>(other.data()); }).code == ErrorCode::StaleHandle);
  const ErrorCode again = error_of([&] { static_cast<void>(graph.launch(t.queue)); }).code;
  CHECK((again == ErrorCode::StaleHandle || again == ErrorCode::DeviceLost));
  CHECK(error_of([&] { static_cast<void>(t.pool->allocate<float>(1)); }).code ==
        ErrorCode::DeviceLost);
  CHECK(error_of([&] { static_cast<void>(t.device.load_kernel(shaders::gpu_add)); }).code ==
        ErrorCode::DeviceLost);
  const ErrorDetails refused =
      error_of([&] { static_cast<void>(Device(t.device).rebuild()); }, &text);
  CHECK(refused.code == ErrorCode::Unsupported);
  CHECK_FALSE(refused.native_call.empty());  // the driver's answer
  CHECK_FALSE(refused.native_name.empty());
  CHECK(refused.native_code != 0);
  CHECK(text.find("new process") != std::string::npos);
  CHECK(t.device.is_lost());
}

TEST_CASE("child: a fault among markers" * doctest::skip()) {
  const Gpu t;
  const Kernel poke = t.device.load_kernel(shaders::gpu_poke);
  const auto x = t.pool->allocate<std::uint32_t>(64, "x");
  CommandBuffer commands = t.record([&](CommandBuffer& cmd) {
    const CommandRef first = cmd.fill(x, 1);
    auto scope = cmd.label("faulting");
    const CommandRef bad = cmd.dispatch(poke, {.grid = 1, .block = 1}, 0x10ull);
    cmd.edge(first, bad);
    cmd.edge(bad, cmd.fill(x, 2));
  });
  CapturedGraph graph =
      t.device.compile(commands, {.pool = t.pool, .lowering = Lowering::Auto.with_fault_markers()});
  const Fence fence = graph.launch(t.queue);
  std::string text;
  for (int again = 0; again < 2; ++again) {
    const ErrorDetails error = error_of([&] { fence.wait(); }, &text);
    INFO("text: ", text);
    CHECK(error.code == ErrorCode::DeviceLost);
    CHECK(error.unfinished == std::vector<std::uint32_t>{1});
    for (const char* part : {"started and not completed", "command 1, dispatch gpu_poke",
                             "faulting", "replay 1", "graph test"}) {
      CHECK(text.find(part) != std::string::npos);
    }
  }
}

TEST_CASE("child: a fault in a marked segment" * doctest::skip()) {
  const Gpu t;
  const Kernel poke = t.device.load_kernel(shaders::gpu_poke),
               count = t.device.load_kernel(shaders::gpu_count);
  const auto x = t.pool->allocate<unsigned long long>(2, "x");
  CommandBuffer commands = t.record([&](CommandBuffer& cmd) {
    const CommandRef first = cmd.fill_bits(x, 0, 4, {16, 1, 1}, {});
    const CommandRef bad = cmd.dispatch(poke, {.grid = 1, .block = 1}, 0x10ull);
    cmd.edge(first, bad);
    for (int i = 0; i < 2; ++i)
      cmd.edge(bad, cmd.dispatch(count, {.grid = 1, .block = 1}, read_write(x.slice(i, 1))));
  });
  CapturedGraph graph = t.device.compile(
      commands, {.pool = t.pool, .lowering = Lowering::Persistent.with_fault_markers()});
  REQUIRE(graph.report().segments.commands == 4);
  const Fence fence = graph.launch(t.queue);
  std::string text;
  const ErrorDetails error = error_of([&] { fence.wait(); }, &text);
  INFO("text: ", text);
  CHECK(error.code == ErrorCode::DeviceLost);
  CHECK(error.unfinished == std::vector<std::uint32_t>{1});
  CHECK(text.find("command 1, dispatch gpu_poke") != std::string::npos);
}

TEST_CASE("child: a fault and the others" * doctest::skip()) {
  const Gpu t;
  const Queue other = t.device.create_queue({.label = "other"});
  CapturedGraph innocent =
      t.compile([&](CommandBuffer& cmd) { cmd.fill(t.pool->allocate<std::uint32_t>(64, "y"), 3); });
  innocent.launch(other).wait();
  CapturedGraph graph;
  const Fence fence = launch_fault(t, graph);
  CHECK(error_of([&] { fence.wait(); }).code == ErrorCode::DeviceLost);
  CHECK(error_of([&] { static_cast<void>(innocent.launch(other)); }).code ==
        ErrorCode::StaleHandle);
  CHECK(error_of([&] { innocent.upload(other); }).code == ErrorCode::StaleHandle);
  CHECK(error_of([&] {
          static_cast<void>(t.device.compile(t.record([](CommandBuffer&) {})));
        }).code == ErrorCode::DeviceLost);
  CHECK(error_of([&] { static_cast<void>(t.device.create_queue()); }).code ==
        ErrorCode::DeviceLost);
  CHECK(error_of([&] { t.device.wait_idle(); }).code == ErrorCode::DeviceLost);
  CHECK(error_of([&] { t.queue.wait_idle(); }).code == ErrorCode::DeviceLost);
}

TEST_CASE("child: dropped after a fault" * doctest::skip()) {
  CapturedGraph graph;
  Fence fence;
  std::shared_ptr<CapturePool> pool;
  {
    const Gpu t;
    pool = t.pool;
    fence = launch_fault(t, graph);
    CapturedGraph second = t.compile(
        [&](CommandBuffer& cmd) { cmd.fill(t.pool->allocate<std::uint32_t>(64, "dropped"), 0); });
    try {
      static_cast<void>(second.launch(t.queue));
    } catch (const Error& lost) {
      CHECK(lost.code() == ErrorCode::DeviceLost);
    }
  }
  CHECK(error_of([&] { fence.wait(); }).code == ErrorCode::DeviceLost);
  graph = CapturedGraph();
  pool.reset();
}

}  // namespace reprise::test
