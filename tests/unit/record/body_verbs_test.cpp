#include <doctest/doctest.h>

#include "base/handle_access.hpp"
#include "record/condition_core.hpp"
#include "support/counting_allocator.hpp"
#include "unit/record/record_fixture.hpp"
#include "unit/record/recording_dump.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

struct BodyFixture : RecordFixture {
  GpuRef<std::uint32_t> x = buffer<std::uint32_t>(64, "x"), y = buffer<std::uint32_t>(64, "y");
  GpuRef<std::uint32_t> t = buffer<std::uint32_t>(64, "t", BufferKind::Transient);
  Condition go = condition("go"), other = condition("other");
  Kernel work = kernel("work", "pp"), decide = kernel("decide", "pc");

  Condition condition(std::string_view name) {
    return detail::make_condition(status, {.name = name, .initial = 1});
  }
  CommandBuffer secondary(std::string_view label,
                          const std::function<void(CommandBuffer&)>& record) {
    CommandBuffer commands = recording({.label = label, .level = Level::Secondary});
    record(commands);
    commands.end();
    return commands;
  }
  CommandBuffer loop_body() {
    return secondary("body", [&](CommandBuffer& c) {
      c.copy(x.slice(0, 4), t.slice(0, 4));
      c.dispatch(work, {.grid = 1}, read(t), write(y.slice(8, 8)));
      c.dispatch(decide, {.grid = 1}, read(y), go);
    });
  }
};

}  // namespace

TEST_CASE("bodies: a nested secondary is one command whose accesses bound those of its commands") {
  BodyFixture f;
  CommandBuffer cmd = f.recording();
  cmd.fill(f.y, 0u);
  const CommandRef nested = cmd.execute(f.secondary("twice",
                                                    [&](CommandBuffer& c) {
                                                      c.copy(f.x.slice(0, 4), f.t.slice(0, 4));
                                                      c.copy(f.t.slice(0, 4), f.y.slice(8, 4));
                                                      c.copy(f.t.slice(0, 4), f.y.slice(32, 4));
                                                    }),
                                        Nested);
  const auto r = frozen(cmd);
  REQUIRE(r->commands.size() == 2);
  std::vector<std::uint32_t> named;
  r->for_each_command(nested, [&](std::uint32_t command) { named.push_back(command); });
  CHECK(named == std::vector<std::uint32_t>{1});
  CHECK(r->command_name(1) == "nested twice");
  REQUIRE(r->commands[1].access_count == 3);
  const auto access = [&](std::uint32_t i) { return r->accesses[r->commands[1].first_access + i]; };
  CHECK(r->buffers[access(0).buffer]->name == "x");
  CHECK(access(0).access == Access::Read);
  CHECK(r->buffers[access(1).buffer]->name == "t");
  CHECK(access(1).access == Access::Write);  // the body writes t before it reads it
  CHECK(r->buffers[access(2).buffer]->name == "y");
  CHECK(access(2).begin == 32);
  CHECK(access(2).end == 144);
  CHECK(r->bodies.size() == 1);
  CHECK(detail::core_of(f.t)->recorded.load() ==
        1);  // held by the primary; the secondary is destroyed
}

TEST_CASE(
    "bodies: split() recorders and an inlined secondary give the same recording as one recorder") {
  BodyFixture f;
  const SourceLocation where = SourceLocation::current();
  const CommandBuffer body = f.loop_body(),
                      plain =
                          f.secondary("plain", [&](CommandBuffer&c) { c.fill(f.x, 1u, where); });
  const auto record = [&](Recorder& to) {
    to.fill(f.y, 2u, where);
    to.execute_while(f.go, body, {.max_iterations = 9}, where);
    to.execute(plain, Nested, where);
  };
  CommandBuffer whole = f.recording();
  record(whole);
  whole.execute_if(f.other, plain, plain, where);
  const std::string expected = dump(*frozen(whole));

  CommandBuffer split = f.recording();
  auto recorders = split.split(2);
  record(recorders[0]);
  recorders[1].execute_if(f.other, plain, plain, where);
  CHECK(dump(*frozen(split)) == expected);

  CommandBuffer inner = f.recording({.level = Level::Secondary});
  record(inner);
  inner.end();
  CommandBuffer inlined = f.recording();
  inlined.execute(inner);
  inlined.execute_if(f.other, plain, plain, where);
  CHECK(dump(*frozen(inlined)) == expected);
}

TEST_CASE("bodies: an allocation failure leaves the recorder unchanged") {
  BodyFixture f;
  const CommandBuffer body = f.loop_body();
  const SourceLocation where = SourceLocation::current();
  CommandBuffer complete = f.recording();
  complete.execute_while(f.go, body, {}, where);
  const std::string expected = dump(*frozen(complete));
  const auto held = detail::core_of(f.x)->recorded.load();
  int failures = 0;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    CommandBuffer cmd = f.recording();
    bool threw = false;
    {
      const FailingAllocations failing(n);
      try {
        cmd.execute_while(f.go, body, {}, where);
      } catch (const std::bad_alloc&) {
        threw = true;
      }
    }
    if (!threw) {
      CHECK(dump(*frozen(cmd)) == expected);
      break;
    }
    ++failures;
    REQUIRE(cmd.command_count() == 0);
    REQUIRE(detail::core_of(f.x)->recorded.load() == held);
    cmd.execute_while(f.go, body, {}, where);
    REQUIRE(dump(*frozen(cmd)) == expected);
  }
  CHECK(failures >= 5);
}

