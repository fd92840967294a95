#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "conditions.shaders.hpp"
#include "conformance/device_fixture.hpp"
#include "support/counting_allocator.hpp"
#include "waiting.shaders.hpp"
#include "words.shaders.hpp"

namespace reprise::test::replicas_test {
namespace {

constexpr unsigned kCount = 512;
constexpr DispatchDesc kWords{.grid = kCount / 256, .block = 256};

std::vector<unsigned> all(unsigned value) { return std::vector<unsigned>(kCount, value); }

unsigned churned(unsigned value, unsigned rounds) {
  for (unsigned r = 0; r < rounds; ++r) value = value * 1664525u + 1013904223u;
  return value;
}

struct ReplicasFixture : DeviceFixture {
  Queue other = device.create_queue({.label = "other"}),
        third = device.create_queue({.label = "third"});
  Kernel set = kernel(shaders::conf_set), add = kernel(shaders::conf_add),
         churn = kernel(shaders::conf_churn);

  [[nodiscard]] GpuRef<unsigned> copies(std::uint32_t n, std::string_view name) const {
    return pool->allocate<unsigned>(kCount, name, PerReplica{n});
  }
  [[nodiscard]] CapturedGraph compile(CommandBuffer& commands, std::uint32_t replicas) const {
    commands.end();
    return device.compile(commands, {.pool = pool, .replicas = replicas});
  }
  void fill(const GpuRef<unsigned>& x, unsigned value) const {
    run([&](CommandBuffer& cmd) { cmd.fill(x, value); });
  }
  void check_refused_with(std::uint32_t replicas, ErrorCode code,
                          std::initializer_list<std::string_view> parts,
                          const std::function<void(CommandBuffer&)>& record) const {
    CommandBuffer cmd = recording({.label = "refused"});
    record(cmd);
    cmd.end();
    check_refused(code, parts, [&] {
      static_cast<void>(device.compile(cmd, {.pool = pool, .replicas = replicas}));
    });
    // Without replicas it compiles.
    static_cast<void>(device.compile(cmd, {.pool = pool}));
  }
};

}  // namespace

TEST_CASE_FIXTURE(ReplicasFixture,
                  "replicas: a replay on another queue does not wait for the previous one") {
  const auto flag = pool->host<unsigned>(1, "flag", PerReplica{2});
  const auto out = pool->host<unsigned>(1, "out", PerReplica{2});
  CommandBuffer cmd = recording();
  // Bounds the test if the flag is never seen.
  const unsigned rounds = is_host() ? 2'000'000'000u : 10'000'000u;
  cmd.dispatch(kernel(shaders::conf_wait), {.grid = 1, .block = 1}, read_write(flag), write(out),
               5u, rounds);
  CapturedGraph graph = compile(cmd, 2);
  graph.upload(queue);
  queue.wait_idle();
  flag.replica(1)[0] = 1;
  const Fence slow = graph.launch(queue);
  const Fence quick = graph.launch(other);
  CHECK(slow.replica() == 0);
  CHECK(quick.replica() == 1);
  CHECK(quick.wait_for(std::chrono::seconds(60)));
  CHECK(out.replica(1)[0] == 5);
  CHECK_FALSE(slow.done());
  std::atomic_ref<unsigned>(flag[0]).store(1);
  slow.wait();
  CHECK(out[0] == 5);  // the flag was seen, so both ran concurrently
}

TEST_CASE_FIXTURE(ReplicasFixture,
                  "replicas: each has its own transients and copies, and reads shared buffers") {
  constexpr std::uint32_t kReplicas = 3;
  constexpr unsigned kRounds = 500;
  const auto shared = buffer(all(7), "shared");
  const auto in = copies(kReplicas, "in"), out = copies(kReplicas, "out");
  const auto t = pool->transient<unsigned>(kCount, "t"), u = pool->transient<unsigned>(kCount, "u");
  CommandBuffer cmd = recording({.label = "step"});
  cmd.dispatch(add, kWords, read(in), write(t), 1u, kCount);
  cmd.dispatch(churn, kWords, read_write(t), kRounds, kCount);
  cmd.dispatch(add, kWords, read(t), write(u), 2u, kCount);
  cmd.copy(snapshot(all(11)), t);
  cmd.dispatch(kernel(shaders::conf_mix), kWords, read(shared), read_write(u), 3u, kCount);
  cmd.dispatch(kernel(shaders::conf_mix), kWords, read(t), read_write(u), 4u, kCount);
  cmd.copy(u, out);
  CapturedGraph graph = compile(cmd, kReplicas);
  CHECK(graph.replicas() == kReplicas);
  CHECK(graph.report().replicas == kReplicas);
  const std::vector<Queue> queues = {queue, other, third};
  for (std::uint32_t i = 0; i < kReplicas; ++i) fill(in.replica(i), 100 * i);
  std::set<std::uint64_t> numbers;
  for (int round = 0; round < 20; ++round) {
    for (const Queue& q : queues) numbers.insert(graph.launch(q).replay().value());
  }
  device.wait_idle();
  CHECK(numbers.size() == 60);
  CHECK(graph.num_replays() == 60);
  for (std::uint32_t i = 0; i < kReplicas; ++i) {
    unsigned expected = churned(100 * i + 1, kRounds) + 2;
    expected = expected * 1664525u + (7u ^ 3u) + 1013904223u;
    expected = expected * 1664525u + (11u ^ 4u) + 1013904223u;
    CHECK(values(out.replica(i)) == all(expected));
  }
  CHECK(values(shared) == all(7));
}

TEST_CASE_FIXTURE(ReplicasFixture,
                  "replicas: a launch runs on its queue's replica or on the requested one") {
  const auto x = copies(2, "x");
  CommandBuffer cmd = recording({.label = "step"});
  cmd.dispatch(add, kWords, read(x), write(x), 1u, kCount);
  CapturedGraph graph = compile(cmd, 2);
  fill(x, 0);
  fill(x.replica(1), 1000);
  CHECK(graph.launch(queue).replica() == 0);
  CHECK(graph.launch(other).replica() == 1);
  CHECK(graph.launch(queue).replica() == 0);  // the replica last used on this queue
  CHECK(graph.launch(other).replica() == 1);
  // Ordered after the replica's replays on the other queue.
  const Fence chosen = graph.launch(queue, {.replica = 1});
  CHECK(chosen.replica() == 1);
  CHECK(chosen.replay() == 6);  // replica 1's third
  chosen.wait();
  device.wait_idle();
  CHECK(values(x) == all(2));
  CHECK(values(x.replica(1)) == all(1003));
  check_refused(ErrorCode::OutOfRange, {"step", "replica 2"},
                [&] { static_cast<void>(graph.launch(queue, {.replica = 2})); });
  check_refused(ErrorCode::OutOfRange, {"replica(2)", "x", "2 copies"},
                [&] { static_cast<void>(x.replica(2)); });
  check_refused(ErrorCode::OutOfRange, {"replica(1)", "one copy"},
                [&] { static_cast<void>(pool->allocate<unsigned>(4).replica(1)); });
  CommandBuffer single = recording();
  single.fill(x, 1u);
  CapturedGraph alone = DeviceFixture::compile(single);
  CHECK(alone.launch(queue, {.replica = 0}).replica() == 0);
  check_refused(ErrorCode::OutOfRange, {"replica 1"},
                [&] { static_cast<void>(alone.launch(queue, {.replica = 1})); });
}

TEST_CASE_FIXTURE(ReplicasFixture,
                  "replicas: more queues than replicas take turns, and every replay counts") {
  const auto x = copies(2, "x");
  CommandBuffer cmd = recording();
  cmd.dispatch(add, kWords, read(x), write(x), 1u, kCount);
  CapturedGraph graph = compile(cmd, 2);
  fill(x, 0);
  fill(x.replica(1), 0);
  for (int i = 0; i < 30; ++i) {
    for (const Queue& q : {queue, other, third}) static_cast<void>(graph.launch(q));
  }
  device.wait_idle();
  CHECK(values(x)[0] + values(x.replica(1))[0] == 90);
}

TEST_CASE_FIXTURE(
    ReplicasFixture,
    "replicas: a recording that writes shared memory is refused, naming command and buffer") {
  const auto x = pool->allocate<unsigned>(kCount, "x"), y = copies(2, "y");
  const auto pinned = pool->host<unsigned>(kCount, "pinned"),
             own = pool->host<unsigned>(kCount, "own", PerReplica{2});
  std::vector<unsigned> bytes(kCount);
  check_refused_with(2, ErrorCode::NotPerReplica,
                     {"refused", "command 1", "writes x", "PerReplica{2}"},
                     [&](CommandBuffer& cmd) {
                       cmd.fill(y, 1u);
                       cmd.dispatch(set, kWords, write(x), 1u, kCount);
                     });
  check_refused_with(2, ErrorCode::NotPerReplica, {"command 0", "writes pinned"},
                     [&](CommandBuffer& cmd) { cmd.copy(x, pinned); });
  check_refused_with(2, ErrorCode::NotPerReplica, {"command 0", "memory of the caller"},
                     [&](CommandBuffer& cmd) { cmd.copy(x, borrowed(bytes)); });
  check_refused_with(3, ErrorCode::NotPerReplica, {"uses y", "2 copies", "PerReplica{3}"},
                     [&](CommandBuffer& cmd) {
                       cmd.dispatch(add, kWords, read(y),
                                    write(pool->transient<unsigned>(kCount, "t")), 1u, kCount);
                     });
  check_refused_with(2, ErrorCode::NotPerReplica, {"writes y[1]"},
                     [&](CommandBuffer& cmd) { cmd.fill(y.replica(1), 1u); });
  check_refused_with(2, ErrorCode::Unsupported, {"captured", "own"},
                     [&](CommandBuffer& cmd) { cmd.host([] {}, {read_write(own)}); });
  CommandBuffer body = recording({.label = "body", .level = Level::Secondary});
  body.fill(x, 1u);
  body.end();
  check_refused_with(2, ErrorCode::NotPerReplica, {"writes x"},
                     [&](CommandBuffer& cmd) { cmd.execute(body, Nested); });
  CommandBuffer cmd = recording();
  cmd.dispatch(set, kWords, write(pool->transient<unsigned>(kCount, "t")), 1u, kCount);
  cmd.end();
  check_refused(ErrorCode::InvalidArgument, {"0 replicas"},
                [&] { static_cast<void>(device.compile(cmd, {.replicas = 0})); });
  check_refused(ErrorCode::InvalidArgument, {"0 copies"},
                [&] { static_cast<void>(pool->allocate<unsigned>(4, "none", PerReplica{0})); });
  check_refused(ErrorCode::InvalidArgument, {"100000 replicas", "1024"},
                [&] { static_cast<void>(device.compile(cmd, {.replicas = 100000})); });
  check_refused(ErrorCode::InvalidArgument, {"100000 copies", "1024"}, [&] {
    static_cast<void>(pool->allocate<unsigned>(4, "many", PerReplica{100000}));
  });
}

TEST_CASE_FIXTURE(ReplicasFixture,
                  "replicas: updates reach all replicas while replays are queued") {
  constexpr unsigned kUpdates = 40;
  const auto x = copies(2, "x"), y = copies(2, "y");
  CommandBuffer cmd = recording({.label = "sum"});
  cmd.dispatch(churn, kWords, read_write(x), 0u, kCount);
  const CommandRef first = cmd.dispatch(kernel(shaders::conf_mix), kWords, read(x), read_write(x),
                                        slot("salt", 0u), kCount);
  CapturedGraph graph = compile(cmd, 2);
  for (const auto& of : {x, x.replica(1), y, y.replica(1)}) fill(of, 0);
  auto salt = graph.scalar<unsigned>("salt");
  const auto mixed = [](unsigned value, unsigned by) {
    return value * 1664525u + (value ^ by) + 1013904223u;
  };
  unsigned expected = 0;
  for (unsigned i = 0; i < kUpdates; ++i) {
    CHECK(salt.set(i + 1) == 2);  // one node in each replica
    expected = mixed(expected, i + 1);
    static_cast<void>(graph.launch(queue));
    static_cast<void>(graph.launch(other));
  }
  device.wait_idle();
  CHECK(values(x) == all(expected));
  CHECK(values(x.replica(1)) == all(expected));

  const UpdateReport rebound = graph.rebind(x, y);
  CHECK(rebound.done());
  CHECK(rebound.nodes == 4);
  static_cast<void>(graph.launch(queue));
  static_cast<void>(graph.launch(other));
  device.wait_idle();
  CHECK(values(y) == all(mixed(0, kUpdates)));
  CHECK(values(y.replica(1)) == all(mixed(0, kUpdates)));
  CHECK(values(x.replica(1)) == all(expected));
  const auto z = pool->allocate<unsigned>(kCount, "z");
  check_refused(ErrorCode::NotPerReplica, {"rebind", "z", "1 of the 2"},
                [&] { static_cast<void>(graph.rebind(x, z)); });

  graph.disable(first);
  CHECK_FALSE(graph.is_enabled(first));
  static_cast<void>(graph.launch(queue));
  static_cast<void>(graph.launch(other));
  device.wait_idle();
  CHECK(values(y.replica(1)) == all(mixed(0, kUpdates)));
  graph.enable(first);
  static_cast<void>(graph.launch(other));
  device.wait_idle();
  CHECK(values(y.replica(1)) == all(mixed(mixed(0, kUpdates), kUpdates)));
  CHECK(graph.replicas() == 2);
}

TEST_CASE_FIXTURE(ReplicasFixture,
                  "replicas: update() reaches all replicas, in place and by a new executable") {
  const auto x = copies(2, "x"), wide = copies(2, "wide");
  const auto record = [&](unsigned value, unsigned extra) {
    CommandBuffer cmd = recording({.label = "step"});
    cmd.dispatch(set, kWords, write(x), value, kCount);
    // More commands need a larger slab.
    const auto t = pool->transient<unsigned>(kCount * 4, "t");
    for (unsigned i = 0; i < extra; ++i)
      cmd.dispatch(add, kWords, read(x), write(extra == 1 ? GpuRef<unsigned>(wide) : t), i, kCount);
    cmd.end();
    return cmd;
  };
  CommandBuffer commands = record(1, 0);
  CapturedGraph graph = device.compile(commands, {.pool = pool, .replicas = 2});
  const auto check_both = [&](unsigned value) {
    static_cast<void>(graph.launch(queue));
    static_cast<void>(graph.launch(other));
    device.wait_idle();
    CHECK(values(x) == all(value));
    CHECK(values(x.replica(1)) == all(value));
  };
  check_both(1);
  CHECK(graph.exec_update(record(2, 0)).done());
  check_both(2);
  CHECK(graph.update(record(3, 1)).method == UpdateMethod::Reinstantiated);
  check_both(3);
  CHECK(values(wide.replica(1)) == all(3));
  CHECK(graph.update(record(4, 2)).done());
  check_both(4);
  const auto shared = pool->allocate<unsigned>(kCount, "shared");
  CommandBuffer refused = recording();
  refused.fill(shared, 1u);
  refused.end();
  check_refused(ErrorCode::NotPerReplica, {"writes shared"},
                [&] { static_cast<void>(graph.update(refused)); });
  check_both(4);
  CHECK(graph.replicas() == 2);
}

TEST_CASE_FIXTURE(ReplicasFixture,
                  "replicas: a fence rethrows only the exception of its own replay's callback") {
  std::atomic<int> calls = 0;
  CommandBuffer cmd = recording();
  cmd.host([&calls] {
    if (++calls == 2) throw std::runtime_error("the second call");
  });
  CapturedGraph graph = compile(cmd, 2);
  std::vector<Fence> fences;
  fences.push_back(graph.launch(queue));
  fences.back().wait();
  fences.push_back(graph.launch(other));
  queue.wait_idle();
  other.wait_idle();
  fences.push_back(graph.launch(queue));
  fences.push_back(graph.launch(other));
  int thrown = 0;
  for (const Fence& fence : fences) {
    try {
      fence.wait();
    } catch (const std::runtime_error&) {
      ++thrown;
      CHECK(fence.replay() == 2);
    }
  }
  CHECK(thrown == 1);
  CHECK(calls == 4);
}

TEST_CASE_FIXTURE(ReplicasFixture, "replicas: each has its own loops") {
  const auto x = copies(2, "x");
  const Condition go = device.create_condition({.name = "go", .initial = 1});
  CommandBuffer body = recording({.label = "body", .level = Level::Secondary});
  body.dispatch(kernel(shaders::conf_step), kWords, read_write(x), 20u, kCount, go);
  body.end();
  CommandBuffer cmd = recording();
  cmd.execute_while(go, body);
  CapturedGraph graph = compile(cmd, 2);
  fill(x, 0);
  fill(x.replica(1), 15);
  static_cast<void>(graph.launch(queue));
  device.wait_idle();
  REQUIRE(graph.loops().size() == 1);
  CHECK(graph.loops()[0].iterations == 20);
  static_cast<void>(graph.launch(other));
  device.wait_idle();
  CHECK(graph.loops()[0].iterations == 5);
  CHECK(values(x.replica(1)) == all(20));
}

TEST_CASE_FIXTURE(
    ReplicasFixture,
    "replicas: replays of a destroyed graph complete, and the pool can be cleared afterwards") {
  const auto own = device.create_pool({.label = "own"});
  auto x = own->allocate<unsigned>(kCount, "x", PerReplica{2});
  Fence last;
  std::promise<void> gate;  // keeps both replays pending
  {
    CommandBuffer cmd = recording();
    cmd.dispatch(set, kWords, write(x), 3u, kCount);
    cmd.host([opened = gate.get_future().share()] { opened.wait(); });
    cmd.dispatch(churn, kWords, read_write(x), 20u, kCount);
    cmd.end();
    CapturedGraph graph = device.compile(cmd, {.pool = own, .replicas = 2});
    CHECK(own->live_graphs() == 1);
    CHECK(own->buffer_count() == 2);
    static_cast<void>(graph.launch(queue));
    last = graph.launch(other);
    CHECK(cmd.state() == CommandBufferState::Pending);
    check_refused(ErrorCode::PoolInUse, {"own"}, [&] { own->clear(); });
  }
  gate.set_value();
  last.wait();
  CHECK(values(x.replica(1)) == all(churned(3, 20)));
  last = Fence();
  device.wait_idle();
  own->clear();
  CHECK(x.is_stale());
  CHECK(x.replica(1).is_stale());
}

TEST_CASE_FIXTURE(ReplicasFixture, "replicas: after a rebuild, each copy has its own memory") {
  if (!is_host()) return;
  const auto x = copies(2, "x");
  CommandBuffer cmd = recording();
  cmd.dispatch(set, kWords, write(x), 9u, kCount);
  CapturedGraph before = compile(cmd, 2);
  device.simulate_loss();
  const auto rebuilt = device.rebuild();
  GpuRef<unsigned> again;
  for (const RebuiltBuffer& one : rebuilt) {
    if (one.before.name() == "x") again = GpuRef<unsigned>(one.after);
  }
  REQUIRE(again);
  REQUIRE(again.replicas() == 2);
  CHECK(again.data() != again.replica(1).data());
  queue = device.create_queue({.label = "main again"});
  other = device.create_queue({.label = "other again"});
  CapturedGraph graph = device.compile(cmd, {.replicas = 2});
  static_cast<void>(graph.launch(queue));
  static_cast<void>(graph.launch(other));
  device.wait_idle();
  CHECK(values(again) == all(9));
  CHECK(values(again.replica(1)) == all(9));
}

TEST_CASE_FIXTURE(ReplicasFixture,
                  "replicas: a replica that cannot apply an update is taken out of use with a "
                  "warning, and the others continue") {
  // The budget holds both slabs and one larger slab. Slabs of this size are not pageable, so a trim
  // frees nothing.
  const auto tight = device.create_pool({.label = "tight", .budget = 2 * 2048 + 8192 + 1024});
  const auto out = copies(2, "out");
  const auto record = [&](CommandBuffer& cmd, unsigned slabs, unsigned value) {
    const auto t = tight->transient<unsigned>(kCount * slabs, "t");
    cmd.fill(t, value);
    cmd.copy(t.slice(kCount * (slabs - 1), kCount), out);
    cmd.end();
  };
  CommandBuffer small = recording({.label = "step"});
  record(small, 1, 5u);
  CapturedGraph graph = device.compile(small, {.pool = tight, .replicas = 2});
  CHECK(graph.report().slab_bytes == 2048);
  CommandBuffer large = recording({.label = "step"});
  record(large, 4, 6u);
  CHECK(graph.update(large).done());
  CHECK(std::count(messages->begin(), messages->end(), "replica-left-out") == 1);
  CHECK(graph.replicas() == 1);
  CHECK(graph.launch(queue).replica() == 0);
  CHECK(graph.launch(other).replica() == 0);
  check_refused(ErrorCode::InvalidState, {"replica 1", "step"},
                [&] { static_cast<void>(graph.launch(queue, {.replica = 1})); });
  device.wait_idle();
  CHECK(values(out) == all(6));
  CHECK(graph.num_replays() == 2);
}

TEST_CASE_FIXTURE(ReplicasFixture, "replicas: is_uploaded() allocates nothing") {
  CommandBuffer cmd = recording();
  cmd.fill(copies(3, "x"), 1u);
  CapturedGraph graph = compile(cmd, 3);
  const FailingAllocations from(0);
  CHECK_FALSE(graph.is_uploaded());
  CHECK_FALSE(from.failed());
}

}  // namespace reprise::test::replicas_test
