#include "conditions.shaders.hpp"
#include "conformance/device_fixture.hpp"
#include "support/small_stack.hpp"
#include "words.shaders.hpp"

namespace reprise::test::conditional_test {
namespace {

constexpr unsigned kCount = 700;
constexpr DispatchDesc kOne{.grid = 1, .block = 1};

struct ConditionalFixture : DeviceFixture {
  GpuRef<unsigned> x = buffer(std::vector<unsigned>(kCount, 1), "x");

  [[nodiscard]] CommandBuffer secondary(std::string_view label,
                                        const std::function<void(CommandBuffer&)>& record) const {
    CommandBuffer made = recording({.label = label, .level = Level::Secondary});
    record(made);
    made.end();
    return made;
  }
  // A secondary that adds `value` to each word of x.
  [[nodiscard]] CommandBuffer adding(std::string_view label, unsigned value) const {
    return secondary(label, [&](CommandBuffer& c) { add(c, value); });
  }
  void add(Recorder& to, unsigned value) const {
    to.dispatch(kernel(shaders::conf_increase), {.grid = ceil_div(kCount, 128), .block = 128},
                read_write(x), value, kCount);
  }
  // Increments x; the condition stays set while x[0] is below `end`.
  void step(Recorder& to, const Condition& go, unsigned end) const {
    to.dispatch(kernel(shaders::conf_step), {.grid = ceil_div(kCount, 128), .block = 128},
                read_write(x), end, kCount, go);
  }
  void check_all(unsigned expected) const {
    CHECK(values(x) == std::vector<unsigned>(kCount, expected));
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    ConditionalFixture,
    "conditional: if runs its body when a kernel set the condition, in every replay") {
  const auto decision = pool->host<unsigned>(1, "decision");
  const Condition go = device.create_condition({.name = "go"});
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_decide), kOne, read(decision), go);
  cmd.execute_if(go, adding("body", 10));
  CapturedGraph graph = compile(cmd);
  unsigned expected = 1;
  for (const unsigned value : {0u, 7u, 0u, 1u}) {
    decision[0] = value;
    graph.launch(queue).wait();
    if (value != 0) expected += 10;
    check_all(expected);
  }
  CHECK(graph.to_text().find("if b") != std::string::npos);
  CHECK(graph.loops().empty());
}

TEST_CASE_FIXTURE(ConditionalFixture, "conditional: if/else runs exactly one branch") {
  const auto decision = pool->host<unsigned>(1, "decision");
  const Condition go = device.create_condition({.name = "go"});
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_decide), kOne, read(decision), go);
  cmd.execute_if(go, adding("then", 10), adding("else", 200));
  add(cmd, 1);  // ordered after both branches
  CapturedGraph graph = compile(cmd);
  unsigned expected = 1;
  for (const unsigned value : {0u, 1u, 0u}) {
    decision[0] = value;
    graph.launch(queue).wait();
    expected += (value != 0 ? 10 : 200) + 1;
    check_all(expected);
  }
}

TEST_CASE_FIXTURE(ConditionalFixture,
                  "conditional: switch runs the case with the condition's number, or no case") {
  const auto decision = pool->host<unsigned>(1, "decision");
  const Condition which = device.create_condition({.name = "which"});
  const CommandBuffer zero = adding("zero", 1), one = adding("one", 10), two = adding("two", 100);
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_decide), kOne, read(decision), which);
  cmd.execute_switch(which, {zero, one, two});
  CapturedGraph graph = compile(cmd);
  unsigned expected = 1;
  const unsigned added[] = {1, 10, 100, 0, 0};
  for (const unsigned value : {2u, 0u, 3u, 1u, 4u}) {
    decision[0] = value;
    graph.launch(queue).wait();
    expected += added[value];
    check_all(expected);
  }
}

