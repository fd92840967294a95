#include <reprise/ops/fft_op.hpp>

#include <algorithm>
#include <cmath>
#include <span>

#include "conformance/device_fixture.hpp"
#include "ops/as_on_gpu.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

using Complex = std::complex<float>;
using Wide = std::complex<double>;

// The transform of one signal by its definition.
std::vector<Wide> transform(const std::vector<Wide>& signal, double sign) {
  const std::size_t n = signal.size();
  std::vector<Wide> out(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      const double angle =
          sign * 2 * std::acos(-1.0) * static_cast<double>(k * i % n) / static_cast<double>(n);
      out[k] += signal[i] * Wide(std::cos(angle), std::sin(angle));
    }
  }
  return out;
}

float wave(std::size_t i) {
  return static_cast<float>(std::sin(0.7 * static_cast<double>(i)) +
                            static_cast<double>(i * 7919 % 13) / 13 - 0.5);
}

std::vector<float> real_signal(std::size_t count) {
  return generated<float>(count, [](std::size_t i) { return wave(i); });
}
std::vector<Complex> complex_signal(std::size_t count) {
  return generated<Complex>(count, [](std::size_t i) { return Complex(wave(i), wave(3 * i + 1)); });
}

// Whether a GPU performs such transforms by one kernel of ours.
bool is_small(std::size_t size, std::size_t batch) {
  return (size & (size - 1)) == 0 && size >= 32 && size <= 2048 && batch <= 512;
}

template <class Found>
void check_near(const Found& found, const Wide& expected, std::size_t size) {
  CHECK(std::abs(Wide(found) - expected) < 2e-6 * static_cast<double>(size));
}

constexpr double kForward = -1, kInverse = 1;

// Powers of two, odd and prime sizes, and products of primes for which few libraries have a radix;
// the last sizes are large.
constexpr std::size_t kSizes[] = {2,    3,    4,    5,    7,     8,     9,     11,    13,
                                  14,   15,   16,   22,   31,    32,    45,    64,    97,
                                  127,  128,  210,  256,  512,   675,   1001,  1021,  1024,
                                  2042, 2048, 4096, 8191, 46875, 65536, 65537, 131074};

std::vector<Wide> wide(std::span<const float> signal) { return {signal.begin(), signal.end()}; }
std::vector<Wide> wide(std::span<const Complex> signal) { return {signal.begin(), signal.end()}; }

// The whole spectrum of a real signal from its stored half.
std::vector<Wide> hermitian(std::span<const Complex> half, std::size_t size) {
  std::vector<Wide> whole(size);
  for (std::size_t k = 0; k < size; ++k) {
    whole[k] = k < half.size() ? Wide(half[k]) : std::conj(Wide(half[size - k]));
  }
  return whole;
}

// Checks a transform of `in` against the definition in double precision. `size` bins have a root
// mean square of |in|, the Euclidean norm of the signal. The rounding error of a bin is at most
// 2^-21 * log2(2 * size) * |in|: a few units in the last place for each stage of a fast transform.
// Checks all bins of small sizes and some of large ones; the sum of squares covers the others.
template <class Value>
void check_transform(std::span<const Value> found, const std::vector<Wide>& in, double sign) {
  const std::size_t size = in.size();
  double energy = 0, found_energy = 0;
  for (const Wide& value : in) energy += std::norm(value);
  // In half a spectrum each bin except the first and the middle one counts twice.
  for (std::size_t k = 0; k < found.size(); ++k) {
    const bool twice = found.size() < size && k != 0 && 2 * k != size;
    found_energy += std::norm(Wide(found[k])) * (twice ? 2 : 1);
  }
  const double bound = 0x1p-21 * std::log2(2.0 * static_cast<double>(size)) * std::sqrt(energy);
  INFO("size ", size, ", sign ", sign);
  CHECK(std::abs(std::sqrt(found_energy / static_cast<double>(size)) - std::sqrt(energy)) <= bound);

  std::vector<Wide> roots(size);
  const double turn = sign * 2 * std::acos(-1.0) / static_cast<double>(size);
  for (std::size_t i = 0; i < size; ++i) roots[i] = std::polar(1.0, turn * static_cast<double>(i));
  const std::size_t bins = size <= 256 ? size : size <= 8192 ? 64 : 8;
  const std::size_t step = std::max<std::size_t>(1, found.size() / bins);
  double worst = 0;
  for (std::size_t bin = 0; bin < found.size() + step; bin += step) {
    const std::size_t k = std::min(bin, found.size() - 1);  // includes the last bin
    Wide expected;
    std::size_t root = 0;
    for (const Wide& value : in) {
      expected += Wide(value.real() * roots[root].real() - value.imag() * roots[root].imag(),
                       value.real() * roots[root].imag() + value.imag() * roots[root].real());
      root += k;
      if (root >= size) root -= size;
    }
    worst = std::max(worst, std::abs(Wide(found[k]) - expected));
  }
  CHECK(worst <= bound);
}

