// Transforms on GPUs with cuFFT: one plan per recording, with the op's workspace as its work area.
#include <cufft.h>

#include <memory>

#include "ops/cuda_device.hpp"
#include "ops/fft_backend.hpp"

namespace reprise::ops {
namespace {

const char* name_of(cufftResult result) {
  switch (result) {
    case CUFFT_INVALID_PLAN: return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED: return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_VALUE: return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR: return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED: return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED: return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE: return "CUFFT_INVALID_SIZE";
    default: return "unknown cuFFT error";
  }
}

void check_fft(cufftResult result, const char* call) {
  if (result != CUFFT_SUCCESS) refuse_native("fft", call, result, name_of(result));
}

class CufftPlan {
 public:
  CufftPlan(const FftPlanDesc& d, std::uint32_t ordinal) : ordinal_(ordinal) {
    const CurrentOrdinal current("fft", ordinal);
    check_fft(cufftCreate(&plan_), "cufftCreate");
    try {
      check_fft(cufftSetAutoAllocation(plan_, 0), "cufftSetAutoAllocation");
      long long size = static_cast<long long>(d.size),
                of_input = static_cast<long long>(d.input_distance),
                of_output = static_cast<long long>(d.output_distance);
      check_fft(
          cufftMakePlanMany64(plan_, 1, &size, &of_input, 1, of_input, &of_output, 1, of_output,
                              type_of(d.kind), static_cast<long long>(d.batch), &workspace_bytes_),
          "cufftMakePlanMany64");
    } catch (...) {
      static_cast<void>(cufftDestroy(plan_));
      throw;
    }
  }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;
  ~CufftPlan() {
    try {
      const CurrentOrdinal current("fft", ordinal_);
      static_cast<void>(cufftDestroy(plan_));
    } catch (...) {
      // The device is lost, and the plan with it.
    }
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept { return workspace_bytes_; }
  [[nodiscard]] cufftHandle get() const noexcept { return plan_; }

 private:
  static cufftType type_of(FftKind kind) {
    switch (kind) {
      case FftKind::RealToComplex: return CUFFT_R2C;
      case FftKind::ComplexToReal: return CUFFT_C2R;
      case FftKind::Forward:
      case FftKind::Inverse: return CUFFT_C2C;
    }
    return CUFFT_C2C;
  }

  std::uint32_t ordinal_;
  cufftHandle plan_ = 0;
  std::size_t workspace_bytes_ = 0;
};

void execute(const FftPlanDesc& d, cufftHandle plan, void* input, void* output) {
  switch (d.kind) {
    case FftKind::RealToComplex:
      return check_fft(
          cufftExecR2C(plan, static_cast<cufftReal*>(input), static_cast<cufftComplex*>(output)),
          "cufftExecR2C");
    case FftKind::ComplexToReal:
      return check_fft(
          cufftExecC2R(plan, static_cast<cufftComplex*>(input), static_cast<cufftReal*>(output)),
          "cufftExecC2R");
    case FftKind::Forward:
    case FftKind::Inverse:
      return check_fft(
          cufftExecC2C(plan, static_cast<cufftComplex*>(input), static_cast<cufftComplex*>(output),
                       d.kind == FftKind::Forward ? CUFFT_FORWARD : CUFFT_INVERSE),
          "cufftExecC2C");
  }
}

}  // namespace

std::uint64_t fft_cuda_workspace(const FftPlanDesc& d, std::uint32_t ordinal) {
  return CufftPlan(d, ordinal).workspace_bytes();
}

void record_fft_cuda(const FftPlanDesc& d, GraphRecordCtx& ctx, void* input, void* output) {
  // Created before the capture begins.
  auto plan = std::make_shared<const CufftPlan>(d, ctx.device_ordinal());
  if (plan->workspace_bytes() != 0)
    check_fft(cufftSetWorkArea(plan->get(), ctx.workspace()), "cufftSetWorkArea");
  check_fft(cufftSetStream(plan->get(), static_cast<cudaStream_t>(ctx.native_stream())),
            "cufftSetStream");
  execute(d, plan->get(), input, output);
  ctx.keep(std::move(plan));
}

}  // namespace reprise::ops
