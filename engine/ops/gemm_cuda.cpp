// Products on GPUs: cuBLAS. One handle a device, shared by what was recorded with it and held by it; the workspace is each recording's own.
#include <cublas_v2.h>

#include <map>
#include <memory>
#include <mutex>

#include "ops/cuda_device.hpp"
#include "ops/gemm_backend.hpp"

namespace reprise::ops {
namespace {

void check_blas(cublasStatus_t result, const char* call) {
  if (result != CUBLAS_STATUS_SUCCESS) refuse_native("gemm", call, result, cublasGetStatusName(result));
}

// Used by one thread at a time, under its mutex.
class BlasHandle {
 public:
  explicit BlasHandle(std::uint32_t ordinal) : ordinal_(ordinal) {
    const CurrentOrdinal current("gemm", ordinal);
    check_blas(cublasCreate(&handle_), "cublasCreate");
    // Sums stay 32-bit floats to their end.
    check_blas(cublasSetMathMode(handle_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
               "cublasSetMathMode");
  }
  BlasHandle(const BlasHandle&) = delete;
  BlasHandle& operator=(const BlasHandle&) = delete;
  ~BlasHandle() {
    try {
      const CurrentOrdinal current("gemm", ordinal_);
      static_cast<void>(cublasDestroy(handle_));
    } catch (const Error&) {  // the device is gone, and the handle with it
    }
  }

  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  [[nodiscard]] cublasHandle_t get() const noexcept { return handle_; }

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

cublasOperation_t operation(Transpose transpose) { return transpose == Transpose::No ? CUBLAS_OP_N : CUBLAS_OP_T; }

// Row by row, c = a b is, column by column, c = b a.
void multiply(const GemmDesc& d, cublasHandle_t handle, const void* a, const void* b, void* c) {
  const float alpha32 = static_cast<float>(d.alpha), beta32 = static_cast<float>(d.beta);
  const bool is_double = d.type == GemmType::F64;
  const void* const alpha = is_double ? static_cast<const void*>(&d.alpha) : &alpha32;
  const void* const beta = is_double ? static_cast<const void*>(&d.beta) : &beta32;
  const cudaDataType type = data_type(d.type);
  const cublasComputeType_t compute = is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  check_blas(cublasGemmStridedBatchedEx(handle, operation(d.transpose_b), operation(d.transpose_a), static_cast<int>(d.n), static_cast<int>(d.m),
                                        static_cast<int>(d.k), alpha, b, type, static_cast<int>(d.row_b), static_cast<long long>(d.stride_b), a, type,
                                        static_cast<int>(d.row_a), static_cast<long long>(d.stride_a), beta, c, type, static_cast<int>(d.row_c),
                                        static_cast<long long>(d.stride_c), static_cast<int>(d.batch), compute, CUBLAS_GEMM_DEFAULT),
             "cublasGemmStridedBatchedEx");
}

}  // namespace

// What cuBLAS' own documentation asks for: 32 MiB from compute capability 9.0 on, 4 MiB before.
std::uint64_t gemm_cuda_workspace(const GemmDesc& d, std::uint32_t ordinal) {
  if (d.workspace_bytes != 0) return d.workspace_bytes;
  int major = 0;
  check_cuda("gemm", cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, static_cast<int>(ordinal)), "cudaDeviceGetAttribute");
  return (major >= 9 ? std::uint64_t{32} : std::uint64_t{4}) << 20;
}

void record_gemm_cuda(const GemmDesc& d, GraphRecordCtx& ctx) {
  std::shared_ptr<BlasHandle> blas = BlasHandle::of(ctx.device_ordinal());
  const std::uint64_t bytes = gemm_cuda_workspace(d, ctx.device_ordinal());
  void* const workspace = ctx.workspace();
  const void *const a = ctx.address(d.a), *const b = ctx.address(d.b);
  void* const c = ctx.address(d.c);
  {
    const std::lock_guard lock(blas->mutex());
    check_blas(cublasSetStream(blas->get(), static_cast<cudaStream_t>(ctx.native_stream())), "cublasSetStream");
    check_blas(cublasSetWorkspace(blas->get(), workspace, bytes), "cublasSetWorkspace");  // after the stream, which resets it
    multiply(d, blas->get(), a, b, c);
    check_blas(cublasSetStream(blas->get(), nullptr), "cublasSetStream");
  }
  ctx.keep(std::move(blas));
}

}  // namespace reprise::ops