TEST_CASE_FIXTURE(ConditionalFixture,
                  "conditional: while iterates until a kernel of its body clears the condition and "
                  "reports the iterations") {
  const Condition go = device.create_condition({.name = "go", .initial = 1});
  const CommandBuffer body = secondary("iteration", [&](CommandBuffer& c) { step(c, go, 1000); });
  CommandBuffer cmd = recording();
  cmd.fill(x, 990u);
  cmd.execute_while(go, body);
  add(cmd, 5);
  CapturedGraph graph = compile(cmd);
  CHECK(graph.loops()[0].iterations == 0);
  for (int replay = 0; replay < 3; ++replay) {
    graph.launch(queue).wait();
    check_all(1005);
    const auto loops = graph.loops();
    REQUIRE(loops.size() == 1);
    CHECK(loops[0].name == "while go: iteration");
    CHECK(loops[0].command == 1);
    CHECK(loops[0].iterations == 10);
    CHECK_FALSE(loops[0].reached_limit);
  }
}

TEST_CASE_FIXTURE(ConditionalFixture,
                  "conditional: while does not run its body if the condition is initially 0") {
  const Condition go = device.create_condition({.name = "go", .initial = 0});
  const CommandBuffer body = secondary("iteration", [&](CommandBuffer& c) { step(c, go, 1000); });
  CommandBuffer cmd = recording();
  cmd.execute_while(go, body);
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  check_all(1);
  CHECK(graph.loops()[0].iterations == 0);
}

TEST_CASE_FIXTURE(
    ConditionalFixture,
    "conditional: a loop ends at its iteration limit even if the condition stays set") {
  const Condition go = device.create_condition({.name = "go", .initial = 1});
  CommandBuffer cmd = recording();
  cmd.execute_while(go, adding("iteration", 2), {.max_iterations = 7});
  CapturedGraph graph = compile(cmd);
  for (unsigned replay = 1; replay <= 2; ++replay) {
    graph.launch(queue).wait();
    check_all(1 + 14 * replay);
    CHECK(graph.loops()[0].iterations == 7);
    CHECK(graph.loops()[0].reached_limit);
  }
}

TEST_CASE_FIXTURE(ConditionalFixture,
                  "conditional: an iteration limit takes effect only when it is reached") {
  for (const unsigned limit : {4u, 40u}) {
    const Condition go = device.create_condition({.name = "go", .initial = 1});
    const CommandBuffer body = secondary("iteration", [&](CommandBuffer& c) { step(c, go, 20); });
    CommandBuffer cmd = recording();
    cmd.fill(x, 10u);
    cmd.execute_while(go, body, {.max_iterations = limit});
    CapturedGraph graph = compile(cmd);
    graph.launch(queue).wait();
    const unsigned iterations = std::min(limit, 10u);
    check_all(10 + iterations);
    CHECK(graph.loops()[0].iterations == iterations);
    CHECK(graph.loops()[0].reached_limit == (iterations == limit));
  }
}

TEST_CASE_FIXTURE(
    ConditionalFixture,
    "conditional: a nested loop restarts in each iteration and its iterations accumulate") {
  const auto counter = pool->allocate<unsigned>(1, "counter");
  const Condition outer = device.create_condition({.name = "outer", .initial = 1}),
                  inner = device.create_condition({.name = "inner"});
  const CommandBuffer innermost = secondary("inner body", [&](CommandBuffer& c) {
    add(c, 1);
    c.dispatch(kernel(shaders::conf_count_down), kOne, read_write(counter), inner);
  });
  const CommandBuffer body = secondary("outer body", [&](CommandBuffer& c) {
    c.fill(counter, 3u);
    c.dispatch(kernel(shaders::conf_decide), kOne, read(counter), inner);  // value 3: set
    c.execute_while(inner, innermost);
    step(c, outer, 16);  // adds 1
  });
  CommandBuffer cmd = recording();
  cmd.fill(x, 0u);
  cmd.execute_while(outer, body);
  CapturedGraph graph = compile(cmd);
  for (int replay = 0; replay < 2; ++replay) {
    graph.launch(queue).wait();
    check_all(16);  // 4 times 3 + 1
    const auto loops = graph.loops();
    REQUIRE(loops.size() == 2);
    CHECK(loops[0].name == "while outer: outer body");
    CHECK(loops[0].iterations == 4);
    CHECK(loops[1].name == "while inner: inner body");
    CHECK(loops[1].command == 1);
    CHECK(loops[1].iterations == 12);
  }
}

