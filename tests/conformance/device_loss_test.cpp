#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "conformance/device_fixture.hpp"
#include "waiting.shaders.hpp"
#include "words.shaders.hpp"

namespace reprise::test::device_loss_test {
namespace {

// A device with one graph, for tests that simulate its loss.
struct LossFixture : DeviceFixture {
  GpuRef<unsigned> x = pool->allocate<unsigned>(64, "x");
  CommandBuffer commands = recording({.label = "step"});
  CapturedGraph graph;

  LossFixture() {
    commands.dispatch(kernel(shaders::conf_set), {.grid = 1, .block = 64}, write(x), 7u, 64u);
    graph = compile(commands);
    graph.launch(queue).wait();
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    LossFixture,
    "device loss: simulate_loss works on the host device and is Unsupported on a GPU") {
  CHECK_FALSE(device.is_lost());
  CHECK(device.generation() == 1);
  if (!is_host()) {
    check_refused(ErrorCode::Unsupported, {}, [&] { device.simulate_loss(); });
    CHECK_FALSE(device.is_lost());
    check_refused(ErrorCode::InvalidState, {"not lost"},
                  [&] { static_cast<void>(device.rebuild()); });
    return;
  }
  device.simulate_loss();
  CHECK(device.is_lost());
  CHECK(device.generation() == 2);
}

TEST_CASE_FIXTURE(
    LossFixture,
    "device loss: the fence of a lost launch throws DeviceLost that names graph and queue") {
  if (!is_host()) return;
  std::promise<void> go;
  CommandBuffer cmd = recording({.label = "waiting"});
  cmd.host([released = go.get_future().share()] { released.wait(); });
  cmd.fill(x, 1u);
  CapturedGraph waiting = compile(cmd);
  const Fence fence = waiting.launch(queue);
  device.simulate_loss();
  go.set_value();
  const Error error = thrown_by([&] { fence.wait(); });
  CHECK(error.code() == ErrorCode::DeviceLost);
  const std::string text = error.what();
  INFO("text: ", text);
  CHECK(text.find("waiting") != std::string::npos);
  CHECK(text.find("main") != std::string::npos);
}

TEST_CASE_FIXTURE(
    LossFixture,
    "device loss: after rebuild, old handles stay stale and recordings can be compiled") {
  if (!is_host()) return;
  device.simulate_loss();
  const std::vector<RebuiltBuffer> rebuilt = device.rebuild();
  CHECK_FALSE(device.is_lost());
  CHECK(device.generation() == 2);
  CHECK(x.is_stale());
  const auto found = std::find_if(rebuilt.begin(), rebuilt.end(),
                                  [&](const RebuiltBuffer& b) { return b.before.id() == x.id(); });
  REQUIRE(found != rebuilt.end());
  const GpuRef<unsigned> fresh(found->after);
  CHECK_FALSE(fresh.is_stale());
  CHECK(fresh.name() == "x");
  CHECK(fresh.size() == 64);

  check_refused(ErrorCode::StaleHandle, {"step"},
                [&] { static_cast<void>(graph.launch(device.create_queue())); });
  CHECK(commands.state() == CommandBufferState::Executable);
  CapturedGraph again = device.compile(commands);
  queue = device.create_queue();
  again.launch(queue).wait();
  CHECK(values(fresh) == std::vector<unsigned>(64, 7));
}

TEST_CASE_FIXTURE(
    LossFixture,
    "device loss: with fault markers, the fence names the commands that started and did not end") {
  if (!is_host()) return;
  std::promise<void> started, go;
  CommandBuffer cmd = recording({.label = "marked"});
  cmd.fill(x, 1u);
  {
    const auto scope = cmd.label("slow part");
    cmd.host(
        [&started, released = go.get_future().share()] {
          started.set_value();
          released.wait();
        },
        {read(x)});
  }
  cmd.fill(x, 2u);
  CapturedGraph marked = compile(cmd, Lowering::Auto.with_fault_markers());
  CHECK(marked.to_text().find("fault markers yes") != std::string::npos);
  const Fence fence = marked.launch(queue);
  started.get_future().wait();
  device.simulate_loss();
  const Error error = thrown_by([&] { fence.wait(); });
  go.set_value();
  CHECK(error.code() == ErrorCode::DeviceLost);
  CHECK(error.details().unfinished == std::vector<std::uint32_t>{1});
  const std::string text = error.what();
  INFO("text: ", text);
  for (const std::string_view part : {"started and not completed", "command 1, host", "slow part",
                                      "replay 1", "graph marked", "queue main"}) {
    CHECK(text.find(part) != std::string::npos);
  }
  // The fence still names the command after it completed.
  CHECK(thrown_by([&] { fence.wait(); }).details().unfinished == std::vector<std::uint32_t>{1});
}

namespace {

// A graph of which command 1 ends when released. A callback makes the host device run it on a
// thread of its own.
struct HoldFixture : DeviceFixture {
  HostRef<unsigned> flags = pool->host<unsigned>(2, "flags");
  GpuRef<unsigned> x = pool->allocate<unsigned>(64, "x"), y = pool->allocate<unsigned>(64, "y"),
                   z = pool->allocate<unsigned>(64, "z");

  unsigned* words = nullptr;  // of `flags`, also after a loss

