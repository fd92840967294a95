// The fixture of tests that need a GPU: one device for all of them. Without a GPU these tests are
// skipped; they fail if $REPRISE_REQUIRE_GPU is 1. Threads: one thread at a time.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

namespace reprise::test {

// The GPU of the tests ($REPRISE_DEVICE, else cuda:0); empty if there is none.
[[nodiscard]] const Device& gpu();
// Whether there is a GPU. If not, skips the running test case or fails it; the test case returns.
[[nodiscard]] bool have_gpu();

// The calling thread's CUDA state, which no call of the engine may change.
struct CudaState {
  CUcontext context = nullptr;
  cudaError_t pending = cudaSuccess;
  friend bool operator==(const CudaState&, const CudaState&) = default;
};
[[nodiscard]] CudaState cuda_state();  // does not clear the pending error

// A stream of the application.
struct Stream {
  cudaStream_t stream = nullptr;
  explicit Stream(const Device& device) {
    const CurrentDevice current(device);
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { CHECK(cudaStreamDestroy(stream) == cudaSuccess); }
};

// The objects that a test launches with.
struct Gpu {
  Device device = gpu();
  Queue queue;
  std::shared_ptr<CapturePool> pool;
  Gpu();

  [[nodiscard]] CommandBuffer record(std::invocable<CommandBuffer&> auto&& verbs,
                                     Ordering ordering = Ordering::Inferred) const {
    CommandBuffer commands = device.create_command_buffer({.label = "test", .ordering = ordering});
    commands.begin();
    verbs(commands);
    commands.end();
    return commands;
  }
  [[nodiscard]] CapturedGraph compile(std::invocable<CommandBuffer&> auto&& verbs) const {
    return device.compile(record(verbs), {.pool = pool});
  }
  // Runs the recorded commands once and waits.
  void run(std::invocable<CommandBuffer&> auto&& verbs) const {
    CapturedGraph graph = compile(verbs);
    graph.launch(queue).wait();
  }
  template <class T>
  [[nodiscard]] std::vector<T> read(const GpuRef<T>& from) const {
    std::vector<T> bytes(from.size());
    run([&](CommandBuffer& cmd) { cmd.copy(from, borrowed(bytes)); });
    return bytes;
  }
};

// The Error that `call` throws; fails the test if it throws none.
template <class Call>
[[nodiscard]] ErrorDetails error_of(Call&& call, std::string* text = nullptr) {
  try {
    call();
  } catch (const Error& error) {
    if (text != nullptr) *text = error.what();
    return error.details();
  }
  FAIL("no Error was thrown");
  return {};
}

}  // namespace reprise::test
