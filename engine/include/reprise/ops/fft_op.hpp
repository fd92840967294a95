// One-dimensional Fourier transforms of 32-bit floats as ops, in batches: cuFFT on GPUs, kissfft on
// the host device. On GPUs, a batch of at most 512 transforms of a size that is a power of two from
// 32 to 2,048 is one kernel of this library, which segments may contain. Addresses of complex
// values are multiples of 8. Transforms are not scaled: a transform followed by its inverse
// multiplies by `size`. Constructors throw NotInitialized for an empty buffer, InvalidArgument for
// invalid sizes, OutOfRange for a buffer that is too small, Overlap. Target reprise::ops. Threads:
// values.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>

#include <reprise/graph_op.hpp>

namespace reprise::inline REPRISE_ABI {

enum class FftDirection : std::uint8_t { Forward, Inverse };
[[nodiscard]] REPRISE_API std::string_view to_string(FftDirection direction) noexcept;

// Forward transforms of `batch` real signals of `size` values to spectra of size / 2 + 1 values.
struct FftR2CDesc {
  GpuRef<float> input = {};
  GpuRef<std::complex<float>> output = {};
  std::uint64_t size = 0;
  std::uint64_t batch = 1;
  std::uint64_t input_distance = 0;   // values from signal to signal; signals may overlap; 0: size
  std::uint64_t output_distance = 0;  // values from spectrum to spectrum; 0: size / 2 + 1
};

class REPRISE_API FftR2COp final : public GraphOp {
 public:
  explicit FftR2COp(FftR2CDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "fft_r2c"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  FftR2CDesc desc_;
};

// Inverse transforms of `batch` spectra of size / 2 + 1 values to real signals.
struct FftC2RDesc {
  GpuRef<std::complex<float>> input = {};  // contents are undefined afterwards
  GpuRef<float> output = {};
  std::uint64_t size = 0;  // values of a real signal
  std::uint64_t batch = 1;
};

class REPRISE_API FftC2ROp final : public GraphOp {
 public:
  explicit FftC2ROp(FftC2RDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "fft_c2r"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  FftC2RDesc desc_;
};

// Transforms of `batch` complex signals of `size` values.
struct FftC2CDesc {
  GpuRef<std::complex<float>> input = {}, output = {};  // may be the same range
  std::uint64_t size = 0;
  std::uint64_t batch = 1;
  FftDirection direction = FftDirection::Forward;
};

class REPRISE_API FftC2COp final : public GraphOp {
 public:
  explicit FftC2COp(FftC2CDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "fft_c2c"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  FftC2CDesc desc_;
};

}  // namespace reprise::inline REPRISE_ABI
