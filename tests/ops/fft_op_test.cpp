#include <reprise/ops/fft_op.hpp>

#include <cmath>

#include "conformance/device_fixture.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

using Complex = std::complex<float>;
using Wide = std::complex<double>;

// The transform as it is defined, of one signal.
std::vector<Wide> transform(const std::vector<Wide>& signal, double sign) {
  const std::size_t n = signal.size();
  std::vector<Wide> out(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      const double angle = sign * 2 * std::acos(-1.0) * static_cast<double>(k * i % n) / static_cast<double>(n);
      out[k] += signal[i] * Wide(std::cos(angle), std::sin(angle));
    }
  }
  return out;
}

float wave(std::size_t i) { return static_cast<float>(std::sin(0.7 * static_cast<double>(i)) + static_cast<double>(i * 7919 % 13) / 13 - 0.5); }

std::vector<float> real_signal(std::size_t count) {
  return generated<float>(count, [](std::size_t i) { return wave(i); });
}
std::vector<Complex> complex_signal(std::size_t count) {
  return generated<Complex>(count, [](std::size_t i) { return Complex(wave(i), wave(3 * i + 1)); });
}

template <class Found>
void check_near(const Found& found, const Wide& expected, std::size_t size) {
  CHECK(std::abs(Wide(found) - expected) < 2e-6 * static_cast<double>(size));
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "fft: real to complex, by the definition, in batches") {
  for (const std::size_t size : {2u, 7u, 16u, 100u, 256u}) {
    const std::size_t batch = 5, bins = size / 2 + 1;
    const std::vector<float> in = real_signal(size * batch);
    const auto x = buffer(in, "x");
    const auto y = pool->allocate<Complex>(bins * batch, "y");
    CommandBuffer cmd = recording();
    cmd.add(FftR2COp({.input = x, .output = y, .size = size, .batch = batch}));
    CapturedGraph graph = compile(cmd);
    for (int replay = 0; replay < 2; ++replay) graph.launch(queue).wait();
    CHECK(values(x) == in);
    const std::vector<Complex> out = values(y);
    for (std::size_t b = 0; b < batch; ++b) {
      const auto expected = transform({in.begin() + b * size, in.begin() + (b + 1) * size}, -1);
      for (std::size_t k = 0; k < bins; ++k) check_near(out[b * bins + k], expected[k], size);
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "fft: signals may overlap, and spectra lie apart") {
  const std::size_t size = 32, hop = 8, batch = 6, bins = 17, apart = 20;
  const std::vector<float> in = real_signal(size + hop * (batch - 1));
  const auto x = buffer(in, "x");
  const auto y = buffer(std::vector<Complex>(apart * batch, Complex(9, 9)), "y");
  run([&](CommandBuffer& cmd) {
    cmd.add(FftR2COp({.input = x, .output = y, .size = size, .batch = batch, .input_distance = hop, .output_distance = apart}));
  });
  const std::vector<Complex> out = values(y);
  for (std::size_t b = 0; b < batch; ++b) {
    const auto expected = transform({in.begin() + b * hop, in.begin() + b * hop + size}, -1);
    for (std::size_t k = 0; k < bins; ++k) check_near(out[b * apart + k], expected[k], size);
    for (std::size_t k = bins; k < apart; ++k) CHECK(out[b * apart + k] == Complex(9, 9));
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "fft: complex to complex both ways, in place too") {
  const std::size_t size = 48, batch = 3;
  const std::vector<Complex> in = complex_signal(size * batch);
  for (const FftDirection direction : {FftDirection::Forward, FftDirection::Inverse}) {
    const auto x = buffer(in, "x");
    const auto y = pool->allocate<Complex>(size * batch, "y");
    run([&](CommandBuffer& cmd) {
      cmd.add(FftC2COp({.input = x, .output = y, .size = size, .batch = batch, .direction = direction}));
      cmd.add(FftC2COp({.input = x, .output = x, .size = size, .batch = batch, .direction = direction}));
    });
    const std::vector<Complex> apart = values(y), in_place = values(x);
    for (std::size_t b = 0; b < batch; ++b) {
      const auto expected = transform({in.begin() + b * size, in.begin() + (b + 1) * size}, direction == FftDirection::Forward ? -1 : 1);
      for (std::size_t k = 0; k < size; ++k) {
        check_near(apart[b * size + k], expected[k], size);
        check_near(in_place[b * size + k], expected[k], size);
      }
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "fft: a transform and its inverse give the signal, times its size") {
  for (const std::size_t size : {9u, 64u}) {
    const std::size_t batch = 4;
    const std::vector<float> in = real_signal(size * batch);
    const auto x = buffer(in, "x");
    const auto spectrum = pool->transient<Complex>((size / 2 + 1) * batch, "spectrum");
    const auto y = pool->allocate<float>(size * batch, "y");
    run([&](CommandBuffer& cmd) {
      cmd.add(FftR2COp({.input = x, .output = spectrum, .size = size, .batch = batch}));
      cmd.add(FftC2ROp({.input = spectrum, .output = y, .size = size, .batch = batch}));
    });
    const std::vector<float> out = values(y);
    for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::abs(out[i] / static_cast<float>(size) - in[i]) < 1e-5f);
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "fft: what describes no transform is refused") {
  const auto x = pool->allocate<float>(64, "x");
  const auto y = pool->allocate<Complex>(33, "y");
  check_refused(ErrorCode::InvalidArgument, {"fft_r2c", "1 values"}, [&] { static_cast<void>(FftR2COp({.input = x, .output = y, .size = 1})); });
  check_refused(ErrorCode::OutOfRange, {"fft_r2c", "input needs 128"},
                [&] { static_cast<void>(FftR2COp({.input = x.slice(0, 64), .output = y, .size = 64, .batch = 2, .input_distance = 0})); });
  check_refused(ErrorCode::Overlap, {"fft_r2c", "lie 8 apart"},
                [&] { static_cast<void>(FftR2COp({.input = x, .output = y, .size = 32, .batch = 2, .output_distance = 8})); });
  check_refused(ErrorCode::InvalidArgument, {"fft_c2r", "without a buffer"}, [&] { static_cast<void>(FftC2ROp({.output = x, .size = 64})); });
  check_refused(ErrorCode::Overlap, {"fft_c2c", "share bytes"},
                [&] { static_cast<void>(FftC2COp({.input = y.slice(0, 16), .output = y.slice(8, 16), .size = 16})); });
}
