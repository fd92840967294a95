// The fixture of tests that need a GPU: one device for all of them. On a machine without one a test
// says so and returns, and fails where $REPRISE_REQUIRE_GPU=1. Threads: one thread at a time.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

namespace reprise::test {

// The GPU that tests run on ($REPRISE_DEVICE, else cuda:0); empty where there is none.
[[nodiscard]] const Device& gpu();
// False, with a message or a failure, where there is none. A test that gets it returns.
[[nodiscard]] bool have_gpu();

// What the calling thread's CUDA state is: no call of the engine may change it.
struct CudaState {
  CUcontext context = nullptr;
  cudaError_t pending = cudaSuccess;
  friend bool operator==(const CudaState&, const CudaState&) = default;
};
[[nodiscard]] CudaState cuda_state();  // does not clear the pending error

// Everything that a test launches with.
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
  // Runs the verbs once, to the end.
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

// The Error that `call` throws; a failure where it throws none.
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
