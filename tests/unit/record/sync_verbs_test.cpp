#include <doctest/doctest.h>

#include <array>

#include "base/handle_access.hpp"
#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::test;
using detail::BarrierPayload;
using detail::HostPayload;
using detail::kNone;

TEST_CASE("host: the function and its accesses are recorded") {
  RecordFixture f;
  const auto h = f.buffer<int>(8, "h", BufferKind::PinnedHost);
  int calls = 0;
  CommandBuffer cmd = f.recording();
  const std::uint32_t line = __LINE__ + 1;
  cmd.host([&calls] { ++calls; }, {read(h.slice(0, 4)), write(h.slice(4, 4)), read(h.slice(0, 0))});
  cmd.host([&calls] { calls += 10; });
  const auto r = frozen(cmd);
  CHECK(r->commands[0].where.line == line);
  CHECK(r->commands[0].access_count == 2);
  CHECK(r->accesses[1].begin == 16);
  CHECK(r->commands[1].access_count == 0);
  for (std::uint32_t i = 0; i < 2; ++i) (*r->functions[r->payload<HostPayload>(i).function])();
  CHECK(calls == 11);
}

TEST_CASE("host: the recording owns the function's captures") {
  RecordFixture f;
  const auto token = std::make_shared<int>(1);
  CommandBuffer cmd = f.recording();
  cmd.host([token] {});
  CHECK(token.use_count() == 2);
  auto r = frozen(cmd);
  cmd.reset();
  CHECK(token.use_count() == 2);
  r.reset();
  CHECK(token.use_count() == 1);
}

TEST_CASE("host: empty functions and empty, foreign or stale views are refused") {
  RecordFixture f, other;
  other.status = RecordFixture::make_status("cuda:0");
  const auto z = other.buffer<int>(1, "z");
  const auto s = f.buffer<int>(1, "s");
  detail::core_of(s)->cleared = true;
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::InvalidArgument,
                {"host at ", "sync_verbs_test.cpp:", "function is empty"}, [&] { cmd.host({}); });
  check_refused(cmd, ErrorCode::NotInitialized, {"empty buffer"},
                [&] { cmd.host([] {}, {read(BufferView())}); });
  check_refused(cmd, ErrorCode::WrongDevice, {"z"}, [&] { cmd.host([] {}, {read(z)}); });
  check_refused(cmd, ErrorCode::StaleHandle, {"s is stale"}, [&] { cmd.host([] {}, {write(s)}); });
}

TEST_CASE("barrier: a barrier covers a range or all memory") {
  RecordFixture f;
  const auto x = f.buffer<int>(8, "x");
  CommandBuffer cmd = f.recording();
  cmd.barrier({.buffer = x.slice(2, 3), .before = Access::Write, .after = Access::Read});
  cmd.barrier();
  const auto r = frozen(cmd);
  const auto& range_barrier = r->payload<BarrierPayload>(0);
  CHECK(r->buffers[range_barrier.buffer] == detail::core_of(x));
  CHECK(range_barrier.begin == 8);
  CHECK(range_barrier.end == 20);
  CHECK(range_barrier.before == Access::Write);
  CHECK(range_barrier.after == Access::Read);
  CHECK(r->payload<BarrierPayload>(1).buffer == kNone);
  CHECK(r->payload<BarrierPayload>(1).before == Access::ReadWrite);
  CHECK(r->payload<BarrierPayload>(1).dependency == Dependency::Full);
  CHECK(r->commands[0].access_count == 0);
}

TEST_CASE("barrier, edge: a programmatic dependency is kept, also in an executed secondary") {
  RecordFixture f;
  CommandBuffer secondary = f.recording({.level = Level::Secondary});
  const CommandRef a = secondary.host([] {});
  secondary.barrier({.dependency = Dependency::Programmatic});
  const CommandRef b = secondary.host([] {});
  secondary.edge(a, b, Dependency::Programmatic);
  secondary.edge(a, b);
  secondary.end();
  CommandBuffer cmd = f.recording();
  cmd.execute(secondary);
  const auto r = frozen(cmd);
  CHECK(r->payload<BarrierPayload>(1).dependency == Dependency::Programmatic);
  CHECK(r->command_name(1) == "programmatic barrier");
  REQUIRE(r->edges.size() == 2);
  CHECK(r->edges[0].dependency == Dependency::Programmatic);
  CHECK(r->edges[1].dependency == Dependency::Full);
  CHECK(r->has_programmatic_dependencies());
}