TEST_CASE(
    "bodies: foreign conditions, stale buffers in a body and mismatched argument kinds are "
    "refused") {
  BodyFixture f, foreign;
  foreign.status = RecordFixture::make_status("cuda:0");
  const Condition foreign_condition = foreign.condition("theirs");
  const CommandBuffer body = f.loop_body();
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::WrongDevice, {"execute_if", "condition theirs", "cuda:0"},
                [&] { cmd.execute_if(foreign_condition, body); });
  check_refused(cmd, ErrorCode::ArgumentSize, {"expected a buffer", "condition go"},
                [&] { cmd.dispatch(f.work, {.grid = 1}, read(f.x), f.go); });
  check_refused(cmd, ErrorCode::ArgumentSize, {"expected a Condition"},
                [&] { cmd.dispatch(f.decide, {.grid = 1}, read(f.x), write(f.y)); });
  check_refused(cmd, ErrorCode::ArgumentSize, {"expected a Condition"},
                [&] { cmd.dispatch(f.decide, {.grid = 1}, read(f.x), 1ull); });
  detail::core_of(f.t)->cleared = true;
  check_refused(cmd, ErrorCode::StaleHandle, {"secondary body names t", "stale"},
                [&] { cmd.execute(body, Nested); });
}

TEST_CASE("bodies: kMaxNesting levels are recorded, and one more is refused with the limit") {
  BodyFixture f;
  CommandBuffer inner = f.secondary("leaf", [&](CommandBuffer& c) { c.fill(f.x, 1u); });
  for (std::uint32_t level = 1; level < Recorder::kMaxNesting; ++level) {
    CommandBuffer outer = f.secondary("level", [&](CommandBuffer& c) {
      if (level % 2 == 0)
        c.execute_if(f.go, inner);
      else
        c.execute_while(f.go, inner, {.max_iterations = 2});
    });
    inner = std::move(outer);
  }
  CommandBuffer deepest = f.secondary("deepest", [&](CommandBuffer& c) {
    c.execute(inner);  // inlined: no level
    c.execute_if(f.other, inner);
  });
  CHECK(detail::core_of(deepest)->recording()->nesting == Recorder::kMaxNesting);
  CommandBuffer cmd = f.recording({.label = "step"});
  check_refused(cmd, ErrorCode::InvalidArgument,
                {"execute_if at ", "body_verbs_test.cpp:", "secondary deepest contains 64 levels",
                 "at most 64", "inline"},
                [&] { cmd.execute_if(f.go, deepest); });
  cmd.execute(deepest);
  CHECK(frozen(cmd)->commands.size() == 2);
}

TEST_CASE("bodies: a nested secondary has the levels of its secondaries, however many run it") {
  BodyFixture f;
  CommandBuffer inner = f.secondary("leaf", [&](CommandBuffer& c) { c.fill(f.x, 1u); });
  for (std::uint32_t level = 1; level < Recorder::kMaxNesting; ++level) {
    CommandBuffer outer = f.secondary("level", [&](CommandBuffer& c) { c.execute(inner, Nested); });
    inner = std::move(outer);
  }
  CommandBuffer cmd = f.recording();
  cmd.execute(inner, Nested);
  cmd.execute(inner, Nested);
  const auto r = frozen(cmd);
  CHECK(r->nesting == Recorder::kMaxNesting);
  CHECK(r->nested_commands == 2 * Recorder::kMaxNesting);
}

TEST_CASE("bodies: end() refuses more nested commands than the limit, and names what runs them") {
  BodyFixture f;
  CommandBuffer inner = f.secondary("leaf", [&](CommandBuffer& c) { c.fill(f.x, 1u); });
  std::uint64_t nested = 0;
  while (2 * (nested + 2) <= Recorder::kMaxNestedCommands) {
    CommandBuffer outer = f.secondary("twice", [&](CommandBuffer& c) {
      c.execute(inner, Nested);
      c.execute(inner, Nested);
    });
    inner = std::move(outer);
    nested = detail::core_of(inner)->recording()->nested_commands;
  }
  CommandBuffer cmd = f.recording({.label = "step"});
  cmd.execute(inner, Nested);
  cmd.execute(inner, Nested);
  const Error error = thrown_by([&] { cmd.end(); });
  CHECK(error.code() == ErrorCode::InvalidArgument);
  for (const std::string_view part : {"end: with secondary twice", "body_verbs_test.cpp:",
                                      "step executes ", "limit is 1048576"}) {
    INFO(error.what());
    CHECK(std::string_view(error.what()).find(part) != std::string_view::npos);
  }
  CHECK(cmd.state() == CommandBufferState::Recording);
}
