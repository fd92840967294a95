#include <algorithm>
#include <stdexcept>
#include <string>

#include "conditions.shaders.hpp"
#include "conformance/device_fixture.hpp"
#include "support/counting_allocator.hpp"
#include "words.shaders.hpp"

namespace reprise::test::op_test {
namespace {

// A user's op: y = x + first + second by two kernels over a workspace.
class AddTwice final : public GraphOp {
 public:
  struct Desc {
    Kernel add;
    GpuRef<unsigned> x, y;
    unsigned first = 0, second = 0;
    std::shared_ptr<int> held = nullptr;
  };
  explicit AddTwice(Desc desc) : d_(std::move(desc)) {}

  [[nodiscard]] std::string_view op_name() const noexcept override { return "add_twice"; }
  [[nodiscard]] std::string parameters() const override {
    return "first " + std::to_string(d_.first) + ", second " + std::to_string(d_.second);
  }
  void declare(GraphOpDeclaration& declaration) const override {
    declaration.use(read(d_.x));
    declaration.use(write(d_.y));
  }
  void record(GraphRecordCtx& ctx) const override {
    const auto n = static_cast<unsigned>(d_.x.size());
    if (d_.held) ctx.keep(d_.held);
    ctx.dispatch(d_.add, {.grid = ceil_div(n, 64), .block = 64}, read(d_.x), write(d_.y), d_.first,
                 n);
    ctx.dispatch(d_.add, {.grid = ceil_div(n, 64), .block = 64}, read(d_.y), write(d_.y), d_.second,
                 n);
  }

 private:
  Desc d_;
};

// An op whose name, declare() and record() a test provides.
class Scripted final : public GraphOp {
 public:
  struct Desc {
    std::string name = "scripted", parameters = {};
    std::function<void(GraphOpDeclaration&)> declare = [](GraphOpDeclaration&) {};
    std::function<void(GraphRecordCtx&)> record = [](GraphRecordCtx&) {};
  };
  explicit Scripted(Desc desc) : d_(std::move(desc)) {}
  [[nodiscard]] std::string_view op_name() const noexcept override { return d_.name; }
  [[nodiscard]] std::string parameters() const override { return d_.parameters; }
  void declare(GraphOpDeclaration& declaration) const override { d_.declare(declaration); }
  void record(GraphRecordCtx& ctx) const override { d_.record(ctx); }

