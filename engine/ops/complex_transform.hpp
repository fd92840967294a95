// ComplexTransform: the discrete Fourier transform of one complex signal on the CPU, not scaled.
// Sizes without prime factors above 5 are transforms of kissfft. Every other size is a convolution
// of such a size (Bluestein's algorithm), so that a transform of n values takes O(n log n).
// Threads: immutable; run() may run on several threads at once, each with scratch of its own.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/ops/fft_op.hpp>

struct kiss_fft_state;

namespace reprise::ops {

class ComplexTransform {
 public:
  enum class Placement : std::uint8_t { Apart, InPlace };

  // Values of scratch that run() needs. Throws Unsupported for a size that kissfft cannot count.
  [[nodiscard]] static std::uint64_t scratch_values(std::uint64_t size, Placement placement);

  // `size` is at least 1. Throws what scratch_values() throws; NativeFailure if memory runs out.
  ComplexTransform(std::uint64_t size, FftDirection direction);

  // Transforms `size` values. `output` is `input` or shares no bytes with it. Does not allocate.
  void run(const std::complex<float>* input, std::complex<float>* output,
           std::complex<float>* scratch) const noexcept;

 private:
  struct Free {
    void operator()(kiss_fft_state* state) const noexcept;
  };

  void convolve(const std::complex<float>* input, std::complex<float>* output,
                std::complex<float>* scratch) const noexcept;

  std::uint64_t size_;
  std::uint64_t fast_size_;  // of the transforms of kissfft; size_ if there is no convolution
  // kissfft writes to a state only while it creates it.
  std::unique_ptr<kiss_fft_state, Free> state_;
  std::vector<std::complex<float>> chirp_;   // size_ values, for the convolution
  std::vector<std::complex<float>> filter_;  // fast_size_ values: spectrum of the conjugate chirp
};

}  // namespace reprise::ops
