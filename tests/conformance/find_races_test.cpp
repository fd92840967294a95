#include <reprise/graph_op.hpp>
#include <stdexcept>

#include "conditions.shaders.hpp"
#include "conformance/device_fixture.hpp"
#include "support/contains.hpp"
#include "words.shaders.hpp"

namespace reprise::test::find_races_test {
namespace {

constexpr DispatchDesc kWords{.grid = 1, .block = 64};

// Two buffers of 8 words and kernels that access them.
struct RaceFixture : DeviceFixture {
  GpuRef<unsigned> x = buffer(std::vector<unsigned>(8, 1), "x"),
                   y = buffer(std::vector<unsigned>(8, 2), "y");
  Kernel set = kernel(shaders::conf_set), add = kernel(shaders::conf_add),
         mix = kernel(shaders::conf_mix);

  // One command writes the upper half of x; another reads all of x but declares only the lower
  // half.
  [[nodiscard]] CommandBuffer undeclared_read() const {
    CommandBuffer cmd = recording({.label = "step"});
    cmd.fill(y, 0u);
    cmd.dispatch(set, {.grid = 1, .block = 64}, write(x.slice(4, 4)), 7u, 4u);
    {
      const auto scope = cmd.label("forward");
      cmd.dispatch(add, {.grid = 1, .block = 64}, read(x.slice(0, 4)), write(y), 1u, 8u);
    }
    cmd.end();
    return cmd;
  }
  void check_untouched() const {
    CHECK(values(x) == std::vector<unsigned>(8, 1));
    CHECK(values(y) == std::vector<unsigned>(8, 2));
  }
};

}  // namespace

TEST_CASE_FIXTURE(RaceFixture,
                  "find_races: an undeclared read is found and both commands are named") {
  const RaceReport report = find_races(undeclared_read(), 8);
  REQUIRE(report.findings.size() == 1);
  const RaceFinding& finding = report.findings[0];
  CHECK(finding.kind == RaceFinding::Kind::Order);
  CHECK(finding.first.index == 1);
  CHECK(finding.first.name == "dispatch conf_set");
  CHECK(finding.second.index == 2);
  CHECK(finding.second.label == "forward");
  CHECK(finding.second.where.line > finding.first.where.line);
  REQUIRE(finding.at_once.size() == 1);
  CHECK(finding.at_once[0].buffer == "y");
  CHECK(finding.at_once[0].first == 16);
  CHECK(finding.at_once[0].first_declares == "nothing");
  CHECK(finding.at_once[0].second_declares == "write");
  REQUIRE(finding.at_end.size() == 1);
  CHECK(finding.at_end[0].buffer == "y");
  CHECK(report.excluded.empty());
  CHECK(report.orders == 8);
  check_untouched();
}

TEST_CASE_FIXTURE(
    RaceFixture, "find_races: the text names the pair, their source locations and the difference") {
  const std::string text = to_text(find_races(undeclared_read(), 8));
  for (const char* const part :
       {"find_races step: 3 commands, 8 orders from number 0 on", "1 finding",
        "command 1, dispatch conf_set (",
        "find_races_test.cpp:", "command 2, dispatch conf_add in forward (",
        "y: 4 bytes from byte 16 on", "command 2 declares write"}) {
    INFO("part: ", std::string(part), "\ntext: ", text);
    CHECK(contains(text, part));
  }
}

TEST_CASE_FIXTURE(
    RaceFixture,
    "find_races: an undeclared write is found with the command that declares the bytes") {
  CommandBuffer cmd = recording();
  cmd.dispatch(set, kWords, write(x.slice(0, 4)), 5u, 8u);  // writes all 8
  cmd.dispatch(set, kWords, write(x.slice(4, 4)), 9u, 4u);
  cmd.end();
  const RaceReport report = find_races(cmd);
  REQUIRE(report.findings.size() == 1);
  REQUIRE(report.findings[0].at_once.size() == 1);
  const RaceBytes& bytes = report.findings[0].at_once[0];
  CHECK(bytes.buffer == "x");
  CHECK(bytes.first == 16);
  CHECK(bytes.first_declares == "nothing");
  CHECK(bytes.second_declares == "write");
  check_untouched();
}

TEST_CASE_FIXTURE(
    RaceFixture,
    "find_races: the pair is found among many commands, and again from its seed alone") {
  constexpr unsigned kOthers = 20;
  std::vector<GpuRef<unsigned>> others;
  for (unsigned i = 0; i < kOthers; ++i)
    others.push_back(buffer(std::vector<unsigned>(8, i), "other"));
  CommandBuffer cmd = recording();
  for (unsigned i = 0; i < kOthers; ++i) {
    cmd.dispatch(mix, kWords, read(others[(i + 7) % kOthers]), read_write(others[i]), i, 8u);
    if (i == 5) cmd.dispatch(set, kWords, write(x.slice(4, 4)), 7u, 4u);
    if (i == 15) cmd.dispatch(add, kWords, read(x.slice(0, 4)), write(y), 1u, 8u);
  }
  cmd.end();
  const RaceReport report = find_races(cmd, {.runs = 16, .seed = 1});
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].first.index == 6);
  CHECK(report.findings[0].second.index == 17);
  const RaceReport again = find_races(cmd, {.runs = 1, .seed = report.findings[0].order});
  REQUIRE(again.findings.size() == 1);
  CHECK(again.findings[0].first.index == 6);
  CHECK(again.findings[0].second.index == 17);
}

