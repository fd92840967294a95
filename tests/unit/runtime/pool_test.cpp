#include <doctest/doctest.h>

#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;

TEST_CASE("pool: it counts buffers and bytes of each kind while their handles live") {
  FakeInstance fake;
  Device device = fake.open();
  auto pool = device.create_pool({.label = "step"});
  CHECK(pool->label() == "step");
  auto x = pool->allocate<float>(100, "x");
  auto h = pool->host<int>(10, "h");
  auto t = pool->transient<double>(50, "t");
  CHECK(pool->buffer_count() == 3);
  CHECK(pool->statistics().buffer_bytes == 400);
  CHECK(pool->statistics().pinned_bytes == 40);
  CHECK(fake.world.memory_blocks() == 2);
  x = {};
  t = {};
  CHECK(pool->buffer_count() == 1);
  device.wait_idle();
  CHECK(pool->statistics().buffer_bytes == 0);
  CHECK(fake.world.memory_blocks() == 1);
}

TEST_CASE_FIXTURE(FakeRun, "pool: a reused slot has another version") {
  auto x = pool->allocate<int>(1, "x");
  const BufferId first = x.id();
  x = pool->allocate<int>(1, "y");
  const BufferId second = x.id();
  x = {};
  x = pool->allocate<int>(1, "z");
  CHECK(first != second);
  CHECK(x.id() != first);
  CHECK(x.id() != second);
}

TEST_CASE("pool: a failed allocation is a typed error that names pool, buffer and bytes") {
  FakeInstance fake;
  Device device = fake.open();
  auto pool = device.create_pool({.label = "small"});
  fake.world.limit_bytes(100);
  const ErrorDetails memory = error_of([&] { (void)pool->allocate<int>(1000, "big"); });
  CHECK(memory.code == ErrorCode::OutOfMemory);
  CHECK(memory.stage == Stage::Allocate);
  CHECK(memory.label == "big");
  const std::string text = text_of([&] { (void)pool->allocate<int>(1000, "big"); });
  CHECK(text.find("4000 bytes of big in pool small") != std::string::npos);
  CHECK(error_of([&] { (void)pool->allocate<int>(0, "none"); }).code == ErrorCode::InvalidArgument);
  CHECK(error_of([&] { (void)pool->allocate<int>(~std::uint64_t{0}, "huge"); }).code ==
        ErrorCode::OutOfMemory);
  CHECK(error_of([&] { (void)pool->allocate_bytes(BufferKind::Device, 1, 1, 3, "odd"); }).code ==
        ErrorCode::InvalidArgument);
  CHECK(error_of([&] {
          (void)pool->allocate_bytes(BufferKind::Device, 1, 1, 4096, "wide");
        }).code == ErrorCode::InvalidArgument);
  CHECK(pool->buffer_count() == 0);
}

TEST_CASE_FIXTURE(FakeRun, "pool: the next allocation can use the memory of dropped buffers") {
  fake.world.limit_bytes(400);
  for (int i = 0; i < 50; ++i) {
    auto x = pool->allocate<int>(100, "x");
    CHECK(x.size() == 100);
    x = {};
    device.wait_idle();
  }
}

TEST_CASE("pool: live_graphs counts graphs that hold the pool or a buffer of it, each once") {
  FakeInstance fake;
  Device device = fake.open();
  auto pool = device.create_pool(), other = device.create_pool();
  auto x = pool->allocate<int>(4, "x"), y = pool->allocate<int>(4, "y");
  CapturedGraph uses = make_graph(device, "uses", x, y, pool);
  CapturedGraph holds = make_graph(device, "holds", {}, other->allocate<int>(4, "z"), pool);
  CHECK(pool->live_graphs() == 2);
  CHECK(other->live_graphs() == 1);
  CHECK(holds.has_pool());
  CHECK(holds.pool() == pool);
  CHECK(uses.pool_buffer_count() == 2);
  uses = {};
  CHECK(pool->live_graphs() == 1);
}

TEST_CASE_FIXTURE(
    FakeRun,
    "pool: clear waits for no launch, and the memory is freed when the launch of a dropped graph "
    "completes") {
  auto x = pool->allocate<int>(4, "x"), y = pool->allocate<int>(4, "y");
  Fence fence;
  {
    CapturedGraph graph = make_graph(device, "g", x, y);
    (void)graph.launch(queue);
  }
  pool->clear();
  CHECK(x.is_stale());
  CHECK(fake.world.memory_blocks() == 2);
  CHECK(fake.world.execs() == 1);
  fake.world.complete_all();
  device.wait_idle();
  CHECK(fake.world.memory_blocks() == 0);
  CHECK(fake.world.execs() == 0);
}

TEST_CASE("pool: a pool of another device is refused by compile") {
  FakeInstance fake({}, {{"host", DeviceKind::Host}, {"cuda:0", DeviceKind::Cuda}});
  Device device = fake.open(), other = fake.open("cuda:0");
  auto pool = device.create_pool();
  auto x = pool->allocate<int>(4, "x");
  CHECK(error_of([&] { (void)make_graph(device, "g", {}, x, other.create_pool()); }).code ==
        ErrorCode::WrongDevice);
}