TEST_CASE_FIXTURE(ConditionalFixture,
                  "conditional: an if in a loop, a limit in each of two loops") {
  const Condition go = device.create_condition({.name = "go", .initial = 1}),
                  odd = device.create_condition({.name = "odd"});
  const Condition again = device.create_condition({.name = "again", .initial = 1});
  const CommandBuffer hundred = adding("hundred", 100);
  const CommandBuffer body = secondary("body", [&](CommandBuffer& c) {
    add(c, 1);
    c.dispatch(kernel(shaders::conf_is_odd), kOne, read(x), odd);
    c.execute_if(odd, hundred);
  });
  CommandBuffer cmd = recording();
  cmd.fill(x, 0u);
  cmd.execute_while(go, body, {.max_iterations = 4});
  cmd.execute_while(again, adding("more", 1000), {.max_iterations = 2});
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  check_all(4 + 2 * 100 + 2000);
  const auto loops = graph.loops();
  REQUIRE(loops.size() == 2);
  CHECK(loops[0].iterations == 4);
  CHECK(loops[1].iterations == 2);
  CHECK(loops[1].command == 2);
}

TEST_CASE_FIXTURE(
    ConditionalFixture,
    "conditional: two loops of a graph, and two graphs of one recording, are independent") {
  const auto y = buffer(std::vector<unsigned>(kCount, 1), "y");
  const Condition a = device.create_condition({.name = "a", .initial = 1}),
                  b = device.create_condition({.name = "b", .initial = 1});
  const auto loop = [&](const GpuRef<unsigned>& on, const Condition& go) {
    return secondary("iteration", [&](CommandBuffer& c) {
      c.dispatch(kernel(shaders::conf_step), {.grid = ceil_div(kCount, 128), .block = 128},
                 read_write(on), 50u, kCount, go);
    });
  };
  CommandBuffer cmd = recording();
  cmd.execute_while(a, loop(x, a));
  cmd.execute_while(b, loop(y, b));
  CapturedGraph first = compile(cmd), second = compile(cmd);
  CHECK(first.report().needed_edges == 0);
  first.launch(queue).wait();
  check_all(50);
  CHECK(values(y) == std::vector<unsigned>(kCount, 50));
  // The second graph has its own conditions: each starts at 1, and each loop iterates once.
  second.launch(queue).wait();
  check_all(51);
  CHECK(second.loops()[0].iterations == 1);
  CHECK(first.loops()[0].iterations == 49);
}

TEST_CASE_FIXTURE(
    ConditionalFixture,
    "conditional: graphs on two queues have their own values of one condition or of two") {
  const Queue other = device.create_queue({.label = "other"});
  const auto y = buffer(std::vector<unsigned>(kCount, 1), "y");
  const Condition shared = device.create_condition({.name = "shared", .initial = 1}),
                  own = device.create_condition({.name = "own", .initial = 1});
  const auto counting = [&](const GpuRef<unsigned>& on, unsigned end, const Condition& go) {
    const CommandBuffer body = secondary("iteration", [&](CommandBuffer& c) {
      c.dispatch(kernel(shaders::conf_step), {.grid = ceil_div(kCount, 128), .block = 128},
                 read_write(on), end, kCount, go);
    });
    CommandBuffer cmd = recording();
    cmd.fill(on, 0u);
    cmd.execute_while(go, body);
    return compile(cmd);
  };
  for (const Condition& go : {shared, own}) {
    CAPTURE(std::string(go.name()));
    CapturedGraph first = counting(x, 50, shared), second = counting(y, 70, go);
    for (int replay = 0; replay < 20; ++replay) {
      first.launch(queue);
      second.launch(other);
    }
    queue.wait_idle();
    other.wait_idle();
    check_all(50);
    CHECK(values(y) == std::vector<unsigned>(kCount, 70));
    CHECK(first.loops()[0].iterations == 50);
    CHECK(second.loops()[0].iterations == 70);
  }
}