TEST_CASE_FIXTURE(RaceFixture, "find_races: several pairs are found, up to max_findings") {
  CommandBuffer cmd = recording();
  // Each dispatch writes from word i to the end of x.
  for (unsigned i = 0; i < 3; ++i) cmd.dispatch(set, kWords, write(x.slice(i, 1)), 10 + i, 8 - i);
  cmd.end();
  const RaceReport report = find_races(cmd);
  CHECK(report.findings.size() >= 2);  // two reported pairs may order the third
  CHECK(report.findings.size() <= 3);
  for (const RaceFinding& finding : report.findings)
    CHECK(finding.first.index < finding.second.index);
  CHECK(find_races(cmd, {.max_findings = 1}).findings.size() == 1);
}

TEST_CASE_FIXTURE(RaceFixture,
                  "find_races: a transient that is read after its last declared use is found") {
  const auto t = pool->transient<unsigned>(8, "t");
  const auto address = pool->allocate<unsigned long long>(1, "address");
  CommandBuffer cmd = recording();
  cmd.fill(t, 3u);
  cmd.dispatch(kernel(shaders::conf_store_address), kWords, read(t), write(address));
  cmd.dispatch(kernel(shaders::conf_add_from_address), kWords, read(address), write(y), 1u, 8u);
  cmd.end();
  const RaceReport report = find_races(cmd);
  REQUIRE(report.findings.size() == 1);
  const RaceFinding& finding = report.findings[0];
  CHECK(finding.kind == RaceFinding::Kind::Undefined);
  CHECK(finding.first.index == 2);
  CHECK(finding.transient == "t");
  REQUIRE(finding.at_end.size() == 1);
  CHECK(finding.at_end[0].buffer == "y");
  CHECK(finding.at_end[0].count == 32);
  CHECK(contains(to_text(report), "transient t"));
  CHECK(report.one_order_only);
}

TEST_CASE_FIXTURE(RaceFixture, "find_races: a read of an uninitialised transient is found") {
  CommandBuffer cmd = recording();
  for (unsigned i = 0; i < 6; ++i) {
    const auto good = pool->transient<unsigned>(8, "good");
    cmd.fill(good, i);
    cmd.dispatch(mix, kWords, read(good), read_write(x), i, 8u);
    if (i != 3) continue;
    const auto half = pool->transient<unsigned>(8, "half");
    cmd.fill(half.slice(0, 4), 1u);
    cmd.copy(half, y);
  }
  cmd.end();
  const RaceReport report = find_races(cmd);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].kind == RaceFinding::Kind::Undefined);
  CHECK(report.findings[0].transient == "half");
  CHECK(report.findings[0].first.name == "fill half");
  REQUIRE(report.findings[0].at_end.size() == 1);
  CHECK(report.findings[0].at_end[0].first == 16);
}

