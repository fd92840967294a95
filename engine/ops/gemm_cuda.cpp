// Matrix products on GPUs with cuBLAS. One handle per device, shared and retained by the recordings
// that use it. Each recording has its own workspace.
#include <cublas_v2.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "ops/cuda_device.hpp"
#include "ops/gemm_backend.hpp"

namespace reprise::ops {
namespace {

void check_blas(cublasStatus_t result, const char* call) {
  if (result != CUBLAS_STATUS_SUCCESS)
    refuse_native("gemm", call, result, cublasGetStatusName(result));
}

// The parameters that affect cuBLAS's choice of kernel.
using ProductKey = std::array<std::uint64_t, 17>;

// Used by one thread at a time, under its mutex.
class BlasHandle {
 public:
  explicit BlasHandle(std::uint32_t ordinal) : ordinal_(ordinal) {
    const CurrentOrdinal current("gemm", ordinal);
    check_blas(cublasCreate(&handle_), "cublasCreate");
    // Accumulates in 32-bit floats throughout.
    check_blas(cublasSetMathMode(handle_, static_cast<cublasMath_t>(
                                              CUBLAS_DEFAULT_MATH |
                                              CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
               "cublasSetMathMode");
  }
  BlasHandle(const BlasHandle&) = delete;
  BlasHandle& operator=(const BlasHandle&) = delete;
  ~BlasHandle() {
    try {
      const CurrentOrdinal current("gemm", ordinal_);
      static_cast<void>(cublasDestroy(handle_));
    } catch (...) {
      // The device is lost, and the handle with it.
    }
  }

  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  [[nodiscard]] cublasHandle_t get() const noexcept { return handle_; }
  [[nodiscard]] std::set<ProductKey>& warm() noexcept {
    // Products whose kernels are loaded.
    return warm_;
  }

  [[nodiscard]] static std::shared_ptr<BlasHandle> of(std::uint32_t ordinal) {
    static std::mutex mutex;
    static std::map<std::uint32_t, std::weak_ptr<BlasHandle>> handles;
    const std::lock_guard lock(mutex);
    std::weak_ptr<BlasHandle>& known = handles[ordinal];
    std::shared_ptr<BlasHandle> handle = known.lock();
    if (!handle) known = handle = std::make_shared<BlasHandle>(ordinal);
    return handle;
  }

 private:
  std::uint32_t ordinal_;
  cublasHandle_t handle_ = nullptr;
  std::set<ProductKey> warm_;
  std::mutex mutex_;
};

cudaDataType data_type(GemmType type) {
  switch (type) {
    case GemmType::F32: return CUDA_R_32F;
    case GemmType::F64: return CUDA_R_64F;
    case GemmType::F16: return CUDA_R_16F;
    case GemmType::BF16: return CUDA_R_16BF;
  }
  return CUDA_R_32F;
}

cublasOperation_t operation(Transpose transpose) {
  return transpose == Transpose::No ? CUBLAS_OP_N : CUBLAS_OP_T;
}

// The row-major product c = a b equals the column-major product c = b a.
void multiply(const GemmDesc& d, cublasHandle_t handle, const void* a, const void* b, void* c) {
  const float alpha32 = static_cast<float>(d.alpha), beta32 = static_cast<float>(d.beta);
  const bool is_double = d.type == GemmType::F64;
  const void* const alpha = is_double ? static_cast<const void*>(&d.alpha) : &alpha32;
  const void* const beta = is_double ? static_cast<const void*>(&d.beta) : &beta32;
  const cudaDataType type = data_type(d.type);
  const cublasComputeType_t compute = is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  check_blas(cublasGemmStridedBatchedEx(
                 handle, operation(d.transpose_b), operation(d.transpose_a), static_cast<int>(d.n),
                 static_cast<int>(d.m), static_cast<int>(d.k), alpha, b, type,
                 static_cast<int>(d.row_b), static_cast<long long>(d.stride_b), a, type,
                 static_cast<int>(d.row_a), static_cast<long long>(d.stride_a), beta, c, type,
                 static_cast<int>(d.row_c), static_cast<long long>(d.stride_c),
                 static_cast<int>(d.batch), compute, CUBLAS_GEMM_DEFAULT),
             "cublasGemmStridedBatchedEx");
}

struct Operands {
  const void* a;
  const void* b;
  void* c;
};

void multiply(const GemmDesc& d, BlasHandle& blas, cudaStream_t stream, void* workspace,
              std::uint64_t workspace_bytes, const Operands& at) {
  check_blas(cublasSetStream(blas.get(), stream), "cublasSetStream");
  // Set after the stream, which resets it.
  check_blas(cublasSetWorkspace(blas.get(), workspace, workspace_bytes), "cublasSetWorkspace");
  multiply(d, blas.get(), at.a, at.b, at.c);
  check_blas(cublasSetStream(blas.get(), nullptr), "cublasSetStream");
}

// Stream-ordered memory with its own stream; null if the allocation fails.
class Scratch {
 public:
  explicit Scratch(std::uint64_t bytes) {
    check_cuda("gemm", cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
    void* memory = nullptr;
    if (cudaMallocAsync(&memory, bytes, stream_) == cudaSuccess) {
      memory_ = static_cast<std::byte*>(memory);
    } else {
      static_cast<void>(cudaGetLastError());
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (memory_ != nullptr) static_cast<void>(cudaFreeAsync(memory_, stream_));
    static_cast<void>(cudaStreamSynchronize(stream_));
    static_cast<void>(cudaStreamDestroy(stream_));
    static_cast<void>(cudaGetLastError());
  }

  [[nodiscard]] std::byte* memory() const noexcept { return memory_; }
  [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
  std::byte* memory_ = nullptr;
};

// Bytes; larger alignments do not affect the choice of kernel.
constexpr std::uint64_t kAlignment = 256;

std::uint64_t misalignment(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kAlignment;
}

std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

ProductKey key_of(const GemmDesc& d, const Operands& at, std::uint64_t workspace_bytes) {
  return {static_cast<std::uint64_t>(d.type),
          static_cast<std::uint64_t>(d.transpose_a),
          static_cast<std::uint64_t>(d.transpose_b),
          d.m,
          d.n,
          d.k,
          d.row_a,
          d.row_b,
          d.row_c,
          d.batch,
          d.stride_a,
          d.stride_b,
          d.stride_c,
          (d.alpha == 0 ? 2U : 0U) + (d.beta == 0 ? 1U : 0U),
          workspace_bytes,
          misalignment(at.a) * kAlignment + misalignment(at.b),
          misalignment(at.c)};
}

// cuBLAS loads kernels at their first use, which sometimes fails during a capture. Each kind of
// product therefore runs once before the capture, on scratch memory. Failures here are ignored: the
// capture tries again and reports its own failure.
void warm_up(const GemmDesc& d, BlasHandle& blas, std::uint32_t ordinal,
             std::uint64_t workspace_bytes, const Operands& at) {
  const ProductKey key = key_of(d, at, workspace_bytes);
  if (blas.warm().contains(key)) return;
  const CurrentOrdinal current("gemm", ordinal);
  const std::uint64_t rows_a = d.transpose_a == Transpose::No ? d.m : d.k,
                      columns_a = d.transpose_a == Transpose::No ? d.k : d.m;
  const std::uint64_t rows_b = d.transpose_b == Transpose::No ? d.k : d.n,
                      columns_b = d.transpose_b == Transpose::No ? d.n : d.k;
  const std::uint64_t read =
      std::max(gemm_elements(rows_a, columns_a, d.row_a, d.batch, d.stride_a),
               gemm_elements(rows_b, columns_b, d.row_b, d.batch, d.stride_b));
  const std::uint64_t written = gemm_elements(d.m, d.n, d.row_c, d.batch, d.stride_c),
                      element = gemm_element_bytes(d.type);
  const std::uint64_t c_at = round_up(kAlignment + read * element),
                      workspace_at = round_up(c_at + kAlignment + written * element);
  const Scratch scratch(workspace_at + workspace_bytes);
  std::byte* const memory = scratch.memory();
  if (memory == nullptr) return;
  try {
    check_cuda("gemm", cudaMemsetAsync(memory, 0, workspace_at, scratch.stream()),
               "cudaMemsetAsync");
    multiply(d, blas, scratch.stream(), memory + workspace_at, workspace_bytes,
             {.a = memory + misalignment(at.a),
              .b = memory + misalignment(at.b),
              .c = memory + c_at + misalignment(at.c)});
    check_cuda("gemm", cudaStreamSynchronize(scratch.stream()), "cudaStreamSynchronize");
  } catch (const Error&) {
    return;
  }
  blas.warm().insert(key);
}

}  // namespace

// As cuBLAS's documentation recommends: 32 MiB from compute capability 9.0 on, 4 MiB before.
std::uint64_t gemm_cuda_workspace(const GemmDesc& d, std::uint32_t ordinal) {
  if (d.workspace_bytes) return *d.workspace_bytes;
  int major = 0;
  check_cuda(
      "gemm",
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, static_cast<int>(ordinal)),
      "cudaDeviceGetAttribute");
  return (major >= 9 ? std::uint64_t{32} : std::uint64_t{4}) << 20;
}

void record_gemm_cuda(const GemmDesc& d, GraphRecordCtx& ctx) {
  std::shared_ptr<BlasHandle> blas = BlasHandle::of(ctx.device_ordinal());
  const std::uint64_t bytes = gemm_cuda_workspace(d, ctx.device_ordinal());
  const Operands at{.a = ctx.address(d.a), .b = ctx.address(d.b), .c = ctx.address(d.c)};
  {
    const std::lock_guard lock(blas->mutex());
    warm_up(d, *blas, ctx.device_ordinal(), bytes, at);
    multiply(d, *blas, static_cast<cudaStream_t>(ctx.native_stream()), ctx.workspace(), bytes, at);
  }
  ctx.keep(std::move(blas));
}

}  // namespace reprise::ops
