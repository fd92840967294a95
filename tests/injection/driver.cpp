// A program without Reprise that uses the driver API alone: a graph of explicit nodes whose
// parameters it changes, and a captured one. gpu_test.py checks its trace against the line that it
// prints. Exit code 0: all CUDA calls succeeded and the results are correct.
#include <cuda.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr unsigned kCount = 256;
constexpr int kReplays = 10, kChanged = 5, kCapturedKernels = 3, kCapturedReplays = 20;

// add(float* x, float value): adds to the elements of one block of threads.
constexpr const char* kModule = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 x, .param .f32 value) {
  .reg .f32 %value, %sum;
  .reg .b32 %thread;
  .reg .b64 %at, %offset;
  ld.param.u64 %at, [x];
  ld.param.f32 %value, [value];
  cvta.to.global.u64 %at, %at;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %offset, %thread, 4;
  add.s64 %at, %at, %offset;
  ld.global.f32 %sum, [%at];
  add.f32 %sum, %sum, %value;
  st.global.f32 [%at], %sum;
  ret;
}
)";

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s returned %d\n", call, static_cast<int>(result));
  std::exit(3);
}
#define CHECK_CUDA(call) check((call), #call)

void launch(CUgraphExec exec, CUstream stream, int times) {
  for (int i = 0; i < times; ++i) CHECK_CUDA(cuGraphLaunch(exec, stream));
  CHECK_CUDA(cuStreamSynchronize(stream));
}

void expect(const float* values, float expected) {
  for (unsigned i = 0; i < kCount; ++i) {
    if (values[i] == expected) continue;
    std::fprintf(stderr, "element %u is %g instead of %g\n", i, values[i], expected);
    std::exit(3);
  }
}

}  // namespace

int main() {
  if (cuInit(0) != CUDA_SUCCESS) return std::puts("skipped: no GPU"), 77;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction add = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr x = 0;
  void* host = nullptr;
  constexpr std::size_t kBytes = kCount * sizeof(float);
  CHECK_CUDA(cuDeviceGet(&device, 0));
  CHECK_CUDA(cuDevicePrimaryCtxRetain(&context, device));
  CHECK_CUDA(cuCtxSetCurrent(context));
  CHECK_CUDA(cuModuleLoadData(&module, kModule));
  CHECK_CUDA(cuModuleGetFunction(&add, module, "add"));
  CHECK_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK_CUDA(cuMemAlloc(&x, kBytes));
  CHECK_CUDA(cuMemAllocHost(&host, kBytes));

  float value = 1;
  void* arguments[] = {&x, &value};
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  kernel.func = add;
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = kCount;
  kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.kernelParams = arguments;
  CUDA_MEMSET_NODE_PARAMS fill = {};
  fill.dst = x;
  fill.elementSize = 4;
  fill.width = kCount;
  fill.height = 1;
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = x;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host;
  copy.WidthInBytes = kBytes;
  copy.Height = copy.Depth = 1;
  CUgraph graph = nullptr;
  CUgraphNode filled, first, second, copied;
  CUgraphExec exec = nullptr;
  CHECK_CUDA(cuGraphCreate(&graph, 0));
  CHECK_CUDA(cuGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill, context));
  CHECK_CUDA(cuGraphAddKernelNode(&first, graph, &filled, 1, &kernel));
  CHECK_CUDA(cuGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  CHECK_CUDA(cuGraphAddMemcpyNode(&copied, graph, &second, 1, &copy, context));
  CHECK_CUDA(cuGraphInstantiate(&exec, graph, 0));
  launch(exec, stream, kReplays);
  expect(static_cast<const float*>(host), 2);
  value = 3;
  CHECK_CUDA(cuGraphExecKernelNodeSetParams(exec, second, &kernel));
  launch(exec, stream, kChanged);
  expect(static_cast<const float*>(host), 4);

  CHECK_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  for (int i = 0; i < kCapturedKernels; ++i)
    CHECK_CUDA(cuLaunchKernel(add, 1, 1, 1, kCount, 1, 1, 0, stream, arguments, nullptr));
  CHECK_CUDA(cuStreamEndCapture(stream, &graph));
  CHECK_CUDA(cuGraphInstantiate(&exec, graph, 0));
  launch(exec, stream, kCapturedReplays);
  CHECK_CUDA(cuMemcpyDtoH(host, x, kBytes));
  expect(static_cast<const float*>(host), 4 + 3 * kCapturedKernels * kCapturedReplays);
  std::printf(R"({"graphs": 2, "replays": [%d, %d], "nodes": [4, %d], "names": ["add"]})"
              "\n",
              kReplays + kChanged, kCapturedReplays, kCapturedKernels);
}
