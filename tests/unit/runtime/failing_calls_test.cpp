// Failure of each fallible backend call in turn.
#include <doctest/doctest.h>

#include <optional>

#include "support/counting_allocator.hpp"
#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

// Calls every function of a backend. Leaves no object behind, also if it throws.
void use_everything(FakeInstance& fake) {
  const Device device = fake.open();
  auto pool = device.create_pool({.label = "pool"});
  auto x = pool->allocate<int>(16, "x");
  auto h = pool->host<int>(16, "h");
  auto t = pool->transient<int>(16, "t");
  const Queue q = device.create_queue({.label = "q"}), r = device.create_queue({.label = "r"});
  const Kernel kernel = device.load_kernel(fake_kernel());
  CommandBuffer commands = device.create_command_buffer({.label = "step"});
  commands.begin();
  commands.copy(h, t);
  commands.dispatch(kernel, {.grid = 1, .block = 1}, read_write(t), 4);
  commands.copy(t, x);
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool});
  CapturedGraph reader = make_graph(device, "reader", x, {});
  const auto sharing = device.create_pool({.label = "sharing", .sharing = SlabSharing::OneAtATime});
  CapturedGraph one = device.compile(commands, {.pool = sharing}),
                two = device.compile(commands, {.pool = sharing});
  graph.upload(q);
  (void)one.launch(q);
  (void)two.launch(r);
  (void)graph.launch(q);
  (void)reader.launch(r);
  (void)graph.launch(r);
  x.record_write(q);
  (void)reader.launch(r);
}

}  // namespace

TEST_CASE("failing calls: the error names the failed backend call, and nothing leaks") {
  std::uint64_t failures = 0;
  for (std::uint64_t n = 0;; ++n) {
    FakeInstance fake;  // its destructor checks for leaks
    fake.world.fail_call(n);
    std::optional<ErrorDetails> thrown;
    try {
      use_everything(fake);
    } catch (const Error& error) {
      thrown = error.details();
    }
    const std::string failed = fake.world.failed_call();
    fake.world.fail_nothing();
    if (!thrown) {
      CHECK(failed.empty());
      break;
    }
    ++failures;
    CAPTURE(n);
    CHECK(thrown->code == ErrorCode::NativeFailure);
    CHECK(thrown->native_call == failed);
    if (failed == "allocate")
      CHECK((thrown->label == "x" || thrown->label == "h" || thrown->label == "step"));
    if (failed == "launch" || failed == "upload")
      CHECK((thrown->label == "step" || thrown->label == "reader"));
    REQUIRE(n < 100);
  }
  CHECK(failures >= 15);
}

TEST_CASE("failing calls: no failed host allocation causes a leak") {
  std::uint64_t failures = 0;
  for (std::uint64_t n = 0;; ++n) {
    FakeInstance fake;
    bool failed = false;
    {
      const FailingAllocations from(n);
      try {
        use_everything(fake);
      } catch (const std::bad_alloc&) {
        failed = true;
      } catch (const Error&) {
        failed = true;
      }
      failed = failed || from.failed();
    }
    if (!failed) break;
    ++failures;
    REQUIRE(n < 10000);
  }
  CHECK(failures > 50);
}

TEST_CASE_FIXTURE(FakeRun,
                  "failing calls: a failed launch is no replay, and the next launch works") {
  CapturedGraph graph = make_graph(device, "g", {}, pool->allocate<int>(4, "x"));
  fake.world.fail_call(0);
  const ErrorDetails failed = error_of([&] { (void)graph.launch(queue); });
  CHECK(failed.label == "g");
  CHECK(graph.num_replays() == 0);
  CHECK_FALSE(graph.is_uploaded());
  CHECK(graph.launch(queue).replay() == 1);
  CHECK(graph.launch(queue).serial() == 2);
}
