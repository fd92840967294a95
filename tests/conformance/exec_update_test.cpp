#include <functional>
#include <vector>

#include "conformance/device_fixture.hpp"
#include "support/counting_allocator.hpp"
#include "support/paths.hpp"
#include "words.shaders.hpp"

namespace reprise::test::exec_update_test {
namespace {

constexpr unsigned kCount = 256;
constexpr DispatchDesc kWords{.grid = 1, .block = kCount};
using Outcome = GraphExecUpdateOutcome;

struct UpdateFixture : DeviceFixture {
  GpuRef<unsigned> x = buffer(std::vector<unsigned>(kCount, 1), "x"),
                   y = buffer(std::vector<unsigned>(kCount, 2), "y"),
                   z = buffer(std::vector<unsigned>(kCount, 3), "z");
  Kernel set = kernel(shaders::conf_set), add = kernel(shaders::conf_add),
         mix = kernel(shaders::conf_mix);

  [[nodiscard]] CommandBuffer recorded(const std::function<void(CommandBuffer&)>& record) const {
    CommandBuffer cmd = recording({.label = "step"});
    record(cmd);
    cmd.end();
    return cmd;
  }
  void replay(CapturedGraph& graph) const { graph.launch(queue).wait(); }
};

}  // namespace

TEST_CASE_FIXTURE(UpdateFixture, "update: an identical recording changes no node") {
  const auto record = [&](CommandBuffer& cmd) {
    cmd.dispatch(set, kWords, write(x), 1u, kCount);
    cmd.dispatch(add, kWords, read(x), write(y), 1u, kCount);
  };
  CommandBuffer first = recorded(record), second = recorded(record);
  CapturedGraph graph = compile(first);
  CHECK(graph.update(first).method == UpdateMethod::Unchanged);
  const UpdateReport report = graph.update(second);
  CHECK(report.method == UpdateMethod::Unchanged);
  CHECK(report.nodes == 0);
  CHECK(report.done());
  replay(graph);
  CHECK(values(y) == std::vector<unsigned>(kCount, 2));
}

TEST_CASE_FIXTURE(UpdateFixture, "update: one changed command sets one node") {
  constexpr unsigned kCommands = 50;
  const auto record = [&](unsigned different) {
    return recorded([&](CommandBuffer& cmd) {
      for (unsigned i = 0; i < kCommands; ++i)
        cmd.dispatch(mix, kWords, read(y), read_write(x), i == 20 ? different : i, kCount);
    });
  };
  CommandBuffer first = record(0), second = record(12345);
  CapturedGraph graph = compile(first);
  const std::uint64_t hash = graph.report().plan_hash;
  const UpdateReport report = graph.update(second);
  CHECK(report.method == UpdateMethod::Nodes);
  CHECK(report.nodes == 1);
  CHECK(graph.report().plan_hash != hash);
  replay(graph);
  unsigned expected = 1;
  for (unsigned i = 0; i < kCommands; ++i)
    expected = expected * 1664525u + (2u ^ (i == 20 ? 12345u : i)) + 1013904223u;
  CHECK(values(x) == std::vector<unsigned>(kCount, expected));
}

TEST_CASE_FIXTURE(
    UpdateFixture,
    "exec_update: other buffers, values, grids and kernels, while replays are queued") {
  CommandBuffer first = recorded([&](CommandBuffer& cmd) {
    cmd.fill(x, 10u);
    cmd.dispatch(add, kWords, read(x), write(y), 1u, kCount);
    cmd.copy(y, z);
  });
  CommandBuffer second = recorded([&](CommandBuffer& cmd) {
    cmd.fill(y, 20u);
    cmd.dispatch(mix, {.grid = 2, .block = kCount / 2}, read(y), read_write(z), 7u, kCount);
    cmd.copy(z, x);
  });
  CapturedGraph graph = compile(first);
  const Fence before = graph.launch(queue);
  const UpdateReport report = exec_update(graph, second);
  INFO("reason: ", report.reason);
  CHECK(to_string(report.outcome) == to_string(Outcome::Success));
  CHECK(report.method == UpdateMethod::WholeGraph);
  CHECK(report.nodes == graph.node_count());
  CHECK(report.time.count() > 0);
  graph.launch(queue).wait();
  CHECK(before.done());
  // z is 11 after the first replay.
  const unsigned expected = 11u * 1664525u + (20u ^ 7u) + 1013904223u;
  CHECK(values(x) == std::vector<unsigned>(kCount, expected));
  CHECK(values(y) == std::vector<unsigned>(kCount, 20));
  CHECK(graph.to_text().find("conf_mix") != std::string::npos);
}

TEST_CASE_FIXTURE(
    UpdateFixture,
    "exec_update: a different number of commands is TopologyChanged and changes nothing") {
  CommandBuffer first =
      recorded([&](CommandBuffer& cmd) { cmd.dispatch(set, kWords, write(x), 4u, kCount); });
  CommandBuffer second = recorded([&](CommandBuffer& cmd) {
    cmd.dispatch(set, kWords, write(x), 5u, kCount);
    cmd.dispatch(add, kWords, read(x), write(y), 1u, kCount);
  });
  CapturedGraph graph = compile(first);
  const UpdateReport report = graph.exec_update(second);
  CHECK(to_string(report.outcome) == to_string(Outcome::TopologyChanged));
  CHECK(report.method == UpdateMethod::Unchanged);
  CHECK_FALSE(report.done());
  CHECK(report.reason.find("nodes or edges of the graph differ") != std::string::npos);
  replay(graph);
  CHECK(values(x) == std::vector<unsigned>(kCount, 4));
  CHECK(graph.node_count() == 1);
}

TEST_CASE_FIXTURE(UpdateFixture, "exec_update: changed edges are reported by their commands") {
  // Both recordings have four nodes and four edges; the third command reads the output of another
  // command.
  const auto record = [&](bool late) {
    return recorded([&](CommandBuffer& cmd) {
      cmd.dispatch(set, kWords, write(x), 1u, kCount);
      cmd.dispatch(add, kWords, read(x), write(y), 1u, kCount);
      cmd.dispatch(add, kWords, read(late ? y : x), write(z), 1u, kCount);
    });
  };
  CommandBuffer fan = record(false), chain = record(true);
  CapturedGraph graph = compile(fan, Lowering::Faithful);
  const UpdateReport report = graph.exec_update(chain);
  CHECK(to_string(report.outcome) == to_string(Outcome::TopologyChanged));
  CHECK(report.command == 2);
  CHECK(report.reason.find("command 2") != std::string::npos);
  replay(graph);
  CHECK(values(z) == std::vector<unsigned>(kCount, 2));
}

TEST_CASE_FIXTURE(UpdateFixture,
                  "exec_update: a command of another kind is reported by its index") {
  CommandBuffer first = recorded([&](CommandBuffer& cmd) {
    cmd.fill(x, 4u);
    cmd.copy(x, y);
  });
  CommandBuffer second = recorded([&](CommandBuffer& cmd) {
    cmd.fill(x, 5u);
    cmd.dispatch(add, kWords, read(x), write(y), 1u, kCount);
  });
  CapturedGraph graph = compile(first, Lowering::Auto);
  const UpdateReport report = graph.exec_update(second);
  CHECK(to_string(report.outcome) == to_string(Outcome::NodeTypeChanged));
  CHECK(report.command == 1);
  CHECK(report.reason.find("conf_add") != std::string::npos);
  replay(graph);
  CHECK(values(y) == std::vector<unsigned>(kCount, 4));
  if (is_host() || device.info().limits.max_segment_blocks == 0) return;
  // On a GPU, the commands of a segment are no nodes.
  CapturedGraph segment = compile(first, Lowering::Persistent);
  CHECK(segment.exec_update(second).done());
  replay(segment);
  CHECK(values(y) == std::vector<unsigned>(kCount, 6));
}

TEST_CASE_FIXTURE(UpdateFixture,
                  "exec_update: a copy that becomes pitched is applied completely or refused") {
  CommandBuffer first = recorded([&](CommandBuffer& cmd) { cmd.copy(x, y); });
  CommandBuffer pitched = recorded([&](CommandBuffer& cmd) {
    cmd.copy(z, y, CopyDesc{{64, 4, 1}, {128, 0}, {256, 0}});
  });
  CapturedGraph graph = compile(first);
  const UpdateReport report = graph.exec_update(pitched);
  if (!report.done()) CHECK(report.command == 0);
  replay(graph);
  std::vector<unsigned> expected(kCount, report.done() ? 2 : 1);
  for (unsigned i = 0; report.done() && i < kCount; ++i) expected[i] = i % 64 < 16 ? 3 : 2;
  CHECK(values(y) == expected);
}

TEST_CASE_FIXTURE(UpdateFixture,
                  "update: a copy becomes larger, pitched, unaligned, and one from the host") {
  constexpr std::size_t kBytes = 3 << 20;
  const auto bytes = generated<std::uint8_t>(
      kBytes, [](std::size_t i) { return static_cast<std::uint8_t>(i * 7 + i / 256); });
  const auto from = buffer(bytes, "from"), to = buffer(std::vector<std::uint8_t>(kBytes, 0), "to");
  const auto copied = [&](std::uint64_t at, const CopyDesc& desc) {
    return recorded([&](CommandBuffer& cmd) {
      cmd.fill(to, 0);
      cmd.copy(from.subview(at, kBytes - at), to.subview(at, kBytes - at), desc);
    });
  };
  CommandBuffer small = copied(0, {{64, 1, 1}, {}, {}});
  CapturedGraph graph = compile(small);
  const auto check = [&](std::uint64_t at, const CopyDesc& desc) {
    CommandBuffer next = copied(at, desc);
    CHECK(graph.update(next).done());
    replay(graph);
    std::vector<std::uint8_t> expected(kBytes, 0);
    for (std::uint64_t row = 0; row < desc.extent.height; ++row)
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at + row * desc.source.row),
                  desc.extent.width,
                  expected.begin() + static_cast<std::ptrdiff_t>(at + row * desc.destination.row));
    CHECK(values(to) == expected);
  };
  check(0, {{kBytes, 1, 1}, {}, {}});
  check(1, {{kBytes - 1, 1, 1}, {}, {}});
  check(16, {{100, 1, 1}, {}, {}});
  check(32, {{2 << 20, 1, 1}, {}, {}});
  check(4, {{1000, 2100, 1}, {1024, 0}, {1004, 0}});
  check(3, {{1000, 2100, 1}, {1024, 0}, {1003, 0}});
  check(0, {{64, 1, 1}, {}, {}});
  check(0, {{kBytes - 64, 1, 1}, {}, {}});
  CommandBuffer from_host = recorded([&](CommandBuffer& cmd) {
    cmd.fill(to, 0);
    cmd.copy(borrowed(std::span<const std::uint8_t>(bytes)), to);
  });
  CHECK(graph.update(from_host).done());
  replay(graph);
  CHECK(values(to) == bytes);
}

