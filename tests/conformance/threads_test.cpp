#include <atomic>
#include <thread>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::threads_test {
namespace {

constexpr unsigned kThreads = 4, kLaunches = 50;

void on_threads(const std::function<void(unsigned)>& work) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "threads: launches of one graph from many threads on one queue are serialised") {
  const auto x = buffer(std::vector<unsigned>(64, 0), "x");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 64}, read(x), write(x), 1u, 64u);
  CapturedGraph graph = compile(cmd);
  on_threads([&](unsigned) {
    for (unsigned i = 0; i < kLaunches; ++i) static_cast<void>(graph.launch(queue));
  });
  queue.wait_idle();
  CHECK(graph.num_replays() == kThreads * kLaunches);
  CHECK(values(x) == std::vector<unsigned>(64, kThreads * kLaunches));
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "threads: launches of one graph from many threads, each on its own queue, do not overlap") {
  const auto x = buffer(std::vector<unsigned>(64, 0), "x");
  const auto t = pool->transient<unsigned>(64, "t");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 64}, read(x), write(t), 1u, 64u);
  cmd.copy(t, x);
  CapturedGraph graph = compile(cmd);
  on_threads([&](unsigned) {
    const Queue own = device.create_queue();
    for (unsigned i = 0; i < kLaunches; ++i) static_cast<void>(graph.launch(own));
    own.wait_idle();
  });
  CHECK(values(x) == std::vector<unsigned>(64, kThreads * kLaunches));
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "threads: graphs that share a buffer, launched and waited for from many threads") {
  const auto x = buffer(std::vector<unsigned>(64, 0), "x");
  const Kernel add = kernel(shaders::conf_add);
  std::atomic<unsigned> waited{0};
  on_threads([&](unsigned) {
    CommandBuffer cmd = device.create_command_buffer();
    cmd.begin();
    cmd.dispatch(add, {.grid = 1, .block = 64}, read(x), write(x), 1u, 64u);
    cmd.end();
    CapturedGraph graph = device.compile(cmd, {.pool = pool});
    const Queue own = device.create_queue();
    for (unsigned i = 0; i < kLaunches; ++i) {
      graph.launch(own).wait();
      ++waited;
    }
  });
  CHECK(waited == kThreads * kLaunches);
  CHECK(values(x) == std::vector<unsigned>(64, kThreads * kLaunches));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "threads: buffers, pools and graphs are created and destroyed on many threads") {
  std::atomic<unsigned> right{0};
  on_threads([&](unsigned t) {
    const Queue own = device.create_queue();
    for (unsigned i = 0; i < 20; ++i) {
      const auto mine = device.create_pool();
      const auto x = mine->allocate<unsigned>(256, "x");
      const auto h = mine->host<unsigned>(256, "h");
      CommandBuffer cmd = device.create_command_buffer();
      cmd.begin();
      cmd.fill(x, t * 100 + i);
      cmd.copy(x, h);
      cmd.end();
      Fence fence;
      {
        CapturedGraph graph = device.compile(cmd, {.pool = mine});
        fence = graph.launch(own);
      }
      fence.wait();
      if (h[255] == t * 100 + i) ++right;
    }
  });
  CHECK(right == kThreads * 20);
}

}  // namespace reprise::test::threads_test
