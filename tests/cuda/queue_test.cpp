// CudaQueue: the ring of events, waits with time limits, and priorities.
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <gpu_kernels.shaders.hpp>

#include "backend/cuda/cuda_queue.hpp"
#include "cuda/gpu.hpp"

namespace reprise::test {
namespace {

constexpr std::uint32_t kLaunches = 5000;  // more than twice the ring
static_assert(kLaunches > 2 * detail::CudaQueue::kRing);

struct Counter : Gpu {
  Kernel kernel;
  GpuRef<unsigned long long> value;
  Counter() {
    if (!device) return;
    kernel = device.load_kernel(shaders::gpu_count);
    value = pool->allocate<unsigned long long>(1, "counter");
    run([&](CommandBuffer& cmd) { cmd.update(value, std::as_bytes(std::span(kZero))); });
  }
  static constexpr unsigned long long kZero[1] = {0};
  [[nodiscard]] CapturedGraph counting() const {
    return compile([&](CommandBuffer& cmd) {
      cmd.dispatch(kernel, {.grid = 1, .block = 1}, read_write(value));
    });
  }
};

}  // namespace

TEST_CASE("cuda queue: the ring of events wraps; every launch runs and every fence is exact") {
  if (!have_gpu()) return;
  const Counter t;
  CapturedGraph graph = t.counting();
  std::vector<Fence> fences;
  for (std::uint32_t i = 0; i < kLaunches; ++i) fences.push_back(graph.launch(t.queue));
  CHECK(fences.back().serial() == fences.front().serial() + kLaunches - 1);
  fences.back().wait();
  for (const Fence& fence : fences) CHECK(fence.done());
  CHECK(t.read(t.value)[0] == kLaunches);
}

TEST_CASE("cuda queue: threads that wait for early fences wake while the ring wraps") {
  if (!have_gpu()) return;
  const Counter t;
  CapturedGraph graph = t.counting();
  std::atomic<std::uint32_t> served{0};
  std::vector<std::thread> waiters;
  for (std::uint32_t i = 0; i < kLaunches; ++i) {
    Fence fence = graph.launch(t.queue);
    if (i % 1000 == 0) {
      waiters.emplace_back([fence, &served] {
        fence.wait();
        ++served;
      });
    }
  }
  for (std::thread& waiter : waiters) waiter.join();
  CHECK(served == kLaunches / 1000);
  t.queue.wait_idle();
  CHECK(t.read(t.value)[0] == kLaunches);
}

TEST_CASE(
    "cuda queue: a wait with a time limit returns from a blocked stream, a wait without one sees "
    "the end") {
  if (!have_gpu()) return;
  const Gpu t;
  std::promise<void> gate;
  CapturedGraph graph = t.compile([&](CommandBuffer& cmd) {
    cmd.host([opened = gate.get_future().share()] { opened.wait(); });
  });
  const Fence fence = graph.launch(t.queue);
  CHECK_FALSE(fence.done());
  CHECK_FALSE(fence.wait_for(std::chrono::nanoseconds(0)));
  CHECK_FALSE(fence.wait_for(std::chrono::microseconds(20)));
  CHECK_FALSE(fence.wait_for(std::chrono::milliseconds(3)));
  gate.set_value();
  CHECK(fence.wait_for(std::chrono::hours(1)));
  fence.wait();
  CHECK(fence.done());
}

TEST_CASE("cuda queue: a queue's stream has its priority") {
  if (!have_gpu()) return;
  const Gpu t;
  int lowest = -77, highest = -77;
  {
    const CurrentDevice current(t.device);
    REQUIRE(cudaDeviceGetStreamPriorityRange(&lowest, &highest) == cudaSuccess);
  }
  const DeviceLimits& limits = t.device.info().limits;
  CHECK(limits.lowest_queue_priority == lowest);
  CHECK(limits.highest_queue_priority == highest);
  for (int wanted = highest; wanted <= lowest; ++wanted) {
    const Queue queue = t.device.create_queue({.label = "prioritised", .priority = wanted});
    int found = -77;
    const CurrentDevice current(t.device);
    CHECK(cudaStreamGetPriority(native_stream(queue), &found) == cudaSuccess);
    CHECK(found == wanted);
  }
}

}  // namespace reprise::test