TEST_CASE_FIXTURE(UpdateFixture,
                  "update: the last method is a new executable, and the report gives the reason") {
  CommandBuffer first = recorded(
      [&](CommandBuffer& cmd) { cmd.dispatch(set, kWords, write(x), slot("value", 4u), kCount); });
  CommandBuffer second = recorded([&](CommandBuffer& cmd) {
    cmd.dispatch(set, kWords, write(x), slot("value", 5u), kCount);
    cmd.dispatch(add, kWords, read(x), write(y), slot("more", 10u), kCount);
  });
  CapturedGraph graph = compile(first);
  auto value = graph.scalar<unsigned>("value");
  static_cast<void>(graph.launch(queue));
  const UpdateReport report = graph.update(second);
  CHECK(report.method == UpdateMethod::Reinstantiated);
  CHECK(to_string(report.outcome) == to_string(Outcome::TopologyChanged));
  CHECK(report.done());
  CHECK_FALSE(report.reason.empty());
  CHECK_FALSE(graph.is_uploaded());
  value.set(6);
  CHECK(graph.scalar<unsigned>("more").set(20) == 1);
  const Fence fence = graph.launch(queue);
  CHECK(fence.replay() == 2);
  CHECK(graph.num_replays() == 2);
  fence.wait();
  CHECK(values(y) == std::vector<unsigned>(kCount, 26));
  CommandBuffer third = recorded([&](CommandBuffer& cmd) { cmd.fill(x, 1u); });
  CHECK(graph.update(third).method == UpdateMethod::Reinstantiated);
  check_refused(ErrorCode::InvalidState, {"\"value\"", "since its last update"},
                [&] { value.set(7); });
}

