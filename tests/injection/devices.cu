// A program without Reprise that has graphs on every device, with several threads per device;
// gpu_test.py checks its trace. Each graph is instantiated in a range with the name of its device
// and has one kernel more than the number of its device. Every thread launches its graph into its
// own stream; finally the main thread launches one graph of each device, independently of the
// current device. Prints the number of devices. Exit code 0: all CUDA calls succeeded. Usage:
// devices [FILE]; with FILE it repeats these launches until FILE exists.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "check_cuda.hpp"

namespace {

constexpr int kThreads = 4, kLaunches = 25, kCount = 1 << 12;

__global__ void add(float* x, float value, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] += value;
}

struct OfDevice {
  cudaGraphExec_t exec = nullptr;
  cudaStream_t stream = nullptr;
};

// 1 + device kernels and a fill, in a chain.
OfDevice make(int device) {
  CHECK_CUDA(cudaSetDevice(device));
  OfDevice made;
  float* x = nullptr;
  CHECK_CUDA(cudaMalloc(&x, kCount * sizeof(float)));
  CHECK_CUDA(cudaStreamCreate(&made.stream));
  CHECK_CUDA(cudaStreamBeginCapture(made.stream, cudaStreamCaptureModeThreadLocal));
  CHECK_CUDA(cudaMemsetAsync(x, 0, kCount * sizeof(float), made.stream));
  for (int i = 0; i <= device; ++i) add<<<kCount / 256, 256, 0, made.stream>>>(x, 1.f, kCount);
  cudaGraph_t graph = nullptr;
  CHECK_CUDA(cudaStreamEndCapture(made.stream, &graph));
  nvtxRangePushA(("device" + std::to_string(device)).c_str());
  CHECK_CUDA(cudaGraphInstantiate(&made.exec, graph, 0));
  nvtxRangePop();
  CHECK_CUDA(cudaGraphDestroy(graph));
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  CHECK_CUDA(cudaGetDeviceCount(&devices));
  std::vector<std::thread> threads;
  for (int i = 0; i < devices * kThreads; ++i) {
    threads.emplace_back([device = i % devices] {
      const OfDevice own = make(device);
      for (int launches = 0; launches < kLaunches; ++launches)
        CHECK_CUDA(cudaGraphLaunch(own.exec, own.stream));
      CHECK_CUDA(cudaStreamSynchronize(own.stream));
      CHECK_CUDA(cudaGraphExecDestroy(own.exec));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<OfDevice> all;
  for (int device = 0; device < devices; ++device) all.push_back(make(device));
  for (int current = 0; current < devices; ++current) {
    CHECK_CUDA(cudaSetDevice(current));
    for (const OfDevice& one : all) CHECK_CUDA(cudaGraphLaunch(one.exec, one.stream));
  }
  for (const OfDevice& one : all) CHECK_CUDA(cudaStreamSynchronize(one.stream));
  while (argc > 1 && access(argv[1], F_OK) != 0) {
    for (const OfDevice& one : all) CHECK_CUDA(cudaGraphLaunch(one.exec, one.stream));
    for (const OfDevice& one : all) CHECK_CUDA(cudaStreamSynchronize(one.stream));
    usleep(1000);
  }
  std::printf("%d\n", devices);
}
