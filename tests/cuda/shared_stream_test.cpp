// Buffers shared between the engine and a stream of the application: each kind of hazard, on two
// streams. The application's work blocks until the test opens a gate, so a launch that does not
// wait for it would complete long before.
#include <future>
#include <thread>

#include <gpu_kernels.shaders.hpp>
#include <reprise/cuda_interop.hpp>

#include "cuda/gpu.hpp"

namespace reprise::test {
namespace {

constexpr unsigned kWords = 256;
constexpr std::size_t kWordBytes = kWords * sizeof(std::uint32_t);

struct SharedStream {
  const Gpu t;
  cudaStream_t stream = nullptr;
  Queue application;
  GpuRef<std::uint32_t> x, y, z;
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future().share();
  bool is_open = false;

  SharedStream() {
    const CurrentDevice current(t.device);
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    application = from_native(t.device, stream, {.label = "application"});
    x = t.pool->allocate<std::uint32_t>(kWords, "x");
    y = t.pool->allocate<std::uint32_t>(kWords, "y");
    z = t.pool->allocate<std::uint32_t>(kWords, "z");
    REQUIRE(cudaMemset(x.data(), 0, kWordBytes) == cudaSuccess);
    REQUIRE(cudaMemset(y.data(), 0, kWordBytes) == cudaSuccess);
  }
  SharedStream(const SharedStream&) = delete;
  SharedStream& operator=(const SharedStream&) = delete;
  ~SharedStream() {
    open();
    if (!application) return;
    const CurrentDevice current(t.device);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    destroy();
  }
  // Drops the queue and destroys the stream, whose work may still run.
  void destroy() {
    const CurrentDevice current(t.device);
    application = Queue();
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  }

