// The graph of the sample cholesky, compared with cuSOLVER's factorisation of the same matrix.
#if defined(REPRISE_HAS_CUDA) && defined(REPRISE_HAS_SAMPLES)

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "cholesky/factorization.hpp"
#include "cholesky/matrix.hpp"
#include "gpu.hpp"
#include "profiled_graph.hpp"
#include "raw_graph.hpp"

namespace reprise::bench {

namespace {

// The functions of the dense solver that the bench calls. They return 0 on success.
class Cusolver {
 public:
  static constexpr int kLower = 0;  // CUBLAS_FILL_MODE_LOWER
  template <class T>
  using BufferSize = int (*)(void* handle, int triangle, int n, T* a, int stride, int* values);
  template <class T>
  using Factor = int (*)(void* handle, int triangle, int n, T* a, int stride, T* workspace,
                         int values, int* info);

  // Loads the library; is_loaded() tells whether it is installed.
  Cusolver() {
    for (const char* name : {"libcusolver.so.12", "libcusolver.so.11"})
      if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  [[nodiscard]] bool is_loaded() const { return library_ != nullptr; }
  template <class Function>
  [[nodiscard]] Function function(const char* name) const {
    void* const address = dlsym(library_, name);
    if (address == nullptr) throw std::runtime_error(std::string("cuSOLVER has no ") + name);
    return reinterpret_cast<Function>(address);
  }

 private:
  void* library_ = nullptr;  // stays loaded
};

void check_solver(int status, const char* call) {
  if (status != 0) throw std::runtime_error(std::string(call) + ": " + std::to_string(status));
}

template <class T>
T* allocate(std::size_t count) {
  void* memory = nullptr;
  REPRISE_BENCH_CUDA(cudaMalloc(&memory, count * sizeof(T)));
  return static_cast<T*>(memory);
}

template <class T>
class CusolverFactorization {
 public:
  CusolverFactorization(const Cusolver& solver, cudaStream_t stream, std::uint32_t n,
                        const std::vector<double>& a)
      : solver_(solver), stream_(stream), n_(static_cast<int>(n)), bytes_(sizeof(T) * a.size()) {
    constexpr bool kIsFloat = sizeof(T) == sizeof(float);
    factor_ =
        solver.function<Cusolver::Factor<T>>(kIsFloat ? "cusolverDnSpotrf" : "cusolverDnDpotrf");
    check_solver(solver.function<int (*)(void**)>("cusolverDnCreate")(&handle_),
                 "cusolverDnCreate");
    check_solver(
        solver.function<int (*)(void*, cudaStream_t)>("cusolverDnSetStream")(handle_, stream),
        "cusolverDnSetStream");
    // The lower triangle by columns: the other one by rows.
    std::vector<T> values(a.size());
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t column = 0; column <= row; ++column)
        values[column * n + row] = static_cast<T>(a[row * n + column]);
    }
    original_ = allocate<T>(a.size());
    matrix_ = allocate<T>(a.size());
    info_ = allocate<int>(1);
    REPRISE_BENCH_CUDA(cudaMemcpy(original_, values.data(), bytes_, cudaMemcpyHostToDevice));
    check_solver(solver.function<Cusolver::BufferSize<T>>(kIsFloat ? "cusolverDnSpotrf_bufferSize"
                                                                   : "cusolverDnDpotrf_bufferSize")(
                     handle_, Cusolver::kLower, n_, matrix_, n_, &workspace_values_),
                 "cusolverDnXpotrf_bufferSize");
    workspace_ = allocate<T>(static_cast<std::size_t>(workspace_values_));
  }
  CusolverFactorization(const CusolverFactorization&) = delete;
  CusolverFactorization& operator=(const CusolverFactorization&) = delete;
  ~CusolverFactorization() {
    static_cast<void>(cudaStreamSynchronize(stream_));
    static_cast<void>(solver_.function<int (*)(void*)>("cusolverDnDestroy")(handle_));
    for (void* memory : {static_cast<void*>(original_), static_cast<void*>(matrix_),
                         static_cast<void*>(workspace_), static_cast<void*>(info_)})
      static_cast<void>(cudaFree(memory));
  }

