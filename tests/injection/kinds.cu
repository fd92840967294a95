// A program without Reprise that has graphs of every kind. Each is instantiated in a range with its
// name and launched a known number of times; gpu_test.py checks the trace. Exit code 0: all CUDA
// calls succeeded. Usage: kinds [LAUNCHES per thread, default 50].
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "check_cuda.hpp"

namespace {

constexpr int kCount = 1 << 14;

__global__ void add(float* x, float value, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] += value;
}
template <class T>
__global__ void scale(T* x, T factor, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= factor;
}
__global__ void count_down(cudaGraphConditionalHandle condition, int* left) {
  cudaGraphSetConditional(condition, --*left > 0 ? 1 : 0);
}

class Range {
 public:
  explicit Range(const char* name) { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
};

// add, scale, memset.
cudaGraph_t capture(cudaStream_t stream, float* x, float value) {
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  {
    const Range forward("forward");
    add<<<kCount / 256, 256, 0, stream>>>(x, value, kCount);
    const Range layer("layer");
    scale<float><<<kCount / 256, 256, 0, stream>>>(x, 1.5f, kCount);
  }
  CHECK_CUDA(cudaMemsetAsync(x, 0, 64, stream));
  cudaGraph_t graph = nullptr;
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  return graph;
}

cudaGraphExec_t instantiate(const char* name, cudaGraph_t graph) {
  const Range range(name);
  cudaGraphExec_t exec = nullptr;
  CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

void launch(cudaGraphExec_t exec, cudaStream_t stream, int times) {
  for (int i = 0; i < times; ++i) CHECK_CUDA(cudaGraphLaunch(exec, stream));
  CHECK_CUDA(cudaDeviceSynchronize());
}

void host_function(void*) {}

struct Memory {
  float *x = nullptr, *y = nullptr, *pinned = nullptr;
};

void captured_and_updated(const Memory& memory, cudaStream_t stream, cudaGraph_t graph) {
  const cudaGraphExec_t exec = instantiate("captured", graph);
  launch(exec, stream, 10);
  launch(exec, nullptr, 5);
  launch(exec, cudaStreamPerThread, 3);
  cudaGraphExecUpdateResultInfo info = {};
  CHECK_CUDA(cudaGraphExecUpdate(exec, capture(stream, memory.y, 4.f), &info));
  launch(exec, stream, 2);
}

void explicit_nodes(const Memory& memory, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  CHECK_CUDA(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t in, kernel, out, host, empty, record;
  cudaEvent_t event = nullptr;
  CHECK_CUDA(cudaEventCreate(&event));
  CHECK_CUDA(cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, memory.x, memory.pinned,
                                      kCount * sizeof(float), cudaMemcpyHostToDevice));
  float* x = memory.x;
  float value = 2.f;
  int count = kCount;
  void* arguments[] = {&x, &value, &count};
  cudaKernelNodeParams parameters = {};
  parameters.func = reinterpret_cast<void*>(&add);
  parameters.gridDim = dim3(64);
  parameters.blockDim = dim3(256);
  parameters.kernelParams = arguments;
  CHECK_CUDA(cudaGraphAddKernelNode(&kernel, graph, &in, 1, &parameters));
  CHECK_CUDA(cudaGraphAddMemcpyNode1D(&out, graph, &kernel, 1, memory.pinned, memory.x,
                                      kCount * sizeof(float), cudaMemcpyDeviceToHost));
  const cudaHostNodeParams call = {&host_function, nullptr};
  CHECK_CUDA(cudaGraphAddHostNode(&host, graph, &out, 1, &call));
  CHECK_CUDA(cudaGraphAddEmptyNode(&empty, graph, &host, 1));
  CHECK_CUDA(cudaGraphAddEventRecordNode(&record, graph, &empty, 1, event));
  const cudaGraphExec_t exec = instantiate("explicit", graph);
  launch(exec, stream, 7);
  parameters.gridDim = dim3(32);
  CHECK_CUDA(cudaGraphExecKernelNodeSetParams(exec, kernel, &parameters));
  launch(exec, stream, 2);
  CHECK_CUDA(cudaGraphNodeSetEnabled(exec, kernel, 0));
  launch(exec, stream, 1);
}

void nested(cudaStream_t stream, cudaGraph_t inner) {
  cudaGraph_t graph = nullptr, outer = nullptr;
  cudaGraphNode_t first, second, whole;
  CHECK_CUDA(cudaGraphCreate(&graph, 0));
  CHECK_CUDA(cudaGraphAddChildGraphNode(&first, graph, nullptr, 0, inner));
  CHECK_CUDA(cudaGraphAddChildGraphNode(&second, graph, &first, 1, inner));
  launch(instantiate("children", graph), stream, 4);
  CHECK_CUDA(cudaGraphCreate(&outer, 0));
  CHECK_CUDA(cudaGraphAddChildGraphNode(&whole, outer, nullptr, 0, graph));
  launch(instantiate("grandchildren", outer), stream, 4);
  cudaGraph_t clone = nullptr;
  CHECK_CUDA(cudaGraphClone(&clone, inner));
  launch(instantiate("clone", clone), stream, 2);
}

void allocating(cudaStream_t stream) {
  float* temporary = nullptr;
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK_CUDA(cudaMallocAsync(&temporary, 1 << 20, stream));
  add<<<4, 256, 0, stream>>>(temporary, 1.f, 1024);
  CHECK_CUDA(cudaFreeAsync(temporary, stream));
  cudaGraph_t graph = nullptr;
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  launch(instantiate("allocating", graph), stream, 2);
}

void looping(const Memory& memory, cudaStream_t stream) {
  constexpr int kRounds = 5;
  int* left = nullptr;
  CHECK_CUDA(cudaMalloc(&left, sizeof(int)));
  cudaGraph_t graph = nullptr;
  CHECK_CUDA(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle condition = {};
  CHECK_CUDA(cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams parameters = {};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = condition;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  cudaGraphNode_t loop;
#if CUDART_VERSION >= 13000
  CHECK_CUDA(cudaGraphAddNode(&loop, graph, nullptr, nullptr, 0, &parameters));
#else
  CHECK_CUDA(cudaGraphAddNode(&loop, graph, nullptr, 0, &parameters));
#endif
  CHECK_CUDA(cudaStreamBeginCaptureToGraph(stream, parameters.conditional.phGraph_out[0], nullptr,
                                           nullptr, 0, cudaStreamCaptureModeThreadLocal));
  scale<float><<<8, 256, 0, stream>>>(memory.x, 2.f, 2048);
  count_down<<<1, 1, 0, stream>>>(condition, left);
  CHECK_CUDA(cudaStreamEndCapture(stream, nullptr));
  const cudaGraphExec_t exec = instantiate("looping", graph);
  for (int i = 0; i < 2; ++i) {
    CHECK_CUDA(cudaMemcpy(left, &kRounds, sizeof(int), cudaMemcpyHostToDevice));
    launch(exec, stream, 1);
  }
}

void again(cudaStream_t stream, cudaGraph_t graph) {
  for (int i = 0; i < 3; ++i) {
    const cudaGraphExec_t exec = instantiate("again", graph);
    launch(exec, stream, 1);
    CHECK_CUDA(cudaGraphExecDestroy(exec));
  }
}

void of_threads(const Memory& memory, int times) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&memory, times] {
      cudaStream_t own = nullptr;
      CHECK_CUDA(cudaStreamCreate(&own));
      const cudaGraphExec_t exec = instantiate("thread", capture(own, memory.y, 1.f));
      for (int launches = 0; launches < times; ++launches) CHECK_CUDA(cudaGraphLaunch(exec, own));
      CHECK_CUDA(cudaStreamSynchronize(own));
      CHECK_CUDA(cudaGraphExecDestroy(exec));
      CHECK_CUDA(cudaStreamDestroy(own));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  Memory memory;
  CHECK_CUDA(cudaMalloc(&memory.x, kCount * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&memory.y, kCount * sizeof(float)));
  CHECK_CUDA(cudaMallocHost(&memory.pinned, kCount * sizeof(float)));
  cudaStream_t stream = nullptr;
  CHECK_CUDA(cudaStreamCreate(&stream));
  const cudaGraph_t graph = capture(stream, memory.x, 1.f);
  captured_and_updated(memory, stream, graph);
  explicit_nodes(memory, stream);
  nested(stream, graph);
  allocating(stream);
  looping(memory, stream);
  again(stream, graph);
  of_threads(memory, argc > 1 ? std::atoi(argv[1]) : 50);
  CHECK_CUDA(cudaFree(memory.x));
  std::puts("done");
}
