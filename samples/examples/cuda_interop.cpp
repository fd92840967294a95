// Adopts a stream, device memory and a CUDA graph of an application. Replays run on that stream, in
// order with the application's own work.
#include <cuda_runtime_api.h>

#include <reprise/cuda_interop.hpp>

#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void check(cudaError_t result) {
  example::check(result == cudaSuccess, cudaGetErrorString(result));
}

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance({.application = "cuda_interop"});
  Device device = instance.open_device(selector);
  if (device.info().kind != DeviceKind::Cuda)
    throw example::Skipped("the host device has no CUDA streams, memory and graphs to adopt");

  const CurrentDevice current(device);  // for the CUDA calls of the application
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  void* memory = nullptr;
  check(cudaMalloc(&memory, n * sizeof(float)));
  cudaGraph_t clear = nullptr;
  check(cudaGraphCreate(&clear, 0));
  cudaGraphNode_t node = nullptr;
  const cudaMemsetParams zeros = {memory, 0, 0, sizeof(float), n, 1};
  check(cudaGraphAddMemsetNode(&node, clear, nullptr, 0, &zeros));
  {
    Queue queue = from_native(device, stream, {.label = "application"});
    GpuRef<float> x = from_native(device, static_cast<float*>(memory), n, "x");
    CapturedGraph clearing = from_native(device, clear, {.label = "clear"});
    auto pool = device.create_pool();
    auto result = pool->host<float>(n, "result");
    CommandBuffer commands = device.create_command_buffer({.label = "add"});
    commands.begin();
    commands.dispatch(device.load_kernel(shaders::add), {.grid = ceil_div(n, 256), .block = 256},
                      1.0f, read_write(x), n);
    commands.copy(x, result);
    commands.end();
    CapturedGraph adding = device.compile(commands, {.pool = pool});
    clearing.launch(queue);
    adding.launch(queue);
    adding.launch(queue).wait();
    example::check(result[n - 1] == 2.0f, "the result after the adopted graph is wrong");
    check(cudaMemsetAsync(memory, 0, n * sizeof(float), stream));  // work of the application
    adding.launch(queue).wait();
    example::check(result[n - 1] == 1.0f, "the result after work of the application is wrong");
  }
  // Adopted objects still belong to the application.
  check(cudaGraphDestroy(clear));
  check(cudaFree(memory));
  check(cudaStreamDestroy(stream));
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
