// Waits between queues for buffers that several graphs, or a graph and the application, use.
#include <doctest/doctest.h>

#include <thread>

#include <reprise/stream_capture.hpp>

#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "runtime/queue/queue_core.hpp"
#include "unit/runtime/fake_backend.hpp"
#include "unit/runtime/fake_device.hpp"

using namespace reprise;
using namespace reprise::test;
using Event = FakeWorld::Event;

namespace {

struct Sharing {
  FakeInstance fake;
  Device device = fake.open();
  std::shared_ptr<CapturePool> pool = device.create_pool({.label = "pool"});
  GpuRef<int> x = pool->allocate<int>(16, "x"), y = pool->allocate<int>(16, "y"),
              z = pool->allocate<int>(16, "z");
  Queue q = device.create_queue({.label = "q"}), r = device.create_queue({.label = "r"}),
        s = device.create_queue({.label = "s"});
  [[nodiscard]] CapturedGraph writes_x(std::string_view label = "writer") {
    return make_graph(device, label, {}, x);
  }
  [[nodiscard]] CapturedGraph reads_x(GpuRef<int> into, std::string_view label = "reader") {
    return make_graph(device, label, x, into);
  }
};

Event wait(std::string_view queue, std::uint64_t serial, std::string_view other) {
  return {Event::Kind::Wait, queue, serial, other};
}

}  // namespace

TEST_CASE_FIXTURE(Sharing,
                  "sharing: a read after a write on another queue waits for the write (RAW)") {
  CapturedGraph writer = writes_x(), reader = reads_x(y);
  (void)writer.launch(q);
  (void)reader.launch(r);
  CHECK(fake.world.waits() == std::vector<Event>{wait("r", 1, "q")});
  (void)reader.launch(r);  // r is already ordered after that write
  CHECK(fake.world.waits().size() == 1);
}

TEST_CASE_FIXTURE(Sharing,
                  "sharing: a write after reads on other queues waits for each of them (WAR)") {
  CapturedGraph writer = writes_x(), reader = reads_x(y), other = reads_x(z, "other");
  (void)reader.launch(q);
  (void)other.launch(r);
  CHECK(fake.world.waits().empty());  // two reads need no order
  (void)writer.launch(s);
  CHECK(fake.world.waits() == std::vector<Event>{wait("s", 1, "q"), wait("s", 1, "r")});
}

TEST_CASE_FIXTURE(Sharing, "sharing: a write after a write on another queue waits for it (WAW)") {
  CapturedGraph one = writes_x("one"), two = writes_x("two");
  (void)one.launch(q);
  (void)two.launch(r);
  CHECK(fake.world.waits() == std::vector<Event>{wait("r", 1, "q")});
  CHECK(x.last_write_stream() == r);
}

TEST_CASE_FIXTURE(Sharing, "sharing: launches on one queue do not wait") {
  CapturedGraph writer = writes_x(), reader = reads_x(y);
  (void)writer.launch(q);
  (void)reader.launch(q);
  (void)writer.launch(q);
  CHECK(fake.world.waits().empty());
}

TEST_CASE_FIXTURE(Sharing, "sharing: launches do not wait for completed work") {
  CapturedGraph writer = writes_x(), reader = reads_x(y);
  (void)writer.launch(q);
  fake.world.complete_all();
  (void)reader.launch(r);
  CHECK(fake.world.waits().empty());
}

TEST_CASE_FIXTURE(
    Sharing, "sharing: graphs that only read a buffer together, or share none, stay unshared") {
  CapturedGraph one = reads_x(y, "one"), two = reads_x(z, "two");
  (void)one.launch(q);
  (void)two.launch(r);
  CHECK(fake.world.waits().empty());
  CHECK_FALSE(detail::core_of(one)->is_shared());
  CHECK_FALSE(detail::core_of(two)->is_shared());
}

TEST_CASE_FIXTURE(Sharing,
                  "sharing: a buffer that becomes shared later covers earlier reads and writes") {
  CapturedGraph one = reads_x(y, "one");
  (void)one.launch(q);
  CapturedGraph writer = writes_x();
  CHECK(detail::core_of(one)->is_shared());
  (void)writer.launch(r);
  CHECK(fake.world.waits() == std::vector<Event>{wait("r", 1, "q")});
  (void)one.launch(q);
  CHECK(fake.world.waits() == std::vector<Event>{wait("r", 1, "q"), wait("q", 1, "r")});
}

