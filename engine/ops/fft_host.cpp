// Transforms on the host device: one plan per recording; each piece transforms its own signals.
#include <algorithm>
#include <memory>
#include <numbers>
#include <vector>

#include "ops/complex_transform.hpp"
#include "ops/fft_backend.hpp"

namespace reprise::ops {
namespace {

using Complex = std::complex<float>;

// How signals are divided among threads, and the scratch of each piece.
struct FftPieces {
  std::uint64_t signals = 1;  // per piece
  std::uint64_t count = 1;
  std::uint64_t scratch_values = 0;  // per piece
};

bool is_real(const FftPlanDesc& d) {
  return d.kind == FftKind::RealToComplex || d.kind == FftKind::ComplexToReal;
}

// A real signal of even size is half as many complex values: one for each pair.
bool is_paired(const FftPlanDesc& d) { return is_real(d) && d.size % 2 == 0; }

std::uint64_t complex_size(const FftPlanDesc& d) { return is_paired(d) ? d.size / 2 : d.size; }

FftPieces pieces_of(const FftPlanDesc& d) {
  const auto placement =
      d.in_place ? ComplexTransform::Placement::InPlace : ComplexTransform::Placement::Apart;
  FftPieces pieces;
  pieces.scratch_values = ComplexTransform::scratch_values(complex_size(d), placement);
  if (is_real(d) && !is_paired(d)) pieces.scratch_values += 2 * d.size;  // signal and spectrum
  constexpr std::uint64_t kCacheLine = 64 / sizeof(Complex);
  pieces.scratch_values = (pieces.scratch_values + kCacheLine - 1) / kCacheLine * kCacheLine;

  pieces.signals = std::max<std::uint64_t>(1, 4096 / d.size);
  // Bounds the scratch, and with it the threads that transform one batch.
  constexpr std::uint64_t kMaxPieces = 32;
  if (pieces.scratch_values != 0) {
    pieces.signals = std::max(pieces.signals, (d.batch + kMaxPieces - 1) / kMaxPieces);
  }
  pieces.count = (d.batch + pieces.signals - 1) / pieces.signals;
  return pieces;
}

// One transform. Threads: immutable; run() may run on several threads, each with its own scratch.
class HostFftPlan {
 public:
  explicit HostFftPlan(const FftPlanDesc& d) : desc_(d), transform_(complex_size(d), direction(d)) {
    if (!is_paired(d)) return;
    const double sign = d.kind == FftKind::RealToComplex ? -1 : 1;
    roots_.resize(d.size / 4 + 1);
    for (std::uint64_t k = 0; k < roots_.size(); ++k) {
      const double turns = static_cast<double>(k) / static_cast<double>(d.size);
      roots_[k] = Complex(std::polar(1.0, sign * 2 * std::numbers::pi * turns));
    }
  }

  void run(void* input, void* output, std::uint64_t signal, Complex* scratch) const noexcept {
    const std::uint64_t from = signal * desc_.input_distance, to = signal * desc_.output_distance;
    switch (desc_.kind) {
      case FftKind::RealToComplex:
        return real_to_complex(static_cast<const float*>(input) + from,
                               static_cast<Complex*>(output) + to, scratch);
      case FftKind::ComplexToReal:
        return complex_to_real(static_cast<Complex*>(input) + from,
                               static_cast<float*>(output) + to, scratch);
      case FftKind::Forward:
      case FftKind::Inverse:
        return transform_.run(static_cast<const Complex*>(input) + from,
                              static_cast<Complex*>(output) + to, scratch);
    }
  }

 private:
  static FftDirection direction(const FftPlanDesc& d) {
    const bool forward = d.kind == FftKind::RealToComplex || d.kind == FftKind::Forward;
    return forward ? FftDirection::Forward : FftDirection::Inverse;
  }

  void real_to_complex(const float* input, Complex* output, Complex* scratch) const noexcept {
    if (is_paired(desc_)) {
      transform_.run(reinterpret_cast<const Complex*>(input), output, scratch);
      return separate(output);
    }
    Complex *const signal = scratch, *const spectrum = signal + desc_.size;
    std::copy_n(input, desc_.size, signal);
    transform_.run(signal, spectrum, spectrum + desc_.size);
    std::copy_n(spectrum, desc_.size / 2 + 1, output);
  }