TEST_CASE_FIXTURE(UpdateFixture, "update: transients fit, or a larger slab replaces the old one") {
  const auto record = [&](unsigned words) {
    return recorded([&, words](CommandBuffer& cmd) {
      const auto t = pool->transient<unsigned>(words, "t");
      cmd.fill(t, words);
      cmd.dispatch(add, kWords, read(t), write(x), 1u, kCount);
    });
  };
  CommandBuffer first = record(kCount), larger = record(64 * kCount), smaller = record(kCount + 1);
  CapturedGraph graph = compile(first);
  const auto check = [&](CommandBuffer& cmd, unsigned words) {
    static_cast<void>(graph.launch(queue));
    CHECK(graph.update(cmd).done());
    replay(graph);
    CHECK(values(x) == std::vector<unsigned>(kCount, words + 1));
  };
  check(larger, 64 * kCount);
  check(smaller, kCount + 1);
}

TEST_CASE_FIXTURE(UpdateFixture,
                  "update: callbacks and snapshots come from the new recording, and errors stay "
                  "with their replays") {
  int first_calls = 0, second_calls = 0;
  const unsigned one = 111, two = 222;
  CommandBuffer first = recorded([&](CommandBuffer& cmd) {
    cmd.update(x.slice(0, 1), std::as_bytes(std::span(&one, 1)));
    cmd.host([&] {
      ++first_calls;
      throw std::runtime_error("first");
    });
  });
  CommandBuffer second = recorded([&](CommandBuffer& cmd) {
    cmd.update(x.slice(0, 1), std::as_bytes(std::span(&two, 1)));
    cmd.host([&] { ++second_calls; });
  });
  CapturedGraph graph = compile(first);
  const Fence old = graph.launch(queue);
  const UpdateReport report = graph.update(second);
  INFO("reason: ", report.reason);
  CHECK(report.method == UpdateMethod::WholeGraph);
  const Fence now = graph.launch(queue);
  now.wait();
  CHECK_THROWS_WITH_AS(old.wait(), "first", std::runtime_error);
  CHECK(first_calls == 1);
  CHECK(second_calls == 1);
  CHECK(values(x)[0] == 222u);
  CHECK(graph.update(first, {.first = UpdateMethod::Reinstantiated}).method ==
        UpdateMethod::Reinstantiated);
  CHECK_THROWS_WITH_AS(old.wait(), "first", std::runtime_error);
  CHECK_NOTHROW(now.wait());
  CHECK_THROWS_WITH_AS(graph.launch(queue).wait(), "first", std::runtime_error);
}

