// Device::shut_down.
#include <doctest/doctest.h>

#include "unit/runtime/fake_backend.hpp"

#include <thread>

using namespace reprise;
using namespace reprise::test;

namespace {

struct ShutDown : FakeRun {
  GpuRef<int> x = pool->allocate<int>(16, "x");
};

}  // namespace

TEST_CASE_FIXTURE(ShutDown,
                  "shut down: handles, queues and graphs are stale, and nothing new can be made") {
  CapturedGraph graph = make_graph(device, "step", {}, x);
  const DeviceState state = device.state();
  CHECK(state.accepts_work());
  device.shut_down();
  CHECK(state.phase() == DeviceState::Phase::ShutDown);
  CHECK(device.generation() == 1);
  for (const auto& call :
       {std::function<void()>([&] { (void)graph.launch(queue); }),
        std::function<void()>([&] { graph.upload(queue); }),
        std::function<void()>([&] { (void)x.access(); }),
        std::function<void()>([&] { x.record_write(queue); }),
        std::function<void()>([&] { (void)pool->allocate<int>(4, "y"); }),
        std::function<void()>([&] { (void)device.create_queue(); }),
        std::function<void()>([&] { (void)device.load_kernel(fake_kernel()); }),
        std::function<void()>([&] { (void)make_graph(device, "new", {}, x); })}) {
    const std::string text = text_of(call);
    INFO("text: ", text);
    CHECK(error_of(call).code == ErrorCode::StaleHandle);
    CHECK(text.find("shut down") != std::string::npos);
  }
  CHECK(error_of([&] { (void)device.rebuild(); }).code == ErrorCode::InvalidState);
  device.shut_down();  // a second call has no effect
}

TEST_CASE_FIXTURE(ShutDown, "shut down: it waits for earlier launches while new work is refused") {
  CapturedGraph graph = make_graph(device, "step", {}, x);
  const Fence fence = graph.launch(queue);
  std::thread closing([&] { device.shut_down(); });
  fake.world.wait_until_a_thread_waits();
  CHECK(error_of([&] { (void)graph.launch(queue); }).code == ErrorCode::StaleHandle);
  CHECK_FALSE(fence.done());
  fake.world.complete_all();
  closing.join();
  fence.wait();
  CHECK(fence.done());
}

TEST_CASE_FIXTURE(ShutDown, "shut down: a lost device is no error and can be opened again") {
  device.simulate_loss();
  device.shut_down();
  CHECK(device.state().phase() == DeviceState::Phase::ShutDown);
  const Device again = fake.open();
  CHECK(again.state().accepts_work());
  auto y = again.create_pool()->allocate<int>(4, "y");
  CHECK_FALSE(y.is_stale());
}

TEST_CASE_FIXTURE(ShutDown, "shut down: objects dropped afterwards are freed") {
  CapturedGraph graph = make_graph(device, "step", {}, x);
  (void)graph.launch(queue);
  fake.world.complete_all();
  device.shut_down();
  graph = {};
  x = {};
  pool.reset();
  fake.world.wait_until_execs(0);
  CHECK(fake.world.execs() == 0);
}