template <class Values>
auto part(const Values& values, std::size_t first, std::size_t count) {
  return std::span<const typename Values::value_type>(values).subspan(first, count);
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "fft: real to complex equals the definition, in batches") {
  for (const std::size_t size : {2u, 7u, 32u, 100u, 256u}) {
    const std::size_t batch = 5, bins = size / 2 + 1;
    const std::vector<float> in = real_signal(size * batch);
    check_both_ways(device, is_small(size, batch), [&](const AddOp& add) {
      const auto x = buffer(in, "x");
      const auto y = pool->allocate<Complex>(bins * batch, "y");
      const FftR2COp op({.input = x, .output = y, .size = size, .batch = batch});
      CommandBuffer cmd = recording();
      add(cmd, op);
      CapturedGraph graph = compile(cmd);
      for (int replay = 0; replay < 2; ++replay) graph.launch(queue).wait();
      CHECK(values(x) == in);
      const std::vector<Complex> out = values(y);
      for (std::size_t b = 0; b < batch; ++b) {
        const auto expected = transform({in.begin() + b * size, in.begin() + (b + 1) * size}, -1);
        for (std::size_t k = 0; k < bins; ++k) check_near(out[b * bins + k], expected[k], size);
      }
    });
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "fft: complex to complex in both directions, also in place") {
  const std::size_t size = 48, batch = 3;
  const std::vector<Complex> in = complex_signal(size * batch);
  for (const FftDirection direction : {FftDirection::Forward, FftDirection::Inverse}) {
    const auto x = buffer(in, "x");
    const auto y = pool->allocate<Complex>(size * batch, "y");
    run([&](CommandBuffer& cmd) {
      cmd.add(FftC2COp(
          {.input = x, .output = y, .size = size, .batch = batch, .direction = direction}));
      cmd.add(FftC2COp(
          {.input = x, .output = x, .size = size, .batch = batch, .direction = direction}));
    });
    const std::vector<Complex> apart = values(y), in_place = values(x);
    for (std::size_t b = 0; b < batch; ++b) {
      const auto expected = transform({in.begin() + b * size, in.begin() + (b + 1) * size},
                                      direction == FftDirection::Forward ? -1 : 1);
      for (std::size_t k = 0; k < size; ++k) {
        check_near(apart[b * size + k], expected[k], size);
        check_near(in_place[b * size + k], expected[k], size);
      }
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "fft: a transform and its inverse return the signal times its size") {
  for (const std::size_t size : {2u, 9u, 64u, 2048u}) {
    const std::size_t batch = 4;
    const std::vector<float> in = real_signal(size * batch);
    check_both_ways(device, is_small(size, batch), [&](const AddOp& add) {
      const auto x = buffer(in, "x");
      const auto spectrum = pool->transient<Complex>((size / 2 + 1) * batch, "spectrum");
      const auto y = pool->allocate<float>(size * batch, "y");
      const FftR2COp forward({.input = x, .output = spectrum, .size = size, .batch = batch});
      const FftC2ROp inverse({.input = spectrum, .output = y, .size = size, .batch = batch});
      run([&](CommandBuffer& cmd) {
        add(cmd, forward);
        add(cmd, inverse);
      });
      const std::vector<float> out = values(y);
      for (std::size_t i = 0; i < out.size(); ++i)
        CHECK(std::abs(out[i] / static_cast<float>(size) - in[i]) < 1e-5f);
    });
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "fft: real to complex of small, odd, prime and large sizes") {
  for (const std::size_t size : kSizes) {
    const std::size_t batch = 3, bins = size / 2 + 1;
    const std::vector<float> in = real_signal(size * batch);
    check_both_ways(device, is_small(size, batch), [&](const AddOp& add) {
      const auto x = buffer(in, "x");
      const auto y = pool->allocate<Complex>(bins * batch, "y");
      const FftR2COp op({.input = x, .output = y, .size = size, .batch = batch});
      run([&](CommandBuffer& cmd) { add(cmd, op); });
      CHECK(values(x) == in);
      const std::vector<Complex> out = values(y);
      for (std::size_t b = 0; b < batch; ++b) {
        check_transform(part(out, b * bins, bins), wide(part(in, b * size, size)), kForward);
      }
    });
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "fft: complex to real of small, odd, prime and large sizes") {
  for (const std::size_t size : kSizes) {
    const std::size_t batch = 3, bins = size / 2 + 1;
    std::vector<Complex> given = complex_signal(bins * batch), in = given;
    // Some bins are real in the spectrum of a real signal.
    for (std::size_t b = 0; b < batch; ++b) {
      in[b * bins].imag(0);
      if (size % 2 == 0) in[b * bins + size / 2].imag(0);
    }
    if (!is_small(size, batch)) given = in;  // libraries may use the imaginary parts
    check_both_ways(device, is_small(size, batch), [&](const AddOp& add) {
      const auto x = buffer(given, "x");
      const auto y = pool->allocate<float>(size * batch, "y");
      const FftC2ROp op({.input = x, .output = y, .size = size, .batch = batch});
      run([&](CommandBuffer& cmd) { add(cmd, op); });
      const std::vector<float> out = values(y);
      for (std::size_t b = 0; b < batch; ++b) {
        check_transform(part(out, b * size, size), hermitian(part(in, b * bins, bins), size),
                        kInverse);
      }
    });
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "fft: complex to complex of small, odd, prime and large sizes") {
  for (const std::size_t size : kSizes) {
    for (const FftDirection direction : {FftDirection::Forward, FftDirection::Inverse}) {
      const double sign = direction == FftDirection::Forward ? kForward : kInverse;
      const std::size_t batch = 2;
      const std::vector<Complex> in = complex_signal(size * batch);
      check_both_ways(device, is_small(size, batch), [&](const AddOp& add) {
        const auto x = buffer(in, "x");
        const auto z = buffer(in, "z");
        const auto y = pool->allocate<Complex>(size * batch, "y");
        FftC2CDesc desc{
            .input = x, .output = y, .size = size, .batch = batch, .direction = direction};
        const FftC2COp to_other(desc);
        desc.input = desc.output = z;
        const FftC2COp to_itself(desc);
        run([&](CommandBuffer& cmd) {
          add(cmd, to_other);
          add(cmd, to_itself);
        });
        CHECK(values(x) == in);
        const std::vector<Complex> apart = values(y), in_place = values(z);
        for (std::size_t b = 0; b < batch; ++b) {
          const std::vector<Wide> signal = wide(part(in, b * size, size));
          check_transform(part(apart, b * size, size), signal, sign);
          check_transform(part(in_place, b * size, size), signal, sign);
        }
      });
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "fft: large batches of short signals") {
  for (const std::size_t size : {4u, 7u, 10u, 15u, 32u}) {
    const std::size_t batch = size == 32 ? 512 : 3000, bins = size / 2 + 1;
    const std::vector<float> in = real_signal(size * batch);
    check_both_ways(device, is_small(size, batch), [&](const AddOp& add) {
      const auto x = buffer(in, "x");
      const auto spectra = pool->allocate<Complex>(bins * batch, "spectra");
      const auto again = pool->transient<Complex>(bins * batch, "again");
      const auto y = pool->allocate<float>(size * batch, "y");
      const auto z = buffer(complex_signal(size * batch), "z");
      const FftR2COp forward({.input = x, .output = spectra, .size = size, .batch = batch});
      const FftC2ROp inverse({.input = again, .output = y, .size = size, .batch = batch});
      const FftC2COp in_place({.input = z, .output = z, .size = size, .batch = batch});
      CommandBuffer cmd = recording();
      add(cmd, forward);
      cmd.copy(spectra, again);
      add(cmd, inverse);
      add(cmd, in_place);
      run(cmd);
      const std::vector<Complex> out = values(spectra), complex_in = complex_signal(size * batch),
                                 complex_out = values(z);
      const std::vector<float> back = values(y);
      for (std::size_t b = 0; b < batch; b += 7) {
        const auto half = part(out, b * bins, bins);
        check_transform(half, wide(part(in, b * size, size)), kForward);
        check_transform(part(back, b * size, size), hermitian(half, size), kInverse);
        check_transform(part(complex_out, b * size, size), wide(part(complex_in, b * size, size)),
                        kForward);
      }
    });
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "fft: signals may overlap, and gaps keep their bytes") {
  for (const std::size_t size : {2u, 4u, 15u, 31u, 32u, 2048u}) {
    const std::size_t hop = size / 3 + 1, batch = 6, bins = size / 2 + 1, apart = bins + 3;
    const std::vector<float> in = real_signal(size + hop * (batch - 1));
    check_both_ways(device, is_small(size, batch), [&](const AddOp& add) {
      const auto x = buffer(in, "x");
      const auto y = buffer(std::vector<Complex>(apart * batch, Complex(9, 9)), "y");
      const FftR2COp op({.input = x,
                         .output = y,
                         .size = size,
                         .batch = batch,
                         .input_distance = hop,
                         .output_distance = apart});
      run([&](CommandBuffer& cmd) { add(cmd, op); });
      const std::vector<Complex> out = values(y);
      for (std::size_t b = 0; b < batch; ++b) {
        check_transform(part(out, b * apart, bins), wide(part(in, b * hop, size)), kForward);
        for (std::size_t k = bins; k < apart; ++k) CHECK(out[b * apart + k] == Complex(9, 9));
      }
    });
  }
}

// Independent transforms of one size may run concurrently, and so may two replicas of one graph.
TEST_CASE_FIXTURE(DeviceFixture, "fft: concurrent transforms do not disturb each other") {
  constexpr std::size_t kBranches = 4, kBatch = 4, kReplays = 20;
  const Queue queues[] = {queue, device.create_queue({.label = "other"})};
  for (const std::size_t size : {1000u, 1001u, 1021u, 2042u}) {
    const std::size_t bins = size / 2 + 1;
    const auto in = pool->host<float>(size * kBatch, "in", PerReplica{2});
    const auto out = pool->host<Complex>(bins * kBatch * kBranches, "out", PerReplica{2});
    CommandBuffer cmd = recording();
    const auto x = pool->transient<float>(size * kBatch, "x");
    cmd.copy(in, x);
    for (std::size_t branch = 0; branch < kBranches; ++branch) {
      const auto y = pool->transient<Complex>(bins * kBatch, "y");
      cmd.add(FftR2COp({.input = x, .output = y, .size = size, .batch = kBatch}));
      cmd.copy(y, out.slice(branch * bins * kBatch, bins * kBatch));
    }
    cmd.end();
    CapturedGraph graph = device.compile(cmd, {.pool = pool, .replicas = 2});
    for (std::uint32_t i = 0; i < 2; ++i) {
      const std::vector<float> signal = real_signal(size * kBatch + i);
      std::copy(signal.begin() + i, signal.end(), in.replica(i).data());
    }
    for (std::size_t replay = 0; replay < kReplays; ++replay) {
      for (const Queue& each : queues) graph.launch(each);
    }
    for (const Queue& each : queues) each.wait_idle();
    for (std::uint32_t i = 0; i < 2; ++i) {
      const auto signal = in.replica(i).span();
      const auto found = out.replica(i).span();
      for (std::size_t spectrum = 0; spectrum < kBatch * kBranches; ++spectrum) {
        check_transform(part(found, spectrum * bins, bins),
                        wide(part(signal, spectrum % kBatch * size, size)), kForward);
      }
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "fft: an invalid transform is refused") {
  const auto x = pool->allocate<float>(64, "x");
  const auto y = pool->allocate<Complex>(33, "y");
  check_refused(ErrorCode::InvalidArgument, {"fft_r2c", "size 1"},
                [&] { static_cast<void>(FftR2COp({.input = x, .output = y, .size = 1})); });
  check_refused(ErrorCode::OutOfRange, {"fft_r2c", "input needs 128"}, [&] {
    static_cast<void>(FftR2COp(
        {.input = x.slice(0, 64), .output = y, .size = 64, .batch = 2, .input_distance = 0}));
  });
  check_refused(ErrorCode::Overlap, {"fft_r2c", "output distance 8"}, [&] {
    static_cast<void>(
        FftR2COp({.input = x, .output = y, .size = 32, .batch = 2, .output_distance = 8}));
  });
  check_refused(ErrorCode::OutOfRange, {"fft_r2c", "input"}, [&] {
    static_cast<void>(FftR2COp({.input = x,
                                .output = y,
                                .size = 16,
                                .batch = 3,
                                .input_distance = std::uint64_t{1} << 63}));
  });
  check_refused(ErrorCode::InvalidArgument, {"fft_c2c", ".direction is 9"}, [&] {
    static_cast<void>(
        FftC2COp({.input = y, .output = y, .size = 16, .direction = static_cast<FftDirection>(9)}));
  });
  check_refused(ErrorCode::NotInitialized, {"fft_c2r", "empty buffer"},
                [&] { static_cast<void>(FftC2ROp({.output = x, .size = 64})); });
  check_refused(ErrorCode::Overlap, {"fft_c2c", "share bytes"}, [&] {
    static_cast<void>(FftC2COp({.input = y.slice(0, 16), .output = y.slice(8, 16), .size = 16}));
  });
}