  void restore() const {
    REPRISE_BENCH_CUDA(
        cudaMemcpyAsync(matrix_, original_, bytes_, cudaMemcpyDeviceToDevice, stream_));
  }
  void launch() const {
    check_solver(
        factor_(handle_, Cusolver::kLower, n_, matrix_, n_, workspace_, workspace_values_, info_),
        "cusolverDnXpotrf");
  }

 private:
  const Cusolver& solver_;
  cudaStream_t stream_;
  int n_, workspace_values_ = 0;
  std::size_t bytes_;
  typename Cusolver::template Factor<T> factor_ = nullptr;
  void* handle_ = nullptr;
  T *original_ = nullptr, *matrix_ = nullptr, *workspace_ = nullptr;
  int* info_ = nullptr;
};

// The GPU time of one launch that follows other work, so that its own latency does not count.
class LaunchTimer {
 public:
  explicit LaunchTimer(cudaStream_t stream) : stream_(stream) {
    REPRISE_BENCH_CUDA(cudaEventCreate(&begin_));
    REPRISE_BENCH_CUDA(cudaEventCreate(&end_));
  }
  LaunchTimer(const LaunchTimer&) = delete;
  LaunchTimer& operator=(const LaunchTimer&) = delete;
  ~LaunchTimer() {
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }
  template <class Restore, class Launch>
  [[nodiscard]] double us(const Restore& restore, const Launch& launch) const {
    for (int i = 0; i < kRestores; ++i) restore();
    REPRISE_BENCH_CUDA(cudaEventRecord(begin_, stream_));
    launch();
    REPRISE_BENCH_CUDA(cudaEventRecord(end_, stream_));
    REPRISE_BENCH_CUDA(cudaEventSynchronize(end_));
    float ms = 0;
    REPRISE_BENCH_CUDA(cudaEventElapsedTime(&ms, begin_, end_));
    return 1000.0 * static_cast<double>(ms);
  }

 private:
  static constexpr int kRestores = 10;
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

template <class T>
void measure(const Device& device, const Cusolver& cusolver, std::uint32_t size,
             const Options& options, Report& report) {
  const TimedStream stream;
  const Queue queue = from_native(device, stream.stream());
  const LaunchTimer timer(stream.stream());
  const std::vector<double> a = cholesky::random_matrix(size, 1);
  const CusolverFactorization<T> peer(cusolver, stream.stream(), size, a);
  for (const bool has_segments : {true, false}) {
    const Lowering lowering = has_segments ? Lowering::Auto : Lowering::Auto.without_segments();
    cholesky::Factorization<T> sample(device, {.size = size, .lowering = lowering});
    static_cast<void>(sample.factor(a));
    const auto ours = [&] {
      return timer.us([&] { static_cast<void>(sample.restore().launch(queue)); },
                      [&] { static_cast<void>(sample.graph().launch(queue)); });
    };
    const auto theirs = [&] { return timer.us([&] { peer.restore(); }, [&] { peer.launch(); }); };
    const std::string tile = std::to_string(sample.tile());
    Line line{.what = std::string(has_segments ? "auto" : "nodes") + ", tiles of " + tile,
              .shape = std::string(sizeof(T) == sizeof(float) ? "float " : "double ") +
                       std::to_string(size),
              .nodes = sample.graph().report().commands,
              .unit = "us",
              .peer = "cuSOLVER",
              .axes = {{"lowering", has_segments ? "auto" : "nodes"}, {"tile", tile}}};
    if (has_segments && size <= 2048) line.goal = {Goal::Of::Ratio, 1.0};
    measure_pairs(line, pairs(options), ours, theirs);
    report.add(line);
  }
}

}  // namespace

void run_cuda_cholesky(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  if (!finds_gpu(instance)) return;
  const Cusolver cusolver;
  if (!cusolver.is_loaded()) return report.skip("all", "cuSOLVER is not installed");
  const Device device = instance.open_device(DeviceSelector::named("cuda:0"));
  const CurrentDevice current(device);
  const std::vector<std::uint32_t> sizes =
      options.is_quick() ? std::vector<std::uint32_t>{256}
                         : std::vector<std::uint32_t>{256, 512, 1024, 2048, 4096};
  for (const std::uint32_t size : sizes) measure<float>(device, cusolver, size, options, report);
  for (const std::uint32_t size : sizes) measure<double>(device, cusolver, size, options, report);
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA and REPRISE_HAS_SAMPLES
