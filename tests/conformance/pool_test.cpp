#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::pool_test {

TEST_CASE_FIXTURE(DeviceFixture, "pool: it counts its allocations") {
  CHECK(pool->label() == "test");
  CHECK(pool->buffer_count() == 0);
  const auto x = pool->allocate<float>(100, "x");
  const auto h = pool->host<std::uint8_t>(10, "h");
  const auto t = pool->transient<float>(1000, "t");
  CHECK(pool->buffer_count() == 3);
  CHECK(pool->statistics().buffer_bytes == 400);
  CHECK(pool->statistics().pinned_bytes == 10);
  CHECK(x.kind() == BufferKind::Device);
  CHECK(h.kind() == BufferKind::PinnedHost);
  CHECK(t.kind() == BufferKind::Transient);
  CHECK(x.name() == "x");
  CHECK_FALSE(x.id() == h.id());
  CHECK(reinterpret_cast<std::uintptr_t>(x.data()) % device.info().limits.buffer_alignment == 0);
}

TEST_CASE_FIXTURE(DeviceFixture, "pool: zero elements and impossible sizes are refused") {
  check_refused(ErrorCode::InvalidArgument, {"empty", "test"},
                [&] { static_cast<void>(pool->allocate<float>(0, "empty")); });
  check_refused(ErrorCode::OutOfMemory, {"huge"},
                [&] { static_cast<void>(pool->allocate<float>(~std::uint64_t{0} / 2, "huge")); });
  check_refused(ErrorCode::OutOfMemory, {"large"}, [&] {
    static_cast<void>(pool->allocate<std::uint8_t>(std::uint64_t{1} << 50, "large"));
  });
  CHECK(pool->buffer_count() == 0);
  const auto x = buffer(std::vector<unsigned>(16, 3), "x");  // the pool remains usable
  CHECK(values(x) == std::vector<unsigned>(16, 3));
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "pool: transients that fit no slab throw OutOfMemory at compile, naming the graph") {
  const auto t = pool->transient<std::uint8_t>(std::uint64_t{1} << 50, "t");
  CommandBuffer cmd = recording({.label = "too large"});
  cmd.fill(t.slice(0, 16), 1);
  cmd.end();
  check_refused(ErrorCode::OutOfMemory, {"too large"},
                [&] { static_cast<void>(device.compile(cmd)); });
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "pool: clear is refused while a graph or recording holds a buffer, and changes nothing") {
  const auto own = device.create_pool({.label = "own"});
  const auto x = own->allocate<unsigned>(64, "x");
  {
    CommandBuffer cmd = recording({.label = "step"});
    cmd.fill(x, 4u);
    // The recording has not ended.
    check_refused(ErrorCode::PoolInUse, {"own", "x"}, [&] { own->clear(); });
    cmd.end();
    check_refused(ErrorCode::PoolInUse, {"own", "x is held by a recording"}, [&] { own->clear(); });
    CapturedGraph graph = device.compile(cmd, {.pool = own});
    CHECK(own->live_graphs() == 1);
    cmd.reset();
    check_refused(ErrorCode::PoolInUse, {"own", "x is held by graph step"}, [&] { own->clear(); });
    CHECK_FALSE(x.is_stale());
    graph.launch(queue).wait();
    CHECK(values(x) == std::vector<unsigned>(64, 4));
  }
  CHECK(own->live_graphs() == 0);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "pool: after clear, old handles are stale and new allocations work") {
  const auto own = device.create_pool({.label = "own"});
  const auto x = own->allocate<unsigned>(64, "x");
  const auto h = own->host<unsigned>(64, "h");
  const auto t = own->transient<unsigned>(64, "t");
  own->clear();
  CHECK(x.is_stale());
  CHECK(h.is_stale());
  CHECK(t.is_stale());
  device.wait_idle();
  CHECK(own->statistics().buffer_bytes == 0);
  check_refused(ErrorCode::StaleHandle, {"x", "cleared"}, [&] { static_cast<void>(x.data()); });
  CommandBuffer cmd = recording();
  check_refused(ErrorCode::StaleHandle, {"copy", "x"}, [&] { cmd.copy(x, h); });
  check_refused(ErrorCode::StaleHandle, {"fill", "t"}, [&] { cmd.fill(t, 1u); });
  check_refused(ErrorCode::StaleHandle, {"dispatch", "x"},
                [&] { cmd.dispatch(kernel(shaders::conf_set), {}, write(x), 1u, 1u); });
  const auto fresh = own->allocate<unsigned>(64, "x");
  CHECK_FALSE(fresh.id() == x.id());
  CHECK_FALSE(fresh.is_stale());
  cmd.fill(fresh, 2u);
  run(cmd);
  CHECK(values(fresh) == std::vector<unsigned>(64, 2));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "pool: clear while a destroyed graph still runs lets it complete") {
  const auto own = device.create_pool();
  const auto out = pool->host<unsigned>(4096, "out");
  {
    const auto x = own->allocate<unsigned>(4096, "x");
    CommandBuffer cmd = recording();
    cmd.dispatch(kernel(shaders::conf_set), {.grid = 16, .block = 256}, write(x), 1u, 4096u);
    cmd.dispatch(kernel(shaders::conf_churn), {.grid = 16, .block = 256}, read_write(x), 2000u,
                 4096u);
    cmd.copy(x, out);
    cmd.end();
    CapturedGraph graph = device.compile(cmd);
    static_cast<void>(graph.launch(queue));
  }
  own->clear();
  queue.wait_idle();
  unsigned expected = 1;
  for (int r = 0; r < 2000; ++r) expected = expected * 1664525u + 1013904223u;
  CHECK(out[4095] == expected);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "pool: a buffer handle reports its device, generation, address and last writer") {
  const auto x = buffer(std::vector<unsigned>(16, 7), "x");
  CHECK(x.generation() == device.generation());
  CHECK(x.device_id() == device.state().device_id());
  CHECK(x.access().data == x.data());
  CHECK(x.access().size == 16);
  CHECK(x.raw_device_ptr() == reinterpret_cast<std::uintptr_t>(x.data()));
  CHECK_FALSE(x.is_empty());
  CHECK(x.last_write_stream() == queue);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "pool: a budget for one graph or one buffer serves one after the other") {
  constexpr std::uint64_t kBytes = 4 << 20;
  const auto own = device.create_pool({.label = "own", .budget = kBytes});
  for (int i = 0; i < 200; ++i) {
    const auto t = own->transient<char>(kBytes, "t");
    CommandBuffer cmd = recording();
    cmd.fill(t, char{1});
    cmd.end();
    device.compile(cmd, {.pool = own}).launch(queue).wait();
  }
  for (int i = 0; i < 200; ++i) {
    const auto x = own->allocate<char>(kBytes, "x");
    run([&](CommandBuffer& commands) { commands.fill(x, char{1}); });
  }
  CHECK(own->statistics().peak == kBytes);
}

TEST_CASE_FIXTURE(DeviceFixture, "pool: buffers that are dropped in a loop do not accumulate") {
  const auto own = device.create_pool({.label = "own"});
  for (int i = 0; i < 6000; ++i) static_cast<void>(own->allocate<char>(4096));
  CHECK(own->statistics().peak <= 3000 * 4096);
}

}  // namespace reprise::test::pool_test
