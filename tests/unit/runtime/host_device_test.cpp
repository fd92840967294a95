// The runtime with the real host device, without kernels.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <reprise/reprise.hpp>

#include "support/counting_allocator.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

Device open_host() { return Instance().open_device(DeviceSelector::named("host")); }

// Fills `out` with `pattern` through a transient.
CapturedGraph fill_and_copy(const Device& device, const std::shared_ptr<CapturePool>& pool,
                            const HostRef<int>& out, int pattern) {
  auto t = pool->transient<int>(out.size(), "t");
  CommandBuffer commands = device.create_command_buffer({.label = "fill"});
  commands.begin();
  commands.fill(t, pattern);
  commands.copy(t, out);
  commands.end();
  return device.compile(commands);
}

}  // namespace

TEST_CASE("host device: a replay writes the recorded values") {
  Device device = open_host();
  auto pool = device.create_pool();
  auto out = pool->host<int>(1000, "out");
  const Queue queue = device.create_queue();
  CapturedGraph graph = fill_and_copy(device, pool, out, 7);
  graph.upload(queue);
  graph.launch(queue).wait();
  CHECK(std::vector<int>(out.span().begin(), out.span().end()) == std::vector<int>(1000, 7));
}

TEST_CASE("host device: a launch allocates nothing on the thread that launches") {
  Device device = open_host();
  auto pool = device.create_pool();
  auto a = pool->host<int>(16, "a"), b = pool->host<int>(16, "b");
  const Queue q = device.create_queue({.label = "q"}), r = device.create_queue({.label = "r"});
  CapturedGraph one = fill_and_copy(device, pool, a, 1), two = fill_and_copy(device, pool, a, 2),
                alone = fill_and_copy(device, pool, b, 3);
  const auto launch_all = [&] {
    for (int i = 0; i < 8; ++i) {
      (void)one.launch(q);
      (void)two.launch(r);
      (void)alone.launch(q);
    }
  };
  launch_all();
  device.wait_idle();
  const std::uint64_t before = allocations_of_this_thread();
  launch_all();
  CHECK(allocations_of_this_thread() == before);
  device.wait_idle();
}

TEST_CASE("host device: all objects may be dropped during a replay") {
  std::atomic<int> calls{0};
  std::weak_ptr<int> seen;
  std::atomic<bool> go{false};
  {
    auto token = std::make_shared<int>(0);
    seen = token;
    Device device = open_host();
    auto pool = device.create_pool();
    auto x = pool->host<int>(16, "x");
    CommandBuffer commands = device.create_command_buffer();
    commands.begin();
    commands.host(
        [&calls, &go, token] {
          go.wait(false);
          ++calls;
        },
        {read_write(x)});
    commands.fill_bits(x, 1, 4, {x.bytes(), 1, 1}, {});
    commands.end();
    CapturedGraph graph = device.compile(commands);
    (void)graph.launch(device.create_queue());
  }
  CHECK_FALSE(seen.expired());  // retained by the replay
  CHECK(calls == 0);
  go = true;
  go.notify_all();
  while (!seen.expired()) std::this_thread::yield();
  CHECK(calls == 1);
}

TEST_CASE("host device: only the fence of a replay rethrows its callback's exception") {
  Device device = open_host();
  auto pool = device.create_pool();
  auto x = pool->host<int>(1, "x");
  x[0] = 0;
  CommandBuffer commands = device.create_command_buffer();
  commands.begin();
  commands.host(
      [at = x.data()] {
        if (++*at == 2) throw std::runtime_error("the second replay");
      },
      {read_write(x)});
  commands.end();
  CapturedGraph graph = device.compile(commands);
  const Queue queue = device.create_queue();
  const Fence first = graph.launch(queue), second = graph.launch(queue),
              third = graph.launch(queue);
  first.wait();
  CHECK_THROWS_WITH_AS(second.wait(), "the second replay", std::runtime_error);
  third.wait();
  CHECK(x[0] == 3);
}

TEST_CASE("host device: after a rebuild, the same recording replays into new memory") {
  Device device = open_host();
  auto pool = device.create_pool();
  auto out = pool->host<int>(64, "out");
  auto t = pool->transient<int>(64, "t");
  CommandBuffer commands = device.create_command_buffer({.label = "step"});
  commands.begin();
  commands.fill(t, 5);
  commands.copy(t, out);
  commands.end();
  CapturedGraph before = device.compile(commands);
  const Queue old_queue = device.create_queue();
  before.launch(old_queue).wait();
  device.simulate_loss();
  try {
    (void)before.launch(old_queue);
    FAIL("a stale graph was launched");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::StaleHandle);
  }
  const auto rebuilt = device.rebuild();
  HostRef<int> fresh;
  for (const RebuiltBuffer& buffer : rebuilt) {
    if (buffer.before.id() == out.id()) fresh = HostRef<int>(buffer.after);
  }
  REQUIRE(fresh);
  CapturedGraph graph = device.compile(commands);
  graph.launch(device.create_queue()).wait();
  CHECK(std::vector<int>(fresh.span().begin(), fresh.span().end()) == std::vector<int>(64, 5));
}

TEST_CASE("host device: graphs that share a buffer keep their order across queues") {
  Device device = open_host();
  auto pool = device.create_pool();
  auto counter = pool->host<int>(1, "counter");
  auto seen = pool->host<int>(1, "seen");
  counter[0] = 0;
  CommandBuffer add = device.create_command_buffer({.label = "add"}),
                read_back = device.create_command_buffer({.label = "read"});
  add.begin();
  add.host([at = counter.data()] { ++*at; }, {read_write(counter)});
  add.end();
  read_back.begin();
  read_back.copy(counter, seen);
  read_back.end();
  CapturedGraph adds = device.compile(add), reads = device.compile(read_back);
  const Queue q = device.create_queue(), r = device.create_queue();
  for (int i = 1; i <= 200; ++i) {
    (void)adds.launch(i % 2 == 0 ? q : r);
    reads.launch(i % 3 == 0 ? q : r).wait();
    REQUIRE(seen[0] == i);
  }
}
