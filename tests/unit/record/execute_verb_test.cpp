#include <doctest/doctest.h>

#include "base/handle_access.hpp"
#include "support/counting_allocator.hpp"
#include "unit/record/record_fixture.hpp"
#include "unit/record/recording_dump.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

// Records one command of each kind over two buffers.
struct AllCommands {
  explicit AllCommands(RecordFixture& f)
      : x(f.buffer<std::uint32_t>(64, "x")),
        y(f.buffer<std::uint32_t>(64, "y")),
        kernel(f.kernel("k", "vpp")) {}

  void record(Recorder& to, const SourceLocation& where) const {
    const std::uint32_t value = 9;
    const std::vector<std::uint32_t> values(4, 5);
    auto scope = to.label("inside", {1, 2, 3});
    const CommandRef first =
        to.dispatch(kernel, {.grid = 3, .block = 32, .where = where}, 4u, read(x), write(y));
    {
      auto deeper = to.label("deeper");
      to.copy(x.slice(0, 30), y.slice(32, 30),
              {.extent = {8, 3, 1}, .source = {16, 0}, .destination = {24, 0}}, where);
      to.copy(snapshot(values), y.slice(0, 4), where);
    }
    to.fill(x, value, {.width = 4, .height = 5}, {.row = 12}, where);
    to.update(y, std::as_bytes(std::span(&value, 1)), where);
    const CommandRef last = to.host([] {}, {read(x)}, where);
    to.barrier({.buffer = y}, where);
    to.edge(last, first, where);
  }

  GpuRef<std::uint32_t> x, y;
  Kernel kernel;
};

}  // namespace

TEST_CASE(
    "execute: the result equals recording the secondary's commands in place under the current "
    "label") {
  RecordFixture f;
  const AllCommands all_commands(f);
  const auto z = f.buffer<int>(8, "z");
  const SourceLocation where = SourceLocation::current();

  CommandBuffer inlined = f.recording();
  inlined.fill(z, 1, where);
  {
    auto scope = inlined.label("outer");
    for (int i = 0; i < 2; ++i) all_commands.record(inlined, where);
  }
  const std::string expected = dump(*frozen(inlined));

  CommandBuffer secondary = f.recording({.level = Level::Secondary});
  all_commands.record(secondary, where);
  secondary.end();
  CommandBuffer cmd = f.recording();
  cmd.fill(z, 1, where);
  {
    auto scope = cmd.label("outer");
    for (int i = 0; i < 2; ++i) cmd.execute(secondary);
  }
  const auto r = frozen(cmd);
  CHECK(dump(*r) == expected);

  secondary.reset();  // the copy is deep
  secondary.begin();
  all_commands.record(secondary, where);
  all_commands.record(secondary, where);
  secondary.end();
  CHECK(dump(*r) == expected);
}

TEST_CASE("execute: a secondary can be executed in a split() recorder and in another secondary") {
  RecordFixture f;
  const AllCommands all_commands(f);
  const SourceLocation where = SourceLocation::current();
  CommandBuffer inner = f.recording({.level = Level::Secondary});
  all_commands.record(inner, where);
  const std::string expected = dump(*frozen(inner));
  CommandBuffer middle = f.recording({.level = Level::Secondary});
  auto recorders = middle.split(2);
  recorders[1].execute(inner);
  CHECK(dump(*frozen(middle)) == expected);
}

TEST_CASE("execute: an empty secondary adds nothing") {
  RecordFixture f;
  CommandBuffer secondary = f.recording({.level = Level::Secondary});
  secondary.end();
  CommandBuffer cmd = f.recording();
  cmd.execute(secondary);
  CHECK(cmd.command_count() == 0);
  CHECK(frozen(cmd)->commands.empty());
}

TEST_CASE("execute: the recording holds the buffers of the secondary") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  CommandBuffer cmd = f.recording();
  {
    CommandBuffer secondary = f.recording({.level = Level::Secondary});
    secondary.fill(x, 1);
    secondary.end();
    cmd.execute(secondary);
    CHECK(detail::core_of(x)->recorded.load() == 2);
  }
  CHECK(detail::core_of(x)->recorded.load() == 1);
  CHECK(frozen(cmd)->buffers[0] == detail::core_of(x));
}

TEST_CASE(
    "execute: primaries, unfinished secondaries, itself, foreign devices and stale buffers are "
    "refused") {
  RecordFixture f, other;
  other.status = RecordFixture::make_status("cuda:0");
  CommandBuffer cmd = f.recording({.label = "main"});
  CommandBuffer primary = f.recording({.label = "primary"});
  primary.end();
  check_refused(
      cmd, ErrorCode::InvalidArgument,
      {"execute at ", "execute_verb_test.cpp:", "primary is a primary", "Level::Secondary"},
      [&] { cmd.execute(primary); });
  CommandBuffer secondary = f.commands({.label = "sub", .level = Level::Secondary});
  check_refused(cmd, ErrorCode::InvalidState, {"secondary sub", "Initial"},
                [&] { cmd.execute(secondary); });
  secondary.begin();
  check_refused(cmd, ErrorCode::InvalidState, {"secondary sub", "Recording", "end() it first"},
                [&] { cmd.execute(secondary); });
  check_refused(secondary, ErrorCode::InvalidState, {"Recording"},
                [&] { secondary.execute(secondary); });
  CommandBuffer foreign = other.recording({.label = "foreign", .level = Level::Secondary});
  foreign.end();
  check_refused(cmd, ErrorCode::WrongDevice, {"foreign", "cuda:0", "host"},
                [&] { cmd.execute(foreign); });
  const auto x = f.buffer<int>(4, "x");
  secondary.fill(x, 1);
  secondary.end();
  detail::core_of(x)->cleared = true;
  check_refused(cmd, ErrorCode::StaleHandle, {"secondary sub names x", "stale"},
                [&] { cmd.execute(secondary); });
}

TEST_CASE("execute, end: an allocation failure leaves the recorder unchanged") {
  RecordFixture f;
  const AllCommands all_commands(f);
  const SourceLocation where = SourceLocation::current();
  CommandBuffer secondary = f.recording({.level = Level::Secondary});
  all_commands.record(secondary, where);
  secondary.end();
  CommandBuffer complete = f.recording();
  complete.execute(secondary);
  const std::string expected = dump(*frozen(complete));

  int failures = 0;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    CommandBuffer cmd = f.recording();
    bool threw = false;
    {
      const FailingAllocations failing(n);
      try {
        cmd.execute(secondary);
      } catch (const std::bad_alloc&) {
        threw = true;
      }
    }
    if (threw) {
      ++failures;
      REQUIRE(cmd.command_count() == 0);
      REQUIRE(detail::core_of(all_commands.x)->recorded == 2);  // `secondary` and `complete`
      cmd.execute(secondary);
    }
    bool end_threw = false;
    {
      const FailingAllocations failing(n);
      try {
        cmd.end();
      } catch (const std::bad_alloc&) {
        end_threw = true;
      }
    }
    if (end_threw) {
      ++failures;
      REQUIRE(cmd.state() == CommandBufferState::Recording);
      cmd.end();
    }
    REQUIRE(dump(*detail::core_of(cmd)->recording()) == expected);
    if (!threw && !end_threw) break;
  }
  CHECK(failures >= 10);
}