TEST_CASE_FIXTURE(RaceFixture,
                  "find_races: buffers that differ between replays of one order are excluded by "
                  "name, and others are compared") {
  const auto clock = pool->host<unsigned>(4, "clock");
  const auto ticks = std::make_shared<unsigned>(0);
  CommandBuffer with_clock = recording();
  with_clock.host([clock, ticks] { clock[2] = ++*ticks; }, {write(clock)});
  with_clock.dispatch(set, kWords, write(x.slice(4, 4)), 7u, 4u);
  with_clock.dispatch(add, kWords, read(x.slice(0, 4)), write(y), 1u, 8u);
  with_clock.end();
  const RaceReport report = find_races(with_clock);
  REQUIRE(report.excluded.size() == 1);
  CHECK(report.excluded[0].buffer == "clock");
  CHECK(report.excluded[0].first == 8);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].second.index == 2);
  CHECK(contains(to_text(report), "clock"));
  CHECK(clock[2] == 0);
}

TEST_CASE_FIXTURE(RaceFixture, "find_races: undeclared buffers of the pools in use are compared") {
  const auto secret = pool->host<unsigned>(4, "secret");
  CommandBuffer cmd = recording();
  cmd.fill(x, 5u);
  cmd.host([secret] { secret[1] = 1; });
  cmd.host([secret] { secret[1] = 2; });
  cmd.end();
  const RaceReport report = find_races(cmd);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].first.index == 1);
  CHECK(report.findings[0].second.index == 2);
  REQUIRE(report.findings[0].at_once.size() == 1);
  CHECK(report.findings[0].at_once[0].buffer == "secret");
  CHECK(report.findings[0].at_once[0].second_declares == "nothing");
  CHECK(secret[1] == 0);
  CHECK(find_races(cmd, {.compare = RaceDesc::Compare::Declared}).clean());
  CHECK(find_races(cmd, {.ignore = {secret}}).clean());
}

TEST_CASE_FIXTURE(RaceFixture, "find_races: 50 correctly declared commands give no finding") {
  std::vector<GpuRef<unsigned>> words;
  for (unsigned i = 0; i < 6; ++i) words.push_back(buffer(std::vector<unsigned>(64, i), "words"));
  for (unsigned i = 0; i < 4; ++i) words.push_back(pool->transient<unsigned>(64, "t"));
  CommandBuffer cmd = recording();
  for (unsigned i = 0; i < 4; ++i) cmd.fill(words[6 + i], i);
  unsigned salt = 9;
  for (unsigned i = 4; i < 50; ++i) {
    salt = salt * 1664525u + 1013904223u;
    const unsigned from = (salt >> 8) % 10, to = (from + 1 + (salt >> 16) % 9) % 10;
    cmd.dispatch(mix, kWords, read(words[from]), read_write(words[to]), i, 64u);
  }
  cmd.end();
  std::uint32_t progress = 0;
  const RaceReport report =
      find_races(cmd, {.runs = 12, .on_progress = [&](std::uint32_t done, std::uint32_t runs) {
                         CHECK(runs == 12);
                         progress = done;
                       }});
  INFO(to_text(report));
  CHECK(report.clean());
  CHECK(report.commands == 50);
  CHECK(report.orders == 12);
  CHECK(progress == 12);
  CHECK_FALSE(report.one_order_only);
  CHECK(report.excluded.empty());
  for (unsigned i = 0; i < 6; ++i) CHECK(values(words[i]) == std::vector<unsigned>(64, i));
}