TEST_CASE_FIXTURE(Sharing, "sharing: a dropped graph's pending launch is still waited for") {
  {
    CapturedGraph writer = writes_x();
    (void)writer.launch(q);
  }
  CHECK(x.last_write_stream() == q);
  CapturedGraph reader = reads_x(y);
  (void)reader.launch(r);
  CHECK(fake.world.waits() == std::vector<Event>{wait("r", 1, "q")});
}

TEST_CASE_FIXTURE(Sharing,
                  "sharing: a dropped graph with completed launches leaves the next one unshared") {
  {
    CapturedGraph writer = writes_x();
    (void)writer.launch(q);
  }
  fake.world.complete_all();
  CapturedGraph reader = reads_x(y);
  CHECK_FALSE(detail::core_of(reader)->is_shared());
}

TEST_CASE_FIXTURE(
    Sharing,
    "record_write: later launches on other queues wait for the fence, those on its own do not") {
  CapturedGraph foreign = make_graph(device, "foreign", {}, z);
  CapturedGraph reader = reads_x(y);
  const Fence fence = foreign.launch(q);
  x.record_write(fence);
  CHECK(x.last_write_stream() == q);
  (void)reader.launch(q);
  CHECK(fake.world.waits().empty());
  (void)reader.launch(r);
  // The wait for the graph's own last launch also covers the earlier write on the same queue.
  CHECK(fake.world.waits().front() == wait("r", 2, "q"));
}

TEST_CASE_FIXTURE(Sharing, "record_write: a queue covers all its submissions so far") {
  CapturedGraph reader = reads_x(y);
  x.record_write(q);
  CHECK(fake.world.events().back() == Event{Event::Kind::Mark, "q", 1, {}});
  (void)reader.launch(r);
  CHECK(fake.world.waits() == std::vector<Event>{wait("r", 1, "q")});
}

TEST_CASE_FIXTURE(Sharing, "record_write: two writers of one buffer are both waited for") {
  CapturedGraph reader = reads_x(y);
  x.record_write(q);
  x.record_write(s);
  CHECK(x.last_write_stream() == s);
  (void)reader.launch(r);
  CHECK(fake.world.waits() == std::vector<Event>{wait("r", 1, "q"), wait("r", 1, "s")});
}

TEST_CASE_FIXTURE(
    Sharing,
    "record_write: a done fence has no effect; an empty queue, a transient and an empty "
    "view are errors") {
  x.record_write(Fence());
  CHECK_FALSE(x.last_write_stream());
  CHECK(error_of([&] { x.record_write(Queue()); }).code == ErrorCode::NotInitialized);
  CHECK(error_of([&] { pool->transient<int>(4, "t").record_write(q); }).code ==
        ErrorCode::Unsupported);
  CHECK(error_of([&] { GpuRef<int>().record_write(q); }).code == ErrorCode::NotInitialized);
  CHECK(error_of([&] { (void)GpuRef<int>().last_write_stream(); }).code ==
        ErrorCode::NotInitialized);
}

TEST_CASE_FIXTURE(Sharing,
                  "last_write_stream: the queue of the last launch that wrote, empty before, and "
                  "reads do not count") {
  CapturedGraph graph = reads_x(y);
  CHECK_FALSE(y.last_write_stream());
  (void)graph.launch(q);
  CHECK(y.last_write_stream() == q);
  CHECK_FALSE(x.last_write_stream());
  (void)graph.launch(r);
  CHECK(y.last_write_stream() == r);
}

TEST_CASE_FIXTURE(Sharing,
                  "adopted queue: a launch there shares its buffers, and others wait for all work "
                  "of the stream") {
  const auto core = detail::core_of(device);
  const auto stream = detail::make_handle<Queue>(
      detail::QueueCore::make(core, core->backend().create_queue({.label = "stream"}), "stream",
                              detail::QueueOrigin::Adopted));
  CapturedGraph graph = reads_x(y), next = reads_x(y, "next");
  (void)graph.launch(stream);
  CHECK(detail::core_of(graph)->is_shared());
  fake.world.complete_all();  // completes the launch, but not the application's work
  (void)next.launch(q);
  CHECK(fake.world.waits() == std::vector<Event>{wait("q", 2, "stream")});
}

namespace {

struct AdoptedQueues : Sharing {
  // A queue on a stream of the application. The fake reports its use after the last handle.
  [[nodiscard]] Queue adopt(std::string_view label) const {
    const auto core = detail::core_of(device);
    auto native = core->backend().create_queue({.label = label});
    static_cast<FakeQueue&>(*native).is_adopted = true;
    return detail::make_handle<Queue>(
        detail::QueueCore::make(core, std::move(native), label, detail::QueueOrigin::Adopted));
  }
};

}  // namespace