  // Ignores the imaginary parts of the bins that a real signal makes real: the first and, of an
  // even size, the middle one.
  void complex_to_real(Complex* input, float* output, Complex* scratch) const noexcept {
    if (is_paired(desc_)) {
      join(input);
      return transform_.run(input, reinterpret_cast<Complex*>(output), scratch);
    }
    Complex *const spectrum = scratch, *const signal = spectrum + desc_.size;
    spectrum[0] = input[0].real();
    for (std::uint64_t k = 1; k <= desc_.size / 2; ++k) {
      spectrum[k] = input[k];
      spectrum[desc_.size - k] = std::conj(input[k]);
    }
    transform_.run(spectrum, signal, signal + desc_.size);
    for (std::uint64_t i = 0; i < desc_.size; ++i) output[i] = signal[i].real();
  }

  // Turns the spectrum of the pairs (values 2i and 2i + 1) into that of the real signal, in place.
  // The values at even and at odd positions are real signals, so bins k and size / 2 - k of the
  // pairs determine those bins of both. The result is even + root * odd.
  void separate(Complex* bins) const noexcept {
    const std::uint64_t half = desc_.size / 2;
    const Complex first = bins[0];
    bins[0] = first.real() + first.imag();
    bins[half] = first.real() - first.imag();
    for (std::uint64_t k = 1; k <= half / 2; ++k) {
      const Complex a = bins[k], b = std::conj(bins[half - k]);
      const Complex even = (a + b) * 0.5f, odd = turned((a - b) * 0.5f, roots_[k], -1);
      bins[k] = even + odd;
      bins[half - k] = std::conj(even - odd);
    }
  }

  // The inverse of separate(), times two.
  void join(Complex* bins) const noexcept {
    const std::uint64_t half = desc_.size / 2;
    const float first = bins[0].real(), last = bins[half].real();
    bins[0] = Complex(first + last, first - last);
    for (std::uint64_t k = 1; k <= half / 2; ++k) {
      const Complex a = bins[k], b = std::conj(bins[half - k]);
      const Complex even = a + b, odd = turned(a - b, roots_[k], 1);
      bins[k] = even + odd;
      bins[half - k] = std::conj(even - odd);
    }
  }

  // a * root * (quarter * i), without the checks for infinities that std::complex makes.
  static Complex turned(Complex a, Complex root, float quarter) noexcept {
    const float re = a.real() * root.real() - a.imag() * root.imag();
    const float im = a.real() * root.imag() + a.imag() * root.real();
    return {-quarter * im, quarter * re};
  }

  FftPlanDesc desc_;
  ComplexTransform transform_;
  std::vector<Complex> roots_;  // of a paired transform: exp(-+ 2 pi i k / size)
};

}  // namespace

std::uint64_t fft_host_workspace(const FftPlanDesc& d) {
  const FftPieces pieces = pieces_of(d);
  return pieces.count * pieces.scratch_values * sizeof(Complex);
}

void record_fft_host(const FftPlanDesc& d, GraphRecordCtx& ctx, void* input, void* output) {
  const FftPieces pieces = pieces_of(d);
  auto plan = std::make_shared<const HostFftPlan>(d);
  auto* const scratch =
      pieces.scratch_values == 0 ? nullptr : static_cast<Complex*>(ctx.workspace());
  ctx.host(
      [=, batch = d.batch](std::uint32_t piece) {
        const std::uint64_t first = piece * pieces.signals;
        const std::uint64_t last = std::min(batch, first + pieces.signals);
        Complex* const own = scratch == nullptr ? nullptr : scratch + piece * pieces.scratch_values;
        for (std::uint64_t signal = first; signal < last; ++signal) {
          plan->run(input, output, signal, own);
        }
      },
      static_cast<std::uint32_t>(pieces.count));
}

}  // namespace reprise::ops