TEST_CASE_FIXTURE(UpdateFixture, "update: commands are enabled and buffers are as recorded again") {
  const auto record = [&](unsigned value) {
    return recorded(
        [&, value](CommandBuffer& cmd) { cmd.dispatch(set, kWords, write(x), value, kCount); });
  };
  CommandBuffer first = recording({.label = "step"});
  const CommandRef only = first.dispatch(set, kWords, write(x), 4u, kCount);
  first.end();
  CommandBuffer second = record(5);
  CapturedGraph graph = compile(first);
  graph.disable(only);
  CHECK(graph.rebind(x, y).done());
  const UpdateReport report = graph.update(second);
  CHECK(report.done());
  replay(graph);
  CHECK(values(x) == std::vector<unsigned>(kCount, 5));
  CHECK(values(y) == std::vector<unsigned>(kCount, 2));
}

TEST_CASE_FIXTURE(
    UpdateFixture,
    "update: buffers of the old recording are released and those of the new one are retained") {
  const auto own = device.create_pool({.label = "own"});
  auto w = own->allocate<unsigned>(kCount, "w");
  CommandBuffer first =
      recorded([&](CommandBuffer& cmd) { cmd.dispatch(set, kWords, write(x), 4u, kCount); });
  {
    CommandBuffer second =
        recorded([&](CommandBuffer& cmd) { cmd.dispatch(set, kWords, write(w), 5u, kCount); });
    CapturedGraph graph = compile(first);
    CHECK(graph.update(second).method == UpdateMethod::WholeGraph);
    check_refused(ErrorCode::PoolInUse, {"own"}, [&] { own->clear(); });
    replay(graph);
    CHECK(values(w) == std::vector<unsigned>(kCount, 5));
    CHECK(graph.update(first).done());
    second.reset();
  }
  queue.wait_idle();
  device.wait_idle();
  own->clear();
  CHECK(w.is_stale());
}