TEST_CASE_FIXTURE(ConditionalFixture,
                  "conditional: graphs with branches replay on several queues beside other graphs, "
                  "while graphs come and go") {
  constexpr unsigned kQueues = 4;
  const Condition go = device.create_condition({.name = "go"});
  const auto decision = pool->host<unsigned>(kQueues, "decision");
  std::vector<Queue> queues;
  std::vector<GpuRef<unsigned>> results;
  std::vector<CapturedGraph> plain;
  for (unsigned i = 0; i < kQueues; ++i) {
    decision[i] = i % 2;
    queues.push_back(device.create_queue());
    results.push_back(buffer(std::vector<unsigned>(kCount, 0), "result"));
    const auto beside = buffer(std::vector<unsigned>(kCount, 0), "beside");
    CommandBuffer cmd = recording();
    for (unsigned step = 0; step < 5; ++step)
      cmd.dispatch(kernel(shaders::conf_increase), {.grid = ceil_div(kCount, 128), .block = 128},
                   read_write(beside), step, kCount);
    plain.push_back(compile(cmd));
  }
  for (unsigned round = 1; round <= 10; ++round) {
    for (unsigned i = 0; i < kQueues; ++i) {
      const auto branch = [&](unsigned value) {
        return secondary("branch", [&](CommandBuffer& c) {
          c.dispatch(kernel(shaders::conf_increase), {.grid = ceil_div(kCount, 128), .block = 128},
                     read_write(results[i]), value, kCount);
        });
      };
      CommandBuffer cmd = recording();
      cmd.dispatch(kernel(shaders::conf_decide), kOne, read(decision.slice(i, 1)), go);
      cmd.execute_if(go, branch(10), branch(200));
      CapturedGraph graph = compile(cmd);
      graph.launch(queues[i]);
      plain[i].launch(queues[(i + 1) % kQueues]);
    }
  }
  for (const Queue& one : queues) one.wait_idle();
  for (unsigned i = 0; i < kQueues; ++i)
    CHECK(values(results[i]) == std::vector<unsigned>(kCount, i % 2 != 0 ? 100 : 2000));
}

TEST_CASE_FIXTURE(ConditionalFixture,
                  "conditional: bodies can use transients, copies, fills and updates") {
  const auto t = pool->transient<unsigned>(kCount, "t"), u = pool->transient<unsigned>(kCount, "u");
  const Condition go = device.create_condition({.name = "go", .initial = 1});
  const std::vector<unsigned> three(kCount, 3);
  const unsigned four = 4;
  const CommandBuffer body = secondary("body", [&](CommandBuffer& c) {
    c.copy(x, t);
    c.fill(u, 2u);
    c.dispatch(kernel(shaders::conf_add), {.grid = ceil_div(kCount, 128), .block = 128}, read(t),
               write(x), 1u, kCount);
    c.copy(snapshot(three), u);
    c.update(u.slice(0, 1), std::as_bytes(std::span(&four, 1)));
    c.dispatch(kernel(shaders::conf_mix), {.grid = ceil_div(kCount, 128), .block = 128}, read(u),
               read_write(x), 0u, kCount);
  });
  CommandBuffer cmd = recording();
  cmd.execute_while(go, body, {.max_iterations = 2});
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  std::vector<unsigned> expected(kCount, 1);
  for (int i = 0; i < 2; ++i) {
    for (unsigned k = 0; k < kCount; ++k)
      expected[k] = (expected[k] + 1) * 1664525u + (k == 0 ? 4u : 3u) + 1013904223u;
  }
  CHECK(values(x) == expected);
  CHECK(graph.report().slab_bytes >= 2 * kCount * sizeof(unsigned));
}

