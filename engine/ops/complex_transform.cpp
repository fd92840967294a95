#include "ops/complex_transform.hpp"

#include <kiss_fft.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numbers>

#include "ops/failure.hpp"

namespace reprise::ops {
namespace {

using Complex = std::complex<float>;

// The smallest size >= `size` without prime factors above 5. For other factors kissfft allocates
// memory in each transform and takes time in proportion to their square.
std::uint64_t fast_size(std::uint64_t size) {
  std::uint64_t best = std::bit_ceil(size);
  for (std::uint64_t fives = 1; fives < best; fives *= 5) {
    for (std::uint64_t odd = fives; odd < best; odd *= 3) {
      best = std::min(best, odd * std::bit_ceil((size + odd - 1) / odd));
    }
  }
  return best;
}

// The size of the transforms that compute one of `size` values: `size`, or that of a convolution.
// Throws Unsupported beyond the limit of kissfft.
std::uint64_t inner_size(std::uint64_t size) {
  const std::uint64_t direct = fast_size(size);
  const std::uint64_t inner = direct == size ? size : fast_size(2 * size - 1);
  constexpr int kMax = std::numeric_limits<int>::max();
  if (inner > kMax) {
    refuse(ErrorCode::Unsupported, "fft",
           text("a transform of ", size, " values on the host device needs one of ", inner,
                ", and kissfft has at most ", kMax));
  }
  return inner;
}

// Without the checks for infinities that std::complex makes.
Complex product(Complex a, Complex b) noexcept {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

void kiss(kiss_fft_state* state, const Complex* input, Complex* output) noexcept {
  kiss_fft(state, reinterpret_cast<const kiss_fft_cpx*>(input),
           reinterpret_cast<kiss_fft_cpx*>(output));
}

}  // namespace

void ComplexTransform::Free::operator()(kiss_fft_state* state) const noexcept {
  kiss_fft_free(state);
}

std::uint64_t ComplexTransform::scratch_values(std::uint64_t size, Placement placement) {
  const std::uint64_t inner = inner_size(size);
  if (inner != size) return 2 * inner;
  return placement == Placement::InPlace ? size : 0;
}

ComplexTransform::ComplexTransform(std::uint64_t size, FftDirection direction)
    : size_(size), fast_size_(inner_size(size)) {
  const bool convolves = fast_size_ != size_;
  // The convolution goes forward and back with one state, through conjugates.
  const int inverse = !convolves && direction == FftDirection::Inverse ? 1 : 0;
  state_.reset(kiss_fft_alloc(static_cast<int>(fast_size_), inverse, nullptr, nullptr));
  if (state_ == nullptr) refuse_native("fft", "kiss_fft_alloc", 0, "out of memory");
  if (!convolves) return;

  // chirp[k] = exp(-+ pi i k^2 / size); jk = (j^2 + k^2 - (k - j)^2) / 2 turns the transform into
  // chirp[k] * sum over j of (input[j] * chirp[j]) * conj(chirp[k - j]).
  const double sign = direction == FftDirection::Forward ? -1 : 1;
  chirp_.resize(size_);
  for (std::uint64_t k = 0; k < size_; ++k) {
    const auto square = static_cast<double>(k * k % (2 * size_));
    const double angle = sign * std::numbers::pi * square / static_cast<double>(size_);
    chirp_[k] = Complex(std::polar(1.0, angle));
  }
  std::vector<Complex> conjugates(fast_size_);
  const float scale = 1.0f / static_cast<float>(fast_size_);
  for (std::uint64_t k = 0; k < size_; ++k) {
    conjugates[k] = std::conj(chirp_[k]) * scale;
    if (k != 0) conjugates[fast_size_ - k] = conjugates[k];
  }
  filter_.resize(fast_size_);
  kiss(state_.get(), conjugates.data(), filter_.data());
}

void ComplexTransform::run(const Complex* input, Complex* output, Complex* scratch) const noexcept {
  if (fast_size_ != size_) return convolve(input, output, scratch);
  if (size_ == 1) {  // for which kissfft would allocate
    *output = *input;
    return;
  }
  if (input == output) {  // for which kissfft would allocate
    std::copy_n(input, size_, scratch);
    input = scratch;
  }
  kiss(state_.get(), input, output);
}

void ComplexTransform::convolve(const Complex* input, Complex* output,
                                Complex* scratch) const noexcept {
  Complex *const signal = scratch, *const spectrum = scratch + fast_size_;
  for (std::uint64_t k = 0; k < size_; ++k) signal[k] = product(input[k], chirp_[k]);
  std::fill(signal + size_, signal + fast_size_, Complex());
  kiss(state_.get(), signal, spectrum);
  for (std::uint64_t k = 0; k < fast_size_; ++k) {
    spectrum[k] = std::conj(product(spectrum[k], filter_[k]));
  }
  kiss(state_.get(), spectrum, signal);
  for (std::uint64_t k = 0; k < size_; ++k) output[k] = product(std::conj(signal[k]), chirp_[k]);
}

}  // namespace reprise::ops