TEST_CASE_FIXTURE(UpdateFixture, "update: errors are those of compile, and nothing changes") {
  CommandBuffer first =
      recorded([&](CommandBuffer& cmd) { cmd.dispatch(set, kWords, write(x), 4u, kCount); });
  CapturedGraph graph = compile(first);
  CommandBuffer open = recording({.label = "open"});
  check_refused(ErrorCode::InvalidState, {"open"}, [&] { (void)graph.update(open); });
  CommandBuffer secondary = recording({.label = "part", .level = Level::Secondary});
  secondary.end();
  check_refused(ErrorCode::InvalidArgument, {"part", "secondary"},
                [&] { (void)graph.update(secondary); });
  CapturedGraph none;
  check_refused(ErrorCode::NotInitialized, {"empty"}, [&] { (void)none.update(first); });
  replay(graph);
  CHECK(values(x) == std::vector<unsigned>(kCount, 4));
}

TEST_CASE("exec update: a failed allocation leaves a graph that replays and is traced") {
  Instance instance({.application = "conformance",
                     .on_message = [](const Message&) {},
                     .trace = {.target = (scratch_folder() / "failed-updates.reprise").string(),
                               .profile = ProfileMode::Every}});
  const Device device = instance.open_device(selector_of_this_run());
  const Queue queue = device.create_queue();
  const auto pool = device.create_pool();
  const auto x = pool->host<unsigned>(64, "x");
  const Kernel set = device.load_kernel(shaders::conf_set);
  int calls = 0;
  const auto setting = [&](unsigned value) {
    CommandBuffer cmd = device.create_command_buffer();
    cmd.begin();
    cmd.dispatch(set, {.grid = 1, .block = 64}, write(x), value, 64u);
    cmd.host([&calls] { ++calls; });
    cmd.end();
    return cmd;
  };
  const CommandBuffer recordings[] = {setting(0), setting(1)};
  CapturedGraph graph = device.compile(recordings[0], {.pool = pool});
  unsigned refused = 0;
  for (bool failed = true; failed; ++refused) {
    bool is_updated = false;
    {
      const FailingAllocations from(refused, 1);
      try {
        is_updated = graph.update(recordings[refused % 2]).done();
      } catch (const std::bad_alloc&) {
      } catch (const Error&) {
      }
      failed = from.failed();
    }
    instance.flush_trace();
    graph.launch(queue).wait();
    if (is_updated) CHECK(x[0] == refused % 2);
    CHECK(x[63] == x[0]);
    REQUIRE(refused < 10'000);
  }
  CHECK(refused > 20);
  CHECK(calls == static_cast<int>(refused));
}

}  // namespace reprise::test::exec_update_test
