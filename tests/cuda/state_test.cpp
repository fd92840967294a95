// State after calls of the engine: no pending error, no changed current context, no invalidated
// capture.
#include <thread>

#include <gpu_kernels.shaders.hpp>
#include <reprise/cuda_interop.hpp>

#include "backend/cuda/cuda_check.hpp"
#include "backend/cuda/cuda_driver.hpp"
#include "cuda/gpu.hpp"

namespace reprise::test {
namespace {

// A complete workload: memory, kernel, graph, launch, readback.
void use_everything(const Gpu& t) {
  const Kernel kernel = t.device.load_kernel(shaders::gpu_add);
  const auto data = t.pool->allocate<float>(1000, "data");
  const auto input = t.pool->host<float>(1000, "input");
  CapturedGraph graph = t.compile([&](CommandBuffer& cmd) {
    cmd.copy(input, data);
    cmd.dispatch(kernel, {.grid = ceil_div(1000, 128), .block = 128}, read_write(data), 2.0f,
                 1000u);
  });
  graph.upload(t.queue);
  const Fence fence = graph.launch(t.queue);
  static_cast<void>(fence.done());
  fence.wait();
  CHECK(t.read(data) == std::vector<float>(1000, 2.0f));
}

}  // namespace

TEST_CASE("cuda state: a thread without a context has none after using everything") {
  if (!have_gpu()) return;
  CudaState after;
  CUcontext before = nullptr;
  std::thread thread([&] {
    static_cast<void>(detail::CudaDriver::get().cuCtxGetCurrent(&before));
    use_everything(Gpu());
    after = cuda_state();
  });
  thread.join();
  CHECK(before == nullptr);
  CHECK(after.context == nullptr);
  CHECK(after.pending == cudaSuccess);
}

TEST_CASE("cuda state: another current device stays current") {
  if (!have_gpu()) return;
  int devices = 0;
  REQUIRE(cudaGetDeviceCount(&devices) == cudaSuccess);
  if (devices < 2) {
    MESSAGE("skipped: this machine has one GPU");
    return;
  }
  std::thread thread([] {  // a new thread: the current device is per thread
    CHECK(cudaSetDevice(1) == cudaSuccess);
    const CudaState before = cuda_state();
    use_everything(Gpu());
    CHECK(cuda_state() == before);
    int current = 0;
    CHECK(cudaGetDevice(&current) == cudaSuccess);
    CHECK(current == 1);
  });
  thread.join();
}

TEST_CASE("cuda state: an error that the application left pending is preserved") {
  if (!have_gpu()) return;
  const Gpu t;
  static_cast<void>(cudaGetLastError());
  REQUIRE(cudaSetDevice(-1) == cudaErrorInvalidDevice);
  const cudaError_t mine = cudaPeekAtLastError();
  use_everything(t);
  CHECK(cudaGetLastError() == mine);
}

TEST_CASE("cuda state: out of memory only throws an Error") {
  if (!have_gpu()) return;
  const Gpu t;
  const CudaState before = cuda_state();
  const ErrorDetails error = error_of(
      [&] { static_cast<void>(t.pool->allocate<std::byte>(std::uint64_t{1} << 50, "too much")); });
  CHECK(error.code == ErrorCode::OutOfMemory);
  CHECK(error.native_name == "cudaErrorMemoryAllocation");
  CHECK(cuda_state() == before);
  CHECK(t.pool->buffer_count() == 0);
  use_everything(t);
}

TEST_CASE("cuda state: cuda_check and cuda_ignore clear the pending error") {
  if (!have_gpu()) return;
  static_cast<void>(cudaGetLastError());
  CHECK(error_of([] { detail::cuda_check(cudaSetDevice(-1), "cudaSetDevice", {}); }).native_name ==
        "cudaErrorInvalidDevice");
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  detail::cuda_ignore(cudaSetDevice(-1));
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("cuda state: an operation that cannot be simulated throws Unsupported") {
  if (!have_gpu()) return;
  CHECK(error_of([] { Device(gpu()).simulate_loss(); }).code == ErrorCode::Unsupported);
  CHECK_FALSE(gpu().is_lost());
}

TEST_CASE("cuda capture: a launch on a capturing stream is refused, and the capture continues") {
  if (!have_gpu()) return;
  const Gpu t;
  const Stream stream(t.device);
  const Queue adopted = from_native(t.device, stream.stream, {.label = "adopted"});
  const Kernel kernel = t.device.load_kernel(shaders::gpu_count);
  const auto counter = t.pool->allocate<unsigned long long>(1, "counter");
  CapturedGraph graph = t.compile([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel, {.grid = 1, .block = 1}, read_write(counter));
  });
  // Not uploaded yet.
  CapturedGraph fresh =
      t.compile([&](CommandBuffer& cmd) { cmd.fill(counter.as<std::uint32_t>(), 0); });
  t.run([&](CommandBuffer& cmd) { cmd.fill(counter.as<std::uint32_t>(), 0); });
  const Fence other = graph.launch(t.queue);
  other.wait();

  const CurrentDevice current(t.device);
  REQUIRE(cudaStreamBeginCapture(stream.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  REQUIRE(cudaMemsetAsync(counter.data(), 0, 8, stream.stream) == cudaSuccess);
  const CudaState before = cuda_state();
  const ErrorDetails error = error_of([&] { static_cast<void>(graph.launch(adopted)); });
  CHECK(error.code == ErrorCode::CapturingStream);
  CHECK(error_of([&] { fresh.upload(adopted); }).code == ErrorCode::CapturingStream);
  CHECK(cuda_state() == before);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  REQUIRE(cudaStreamIsCapturing(stream.stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
  cudaGraph_t captured = nullptr;
  REQUIRE(cudaStreamEndCapture(stream.stream, &captured) == cudaSuccess);
  std::size_t nodes = 0;
  REQUIRE(cudaGraphGetNodes(captured, nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == 1);
  CHECK(cudaGraphDestroy(captured) == cudaSuccess);
  CHECK(graph.num_replays() == 1);
  graph.launch(adopted).wait();
  CHECK(graph.num_replays() == 2);
  CHECK(t.read(counter)[0] == 2);
}

TEST_CASE("cuda capture: calls of the engine do not invalidate a capture of the application") {
  if (!have_gpu()) return;
  const Gpu t;
  const Stream stream(t.device);
  const CurrentDevice current(t.device);
  REQUIRE(cudaStreamBeginCapture(stream.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  use_everything(Gpu());
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  REQUIRE(cudaStreamIsCapturing(stream.stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
  cudaGraph_t captured = nullptr;
  CHECK(cudaStreamEndCapture(stream.stream, &captured) == cudaSuccess);
  if (captured != nullptr) CHECK(cudaGraphDestroy(captured) == cudaSuccess);
}

}  // namespace reprise::test
