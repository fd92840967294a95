#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

#include "conformance/device_fixture.hpp"
#include "support/counting_allocator.hpp"
#include "words.shaders.hpp"

namespace reprise::test::graph_actor_test {
namespace {

constexpr unsigned kCount = 200;
constexpr std::chrono::seconds kHangGuard{120};

// Adds `value` to x.
class Add final : public GraphOp {
 public:
  Add(Kernel add, GpuRef<unsigned> x, unsigned value)
      : add_(std::move(add)), x_(std::move(x)), value_(value) {}
  [[nodiscard]] std::string_view op_name() const noexcept override { return "add"; }
  void declare(GraphOpDeclaration& declaration) const override { declaration.use(read_write(x_)); }
  void record(GraphRecordCtx& ctx) const override {
    ctx.dispatch(add_, {.grid = ceil_div(kCount, 64), .block = 64}, read(x_), write(x_), value_,
                 kCount);
  }

 private:
  Kernel add_;
  GpuRef<unsigned> x_;
  unsigned value_;
};

class Failing final : public GraphOp {
 public:
  [[nodiscard]] std::string_view op_name() const noexcept override { return "failing"; }
  void declare(GraphOpDeclaration&) const override {}
  void record(GraphRecordCtx&) const override { throw std::runtime_error("the op's own words"); }
};

thread_local std::optional<FailingAllocations> failing;

// Makes an allocation of the actor's thread fail, the n-th from here.
class FailLater final : public GraphOp {
 public:
  explicit FailLater(std::uint64_t n) : n_(n) {}
  [[nodiscard]] std::string_view op_name() const noexcept override { return "fail later"; }
  void declare(GraphOpDeclaration&) const override {
    failing.reset();
    failing.emplace(n_, 1);
  }
  void record(GraphRecordCtx&) const override {}

