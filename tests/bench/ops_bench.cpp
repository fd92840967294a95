// Matrix products as ops, compared with the same cuBLAS calls in a captured graph. The chains are
// identical, so the difference is the cost of the ops' child graphs.
#if defined(REPRISE_HAS_CUDA) && defined(REPRISE_HAS_OPS)

#include <cublas_v2.h>

#include <stdexcept>
#include <string>

#include <reprise/cuda_interop.hpp>
#include <reprise/ops/gemm_op.hpp>
#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "gpu.hpp"
#include "profiled_graph.hpp"
#include "raw_graph.hpp"

namespace reprise::bench {
namespace {

constexpr std::uint32_t kProducts = 16;
constexpr std::uint64_t kWorkspace = std::uint64_t{32} << 20;

void check_blas(cublasStatus_t result, const char* call) {
  if (result != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusName(result));
}

// A stream and a captured chain of products: x = a x repeatedly, alternating between the halves of
// a buffer.
class CapturedProducts {
 public:
  CapturedProducts(std::uint32_t size, const GpuRef<float>& a, const GpuRef<float>& x) {
    REPRISE_BENCH_CUDA(cudaMalloc(&workspace_, kWorkspace));
    check_blas(cublasCreate(&handle_), "cublasCreate");
    check_blas(cublasSetStream(handle_, stream()), "cublasSetStream");
    check_blas(cublasSetWorkspace(handle_, workspace_, kWorkspace), "cublasSetWorkspace");
    cudaGraph_t graph = nullptr;
    REPRISE_BENCH_CUDA(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeRelaxed));
    const int n = static_cast<int>(size);
    const float one = 1, zero = 0;
    for (std::uint32_t i = 0; i < kProducts; ++i) {
      float* const from = x.data() + (i % 2) * std::uint64_t{size} * size;
      float* const to = x.data() + (1 - i % 2) * std::uint64_t{size} * size;
      check_blas(
          cublasGemmStridedBatchedEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, from,
                                     CUDA_R_32F, n, 0, a.data(), CUDA_R_32F, n, 0, &zero, to,
                                     CUDA_R_32F, n, 0, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmStridedBatchedEx");
    }
    REPRISE_BENCH_CUDA(cudaStreamEndCapture(stream(), &graph));
    REPRISE_BENCH_CUDA(cudaGraphInstantiate(&exec_, graph, 0));
    REPRISE_BENCH_CUDA(cudaGraphDestroy(graph));
    REPRISE_BENCH_CUDA(cudaGraphUpload(exec_, stream()));
  }
  CapturedProducts(const CapturedProducts&) = delete;
  CapturedProducts& operator=(const CapturedProducts&) = delete;
  ~CapturedProducts() {
    static_cast<void>(cudaStreamSynchronize(stream()));
    static_cast<void>(cudaGraphExecDestroy(exec_));
    static_cast<void>(cublasDestroy(handle_));
    static_cast<void>(cudaFree(workspace_));
  }

  [[nodiscard]] const TimedStream& timed() const { return timed_; }
  [[nodiscard]] cudaStream_t stream() const { return timed_.stream(); }
  void launch() const { REPRISE_BENCH_CUDA(cudaGraphLaunch(exec_, stream())); }

 private:
  TimedStream timed_;
  void* workspace_ = nullptr;
  cublasHandle_t handle_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace

void run_ops_gemm(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  if (!finds_gpu(instance)) return;
  const Device device = instance.open_device(DeviceSelector::named("cuda:0"));
  const CurrentDevice current(device);
  const auto pool = device.create_pool({.label = "products"});
  for (const std::uint32_t size : {32u, 64u, 256u, 1024u}) {
    const std::uint64_t values = std::uint64_t{size} * size;
    const auto a = pool->allocate<float>(values, "a"), x = pool->allocate<float>(2 * values, "x");
    CommandBuffer commands = device.create_command_buffer({.label = "products"});
    commands.begin();
    for (std::uint32_t i = 0; i < kProducts; ++i) {
      commands.add(SgemmOp({.a = a,
                            .b = x.slice((i % 2) * values, values),
                            .c = x.slice((1 - i % 2) * values, values),
                            .m = size,
                            .n = size,
                            .k = size,
                            .workspace_bytes = kWorkspace}));
    }
    commands.end();
    CommandBuffer clear = device.create_command_buffer({.label = "clear"});
    clear.begin();
    clear.fill(a, 0.0f);
    clear.fill(x, 0.0f);
    clear.end();
    device.compile(clear).launch(device.create_queue()).wait();
    const CapturedProducts captured(size, a, x);
    {
      CapturedGraph graph = device.compile(commands, {.pool = pool});
      const Queue queue = from_native(device, captured.stream());
      graph.upload(queue);
      const std::uint32_t launches = options.is_quick() ? 4 : 64;
      Line line{.what = "replay of 16 products, f32",
                .shape = std::to_string(size) + " x " + std::to_string(size),
                .nodes = kProducts,
                .unit = "us",
                .peer = "captured cuBLAS",
                .goal = {Goal::Of::Ratio, 1.0}};
      measure_pairs(
          line, options.is_quick() ? 3 : 21,
          [&] {
            return captured.timed().gpu_us(launches,
                                           [&] { static_cast<void>(graph.launch(queue)); });
          },
          [&] { return captured.timed().gpu_us(launches, [&] { captured.launch(); }); });
      report.add(line);
    }
    device.wait_idle();
  }
}

}  // namespace reprise::bench

#endif