TEST_CASE("barrier: foreign and stale views are refused") {
  RecordFixture f, other;
  other.status = RecordFixture::make_status("cuda:0");
  const auto z = other.buffer<int>(1, "z");
  const auto s = f.buffer<int>(1, "s");
  detail::core_of(s)->cleared = true;
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::WrongDevice, {"barrier at ", "z"},
                [&] { cmd.barrier({.buffer = z}); });
  check_refused(cmd, ErrorCode::StaleHandle, {"s is stale"}, [&] { cmd.barrier({.buffer = s}); });
}

TEST_CASE("edge: edges lead forward or backward and name commands by index") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  const CommandRef a = cmd.host([] {});
  const CommandRef b = cmd.host([] {});
  const CommandRef c = cmd.host([] {});
  cmd.edge(a, c);
  const std::uint32_t line = __LINE__ + 1;
  cmd.edge(c, b);
  const auto r = frozen(cmd);
  REQUIRE(r->edges.size() == 2);
  CHECK(r->edges[0].before == 0);
  CHECK(r->edges[0].after == 2);
  CHECK(r->edges[1].before == 2);
  CHECK(r->edges[1].after == 1);
  CHECK(r->edges[1].where.line == line);
}

TEST_CASE("edge: a command of another command buffer or of an earlier recording is refused") {
  RecordFixture f;
  CommandBuffer other = f.recording();
  const CommandRef foreign = other.host([] {});
  CommandBuffer cmd = f.recording();
  const CommandRef old = cmd.host([] {});
  cmd.reset();
  cmd.begin();
  const CommandRef own = cmd.host([] {});
  check_refused(cmd, ErrorCode::InvalidArgument, {"edge at ", "`before`"},
                [&] { cmd.edge(foreign, own); });
  check_refused(cmd, ErrorCode::InvalidArgument, {"`after`"}, [&] { cmd.edge(own, old); });
  check_refused(cmd, ErrorCode::InvalidArgument, {"`after`"}, [&] { cmd.edge(own, CommandRef{}); });
  check_refused(cmd, ErrorCode::InvalidArgument, {"`after`"}, [&] {
    cmd.edge(own, CommandRef{own.recorder, 1});
  });
  check_refused(cmd, ErrorCode::CyclicDependency, {"command 0 would wait for itself"},
                [&] { cmd.edge(own, own); });
  CHECK(frozen(cmd)->edges.empty());
}

TEST_CASE("edge: a reference of an inlined secondary names all its copies") {
  RecordFixture f;
  CommandBuffer inner = f.recording({.label = "inner", .level = Level::Secondary});
  static_cast<void>(inner.host([] {}));
  const CommandRef one = inner.host([] {});
  inner.end();
  CommandBuffer outer = f.recording({.label = "outer", .level = Level::Secondary});
  outer.execute(inner);
  const CommandRef last = outer.host([] {});
  outer.end();
  CommandBuffer cmd = f.recording({.label = "step"});
  const CommandRef own = cmd.host([] {});
  check_refused(cmd, ErrorCode::InvalidArgument, {"`before`", "has inlined"},
                [&] { cmd.edge(last, own); });
  cmd.execute(outer);  // commands 1 to 3
  cmd.edge(own, one);
  auto split = cmd.split(2);
  split[1].execute(inner);  // 4 and 5
  split[1].edge(own, one, Dependency::Programmatic);
  cmd.execute(outer);  // 6 to 8
  cmd.edge(last, own);
  check_refused(cmd, ErrorCode::InvalidArgument, {"`after`"}, [&] {
    cmd.edge(own, CommandRef{one.recorder, 2});
  });
  const auto r = frozen(cmd);
  std::vector<std::vector<std::uint32_t>> edges;
  for (const detail::UserEdge& edge : r->edges)
    edges.push_back({edge.before, edge.after, static_cast<std::uint32_t>(edge.dependency)});
  CHECK(
      edges ==
      std::vector<std::vector<std::uint32_t>>{
          {0, 2, 0}, {0, 7, 0}, {0, 5, 0}, {3, 0, 0}, {8, 0, 0}, {0, 2, 1}, {0, 7, 1}, {0, 5, 1}});
  std::vector<std::uint32_t> copies;
  r->for_each_command(one, [&](std::uint32_t command) { copies.push_back(command); });
  CHECK(copies == std::vector<std::uint32_t>{2, 7, 5});
}