  void open() {
    if (!is_open) gate.set_value();
    is_open = true;
  }
  // Blocks the stream until open().
  void close() {
    const auto wait = [](void* data) { static_cast<std::shared_future<void>*>(data)->wait(); };
    REQUIRE(cudaLaunchHostFunc(stream, wait, &opened) == cudaSuccess);
  }
  // Replays a graph once before the stream is blocked: the first launch in CUDA may wait for it.
  [[nodiscard]] CapturedGraph warm(CapturedGraph graph) const {
    graph.launch(t.queue).wait();
    return graph;
  }
  [[nodiscard]] CapturedGraph fills(const GpuRef<std::uint32_t>& into, std::uint32_t value) const {
    return warm(t.compile([&](CommandBuffer& cmd) { cmd.fill(into, value); }));
  }
  [[nodiscard]] CapturedGraph copies(const GpuRef<std::uint32_t>& from,
                                     const GpuRef<std::uint32_t>& into) const {
    return warm(t.compile([&](CommandBuffer& cmd) { cmd.copy(from, into); }));
  }
  // Runs unrelated work a hundred times.
  void let_others_run(CapturedGraph& unrelated) const {
    for (int i = 0; i < 100; ++i) unrelated.launch(t.queue).wait();
  }
  [[nodiscard]] std::vector<std::uint32_t> values(const GpuRef<std::uint32_t>& of) const {
    return t.read(of);
  }
};

}  // namespace

TEST_CASE("cuda shared stream: a launch that reads waits for the application's write (RAW)") {
  if (!have_gpu()) return;
  SharedStream s;
  const Queue other = s.t.device.create_queue({.label = "other"});
  CapturedGraph reader = s.copies(s.x, s.y), unrelated = s.fills(s.z, 1);
  s.close();
  REQUIRE(cudaMemsetAsync(s.x.data(), 7, kWordBytes, s.stream) == cudaSuccess);
  s.x.record_write(s.application);
  CHECK(s.x.last_write_stream() == s.application);
  const Fence fence = reader.launch(other);
  s.let_others_run(unrelated);
  CHECK_FALSE(fence.done());
  s.open();
  fence.wait();
  CHECK(s.values(s.y) == std::vector<std::uint32_t>(kWords, 0x07070707u));
}

TEST_CASE("cuda shared stream: a launch that writes waits for the application's write (WAW)") {
  if (!have_gpu()) return;
  SharedStream s;
  const Queue other = s.t.device.create_queue({.label = "other"});
  CapturedGraph writer = s.fills(s.x, 5), unrelated = s.fills(s.z, 1);
  s.close();
  REQUIRE(cudaMemsetAsync(s.x.data(), 7, kWordBytes, s.stream) == cudaSuccess);
  s.x.record_write(s.application);
  const Fence fence = writer.launch(other);
  CHECK(s.x.last_write_stream() == other);
  s.let_others_run(unrelated);
  CHECK_FALSE(fence.done());
  s.open();
  fence.wait();
  CHECK(s.values(s.x) == std::vector<std::uint32_t>(kWords, 5));
}

TEST_CASE(
    "cuda shared stream: a launch that writes waits for the application's reads on the stream of "
    "an earlier launch (WAR)") {
  if (!have_gpu()) return;
  SharedStream s;
  const Queue other = s.t.device.create_queue({.label = "other"});
  CapturedGraph first = s.fills(s.x, 3), writer = s.fills(s.x, 9), unrelated = s.fills(s.z, 1);
  static_cast<void>(first.launch(s.application));
  s.close();
  REQUIRE(cudaMemcpyAsync(s.y.data(), s.x.data(), kWordBytes, cudaMemcpyDeviceToDevice, s.stream) ==
          cudaSuccess);
  const Fence fence = writer.launch(other);
  s.let_others_run(unrelated);
  CHECK_FALSE(fence.done());
  s.open();
  fence.wait();
  const CurrentDevice current(s.t.device);
  REQUIRE(cudaStreamSynchronize(s.stream) == cudaSuccess);
  CHECK(s.values(s.y) == std::vector<std::uint32_t>(kWords, 3));
  CHECK(s.values(s.x) == std::vector<std::uint32_t>(kWords, 9));
}

TEST_CASE("cuda shared stream: a launch waits for the work of a stream that was destroyed") {
  if (!have_gpu()) return;
  SharedStream s;
  const Queue other = s.t.device.create_queue({.label = "other"});
  CapturedGraph reader = s.copies(s.x, s.y), unrelated = s.fills(s.z, 1);
  s.close();
  s.x.record_write(s.application);
  const Fence recorded = s.application.last_fence();
  REQUIRE(cudaMemsetAsync(s.x.data(), 7, kWordBytes, s.stream) == cudaSuccess);  // later
  s.destroy();
  const Fence fence = reader.launch(other);
  s.let_others_run(unrelated);
  CHECK_FALSE(fence.done());
  CHECK_FALSE(recorded.done());
  s.open();
  fence.wait();
  CHECK(recorded.done());
  CHECK(s.values(s.y) == std::vector<std::uint32_t>(kWords, 0x07070707u));
  CHECK(error_of([&] { static_cast<void>(reader.launch(recorded.queue())); }).code ==
        ErrorCode::StaleHandle);
  CHECK(error_of([&] { static_cast<void>(native_stream(recorded.queue())); }).code ==
        ErrorCode::StaleHandle);
  s.t.device.wait_idle();
}

TEST_CASE(
    "cuda shared stream: threads that launch one graph destroy their streams after their queues") {
  if (!have_gpu()) return;
  const Gpu t;
  constexpr unsigned kThreads = 4, kRounds = 5, kLaunches = 100;
  const auto x = t.pool->allocate<unsigned long long>(1, "x");
  const Kernel count = t.device.load_kernel(shaders::gpu_count);
  {
    const CurrentDevice current(t.device);
    REQUIRE(cudaMemset(x.data(), 0, x.bytes()) == cudaSuccess);
  }
  CapturedGraph graph = t.compile(
      [&](CommandBuffer& cmd) { cmd.dispatch(count, {.grid = 1, .block = 1}, read_write(x)); });
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (unsigned round = 0; round < kRounds; ++round) {
        const CurrentDevice current(t.device);
        const Stream stream(t.device);
        const Queue queue = from_native(t.device, stream.stream);
        for (unsigned n = 0; n < kLaunches; ++n) static_cast<void>(graph.launch(queue));
        queue.wait_idle();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(t.read(x).front() == kThreads * kRounds * kLaunches);
}

TEST_CASE(
    "cuda shared stream: a launch that shares nothing with the application does not wait for it") {
  if (!have_gpu()) return;
  SharedStream s;
  CapturedGraph unrelated = s.fills(s.z, 1);
  s.close();
  s.x.record_write(s.application);
  unrelated.launch(s.t.queue).wait();
  s.open();
}

}  // namespace reprise::test