TEST_CASE_FIXTURE(ConditionalFixture,
                  "conditional: unsupported commands in bodies are refused while recording") {
  const Condition go = device.create_condition({.name = "go", .initial = 1});
  std::vector<unsigned> values(kCount);
  CommandBuffer callback = secondary("with callback", [&](CommandBuffer& c) { c.host([] {}); });
  CommandBuffer nested =
      secondary("outer one", [&](CommandBuffer& c) { c.execute(callback, Nested); });
  CommandBuffer borrows =
      secondary("borrows", [&](CommandBuffer& c) { c.copy(x, borrowed(values)); });
  CommandBuffer endless = adding("endless", 1);
  CommandBuffer cmd = recording();
  check_refused(ErrorCode::Unsupported, {"execute_if", "with callback", "host callback"},
                [&] { cmd.execute_if(go, callback); });
  check_refused(ErrorCode::Unsupported, {"outer one", "host callback"},
                [&] { cmd.execute_if(go, nested); });
  check_refused(ErrorCode::Unsupported, {"borrows", "borrowed host memory"},
                [&] { cmd.execute_if(go, endless, borrows); });
  check_refused(ErrorCode::InvalidArgument,
                {"execute_while", "no command of secondary endless sets condition go"},
                [&] { cmd.execute_while(go, endless); });
  check_refused(ErrorCode::NotInitialized, {"Condition is empty"},
                [&] { cmd.execute_if(Condition(), endless); });
  check_refused(ErrorCode::InvalidArgument, {"execute_switch", "no case"},
                [&] { cmd.execute_switch(go, {}); });
  CHECK(cmd.command_count() == 0);
}

TEST_CASE_FIXTURE(ConditionalFixture,
                  "conditional: under Explicit, a barrier is needed between the writer of a "
                  "condition and the command it controls") {
  const Condition go = device.create_condition({.name = "go"});
  const auto record = [&](CommandBuffer& cmd, const std::function<void()>& between) {
    cmd.dispatch(kernel(shaders::conf_decide), kOne, read(x), go);
    between();
    cmd.execute_if(go, adding("body", 10));
  };
  CommandBuffer unordered = recording({.ordering = Ordering::Explicit});
  record(unordered, [] {});
  check_refused(ErrorCode::MissingBarrier, {"go", "barrier("},
                [&] { static_cast<void>(compile(unordered)); });
  CommandBuffer cmd = recording({.ordering = Ordering::Explicit});
  record(cmd, [&] { cmd.barrier(); });
  run(cmd);
  check_all(11);
}

TEST_CASE_FIXTURE(
    ConditionalFixture,
    "conditional: a secondary with a conditional is executed inline, and refused as Nested") {
  const auto decision = pool->host<unsigned>(1, "decision");
  const Condition go = device.create_condition({.name = "go"});
  const CommandBuffer body = adding("body", 10);
  const CommandBuffer deciding = secondary("deciding", [&](CommandBuffer& c) {
    c.dispatch(kernel(shaders::conf_decide), kOne, read(decision), go);
    c.execute_if(go, body);
  });
  CommandBuffer cmd = recording();
  check_refused(ErrorCode::Unsupported, {"deciding", "conditional", "if go: body"},
                [&] { cmd.execute(deciding, Nested); });
  cmd.execute(deciding);
  decision[0] = 1;
  run(cmd);
  check_all(11);
}

TEST_CASE_FIXTURE(ConditionalFixture,
                  "conditional: kMaxNesting levels of branches and loops run on a small stack") {
  const auto work = [&] {
    CommandBuffer inner = adding("leaf", 1);
    const auto wrap = [&](Recorder& to, std::uint32_t level) {
      const Condition go = device.create_condition({.name = "go", .initial = 1});
      if (level % 2 == 0)
        to.execute_if(go, inner);
      else
        to.execute_while(go, inner, {.max_iterations = 1});
    };
    for (std::uint32_t level = 1; level < Recorder::kMaxNesting; ++level) {
      CommandBuffer outer = secondary("level", [&](CommandBuffer& c) {
        add(c, 1);
        wrap(c, level);
      });
      inner = std::move(outer);
    }
    CommandBuffer cmd = recording();
    wrap(cmd, Recorder::kMaxNesting);
    CapturedGraph graph = compile(cmd);
    graph.launch(queue).wait();
    check_all(1 + Recorder::kMaxNesting);
    CHECK(graph.loops().size() == Recorder::kMaxNesting / 2);
    CHECK(graph.to_text().size() < 1'000'000);
  };
  if (is_host())
    on_small_stack(work);
  else
    work();
}

}  // namespace reprise::test::conditional_test