TEST_CASE_FIXTURE(RaceFixture, "find_races: bodies keep their internal order") {
  const Condition on = device.create_condition({.name = "on"});
  CommandBuffer inside = recording({.label = "inside", .level = Level::Secondary});
  const auto t = pool->transient<unsigned>(8, "t");
  inside.fill(t, 4u);
  inside.dispatch(mix, kWords, read(t), read_write(x), 3u, 8u);
  inside.end();
  CommandBuffer round = recording({.label = "round", .level = Level::Secondary});
  round.dispatch(kernel(shaders::conf_step), kWords, read_write(y), 6u, 8u, on);
  round.end();
  CommandBuffer cmd = recording();
  cmd.execute(inside, Nested);
  cmd.dispatch(kernel(shaders::conf_decide), {.grid = 1, .block = 1}, read(y), on);
  cmd.execute_while(on, round);
  cmd.end();
  const RaceReport report = find_races(cmd, 6);
  INFO(to_text(report));
  CHECK(report.clean());
  CHECK_FALSE(report.one_order_only);
  check_untouched();
}

TEST_CASE_FIXTURE(RaceFixture,
                  "find_races: a recording with a single legal order is reported as such") {
  CommandBuffer cmd = recording({.ordering = Ordering::Linear});
  cmd.dispatch(set, kWords, write(x.slice(0, 4)), 5u, 8u);
  cmd.dispatch(set, kWords, write(x.slice(4, 4)), 9u, 4u);
  cmd.end();
  const RaceReport report = find_races(cmd);
  CHECK(report.clean());
  CHECK(report.one_order_only);
  CHECK(report.orders == 0);
  CHECK(contains(to_text(report), "only the recorded order"));
}

TEST_CASE_FIXTURE(RaceFixture,
                  "find_races: host memory, device scalars and pinned memory are restored, also if "
                  "a callback throws") {
  std::vector<unsigned> mine(8, 77);
  const auto pinned = pool->host<unsigned>(2, "pinned");
  DeviceScalar<unsigned> scalar(*pool, queue, 5u, "scalar");
  const auto calls = std::make_shared<unsigned>(0);
  CommandBuffer cmd = recording();
  cmd.fill(x, 9u);
  cmd.fill(static_cast<const GpuRef<unsigned>&>(scalar), 6u);
  cmd.copy(y, borrowed(mine));
  cmd.host(
      [pinned, calls] {
        pinned[0] = 3;
        if (++*calls > 3) throw std::runtime_error("no more");
      },
      {write(pinned)});
  cmd.end();
  CHECK_THROWS_WITH_AS(static_cast<void>(find_races(cmd)), doctest::Contains("no more"),
                       std::runtime_error);
  check_untouched();
  CHECK(values(static_cast<const GpuRef<unsigned>&>(scalar)) == std::vector<unsigned>{5});
  CHECK(mine == std::vector<unsigned>(8, 77));
  CHECK(pinned[0] == 0);
  CHECK(cmd.state() == CommandBufferState::Executable);
}

TEST_CASE_FIXTURE(
    RaceFixture,
    "find_races: an op that writes more than it declares is found, in transients too") {
  struct Overrun {
    Kernel set;
    GpuRef<unsigned> on;
    [[nodiscard]] std::string_view op_name() const { return "overrun"; }
    void declare(GraphOpDeclaration& d) const {
      d.use(read(on));
      d.use(write(on.slice(0, 4)));
    }
    void record(GraphRecordCtx& ctx) const {  // writes all 8
      ctx.dispatch(set, {.grid = 1, .block = 64}, write(on.slice(0, 4)), 5u, 8u);
    }
  };
  const auto t = pool->transient<unsigned>(8, "t");
  CommandBuffer cmd = recording();
  cmd.fill(t, 1u);
  cmd.add(Overrun{set, x});
  cmd.add(Overrun{set, t});
  cmd.dispatch(add, kWords, read(t), write(y), 1u, 8u);
  cmd.end();
  const RaceReport report = find_races(cmd);
  REQUIRE(report.findings.size() == 2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const RaceFinding& finding = report.findings[i];
    CHECK(finding.kind == RaceFinding::Kind::Undeclared);
    CHECK(finding.first.index == i + 1);
    REQUIRE(finding.at_once.size() == 1);
    CHECK(finding.at_once[0].buffer == (i == 0 ? "x" : "t"));
    CHECK(finding.at_once[0].first == 16);
    CHECK(finding.at_once[0].count == 4);
    CHECK(finding.at_once[0].first_declares == "read");
  }
  CHECK(contains(to_text(report), "x: 4 bytes from byte 16 on; there it declares read"));
  check_untouched();
}