  CommandBuffer record() {
    words = flags.data();
    std::fill_n(words, 2, 0u);
    CommandBuffer cmd = recording({.label = "held"});
    cmd.fill(x, 1u);
    cmd.dispatch(kernel(shaders::conf_hold), {.grid = 1, .block = 1}, read_write(flags),
                 read_write(x));
    for (const auto& out : {y, z})
      cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 64}, read(x), write(out), 1u,
                   64u);
    cmd.host([] {});
    cmd.end();
    return cmd;
  }
  void wait_until_held() const {
    while (std::atomic_ref(words[0]).load() == 0) std::this_thread::yield();
  }
  void release() const { std::atomic_ref(words[1]).store(1); }
};

}  // namespace

TEST_CASE_FIXTURE(HoldFixture,
                  "fault markers: a fence whose timeout passes names what runs, once per replay") {
  std::vector<std::string> texts;
  const Instance talking({.application = "timeout", .on_message = [&texts](const Message& message) {
                            if (message.id == "fence-timeout") texts.push_back(message.text);
                          }});
  device = talking.open_device(selector_of_this_run());
  queue = device.create_queue({.label = "slow"});
  pool = device.create_pool();
  flags = pool->host<unsigned>(2, "flags");
  for (GpuRef<unsigned>* const buffer : {&x, &y, &z}) *buffer = pool->allocate<unsigned>(64, "x");
  for (const Lowering lowering : {Lowering::Faithful, Lowering::Persistent}) {
    if (lowering == Lowering::Persistent && device.info().limits.max_segment_blocks == 0) continue;
    texts.clear();
    CapturedGraph marked =
        device.compile(record(), {.pool = pool, .lowering = lowering.with_fault_markers()});
    const Fence fence = marked.launch(queue);
    wait_until_held();
    CHECK_FALSE(fence.wait_for(std::chrono::nanoseconds(0)));  // a query
    CHECK(texts.empty());
    for (int again = 0; again < 2; ++again)
      CHECK_FALSE(fence.wait_for(std::chrono::milliseconds(20)));
    release();
    fence.wait();
    REQUIRE(texts.size() == 1);
    INFO("text: ", texts[0]);
    for (const std::string_view part : {"replay 1 of graph held on queue slow", "after 20 ms",
                                        "started and not completed: command 1, dispatch conf_hold"})
      CHECK(texts[0].find(part) != std::string::npos);
    // One of the two commands that follow is in another list.
    const bool has_waits = lowering == Lowering::Persistent && !is_host();
    CHECK((texts[0].find("1 block waits before command") != std::string::npos) == has_waits);
    CHECK((texts[0].find("for command 1") != std::string::npos) == has_waits);
    CHECK(values(z)[0] == 4);
  }
}

TEST_CASE_FIXTURE(HoldFixture,
                  "device loss: with fault markers, a running command of a segment is named") {
  if (!is_host()) return;
  CapturedGraph marked = device.compile(
      record(), {.pool = pool, .lowering = Lowering::Persistent.with_fault_markers()});
  REQUIRE(marked.report().segments.commands == 4);
  const Fence fence = marked.launch(queue);
  wait_until_held();
  device.simulate_loss();
  const Error error = thrown_by([&] { fence.wait(); });
  release();
  CHECK(error.code() == ErrorCode::DeviceLost);
  CHECK(error.details().unfinished == std::vector<std::uint32_t>{1});
}

TEST_CASE_FIXTURE(DeviceFixture, "fault markers: results are unchanged") {
  const auto x =
      buffer(generated<unsigned>(256, [](std::size_t i) { return static_cast<unsigned>(i); }));
  const auto y = pool->allocate<unsigned>(256), z = pool->allocate<unsigned>(256);
  const Kernel add = kernel(shaders::conf_add);
  CommandBuffer cmd = recording();
  cmd.dispatch(add, {.grid = 1, .block = 256}, read(x), write(y), 1u, 256u);
  cmd.dispatch(add, {.grid = 1, .block = 256}, read(x), write(z), 2u, 256u);
  cmd.dispatch(add, {.grid = 1, .block = 256}, read(y), write(x), 3u, 256u);
  cmd.end();
  for (const Lowering lowering :
       {Lowering::Auto, Lowering::Faithful, Lowering::Lanes(1), Lowering::Persistent}) {
    if (lowering == Lowering::Persistent && device.info().limits.max_segment_blocks == 0) continue;
    run([&](CommandBuffer& restore) {
      restore.copy(snapshot(generated<unsigned>(
                       256, [](std::size_t i) { return static_cast<unsigned>(i); })),
                   x);
    });
    CapturedGraph marked =
        device.compile(cmd, {.pool = pool, .lowering = lowering.with_fault_markers()});
    CapturedGraph plain = device.compile(cmd, {.pool = pool, .lowering = lowering});
    CHECK(marked.report().plan_hash == plain.report().plan_hash);
    CHECK(marked.report().lowering_hash != plain.report().lowering_hash);
    for (int replay = 0; replay < 3; ++replay) marked.launch(queue).wait();
    CHECK(values(x) ==
          generated<unsigned>(256, [](std::size_t i) { return static_cast<unsigned>(i) + 12; }));
    CHECK(values(z) ==
          generated<unsigned>(256, [](std::size_t i) { return static_cast<unsigned>(i) + 10; }));
  }
}

}  // namespace reprise::test::device_loss_test