TEST_CASE_FIXTURE(AdoptedQueues,
                  "adopted queue: after its last handle, others wait for one last marker, and "
                  "nothing uses its stream") {
  Queue stream = adopt("stream"), copy = stream;
  CapturedGraph graph = reads_x(y), next = reads_x(y, "next");
  const Fence fence = graph.launch(stream);
  stream = Queue();
  CHECK(fake.world.events().back() == Event{Event::Kind::Launch, "stream", 1, {}});
  copy = Queue();
  CHECK(fake.world.events().back() == Event{Event::Kind::Mark, "stream", 2, {}});
  (void)next.launch(q);
  (void)next.launch(q);  // q is already ordered after that work
  (void)graph.launch(r);
  x.record_write(fence);
  r.wait(fence);
  CHECK(fake.world.waits() == std::vector<Event>{wait("q", 2, "stream"), wait("r", 1, "stream"),
                                                 wait("r", 2, "q"), wait("r", 1, "stream")});
  fake.world.complete_all();
  fake.world.clear_events();
  (void)graph.launch(s);
  fake.world.complete_all();
  device.wait_idle();
  for (const Event& event : fake.world.events()) CHECK(event.queue == "s");
  CHECK(fence.done());
}

TEST_CASE_FIXTURE(AdoptedQueues, "adopted queue: after its last handle, submissions are refused") {
  Queue stream = adopt("stream");
  CapturedGraph graph = reads_x(y);
  const Fence fence = graph.launch(stream);
  CHECK(fence.queue() == stream);
  stream = Queue();
  Queue stale = fence.queue();
  CHECK(stale.label() == "stream");
  CHECK(y.last_write_stream() == stale);
  CHECK(stale.last_fence().serial() == 2);
  CHECK(error_of([&] { (void)graph.launch(stale); }).code == ErrorCode::StaleHandle);
  CHECK(error_of([&] { x.record_write(stale); }).code == ErrorCode::StaleHandle);
  CHECK(error_of([&] { stale.wait(graph.launch(q)); }).code == ErrorCode::StaleHandle);
  CHECK(error_of([&] { (void)StreamCapture::begin(stale); }).code == ErrorCode::StaleHandle);
  CHECK(text_of([&] { (void)graph.launch(stale); })
            .find("queue stream is stale: its last handle "
                  "was dropped") != std::string::npos);
  fake.world.complete_all();
  stale.wait_idle();
}