 private:
  Desc d_;
};

std::vector<unsigned> counted(std::size_t count) {
  return generated<unsigned>(count, [](std::size_t i) { return static_cast<unsigned>(i); });
}

std::vector<unsigned> plus(std::vector<unsigned> values, unsigned more) {
  for (unsigned& value : values) value += more;
  return values;
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "op: a user's op runs in recorded order in every replay") {
  const auto x = buffer(counted(200), "x");
  const auto y = pool->allocate<unsigned>(200, "y");
  const auto z = pool->transient<unsigned>(200, "z");
  const Kernel add = kernel(shaders::conf_add);
  for (const Lowering lowering : {Lowering::Auto, Lowering::Faithful}) {
    CommandBuffer cmd = recording();
    cmd.dispatch(add, {.grid = 4, .block = 64}, read(x), write(z), 1u, 200u);
    cmd.add(AddTwice({.add = add, .x = z, .y = y, .first = 10, .second = 100}));
    cmd.dispatch(add, {.grid = 4, .block = 64}, read(y), write(x), 1000u, 200u);
    CapturedGraph graph = compile(cmd, lowering);
    CHECK(graph.report().commands == 3);
    const std::vector<unsigned> before = values(x);
    for (unsigned replay = 1; replay <= 3; ++replay) {
      graph.launch(queue).wait();
      CHECK(values(x) == plus(before, 1111 * replay));
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "op: name and parameters are in plan, DOT and hash") {
  const auto x = buffer(counted(8), "x");
  const auto y = pool->allocate<unsigned>(8, "y");
  const auto hash_with = [&](unsigned first) {
    CommandBuffer cmd = recording();
    cmd.add(
        AddTwice({.add = kernel(shaders::conf_add), .x = x, .y = y, .first = first, .second = 1}));
    CapturedGraph graph = compile(cmd);
    CHECK(graph.to_text().find("\"op add_twice\"") != std::string::npos);
    CHECK(graph.to_text().find("first " + std::to_string(first) + ", second 1") !=
          std::string::npos);
    CHECK(graph.to_dot().find("0: op add_twice") != std::string::npos);
    return graph.report().plan_hash;
  };
  CHECK(hash_with(1) == hash_with(1));
  CHECK(hash_with(1) != hash_with(2));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "op: an op that is one kernel is a dispatch with the op's name and parameters") {
  const auto x = buffer(counted(200), "x");
  const auto y = pool->transient<unsigned>(200, "y");
  const auto add_to = [](const GpuRef<unsigned>& from, const GpuRef<unsigned>& to, unsigned more) {
    return Scripted({.name = "add_more",
                     .parameters = "more " + std::to_string(more),
                     .declare =
                         [=](GraphOpDeclaration& d) {
                           d.dispatch(d.load_kernel(shaders::conf_add), {.grid = 4, .block = 64},
                                      read(from), write(to), more, 200u);
                         },
                     .record = [](GraphRecordCtx&) { FAIL("the op is its dispatch"); }});
  };
  CommandBuffer secondary = recording({.level = Level::Secondary});
  secondary.add(add_to(y, x, 100));
  secondary.end();
  for (const Lowering lowering : {Lowering::Auto, Lowering::Faithful, Lowering::Persistent}) {
    CommandBuffer cmd = recording();
    std::vector<Recorder> parts = cmd.split(2);
    parts[0].add(add_to(x, y, 10));
    parts[1].execute(secondary);
    parts[1].dispatch(kernel(shaders::conf_add), {.grid = 4, .block = 64}, read(x), write(x), 1u,
                      200u);
    CapturedGraph graph = compile(cmd, lowering);
    CHECK(graph.report().commands == 3);
    CHECK(graph.report().needed_edges == 2);
    const std::string text = graph.to_text();
    CHECK(text.find("\"op add_more\"") != std::string::npos);
    CHECK(text.find("more 10\n") != std::string::npos);
    CHECK(text.find("more 100\n") != std::string::npos);
    CHECK(graph.to_dot().find("0: op add_more") != std::string::npos);
    if (lowering == Lowering::Persistent && !is_host())
      CHECK(graph.report().segments.commands == 3);
    const std::vector<unsigned> before = values(x);
    for (unsigned replay = 1; replay <= 3; ++replay) {
      graph.launch(queue).wait();
      CHECK(values(x) == plus(before, 111 * replay));
    }
    CommandBuffer changed = recording();
    changed.add(add_to(x, y, 20));
    changed.execute(secondary);
    changed.dispatch(kernel(shaders::conf_add), {.grid = 4, .block = 64}, read(x), write(x), 1u,
                     200u);
    changed.end();
    const std::uint64_t hash = graph.report().plan_hash;
    static_cast<void>(graph.update(changed));
    CHECK(graph.report().plan_hash != hash);
    graph.launch(queue).wait();
    CHECK(values(x) == plus(before, 111 * 3 + 121));
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "op: an op of a secondary runs in every execution") {
  const auto x = buffer(counted(8), "x");
  CommandBuffer secondary = recording({.level = Level::Secondary});
  secondary.add(
      AddTwice({.add = kernel(shaders::conf_add), .x = x, .y = x, .first = 1, .second = 2}));
  secondary.end();
  run([&](CommandBuffer& cmd) {
    cmd.execute(secondary);
    cmd.add(
        AddTwice({.add = kernel(shaders::conf_add), .x = x, .y = x, .first = 10, .second = 20}));
    cmd.execute(secondary);
  });
  CHECK(values(x) == plus(counted(8), 36));
}

TEST_CASE_FIXTURE(DeviceFixture, "op: recorders of split() keep their ops") {
  const auto x = buffer(counted(8), "x");
  const auto y = pool->allocate<unsigned>(8, "y");
  run([&](CommandBuffer& cmd) {
    std::vector<Recorder> parts = cmd.split(2);
    parts[1].add(
        AddTwice({.add = kernel(shaders::conf_add), .x = y, .y = x, .first = 5, .second = 6}));
    parts[0].add(
        AddTwice({.add = kernel(shaders::conf_add), .x = x, .y = y, .first = 1, .second = 2}));
  });
  CHECK(values(x) == plus(counted(8), 14));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "op: workspaces of ordered ops share bytes, those of concurrent ops do not") {
  const auto x = buffer(counted(8), "x");
  const auto y = buffer(counted(8), "y");
  const auto op_on = [&](const GpuRef<unsigned>& on) {
    return Scripted({.name = "scratch",
                     .declare =
                         [on](GraphOpDeclaration& declaration) {
                           declaration.use(read_write(on));
                           CHECK(declaration.workspace(4096) == 0);
                           CHECK(declaration.workspace(100, 16) == 1);
                         },
                     .record =
                         [](GraphRecordCtx& ctx) {
                           const auto first = reinterpret_cast<std::uintptr_t>(ctx.workspace(0));
                           const auto second = reinterpret_cast<std::uintptr_t>(ctx.workspace(1));
                           CHECK(first % 256 == 0);
                           CHECK(second % 16 == 0);
                           CHECK((second >= first + 4096 || first >= second + 100));
                           check_refused(ErrorCode::OutOfRange, {"scratch", "workspace 2"},
                                         [&] { static_cast<void>(ctx.workspace(2)); });
                         }});
  };
  CommandBuffer chain = recording();
  chain.add(op_on(x));
  chain.add(op_on(x));
  CommandBuffer wide = recording();
  wide.add(op_on(x));
  wide.add(op_on(y));
  const std::uint64_t of_chain = compile(chain).report().slab_bytes;
  CHECK(of_chain >= 4196);
  CHECK(of_chain < 2 * 4196);
  CHECK(compile(wide).report().slab_bytes >= 2 * 4196);
}

TEST_CASE_FIXTURE(DeviceFixture, "op: an op that records nothing is an empty node") {
  const auto x = buffer(counted(8), "x");
  run([&](CommandBuffer& cmd) {
    cmd.add(Scripted({.declare = [&](GraphOpDeclaration& d) { d.use(read(x)); }}));
  });
  CHECK(values(x) == counted(8));
}

TEST_CASE_FIXTURE(DeviceFixture, "op: objects passed to keep() live as long as the graph") {
  const auto x = buffer(counted(8), "x");
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> alive = held;
  {
    CommandBuffer cmd = recording();
    cmd.add(Scripted({.record = [held = std::move(held)](GraphRecordCtx& ctx) mutable {
      ctx.keep(std::exchange(held, nullptr));
    }}));
    CapturedGraph graph = compile(cmd);
    cmd.reset();
    CHECK(!alive.expired());
    graph.launch(queue).wait();
  }
  device.wait_idle();
}

TEST_CASE_FIXTURE(DeviceFixture, "op: invalid ops are refused and record nothing") {
  CommandBuffer cmd = recording();
  check_refused(ErrorCode::InvalidArgument, {"add", "op is null"},
                [&] { cmd.add(std::shared_ptr<const GraphOp>()); });
  check_refused(ErrorCode::InvalidArgument, {"name"}, [&] { cmd.add(Scripted({.name = ""})); });
  check_refused(ErrorCode::NotInitialized, {"op scripted", "empty buffer"}, [&] {
    cmd.add(Scripted({.declare = [](GraphOpDeclaration& d) { d.use(read(GpuRef<int>())); }}));
  });
  check_refused(ErrorCode::InvalidArgument, {"op scripted", "workspace of 0 bytes"}, [&] {
    cmd.add(Scripted({.declare = [](GraphOpDeclaration& d) { d.workspace(0); }}));
  });
  check_refused(ErrorCode::InvalidArgument, {"op scripted", "aligned to 48"}, [&] {
    cmd.add(Scripted({.declare = [](GraphOpDeclaration& d) { d.workspace(64, 48); }}));
  });
  check_refused(ErrorCode::InvalidArgument, {"op scripted", "aligned to 512", "up to 256"}, [&] {
    cmd.add(Scripted({.declare = [](GraphOpDeclaration& d) { d.workspace(64, 512); }}));
  });
  const auto x = pool->allocate<unsigned>(8, "x");
  const Kernel add = kernel(shaders::conf_add);
  const DispatchDesc one = {.grid = 1, .block = 8};
  check_refused(ErrorCode::InvalidArgument, {"add at", "op scripted", "also accesses"}, [&] {
    cmd.add(Scripted({.declare = [&](GraphOpDeclaration& d) {
      d.use(read(x));
      d.dispatch(add, one, read(x), write(x), 1u, 8u);
    }}));
  });
  check_refused(ErrorCode::NotInitialized, {"add at", "Kernel is empty"}, [&] {
    cmd.add(Scripted({.declare = [&](GraphOpDeclaration& d) { d.dispatch(Kernel(), one); }}));
  });
  check_refused(ErrorCode::ArgumentSize, {"add at", "conf_add"}, [&] {
    cmd.add(Scripted(
        {.declare = [&](GraphOpDeclaration& d) { d.dispatch(add, one, 1.0, 1u, 1u, 8u); }}));
  });
  check_refused(ErrorCode::Unsupported, {"conf_add", "belongs to no recording"}, [] {
    static_cast<void>(GraphOpDeclaration(DeviceKind::Host, 0).load_kernel(shaders::conf_add));
  });
  CommandBuffer of_closed = instance.open_device(selector_of_this_run()).create_command_buffer();
  of_closed.begin();
  check_refused(ErrorCode::InvalidState, {"no kernel can be loaded", "is closed"}, [&] {
    of_closed.add(Scripted({.declare = [](GraphOpDeclaration& d) {
      static_cast<void>(d.load_kernel(shaders::conf_add));
    }}));
  });
  CHECK_THROWS_AS(
      cmd.add(Scripted({.declare = [](GraphOpDeclaration&) { throw std::runtime_error("no"); }})),
      std::runtime_error);
  CHECK(cmd.command_count() == 0);
}

TEST_CASE_FIXTURE(DeviceFixture, "op: kernels may write what separate declarations list") {
  const auto x = buffer(counted(8), "x");
  run([&](CommandBuffer& cmd) {
    cmd.add(Scripted({.declare =
                          [&](GraphOpDeclaration& d) {
                            d.use(read(x));
                            d.use(write(x.slice(0, 4)));
                          },
                      .record =
                          [&](GraphRecordCtx& ctx) {
                            ctx.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 8},
                                         read(x.slice(4, 4)), read_write(x.slice(0, 4)), 1u, 4u);
                          }}));
  });
  CHECK(values(x) == std::vector<unsigned>{5, 6, 7, 8, 4, 5, 6, 7});
}

TEST_CASE_FIXTURE(DeviceFixture, "op: an instantiation error names the command and the op") {
  const auto x = buffer(counted(8), "x");
  const auto y = buffer(counted(8), "y");
  const auto z = buffer(counted(8), "z");
  const Kernel add = kernel(shaders::conf_add);
  const auto refused = [&](ErrorCode code, std::initializer_list<std::string_view> parts,
                           std::function<void(GraphRecordCtx&)> record) {
    CommandBuffer cmd = recording();
    cmd.fill(y, 0u);
    cmd.add(Scripted({.declare =
                          [&](GraphOpDeclaration& d) {
                            d.use(read_write(x.slice(2, 4)));
                            d.use(read(z));
                          },
                      .record = std::move(record)}));
    cmd.end();
    const Error error = thrown_by([&] { static_cast<void>(device.compile(cmd, {.pool = pool})); });
    CHECK(error.details().command == 1);
    CHECK(error.stage() == Stage::Instantiate);
    check_refused(code, parts, [&] { throw error; });
  };
  refused(ErrorCode::InvalidArgument, {"op scripted", "requested y"},
          [&](GraphRecordCtx& ctx) { static_cast<void>(ctx.address(y)); });
  refused(ErrorCode::InvalidArgument, {"op scripted", "requested x, bytes 0 to 32"},
          [&](GraphRecordCtx& ctx) { static_cast<void>(ctx.address(x)); });
  refused(ErrorCode::InvalidArgument,
          {"op scripted", "conf_add writes z, bytes 0 to 32", "read only"},
          [&](GraphRecordCtx& ctx) {
            ctx.dispatch(add, {.grid = 1, .block = 8}, read(z), read_write(z), 1u, 8u);
          });
  refused(ErrorCode::ArgumentCount, {"op scripted", "conf_add takes 4"}, [&](GraphRecordCtx& ctx) {
    ctx.dispatch(add, {.grid = 1, .block = 4}, read(x.slice(2, 4)));
  });
  refused(ErrorCode::ArgumentType, {"op scripted", "argument 2", "double 1.5"},
          [&](GraphRecordCtx& ctx) {
            ctx.dispatch(add, {.grid = 1, .block = 4}, read(x.slice(2, 4)), write(x.slice(2, 4)),
                         1.5, 4u);
          });
  refused(ErrorCode::ArgumentSize, {"op scripted", "argument 1", "expected a buffer"},
          [&](GraphRecordCtx& ctx) {
            ctx.dispatch(add, {.grid = 1, .block = 4}, read(x.slice(2, 4)), 1u, 1u, 4u);
          });
  refused(ErrorCode::Unsupported, {"op scripted", "argument 1", "ops cannot set conditions"},
          [&](GraphRecordCtx& ctx) {
            ctx.dispatch(kernel(shaders::conf_decide), {.grid = 1, .block = 1}, read(x.slice(2, 1)),
                         read(x.slice(2, 4)));
          });
  refused(ErrorCode::LaunchLimits, {"op scripted", "is empty"}, [&](GraphRecordCtx& ctx) {
    ctx.dispatch(add, {.grid = 0, .block = 4}, read(x.slice(2, 4)), write(x.slice(2, 4)), 1u, 4u);
  });
  const auto too_large = [&](std::string_view part, const DispatchDesc& desc) {
    refused(ErrorCode::LaunchLimits, {"op scripted", "conf_add", part}, [&](GraphRecordCtx& ctx) {
      ctx.dispatch(add, desc, read(x.slice(2, 4)), write(x.slice(2, 4)), 1u, 4u);
    });
  };
  too_large("the grid of 4294967295 x 1 x 1", {.grid = ceil_div(std::uint64_t{1} << 33, 1)});
  too_large("the grid of 1 x 65536 x 1", {.grid = {1, 65536}});
  too_large("the block of 1 x 1 x 65", {.grid = 1, .block = {1, 1, 65}});
  too_large("has 2048 threads", {.grid = 1, .block = {64, 32}});
  too_large("bytes of dynamic shared memory", {.grid = 1, .block = 4, .shared_bytes = 1u << 30});
  if (is_host()) {
    refused(ErrorCode::Unsupported, {"no stream"},
            [&](GraphRecordCtx& ctx) { static_cast<void>(ctx.native_stream()); });
    refused(ErrorCode::InvalidArgument, {"has no function"},
            [&](GraphRecordCtx& ctx) { ctx.host({}); });
  } else {
    refused(ErrorCode::Unsupported, {"host device"},
            [&](GraphRecordCtx& ctx) { ctx.host([](std::uint32_t) {}); });
  }
  CHECK(values(x) == counted(8));
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "op: host steps run in order, piece by piece, and the fence rethrows their exceptions") {
  if (!is_host()) return;
  const auto x = buffer(std::vector<unsigned>(1000, 1), "x");
  CommandBuffer cmd = recording();
  cmd.add(Scripted({.declare = [&](GraphOpDeclaration& d) { d.use(read_write(x)); },
                    .record =
                        [&](GraphRecordCtx& ctx) {
                          unsigned* const at = ctx.address(x);
                          ctx.host(
                              [at](std::uint32_t piece) {
                                std::for_each(at + 10 * piece, at + 10 * piece + 10,
                                              [](unsigned& v) { v += 2; });
                              },
                              100);
                          ctx.host([at](std::uint32_t) {
                            std::for_each(at, at + 1000, [](unsigned& v) { v *= 10; });
                          });
                          ctx.host(
                              [](std::uint32_t piece) {
                                if (piece == 3) throw std::runtime_error("piece 3");
                              },
                              5);
                        }}));
  CapturedGraph graph = compile(cmd);
  const Fence fence = graph.launch(queue);
  CHECK_THROWS_WITH_AS(fence.wait(), "piece 3", std::runtime_error);
  CHECK(values(x) == std::vector<unsigned>(1000, 30));
}

TEST_CASE_FIXTURE(DeviceFixture, "op: it works after the device was lost and rebuilt") {
  if (!is_host()) return;
  const auto x = buffer(counted(8), "x");
  CommandBuffer cmd = recording();
  cmd.add(Scripted({.declare =
                        [&](GraphOpDeclaration& d) {
                          d.use(read_write(x));
                          d.workspace(64);
                        },
                    .record =
                        [&](GraphRecordCtx& ctx) {
                          auto* const at = ctx.address(x);
                          auto* const scratch = static_cast<unsigned*>(ctx.workspace());
                          ctx.host([=](std::uint32_t) {
                            for (unsigned i = 0; i < 8; ++i) scratch[i] = 7 * i;
                            std::copy(scratch, scratch + 8, at);
                          });
                        }}));
  cmd.end();
  device.simulate_loss();
  const std::vector<RebuiltBuffer> rebuilt = device.rebuild();
  REQUIRE(rebuilt.size() == 1);
  queue = device.create_queue();
  CapturedGraph graph = device.compile(cmd, {});
  graph.launch(queue).wait();
  const auto expected =
      generated<unsigned>(8, [](std::size_t i) { return static_cast<unsigned>(7 * i); });
  pool = device.create_pool({.label = "after"});
  CHECK(values(GpuRef<unsigned>(rebuilt[0].after)) == expected);
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "op: a failed allocation while a graph with an op, a callback and a loop is compiled throws") {
  constexpr unsigned kCount = 64;
  const auto x = buffer(std::vector<unsigned>(kCount, 5), "x");
  const auto y = buffer(std::vector<unsigned>(kCount, 0), "y");
  const Kernel add = kernel(shaders::conf_add), step = kernel(shaders::conf_step);
  const Condition go = device.create_condition({.name = "go", .initial = 1});
  int calls = 0;
  CommandBuffer body = recording({.label = "body", .level = Level::Secondary});
  body.dispatch(step, {.grid = 1, .block = kCount}, read_write(y), 20u, kCount, go);
  body.end();
  CommandBuffer cmd = recording();
  cmd.add(std::make_shared<AddTwice>(AddTwice::Desc{add, x, y, 1, 2}));
  cmd.host([&calls] { ++calls; });
  cmd.execute_while(go, body);
  cmd.end();
  // The first round ends early: the plan is cached as soon as it is complete.
  for (int round = 0; round < 2; ++round) {
    std::uint64_t refused = 0;
    for (bool failed = true; failed; refused += failed ? 1 : 0) {
      const FailingAllocations from(refused, 1);
      try {
        static_cast<void>(device.compile(cmd, {.pool = pool}));
      } catch (const std::bad_alloc&) {
      } catch (const Error&) {
      }
      failed = from.failed();
      REQUIRE(refused < 10'000);
    }
    CHECK(refused > 50);
  }
  device.compile(cmd, {.pool = pool}).launch(queue).wait();
  CHECK(values(y) == std::vector<unsigned>(kCount, 20));
  CHECK(calls == 1);
}

}  // namespace reprise::test::op_test
