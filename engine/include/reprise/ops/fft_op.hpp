// Fourier transforms as commands: cuFFT on GPUs, kissfft on the host device. One-dimensional, in
// batches, of 32-bit floats, not scaled: a transform and its inverse multiply by `size`. Target
// reprise::ops. Threads: values.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>

#include <reprise/graph_op.hpp>

namespace reprise {

enum class FftDirection : std::uint8_t { Forward, Inverse };

// `batch` signals of `size` real values become `size / 2 + 1` complex values each, and back.
struct FftR2CDesc {
  GpuRef<float> input = {};
  GpuRef<std::complex<float>> output = {};
  std::uint64_t size = 0;
  std::uint64_t batch = 1;
  std::uint64_t input_distance = 0;   // values from signal to signal, which may overlap; 0: tight
  std::uint64_t output_distance = 0;  // values from spectrum to spectrum; 0: tight
};

class FftR2COp final : public GraphOp {
 public:
  // Throws InvalidArgument for sizes that describe no transform, OutOfRange where a view is too
  // small.
  explicit FftR2COp(FftR2CDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "fft_r2c"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  FftR2CDesc desc_;
};

struct FftC2RDesc {
  GpuRef<std::complex<float>> input = {};  // its contents are undefined afterwards
  GpuRef<float> output = {};
  std::uint64_t size = 0;  // of the real signals
  std::uint64_t batch = 1;
};

class FftC2ROp final : public GraphOp {
 public:
  explicit FftC2ROp(FftC2RDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "fft_c2r"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  FftC2RDesc desc_;
};

struct FftC2CDesc {
  GpuRef<std::complex<float>> input = {}, output = {};  // may be the same values
  std::uint64_t size = 0;
  std::uint64_t batch = 1;
  FftDirection direction = FftDirection::Forward;
};

class FftC2COp final : public GraphOp {
 public:
  explicit FftC2COp(FftC2CDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "fft_c2c"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  FftC2CDesc desc_;
};

}  // namespace reprise
