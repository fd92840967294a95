// Transforms on the host device with FFTW: one plan per recording, which each piece runs on its own
// signals.
#include <fftw3.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "ops/failure.hpp"
#include "ops/fft_backend.hpp"

namespace reprise::ops {
namespace {

// FFTW's planner is global to the process; running plans needs no lock.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

class FftwPlan {
 public:
  FftwPlan(const FftPlanDesc& d, void* input, void* output) {
    const std::lock_guard lock(planner());
    const int size = static_cast<int>(d.size);
    auto* const complex_in = static_cast<fftwf_complex*>(input);
    auto* const complex_out = static_cast<fftwf_complex*>(output);
    // FFTW_ESTIMATE reads no values and yields the same plan in each run.
    constexpr unsigned kFlags = FFTW_ESTIMATE | FFTW_UNALIGNED;
    switch (d.kind) {
      case FftKind::RealToComplex:
        plan_ = fftwf_plan_dft_r2c_1d(size, static_cast<float*>(input), complex_out, kFlags);
        break;
      case FftKind::ComplexToReal:
        plan_ = fftwf_plan_dft_c2r_1d(size, complex_in, static_cast<float*>(output), kFlags);
        break;
      case FftKind::Forward:
        plan_ = fftwf_plan_dft_1d(size, complex_in, complex_out, FFTW_FORWARD, kFlags);
        break;
      case FftKind::Inverse:
        plan_ = fftwf_plan_dft_1d(size, complex_in, complex_out, FFTW_BACKWARD, kFlags);
        break;
    }
    if (plan_ == nullptr) refuse_native("fft", "fftwf_plan", 0, "no plan");
  }
  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;
  ~FftwPlan() {
    const std::lock_guard lock(planner());
    fftwf_destroy_plan(plan_);
  }
  [[nodiscard]] fftwf_plan get() const noexcept { return plan_; }

 private:
  fftwf_plan plan_ = nullptr;
};

void run(const FftPlanDesc& d, fftwf_plan plan, void* input, void* output, std::uint64_t signal) {
  const std::uint64_t from = signal * d.input_distance, to = signal * d.output_distance;
  switch (d.kind) {
    case FftKind::RealToComplex:
      return fftwf_execute_dft_r2c(plan, static_cast<float*>(input) + from,
                                   static_cast<fftwf_complex*>(output) + to);
    case FftKind::ComplexToReal:
      return fftwf_execute_dft_c2r(plan, static_cast<fftwf_complex*>(input) + from,
                                   static_cast<float*>(output) + to);
    case FftKind::Forward:
    case FftKind::Inverse:
      return fftwf_execute_dft(plan, static_cast<fftwf_complex*>(input) + from,
                               static_cast<fftwf_complex*>(output) + to);
  }
}

}  // namespace

void record_fft_host(const FftPlanDesc& d, GraphRecordCtx& ctx, void* input, void* output) {
  auto plan = std::make_shared<const FftwPlan>(d, input, output);
  const std::uint64_t per_piece = std::max<std::uint64_t>(1, 4096 / d.size);
  ctx.host(
      [=](std::uint32_t piece) {
        const std::uint64_t first = piece * per_piece, last = std::min(d.batch, first + per_piece);
        for (std::uint64_t signal = first; signal < last; ++signal)
          run(d, plan->get(), input, output, signal);
      },
      static_cast<std::uint32_t>((d.batch + per_piece - 1) / per_piece));
}

}  // namespace reprise::ops