TEST_CASE("label: nested labels give paths and colours, and end") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  cmd.host([] {});
  {
    auto outer = cmd.label("forward", {255, 0, 0});
    cmd.host([] {});
    {
      auto inner = cmd.label("layer 1");
      cmd.host([] {});
    }
    cmd.begin_label("layer 2");
    cmd.host([] {});
    cmd.end_label();
  }
  cmd.host([] {});
  const auto r = frozen(cmd);
  const std::array<std::string, 5> expected{"", "forward", "forward/layer 1", "forward/layer 2",
                                            ""};
  for (std::uint32_t i = 0; i < 5; ++i) CHECK(r->label_path(r->commands[i].label) == expected[i]);
  CHECK(r->labels[r->commands[1].label].color == Color{255, 0, 0});
}

TEST_CASE("label: a label without commands is dropped") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  { auto scope = cmd.label("empty"); }
  cmd.host([] {});
  CHECK(frozen(cmd)->labels.size() == 1);
}

TEST_CASE("label: end_label without an open label, and end() with one, are InvalidState") {
  RecordFixture f;
  CommandBuffer cmd = f.recording({.label = "step"});
  CHECK(thrown_by([&] { cmd.end_label(); }).code() == ErrorCode::InvalidState);
  cmd.begin_label("a");
  cmd.begin_label("b");
  const Error error = thrown_by([&] { cmd.end(); });
  CHECK(error.code() == ErrorCode::InvalidState);
  CHECK(std::string(error.what()).find("label a/b is still open") != std::string::npos);
  CHECK(cmd.state() == CommandBufferState::Recording);
  cmd.end_label();
  cmd.end_label();
  cmd.end();
  CHECK(cmd.state() == CommandBufferState::Executable);
}

TEST_CASE("label: the name is copied, and an empty name is refused") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  {
    std::string name = "a name that is long enough for the heap";
    auto scope = cmd.label(name);
    name.assign(name.size(), 'x');
    cmd.host([] {});
  }
  check_refused(cmd, ErrorCode::InvalidArgument, {"begin_label", "empty"},
                [&] { cmd.begin_label(""); });
  const auto r = frozen(cmd);
  CHECK(r->label_path(r->commands[0].label) == "a name that is long enough for the heap");
}

TEST_CASE("label: a scope closes only its own label") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  {
    auto outer = cmd.label("outer");
    cmd.begin_label("inner");  // never ended
  }
  CHECK(thrown_by([&] { cmd.end(); }).code() == ErrorCode::InvalidState);
  {
    auto stale = cmd.label("stale");
    cmd.reset();
    cmd.begin();
    cmd.begin_label("fresh");
  }
  cmd.host([] {});
  cmd.end_label();
  const auto r = frozen(cmd);
  CHECK(r->label_path(r->commands[0].label) == "fresh");
}

TEST_CASE("label: a scope can be moved and can outlive its command buffer") {
  RecordFixture f;
  auto cmd = std::make_unique<CommandBuffer>(f.recording());
  LabelScope scope = cmd->label("a");
  {
    LabelScope moved = std::move(scope);
    cmd->host([] {});
  }
  cmd->host([] {});
  const auto r = frozen(*cmd);
  CHECK(r->label_path(r->commands[0].label) == "a");
  CHECK(r->label_path(r->commands[1].label).empty());
  cmd->begin();
  LabelScope late = cmd->label("late");
  cmd.reset();
}

TEST_CASE("label: kMaxLabels may be open at once, those around an inlined secondary included") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  CommandBuffer secondary = f.recording({.label = "sub", .level = Level::Secondary});
  for (std::uint32_t i = 0; i < Recorder::kMaxLabels; ++i) secondary.begin_label("inside");
  check_refused(secondary, ErrorCode::InvalidArgument,
                {"begin_label", "label deepest", "limit of 256 nested labels", "end_label() some"},
                [&] { secondary.begin_label("deepest"); });
  secondary.fill(x, 1);
  std::vector<Recorder> split = secondary.split(1);
  check_refused(secondary, ErrorCode::InvalidArgument, {"label deepest"},
                [&] { split[0].begin_label("deepest"); });
  for (std::uint32_t i = 0; i < Recorder::kMaxLabels; ++i) secondary.end_label();
  secondary.end();
  CommandBuffer cmd = f.recording({.label = "step"});
  cmd.begin_label("outside");
  check_refused(cmd, ErrorCode::InvalidArgument, {"execute at ", "label inside"},
                [&] { cmd.execute(secondary); });
  cmd.end_label();
  cmd.execute(secondary);
  const auto r = frozen(cmd);
  REQUIRE(r->commands.size() == 1);
  CHECK(r->label_path(r->commands[0].label).size() ==
        Recorder::kMaxLabels * std::string_view("inside/").size() - 1);
}