TEST_CASE_FIXTURE(RaceFixture,
                  "find_races: it runs on the given queue after pending work on its buffers") {
  Queue other = device.create_queue({.label = "other"});
  CommandBuffer first = recording();
  first.dispatch(kernel(shaders::conf_churn), kWords, read_write(x), 1000u, 8u);
  CapturedGraph graph = compile(first);
  static_cast<void>(graph.launch(queue));
  unsigned expected = 1;
  for (int r = 0; r < 1000; ++r) expected = expected * 1664525u + 1013904223u;
  const RaceReport report = find_races(undeclared_read(), {.runs = 8, .queue = other});
  CHECK(report.findings.size() == 1);
  CHECK(values(x) == std::vector<unsigned>(8, expected));
}

TEST_CASE_FIXTURE(RaceFixture, "find_races: invalid arguments are refused") {
  const CommandBuffer good = undeclared_read();
  const auto refused = [&](const RaceDesc& desc, std::string_view part) {
    check_refused(ErrorCode::InvalidArgument, {"step", part},
                  [&] { static_cast<void>(find_races(good, desc)); });
  };
  refused({.runs = 0}, "runs");
  refused({.max_findings = 0}, "max_findings");
  refused({.pattern = 1, .alternate = 1}, "use different bytes");
  check_refused(ErrorCode::NotInitialized, {"step", "buffer to ignore", "empty"},
                [&] { static_cast<void>(find_races(good, {.ignore = {BufferView{}}})); });

  CommandBuffer open = recording({.label = "open"});
  check_refused(ErrorCode::InvalidState, {"open"}, [&] { static_cast<void>(find_races(open)); });
  CommandBuffer moved = std::move(open);
  check_refused(ErrorCode::NotInitialized, {"moved"}, [&] { static_cast<void>(find_races(open)); });
  CommandBuffer bare = recording({.label = "bare"});
  bare.host([] {});
  bare.end();
  check_refused(ErrorCode::InvalidArgument, {"bare", "queue"},
                [&] { static_cast<void>(find_races(bare)); });
  CHECK(find_races(bare, {.queue = queue}).clean());

  const Queue foreign = instance.open_device(selector_of_this_run()).create_queue();
  check_refused(ErrorCode::WrongDevice, {"step"},
                [&] { static_cast<void>(find_races(good, {.queue = foreign})); });
  CommandBuffer secondary = recording({.label = "second", .level = Level::Secondary});
  secondary.fill(x, 1u);
  secondary.end();
  check_refused(ErrorCode::InvalidArgument, {"second"},
                [&] { static_cast<void>(find_races(secondary)); });
}

TEST_CASE_FIXTURE(
    RaceFixture, "find_races: an op is looked at in a recording with conditions and conditionals") {
  struct SetOp {
    Kernel set;
    GpuRef<unsigned> y;
    [[nodiscard]] std::string_view op_name() const { return "set"; }
    void declare(GraphOpDeclaration& declaration) const { declaration.use(write(y)); }
    void record(GraphRecordCtx& ctx) const { ctx.dispatch(set, kWords, write(y), 5u, 8u); }
  };
  const Condition odd = device.create_condition({.name = "odd"}),
                  go = device.create_condition({.name = "go", .initial = 1});
  CommandBuffer body = recording({.label = "body", .level = Level::Secondary});
  body.fill(x, 3u);
  body.end();
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_is_odd), {.grid = 1, .block = 1}, read(x), odd);
  cmd.add(SetOp{set, y});  // between the kernel that sets a condition and the conditionals
  cmd.execute_if(odd, body);
  cmd.execute_while(go, body, {.max_iterations = 2});
  cmd.end();
  const RaceReport report = find_races(cmd, 4);
  CHECK(report.findings.empty());
  CHECK(report.replays > 4);
  check_untouched();
}

}  // namespace reprise::test::find_races_test
