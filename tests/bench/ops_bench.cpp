// Matrix products and Fourier transforms as ops, compared with the same calls of cuBLAS and cuFFT
// in a captured graph. Small ones are kernels of the ops; for larger ones, the difference is the
// cost of child graphs.
#if defined(REPRISE_HAS_CUDA) && defined(REPRISE_HAS_OPS)

#include <cublas_v2.h>
#include <cufft.h>

#include <complex>
#include <memory>
#include <stdexcept>
#include <string>

#include <reprise/cuda_interop.hpp>
#include <reprise/ops/fft_op.hpp>
#include <reprise/ops/gemm_op.hpp>
#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "gpu.hpp"
#include "profiled_graph.hpp"
#include "raw_graph.hpp"

namespace reprise::bench {
namespace {

constexpr std::uint32_t kOps = 16;  // in a chain, alternating between the halves of a buffer
constexpr std::uint64_t kWorkspace = std::uint64_t{32} << 20;

void check_blas(cublasStatus_t result, const char* call) {
  if (result != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusName(result));
}

void check_fft(cufftResult result, const char* call) {
  if (result != CUFFT_SUCCESS)
    throw std::runtime_error(std::string(call) + ": error " + std::to_string(result));
}

// A stream, and a graph of what record() adds to it.
class Captured {
 public:
  template <class Record>
  explicit Captured(Record&& record) {
    cudaGraph_t graph = nullptr;
    REPRISE_BENCH_CUDA(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeRelaxed));
    record(stream());
    REPRISE_BENCH_CUDA(cudaStreamEndCapture(stream(), &graph));
    REPRISE_BENCH_CUDA(cudaGraphInstantiate(&exec_, graph, 0));
    REPRISE_BENCH_CUDA(cudaGraphDestroy(graph));
    REPRISE_BENCH_CUDA(cudaGraphUpload(exec_, stream()));
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() {
    static_cast<void>(cudaStreamSynchronize(stream()));
    static_cast<void>(cudaGraphExecDestroy(exec_));
  }

  [[nodiscard]] const TimedStream& timed() const { return timed_; }
  [[nodiscard]] cudaStream_t stream() const { return timed_.stream(); }
  void launch() const { REPRISE_BENCH_CUDA(cudaGraphLaunch(exec_, stream())); }

 private:
  TimedStream timed_;
  cudaGraphExec_t exec_ = nullptr;
};

// A handle of cuBLAS with a workspace.
class Blas {
 public:
  Blas() {
    REPRISE_BENCH_CUDA(cudaMalloc(&workspace_, kWorkspace));
    check_blas(cublasCreate(&handle_), "cublasCreate");
  }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  ~Blas() {
    static_cast<void>(cublasDestroy(handle_));
    static_cast<void>(cudaFree(workspace_));
  }

  // c = a b
  void multiply(cudaStream_t stream, int n, const float* a, const float* b, float* c) const {
    const float one = 1, zero = 0;
    check_blas(cublasSetStream(handle_, stream), "cublasSetStream");
    check_blas(cublasSetWorkspace(handle_, workspace_, kWorkspace), "cublasSetWorkspace");
    check_blas(
        cublasGemmStridedBatchedEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, CUDA_R_32F,
                                   n, 0, a, CUDA_R_32F, n, 0, &zero, c, CUDA_R_32F, n, 0, 1,
                                   CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "cublasGemmStridedBatchedEx");
  }

 private:
  void* workspace_ = nullptr;
  cublasHandle_t handle_ = nullptr;
};

// A GPU with zeroed buffers.
class OpsDevice {
 public:
  explicit OpsDevice(const Instance& instance)
      : device_(instance.open_device(DeviceSelector::named("cuda:0"))), current_(device_) {}

