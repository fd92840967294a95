#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <numeric>
#include <optional>
#include <thread>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::lifetime_test {
namespace {

constexpr unsigned kCount = 4096;
constexpr DispatchDesc kWords{.grid = kCount / 256, .block = 256};

// All objects of a replay; each can be destroyed separately.
struct ReplayObjects {
  std::optional<CommandBuffer> commands;
  std::optional<CapturedGraph> graph;
  std::shared_ptr<CapturePool> pool;
  std::optional<GpuRef<unsigned>> buffer;
  std::optional<GpuRef<unsigned>> transient;
  std::optional<Kernel> kernel;
  std::optional<Queue> queue;
  std::optional<Fence> fence;

  void drop(int which) {
    switch (which) {
      case 0: commands.reset(); return;
      case 1: graph.reset(); return;
      case 2: pool.reset(); return;
      case 3: buffer.reset(); return;
      case 4: transient.reset(); return;
      case 5: kernel.reset(); return;
      case 6: queue.reset(); return;
      case 7: fence.reset(); return;
    }
  }
  static constexpr int kParts = 8;
};

// Makes the objects of a graph whose replay waits for `go` and then writes `out`. The returned
// objects do not own `out`.
ReplayObjects make_objects(const DeviceFixture& f, const HostRef<unsigned>& out,
                           std::shared_future<void> go, unsigned value) {
  ReplayObjects objects;
  objects.pool = f.device.create_pool({.label = "objects"});
  objects.buffer = objects.pool->allocate<unsigned>(kCount, "buffer");
  objects.transient = objects.pool->transient<unsigned>(kCount, "transient");
  objects.kernel = f.device.load_kernel(shaders::conf_add);
  objects.queue = f.device.create_queue({.label = "objects"});
  objects.commands.emplace(f.recording({.label = "objects", .ordering = Ordering::Linear}));
  objects.commands->host([go = std::move(go)] { go.wait(); });
  objects.commands->fill(*objects.transient, value);
  objects.commands->dispatch(*objects.kernel, kWords, read(*objects.transient),
                             write(*objects.buffer), 1u, kCount);
  objects.commands->copy(*objects.buffer, out);
  objects.commands->end();
  objects.graph.emplace(f.device.compile(*objects.commands, {.pool = objects.pool}));
  return objects;
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "lifetime: a kept, complete fence keeps neither its graph nor the graph's "
                  "memory") {
  const auto own = device.create_pool({.label = "own"});
  const auto x = own->allocate<unsigned>(kCount, "x");
  Fence fence;
  {
    const auto t = own->transient<unsigned>(kCount, "t");
    CommandBuffer cmd = recording();
    cmd.fill(t, 1u);
    cmd.copy(t, x);
    cmd.end();
    fence = device.compile(cmd, {.pool = own}).launch(queue);
  }
  fence.wait();
  device.wait_idle();
  CHECK(own->live_graphs() == 0);
  CHECK(own->statistics().slabs == 0);
  own->clear();
  CHECK(fence.done());
  CHECK(fence.replay() == 1);
  CHECK(fence.queue() == queue);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "lifetime: objects can be destroyed in any order during a replay") {
  std::array<int, ReplayObjects::kParts> order{};
  std::iota(order.begin(), order.end(), 0);
  const std::size_t buffers_before = pool->buffer_count();
  for (unsigned round = 0; round < 24; ++round) {
    CAPTURE(round);
    const auto out = pool->host<unsigned>(kCount, "out");
    {
      std::promise<void> go;
      ReplayObjects objects = make_objects(*this, out, go.get_future().share(), round);
      objects.fence = objects.graph->launch(*objects.queue);
      const Fence watched = *objects.fence;
      for (const int which : order) objects.drop(which);
      go.set_value();
      watched.wait();
    }
    CHECK(std::all_of(out.span().begin(), out.span().end(),
                      [round](unsigned v) { return v == round + 1; }));
    // Over the iterations each object is destroyed at every position, in both directions.
    std::rotate(order.begin(), order.begin() + 1 + round % 3, order.end());
    if (round % 8 == 7) std::reverse(order.begin(), order.end());
  }
  device.wait_idle();
  CHECK(pool->buffer_count() == buffers_before);
  CHECK(pool->live_graphs() == 0);
}

TEST_CASE_FIXTURE(DeviceFixture, "lifetime: all objects can be destroyed without waiting") {
  const auto out = pool->host<unsigned>(kCount, "out");
  std::promise<void> go;
  {
    ReplayObjects objects = make_objects(*this, out, go.get_future().share(), 41);
    static_cast<void>(objects.graph->launch(*objects.queue));
    static_cast<void>(objects.graph->launch(*objects.queue));
  }
  go.set_value();
  // A later launch that accesses `out` is ordered after both replays.
  run([&](CommandBuffer& cmd) { cmd.copy(out, pool->transient<unsigned>(kCount, "t")); });
  CHECK(out[0] == 42);
  CHECK(out[kCount - 1] == 42);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "lifetime: memory is freed and graphs run while a callback waits") {
  const auto own = device.create_pool({.label = "own"});
  CommandBuffer waiting = recording({.label = "waiting"});
  std::promise<void> begun, go;
  bool was_released = false;
  waiting.host([&, released = go.get_future().share()] {
    begun.set_value();
    was_released = released.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
  });
  CapturedGraph waiting_graph = compile(waiting);
  Fence waited;
  {
    const auto x = own->allocate<unsigned>(kCount, "x");
    const auto h = own->host<unsigned>(kCount, "h");
    const Kernel add = device.load_kernel(shaders::conf_set);
    CommandBuffer cmd = recording();
    cmd.dispatch(add, kWords, write(x), 0u, kCount);
    cmd.copy(x, h);
    CapturedGraph graph = compile(cmd);
    graph.launch(queue).wait();
    waited = waiting_graph.launch(device.create_queue({.label = "waiting"}));
    begun.get_future().wait();
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (own->statistics().buffer_bytes != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  CHECK(own->statistics().buffer_bytes == 0);
  run([&](CommandBuffer& cmd) { cmd.fill(pool->transient<unsigned>(kCount, "t"), 1u); });
  CHECK_FALSE(waited.done());
  go.set_value();
  waited.wait();
  CHECK(was_released);
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "lifetime: a buffer's memory is freed with its last handle, recording and graph") {
  const auto own = device.create_pool();
  CommandBuffer cmd = recording();
  {
    auto x = own->allocate<unsigned>(1000, "x");
    CHECK(own->buffer_count() == 1);
    CHECK(own->statistics().buffer_bytes == 4000);
    cmd.fill(x, 1u);
    cmd.end();
  }
  CHECK(own->buffer_count() == 1);  // retained by the recording
  {
    CapturedGraph graph = device.compile(cmd);
    cmd.reset();
    CHECK(own->buffer_count() == 1);  // retained by the graph
    graph.launch(queue).wait();
  }
  device.wait_idle();
  CHECK(own->buffer_count() == 0);
  CHECK(own->statistics().buffer_bytes == 0);
}

TEST_CASE_FIXTURE(DeviceFixture, "lifetime: a destroyed queue completes its work") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), 0u, kCount);
  cmd.dispatch(kernel(shaders::conf_churn), kWords, read_write(x), 1000u, kCount);
  CapturedGraph graph = compile(cmd);
  Fence fence;
  {
    const Queue other = device.create_queue();
    for (int i = 0; i < 5; ++i) fence = graph.launch(other);
  }
  fence.wait();
  unsigned expected = 0;
  for (int r = 0; r < 1000; ++r) expected = expected * 1664525u + 1013904223u;
  CHECK(values(x) == std::vector<unsigned>(kCount, expected));
}

TEST_CASE("lifetime: handles outlive their device and their instance") {
  GpuRef<unsigned> x;
  HostRef<unsigned> h;
  Fence fence;
  CapturedGraph graph;
  Queue queue;
  {
    const DeviceFixture f;
    x = f.pool->allocate<unsigned>(64, "x");
    h = f.pool->host<unsigned>(64, "h");
    CommandBuffer cmd = f.recording();
    cmd.fill(x, 8u);
    cmd.copy(x, h);
    graph = f.compile(cmd);
    queue = f.queue;
  }
  fence = graph.launch(queue);
  fence.wait();
  CHECK(h[63] == 8);
  CHECK_FALSE(x.is_stale());
  queue = Queue();
  graph = CapturedGraph();
  CHECK(h[0] == 8);
}

}  // namespace reprise::test::lifetime_test
