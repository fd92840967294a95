#include <vector>

#include "conformance/device_fixture.hpp"
#include "support/counting_allocator.hpp"
#include "words.shaders.hpp"

namespace reprise::test::rebind_test {
namespace {

constexpr unsigned kCount = 256;
constexpr DispatchDesc kWords{.grid = 1, .block = kCount};

// Computes out = in + 1 + 2 with two kernels.
class AddThree final : public GraphOp {
 public:
  AddThree(Kernel add, GpuRef<unsigned> in, GpuRef<unsigned> out)
      : add_(std::move(add)), in_(std::move(in)), out_(std::move(out)) {}
  [[nodiscard]] std::string_view op_name() const noexcept override { return "add_three"; }
  void declare(GraphOpDeclaration& declaration) const override {
    declaration.use(read(in_));
    declaration.use(read_write(out_));
  }
  void record(GraphRecordCtx& ctx) const override {
    ctx.dispatch(add_, kWords, read(in_), write(out_), 1u, kCount);
    ctx.dispatch(add_, kWords, read(out_), write(out_), 2u, kCount);
  }

 private:
  Kernel add_;
  GpuRef<unsigned> in_, out_;
};

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "rebind: only changed bindings set nodes") {
  constexpr unsigned kBuffers = 100;
  const Kernel set = kernel(shaders::conf_set);
  std::vector<GpuRef<unsigned>> recorded;
  CommandBuffer cmd = recording();
  for (unsigned i = 0; i < kBuffers; ++i) {
    recorded.push_back(pool->allocate<unsigned>(kCount, "b" + std::to_string(i)));
    cmd.dispatch(set, kWords, write(recorded[i]), i, kCount);
  }
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  const auto other = buffer(std::vector<unsigned>(kCount, 9999), "other");
  std::vector<BufferBinding> bindings;
  for (const auto& b : recorded) bindings.push_back({b, b});
  UpdateReport report = graph.rebind(bindings);
  CHECK(report.method == UpdateMethod::Unchanged);
  CHECK(report.nodes == 0);
  bindings[42].buffer = other;
  report = graph.rebind(bindings);
  CHECK(report.method == UpdateMethod::Nodes);
  CHECK(report.nodes == 1);
  CHECK(report.done());
  recorded[42].record_write(queue);
  const auto before = values(recorded[42]);
  graph.launch(queue).wait();
  CHECK(values(other) == std::vector<unsigned>(kCount, 42));
  CHECK(values(recorded[42]) == before);
  CHECK(graph.rebind(bindings).method == UpdateMethod::Unchanged);
  CHECK(graph.rebind({{recorded[7], recorded[7]}, {recorded[42], recorded[42]}}).nodes == 1);
  CHECK(graph.rebind(recorded[42], other).nodes == 1);
  CHECK(graph.rebind(recorded[42], recorded[42]).nodes == 1);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "rebind: it applies to copies, fills, updates and dispatches; queued replays "
                  "keep their buffers") {
  const auto x = pool->allocate<unsigned>(kCount, "x"), y = pool->allocate<unsigned>(kCount, "y");
  const auto back = pool->host<unsigned>(kCount, "back"),
             other_back = pool->host<unsigned>(kCount, "other back");
  const unsigned first = 77;
  CommandBuffer cmd = recording();
  cmd.fill(x, 5u);
  cmd.dispatch(kernel(shaders::conf_add), kWords, read(x), write(y), 1u, kCount);
  cmd.update(y.slice(0, 1), std::as_bytes(std::span(&first, 1)));
  cmd.copy(y, back);
  CapturedGraph graph = compile(cmd);
  const auto z = pool->allocate<unsigned>(2 * kCount, "z");
  static_cast<void>(graph.launch(queue));
  const BufferBinding bindings[] = {{y, z.slice(kCount, kCount)}, {back, other_back}};
  const UpdateReport report = graph.rebind(bindings);
  CHECK(report.method == UpdateMethod::Nodes);
  graph.launch(queue).wait();
  std::vector<unsigned> expected(kCount, 6);
  expected[0] = first;
  CHECK(std::vector<unsigned>(back.span().begin(), back.span().end()) == expected);
  CHECK(std::vector<unsigned>(other_back.span().begin(), other_back.span().end()) == expected);
  CHECK(values(y) == expected);
  CHECK(values(z.slice(kCount, kCount)) == expected);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "rebind: the new buffer is retained and ordered like a recorded one") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), 3u, kCount);
  CapturedGraph graph = compile(cmd);
  const auto own = device.create_pool({.label = "own"});
  auto z = own->allocate<unsigned>(kCount, "z");
  CHECK(own->live_graphs() == 0);
  CHECK(graph.rebind(x, z).done());
  CHECK(own->live_graphs() == 1);
  check_refused(ErrorCode::PoolInUse, {"own", "z"}, [&] { own->clear(); });
  // A reader on another queue waits for the graph's write.
  const auto back = pool->host<unsigned>(kCount, "back");
  CommandBuffer reading = recording();
  reading.copy(z, back);
  CapturedGraph reader = compile(reading);
  const Queue other = device.create_queue({.label = "other"});
  static_cast<void>(graph.launch(queue));
  reader.launch(other).wait();
  CHECK(back[0] == 3u);
  z = {};
  graph.launch(queue).wait();  // the graph retains the buffer
}