  template <class T>
  [[nodiscard]] GpuRef<T> zeros(std::uint64_t count, const char* name) const {
    const auto made = pool_->allocate<T>(count, name);
    REPRISE_BENCH_CUDA(cudaMemset(made.data(), 0, count * sizeof(T)));
    return made;
  }
  template <class Record>
  [[nodiscard]] CommandBuffer record(Record&& record) const {
    CommandBuffer commands = device_.create_command_buffer({.label = "ops"});
    commands.begin();
    for (std::uint32_t i = 0; i < kOps; ++i) record(commands, i);
    commands.end();
    return commands;
  }
  // Adds the line with the times of a graph of `commands` and of `peer`.
  void measure(const Options& options, Report& report, Line line, const CommandBuffer& commands,
               const Captured& peer) const {
    {
      CapturedGraph graph = device_.compile(commands, {.pool = pool_});
      const Queue queue = from_native(device_, peer.stream());
      graph.upload(queue);
      const std::uint32_t launches = options.is_quick() ? 4 : 64;
      measure_pairs(
          line, options.is_quick() ? 3 : 21,
          [&] {
            return peer.timed().gpu_us(launches, [&] { static_cast<void>(graph.launch(queue)); });
          },
          [&] { return peer.timed().gpu_us(launches, [&] { peer.launch(); }); });
      report.add(line);
    }
    device_.wait_idle();
  }

 private:
  const Device device_;
  const CurrentDevice current_;
  const std::shared_ptr<CapturePool> pool_ = device_.create_pool({.label = "ops"});
};

}  // namespace

void run_ops_gemm(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  if (!finds_gpu(instance)) return;
  const OpsDevice gpu(instance);
  const Blas blas;
  for (const std::uint32_t size : {32u, 64u, 256u, 1024u}) {
    const std::uint64_t values = std::uint64_t{size} * size;
    const auto a = gpu.zeros<float>(values, "a"), x = gpu.zeros<float>(2 * values, "x");
    const auto half = [&](std::uint32_t i) { return x.slice(i % 2 * values, values); };
    const CommandBuffer commands = gpu.record([&](CommandBuffer& to, std::uint32_t i) {
      to.add(SgemmOp({.a = a,
                      .b = half(i),
                      .c = half(i + 1),
                      .m = size,
                      .n = size,
                      .k = size,
                      .workspace_bytes = kWorkspace}));
    });
    const Captured captured([&](cudaStream_t stream) {
      for (std::uint32_t i = 0; i < kOps; ++i)
        blas.multiply(stream, static_cast<int>(size), a.data(), half(i).data(), half(i + 1).data());
    });
    gpu.measure(options, report,
                {.what = "replay of 16 products, f32",
                 .shape = std::to_string(size) + " x " + std::to_string(size),
                 .nodes = kOps,
                 .unit = "us",
                 .peer = "captured cuBLAS",
                 .goal = {Goal::Of::Ratio, 1.0}},
                commands, captured);
  }
}

void run_ops_fft(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  if (!finds_gpu(instance)) return;
  const OpsDevice gpu(instance);
  for (const std::uint32_t batch : {1u, 16u, 128u, 512u}) {
    for (const std::uint32_t size : {64u, 256u, 1024u, 2048u}) {
      const std::uint64_t values = std::uint64_t{size} * batch;
      const auto x = gpu.zeros<std::complex<float>>(2 * values, "x");
      const auto half = [&](std::uint32_t i) { return x.slice(i % 2 * values, values); };
      const CommandBuffer commands = gpu.record([&](CommandBuffer& to, std::uint32_t i) {
        to.add(FftC2COp({.input = half(i), .output = half(i + 1), .size = size, .batch = batch}));
      });
      cufftHandle plan = 0;
      check_fft(cufftPlan1d(&plan, static_cast<int>(size), CUFFT_C2C, static_cast<int>(batch)),
                "cufftPlan1d");
      {
        const Captured captured([&](cudaStream_t stream) {
          check_fft(cufftSetStream(plan, stream), "cufftSetStream");
          for (std::uint32_t i = 0; i < kOps; ++i)
            check_fft(
                cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(half(i).data()),
                             reinterpret_cast<cufftComplex*>(half(i + 1).data()), CUFFT_FORWARD),
                "cufftExecC2C");
        });
        gpu.measure(options, report,
                    {.what = "replay of 16 transforms, complex f32",
                     .shape = std::to_string(batch) + " x " + std::to_string(size),
                     .nodes = kOps,
                     .unit = "us",
                     .peer = "captured cuFFT",
                     .goal = {Goal::Of::Ratio, 1.0}},
                    commands, captured);
      }
      check_fft(cufftDestroy(plan), "cufftDestroy");
    }
  }
}

}  // namespace reprise::bench

#endif