 private:
  std::uint64_t n_;
};

// Returns the value of a future or throws its Error; fails the test after kHangGuard.
template <class T>
T answer(std::future<T>& reply) {
  REQUIRE(reply.wait_for(kHangGuard) == std::future_status::ready);
  return reply.get();
}
template <class T>
T answer(std::future<T>&& reply) {
  return answer(reply);
}

struct ActorFixture : DeviceFixture {
  GpuRef<unsigned> x = buffer(std::vector<unsigned>(kCount, 0), "x");
  Kernel add = kernel(shaders::conf_add);
  [[nodiscard]] std::shared_ptr<const GraphOp> adding(unsigned value) const {
    return std::make_shared<const Add>(add, x, value);
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    ActorFixture,
    "graph actor: a script becomes a graph, and a launch is answered after completion") {
  GraphActor actor(device, queue);
  const GraphHandle handle =
      answer(actor.record({adding(1), adding(10), adding(100)}, {.label = "script", .pool = pool}));
  REQUIRE(handle);
  CHECK(handle.graph()->label() == "script");
  CHECK(handle.graph()->report().commands == 3);
  CHECK(handle.graph()->pool() == pool);
  CHECK(handle.generation() == device.generation());
  for (std::uint64_t replay = 1; replay <= 3; ++replay)
    CHECK(answer(actor.launch(handle)) == replay);
  CHECK(values(x) == std::vector<unsigned>(kCount, 333));
}

TEST_CASE_FIXTURE(ActorFixture, "graph actor: messages constructed by a client are equivalent") {
  GraphActor actor(device, queue);
  GraphMsg::Record record{.script = {adding(1)}};
  auto recorded = record.reply.get_future();
  actor.send(std::move(record));
  GraphMsg::Launch launch{.handle = answer(recorded)};
  auto launched = launch.reply.get_future();
  actor.send(std::move(launch));
  CHECK(answer(launched) == 1);
}

TEST_CASE_FIXTURE(ActorFixture,
                  "graph actor: it launches graphs that the caller compiled or captured") {
  GraphActor actor(device, queue);
  StreamCapture capture = StreamCapture::begin(queue);
  capture.record_memset(x.data(), 1, x.bytes());
  CHECK(answer(actor.launch(GraphHandle::from_graph(capture.end()))) == 1);
  CHECK(values(x) == std::vector<unsigned>(kCount, 0x01010101));
  CommandBuffer cmd = recording();
  cmd.fill(x, 5u);
  CHECK(answer(actor.launch(GraphHandle::from_graph(compile(cmd)))) == 1);
  CHECK(values(x) == std::vector<unsigned>(kCount, 5));
}

TEST_CASE_FIXTURE(
    ActorFixture,
    "graph actor: a handle retains the graph's resources until its launch completes") {
  GraphActor actor(device, queue);
  std::future<std::uint64_t> launched;
  {
    const auto y = pool->allocate<unsigned>(kCount, "y");
    launched = actor.launch(answer(actor.record({std::make_shared<const Add>(add, y, 1)})));
  }
  CHECK(answer(launched) == 1);
}

TEST_CASE_FIXTURE(ActorFixture, "graph actor: many clients at once, each with its own answers") {
  GraphActor actor(device, queue);
  constexpr unsigned kClients = 6, kLaunches = 40;
  const GraphHandle shared = answer(actor.record({adding(1)}));
  std::vector<std::thread> clients;
  std::vector<unsigned> done(kClients, 0);
  for (unsigned client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      const GraphHandle own = actor.record({adding(1)}).get();
      std::vector<std::future<std::uint64_t>> replies;
      for (unsigned i = 0; i < kLaunches; ++i)
        replies.push_back(actor.launch(i % 2 == 0 ? own : shared));
      for (auto& reply : replies) done[client] += reply.get() != 0 ? 1 : 0;
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(done == std::vector<unsigned>(kClients, kLaunches));
  CHECK(shared.graph()->num_replays() == kClients * kLaunches / 2);
  CHECK(values(x) == std::vector<unsigned>(kCount, kClients * kLaunches));
}

TEST_CASE_FIXTURE(
    ActorFixture,
    "graph actor: an invalid message fails its own future, and later messages are handled") {
  GraphActor actor(device, queue);
  CHECK(thrown_by([&] { static_cast<void>(answer(actor.record({nullptr}))); }).code() ==
        ErrorCode::InvalidArgument);
  CHECK(thrown_by([&] { static_cast<void>(answer(actor.launch(GraphHandle()))); }).code() ==
        ErrorCode::NotInitialized);
  CHECK(thrown_by([] { static_cast<void>(GraphHandle::from_graph(CapturedGraph())); }).code() ==
        ErrorCode::NotInitialized);
  CHECK(answer(actor.launch(answer(actor.record({adding(7)})))) == 1);
  CHECK(values(x) == std::vector<unsigned>(kCount, 7));
}

TEST_CASE_FIXTURE(
    ActorFixture,
    "graph actor: an op's exception fails its own future, and later messages are handled") {
  GraphActor actor(device, queue);
  CHECK_THROWS_AS(answer(actor.record({std::make_shared<const Failing>()})), std::runtime_error);
  CHECK_THROWS_AS(answer(actor.record({adding(1), std::make_shared<const Failing>()})),
                  std::runtime_error);
  CHECK(answer(actor.launch(answer(actor.record({adding(7)})))) == 1);
  CHECK(values(x) == std::vector<unsigned>(kCount, 7));
}

TEST_CASE_FIXTURE(
    ActorFixture,
    "graph actor: a callback's exception fails its own future, and later messages are handled") {
  GraphActor actor(device, queue);
  CommandBuffer cmd = recording();
  cmd.host([] { throw std::runtime_error("the callback's own words"); });
  CHECK_THROWS_AS(answer(actor.launch(GraphHandle::from_graph(compile(cmd)))), std::runtime_error);
  CHECK(answer(actor.launch(answer(actor.record({adding(7)})))) == 1);
  CHECK(values(x) == std::vector<unsigned>(kCount, 7));
}

TEST_CASE_FIXTURE(ActorFixture,
                  "graph actor: shutdown completes earlier messages and refuses later ones") {
  std::vector<std::future<std::uint64_t>> replies;
  std::future<GraphHandle> recorded;
  GraphActor actor(device, queue);
  const GraphHandle handle = answer(actor.record({adding(1)}));
  for (int i = 0; i < 100; ++i) replies.push_back(actor.launch(handle));
  recorded = actor.record({adding(2)});
  actor.shutdown();
  for (auto& reply : replies)
    REQUIRE(reply.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
  CHECK(replies.back().get() == 100);
  CHECK(recorded.get());
  CHECK(thrown_by([&] { static_cast<void>(actor.launch(handle)); }).code() ==
        ErrorCode::InvalidState);
  CHECK(thrown_by([&] { static_cast<void>(actor.record({})); }).code() == ErrorCode::InvalidState);
  actor.shutdown();
  CHECK(values(x) == std::vector<unsigned>(kCount, 100));
}

TEST_CASE_FIXTURE(ActorFixture, "graph actor: it requires a device and a queue of that device") {
  CHECK(thrown_by([&] { GraphActor actor(Device(), queue); }).code() == ErrorCode::NotInitialized);
  CHECK(thrown_by([&] { GraphActor actor(device, Queue()); }).code() == ErrorCode::NotInitialized);
  const Device other =
      Instance({.validation = Validation::Off}).open_device(DeviceSelector::named("host"));
  CHECK(thrown_by([&] { GraphActor actor(device, other.create_queue()); }).code() ==
        ErrorCode::WrongDevice);
}

TEST_CASE_FIXTURE(ActorFixture,
                  "graph actor: a handle of an earlier generation of its device is refused") {
  if (!is_host()) return;  // simulate_loss() is Unsupported on a GPU
  GraphActor actor(device, queue);
  const GraphHandle handle = answer(actor.record({adding(1)}));
  device.simulate_loss();
  static_cast<void>(device.rebuild());
  CHECK(handle.generation() != device.generation());
  check_refused(ErrorCode::StaleHandle, {"script", "generation"},
                [&] { static_cast<void>(answer(actor.launch(handle))); });
}

TEST_CASE_FIXTURE(ActorFixture, "graph actor: every message is answered if memory runs out") {
  GraphActor actor(device, queue);
  const GraphHandle handle = answer(actor.record({adding(1)}));
  const auto succeeds = [](auto&& reply) {
    try {
      static_cast<void>(answer(reply));
    } catch (const std::bad_alloc&) {
      return false;
    } catch (const Error&) {
      return false;
    }
    return true;
  };
  unsigned launched = 0, failed = 0;
  // Downwards, so that the first failures are those of launches: recordings whose plan is cached
  // allocate less.
  for (std::uint64_t n = 300; n-- > 0;) {
    static_cast<void>(succeeds(actor.record({std::make_shared<const FailLater>(n)})));
    ++(succeeds(actor.launch(handle)) ? launched : failed);
  }
  CHECK(failed > 0);
  CHECK(values(x) == std::vector<unsigned>(kCount, launched));
}

}  // namespace reprise::test::graph_actor_test
