// The implementations of a transform by libraries, and the limits of the kernels in fft_small.cu.
// Functions throw Error naming the op. Threads: as GraphOp::record().
#pragma once

#include <cstdint>

#include <reprise/ops/fft_op.hpp>

namespace reprise::ops {

enum class FftKind : std::uint8_t { RealToComplex, ComplexToReal, Forward, Inverse };

struct FftPlanDesc {
  FftKind kind = FftKind::Forward;
  std::uint64_t size = 0, batch = 1;
  std::uint64_t input_distance = 0, output_distance = 0;  // values
  bool in_place = false;
};

// On a GPU, a batch within these limits is one kernel if its size is a power of two: kMinSmallFft
// to kMaxSmallFft values in a transform, kSmallFftBatch transforms. Measured at 0.62 to 0.92 of the
// time of cuFFT. A block needs 16 bytes of shared memory for each value and at most 256 threads, so
// that segments may contain it.
inline constexpr std::uint64_t kMinSmallFft = 32, kMaxSmallFft = 2048, kSmallFftBatch = 512;

// Bytes of workspace; 0: none. Throws Unsupported for sizes that the host device cannot transform.
[[nodiscard]] std::uint64_t fft_host_workspace(const FftPlanDesc& plan);
void record_fft_host(const FftPlanDesc& plan, GraphRecordCtx& ctx, void* input, void* output);

// Bytes of workspace; 0: none.
[[nodiscard]] std::uint64_t fft_cuda_workspace(const FftPlanDesc& plan, std::uint32_t ordinal);
void record_fft_cuda(const FftPlanDesc& plan, GraphRecordCtx& ctx, void* input, void* output);

}  // namespace reprise::ops