TEST_CASE_FIXTURE(DeviceFixture, "rebind: invalid bindings are refused and change nothing") {
  const auto x = pool->allocate<unsigned>(kCount, "x"), y = pool->allocate<unsigned>(kCount, "y"),
             z = pool->allocate<unsigned>(kCount, "z");
  const auto pinned = pool->host<unsigned>(kCount, "pinned");
  const auto t = pool->transient<unsigned>(kCount, "t");
  CommandBuffer cmd = recording({.label = "step"});
  cmd.fill(t, 1u);
  cmd.dispatch(kernel(shaders::conf_add), kWords, read(t), write(x), 1u, kCount);
  cmd.dispatch(kernel(shaders::conf_add), kWords, read(x), write(y), 1u, kCount);
  cmd.copy(y, pinned);
  cmd.host([] {}, {read(pinned)});
  CapturedGraph graph = compile(cmd);
  check_refused(ErrorCode::InvalidArgument, {"z", "no command"}, [&] { (void)graph.rebind(z, x); });
  check_refused(ErrorCode::InvalidArgument, {"x", "pinned host memory"},
                [&] { (void)graph.rebind(x, pinned); });
  check_refused(ErrorCode::InvalidArgument, {"t", "a transient"},
                [&] { (void)graph.rebind(t, z); });
  check_refused(ErrorCode::InvalidArgument, {"x", "a part of"},
                [&] { (void)graph.rebind(x.slice(0, 1), z); });
  check_refused(ErrorCode::OutOfRange, {"z", "16 bytes", "the recorded buffer has"},
                [&] { (void)graph.rebind(x, z.slice(0, 4)); });
  check_refused(ErrorCode::NotInitialized, {"empty buffer"},
                [&] { (void)graph.rebind(BufferView(), z); });
  check_refused(ErrorCode::Overlap, {"step", "share bytes"}, [&] { (void)graph.rebind(x, y); });
  check_refused(ErrorCode::Unsupported, {"pinned", "host callback"},
                [&] { (void)graph.rebind(pinned, pool->host<unsigned>(kCount, "other")); });
  const BufferBinding twice[] = {{x, z}, {x, pool->allocate<unsigned>(kCount, "w")}};
  check_refused(ErrorCode::InvalidArgument, {"named twice"}, [&] { (void)graph.rebind(twice); });
  graph.launch(queue).wait();
  CHECK(values(y) == std::vector<unsigned>(kCount, 3));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "rebind: two recorded buffers may be bound to one that is only read") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x"),
             y = buffer(std::vector<unsigned>(kCount, 2), "y");
  const auto out = pool->allocate<unsigned>(kCount, "out"),
             out2 = pool->allocate<unsigned>(kCount, "out2");
  const Kernel add = kernel(shaders::conf_add);
  CommandBuffer cmd = recording();
  cmd.dispatch(add, kWords, read(x), write(out), 10u, kCount);
  cmd.dispatch(add, kWords, read(y), write(out2), 10u, kCount);
  CapturedGraph graph = compile(cmd);
  CHECK(graph.rebind(x, y).method == UpdateMethod::Nodes);
  graph.launch(queue).wait();
  CHECK(values(out) == std::vector<unsigned>(kCount, 12));
  CHECK(values(out2) == std::vector<unsigned>(kCount, 12));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "rebind: an op is re-recorded, and queued replays keep the previous one") {
  const auto x = buffer(std::vector<unsigned>(kCount, 10), "x"),
             other = buffer(std::vector<unsigned>(kCount, 20), "other");
  const auto y = pool->allocate<unsigned>(kCount, "y"), z = pool->allocate<unsigned>(kCount, "z");
  const auto sum = buffer(std::vector<unsigned>(kCount, 0), "sum");
  const Kernel add = kernel(shaders::conf_add);
  CommandBuffer cmd = recording();
  cmd.add(AddThree(add, x, y));
  cmd.dispatch(kernel(shaders::conf_mix), kWords, read(y), read_write(sum), 0u, kCount);
  CapturedGraph graph = compile(cmd);
  static_cast<void>(graph.launch(queue));
  const UpdateReport report = graph.rebind(x, other);
  INFO("reason: ", report.reason);
  CHECK(to_string(report.method) == to_string(UpdateMethod::Nodes));
  CHECK(report.nodes == 1);
  static_cast<void>(graph.launch(queue));
  CHECK(graph.rebind(y, z).nodes == 2);
  graph.launch(queue).wait();
  unsigned expected = 0;
  for (const unsigned in : {13u, 23u, 23u}) expected = expected * 1664525u + in + 1013904223u;
  CHECK(values(sum) == std::vector<unsigned>(kCount, expected));
  CHECK(values(z) == std::vector<unsigned>(kCount, 23));
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "rebind: a failed allocation leaves all previous bindings or makes all new ones") {
  constexpr unsigned kBuffers = 8;
  const Kernel set = kernel(shaders::conf_set);
  std::vector<GpuRef<unsigned>> recorded;
  for (unsigned b = 0; b < kBuffers; ++b) recorded.push_back(pool->allocate<unsigned>(kCount, "b"));
  CommandBuffer cmd = recording();
  for (unsigned b = 0; b < kBuffers; ++b)
    cmd.dispatch(set, kWords, write(recorded[b]), b + 1, kCount);
  CapturedGraph graph = compile(cmd);
  unsigned refused = 0;
  for (bool failed = true; failed; ++refused) {
    const auto whole = buffer(std::vector<unsigned>(kBuffers * kCount, 0), "whole");
    std::vector<BufferBinding> there, back;
    for (unsigned b = 0; b < kBuffers; ++b) {
      there.push_back({recorded[b], whole.slice(b * kCount, kCount)});
      back.push_back({recorded[b], recorded[b]});
    }
    bool is_bound = false;
    {
      const FailingAllocations from(refused, 1);
      try {
        is_bound = graph.rebind(there).done();
      } catch (const std::bad_alloc&) {
      } catch (const Error&) {
      }
      failed = from.failed();
    }
    graph.launch(queue).wait();
    const std::vector<unsigned> found = values(whole);
    for (unsigned b = 0; b < kBuffers; ++b) {
      CAPTURE(refused);
      CHECK(found[b * kCount] == (is_bound ? b + 1 : 0));
    }
    REQUIRE(graph.rebind(back).done());
    REQUIRE(refused < 10'000);
  }
  CHECK(refused > 10);
}

}  // namespace reprise::test::rebind_test