TEST_CASE_FIXTURE(AdoptedQueues,
                  "adopted queue: threads drop their queues while others launch the same graph") {
  fake.world.set_completion(Completion::AtOnce);
  CapturedGraph graph = writes_x();
  std::vector<std::thread> threads;
  for (const std::string_view label : {"one", "two", "three"}) {
    threads.emplace_back([&, label] {
      for (int round = 0; round < 50; ++round) {
        const Queue stream = adopt(label);
        for (int i = 0; i < 5; ++i) (void)graph.launch(stream);
        stream.wait_idle();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(graph.replay_count() == 750);
  CHECK(fake.world.violations() == std::vector<std::string>());
}

TEST_CASE_FIXTURE(Sharing, "sharing: launches that access different buffers do not wait") {
  auto staging = pool->host<int>(16, "staging");
  CapturedGraph in = make_graph(device, "in", staging, x), out = make_graph(device, "out", y, z);
  (void)in.launch(q);
  (void)out.launch(r);
  CHECK(fake.world.waits().empty());
}

namespace {

struct PoolSlabs : Sharing {
  std::shared_ptr<CapturePool> sharing =
      device.create_pool({.label = "sharing", .sharing = SlabSharing::OneAtATime, .budget = 12000});
  // Fills a transient of `count` values and copies its first values to `into`.
  [[nodiscard]] CapturedGraph with_transient(std::string_view label, const GpuRef<int>& into,
                                             std::uint64_t count,
                                             const std::shared_ptr<CapturePool>& of) {
    CommandBuffer commands = device.create_command_buffer({.label = label});
    commands.begin();
    const auto t = of->transient<int>(count, "t");
    commands.fill(t, 1);
    commands.copy(t.slice(0, into.size()), into);
    commands.end();
    return device.compile(commands, {.pool = of});
  }
  [[nodiscard]] CapturedGraph sharer(std::string_view label, const GpuRef<int>& into,
                                     std::uint64_t count = 16) {
    return with_transient(label, into, count, sharing);
  }
};

}  // namespace

TEST_CASE_FIXTURE(PoolSlabs,
                  "pool slab: a launch waits for the last one of another graph on it, and only "
                  "where queues differ") {
  CapturedGraph one = sharer("one", x), two = sharer("two", y);
  (void)one.launch(q);
  (void)two.launch(r);
  CHECK(fake.world.waits() == std::vector<Event>{wait("r", 1, "q")});
  (void)two.launch(r);
  CHECK(fake.world.waits().size() == 1);
  (void)one.launch(q);
  CHECK(fake.world.waits().back() == wait("q", 2, "r"));
  CHECK(sharing->statistics().shared_slabs == 1);
  // The transients. The proxy buffer of the slab is not counted.
  CHECK(sharing->buffer_count() == 2);
  CHECK(sharing->statistics().buffer_bytes == 0);
}

TEST_CASE_FIXTURE(PoolSlabs,
                  "pool slab: graphs with their own slabs do not wait, nor does the only graph "
                  "on a shared slab") {
  CapturedGraph one = with_transient("one", x, 16, pool), two = with_transient("two", y, 16, pool);
  CapturedGraph alone = sharer("alone", z);
  (void)one.launch(q);
  (void)two.launch(r);
  (void)alone.launch(s);
  CHECK(fake.world.waits().empty());
  CHECK_FALSE(detail::core_of(one)->is_shared());
  CHECK_FALSE(detail::core_of(two)->is_shared());
}

TEST_CASE_FIXTURE(PoolSlabs,
                  "pool slab: if the slab cannot grow, a larger graph gets a new slab, which "
                  "later graphs share") {
  const std::size_t before = fake.world.memory_blocks();
  CapturedGraph one = sharer("one", x), two = sharer("two", y);
  CHECK(fake.world.memory_blocks() == before + 1);
  CapturedGraph large = sharer("large", z, 1000), after = sharer("after", x, 100);
  CHECK(fake.world.memory_blocks() == before + 2);
  const MemoryStatistics now = sharing->statistics();
  CHECK(now.shared_slabs == 2);
  CHECK(now.sharers == 4);
  CHECK(now.mapped == one.report().slab_bytes + large.report().slab_bytes);
  CHECK(sharing->trim().without_pages == 2);
  (void)one.launch(q);
  (void)large.launch(r);
  CHECK(fake.world.waits().empty());
  (void)after.launch(q);
  CHECK(fake.world.waits() == std::vector<Event>{wait("q", 1, "r")});
  fake.world.complete_all();
  large = {};
  after = {};
  fake.world.wait_until_execs(2);
  device.wait_idle();
  CHECK(sharing->statistics().mapped == one.report().slab_bytes);
}

TEST_CASE_FIXTURE(PoolSlabs, "pool slab: the error of an exhausted budget names the sharers") {
  CapturedGraph one = sharer("one", x, 2000), two = sharer("two", y, 100);
  const std::string text = text_of([&] { (void)sharer("large", z, 2500); });
  CHECK(text.find("the slab that graph large shares needs 10") != std::string::npos);
  CHECK(text.find(detail::concat("the slab shared by graphs one, two (", one.report().slab_bytes,
                                 " bytes)")) != std::string::npos);
  CHECK(text.find("pool sharing") != std::string::npos);
  CHECK(sharing->statistics().sharers == 2);
  CHECK(sharing->statistics().shared_slabs == 1);
}

TEST_CASE_FIXTURE(
    PoolSlabs,
    "pool slab: it is freed when the last launch on it completes, also after its graphs "
    "are dropped") {
  const std::size_t before = fake.world.memory_blocks();
  CapturedGraph one = sharer("one", x), two = sharer("two", y);
  CHECK(fake.world.memory_blocks() == before + 1);
  (void)one.launch(q);
  (void)two.launch(r);
  two = {};
  one = {};
  CHECK(fake.world.memory_blocks() == before + 1);
  CapturedGraph three = sharer("three", z);  // on the same slab, unless it was freed
  (void)three.launch(s);
  CHECK(fake.world.waits().back() == wait("s", 1, "r"));
  three = {};
  fake.world.complete_all();
  fake.world.wait_until_execs(0);
  device.wait_idle();
  CHECK(fake.world.memory_blocks() == before);
  CHECK(sharing->statistics().slabs == 0);
  CHECK(sharing->statistics().sharers == 0);
}
