// Arithmetic in segments has the bits of arithmetic in nodes.
#include <bit>
#include <random>

#include "arithmetic.shaders.hpp"
#include "conformance/device_fixture.hpp"

namespace reprise::test::arithmetic_test {

using Result = unsigned long long;
constexpr std::size_t kRow = 96;  // kArithmeticRow

// Element types of the application with the names and sizes of CUDA's.
struct __half {
  std::uint16_t bits;
};
struct __nv_bfloat16 {
  std::uint16_t bits;
};

template <class T, class Bits>
struct ArithmeticTest : DeviceFixture {
  // Every triple of special values, then triples of any values and of values near 1.
  static std::vector<T> triples(int mantissa) {
    constexpr int kBits = 8 * sizeof(Bits);
    const Bits unit = static_cast<Bits>(Bits{1} << mantissa),
               sign = static_cast<Bits>(Bits{1} << (kBits - 1)),
               inf = static_cast<Bits>(sign - unit),
               one = static_cast<Bits>((inf >> 1) & static_cast<Bits>(~(unit - 1)));
    std::vector<Bits> special;
    for (const Bits positive :
         {Bits{0}, Bits{1}, static_cast<Bits>(unit - 1), unit, one, static_cast<Bits>(one + 1),
          static_cast<Bits>(one + unit / 2), static_cast<Bits>(inf - 1), inf,
          static_cast<Bits>(inf + unit / 2 + 1)}) {
      special.push_back(positive);
      special.push_back(static_cast<Bits>(positive | sign));
    }
    std::vector<T> in;
    const auto add = [&](Bits bits) { in.push_back(std::bit_cast<T>(bits)); };
    for (const Bits a : special) {
      for (const Bits b : special) {
        for (const Bits c : special) add(a), add(b), add(c);
      }
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < 3 * 5'000; ++i) add(static_cast<Bits>(random()));
    for (int i = 0; i < 3 * 15'000; ++i) {
      const auto bits = static_cast<Bits>(random());
      add(static_cast<Bits>((one - 2 * unit + bits % (4 * unit)) | (bits & sign)));
    }
    return in;
  }

  void check(const KernelDesc& desc, int mantissa) {
    const std::vector<T> in = triples(mantissa);
    const std::size_t n = in.size() / 3;
    const auto source = buffer(in, "in");
    const GpuRef<Result> results[] = {pool->allocate<Result>(n * kRow, "first"),
                                      pool->allocate<Result>(n * kRow, "second")};
    const auto results_of = [&](Lowering lowering) {
      run([&](CommandBuffer& cmd) {
        for (const auto& result : results) cmd.fill(result.template as<unsigned>(), 0u);
      });
      CommandBuffer cmd = recording();
      for (const auto& result : results) {
        cmd.dispatch(kernel(desc), {.grid = ceil_div(static_cast<unsigned>(n), 128), .block = 128},
                     read(source), write(result), static_cast<unsigned>(n));
      }
      CapturedGraph graph = compile(cmd, lowering);
      for (const SegmentsReport::LeftOut& left_out : graph.report().segments.left_out) {
        INFO(left_out.command, " ", left_out.reason);
        CHECK(lowering != Lowering::Persistent);
      }
      graph.launch(queue).wait();
      return values(results[1]);
    };
    const std::vector<Result> nodes = results_of(Lowering::Faithful),
                              segments = results_of(Lowering::Persistent);
    REQUIRE(nodes[kRow - 1] == 0);  // a row has at least one word more than results
    for (std::size_t column = 0; column < kRow; ++column) {
      std::size_t different = 0, first = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (nodes[i * kRow + column] != segments[i * kRow + column] && different++ == 0) first = i;
      }
      const auto bits = [&](std::size_t i) { return Result{std::bit_cast<Bits>(in[i])}; };
      INFO("result ", column, " of ", bits(3 * first), ", ", bits(3 * first + 1), ", ",
           bits(3 * first + 2), ": ", nodes[first * kRow + column], " in a node, ",
           segments[first * kRow + column], " in a segment");
      CHECK(different == 0);
    }
  }
};

using HalfArithmetic = ArithmeticTest<__half, std::uint16_t>;
using Bfloat16Arithmetic = ArithmeticTest<__nv_bfloat16, std::uint16_t>;
using FloatArithmetic = ArithmeticTest<float, std::uint32_t>;
using DoubleArithmetic = ArithmeticTest<double, std::uint64_t>;

TEST_CASE_FIXTURE(HalfArithmetic, "arithmetic: half in segments has the bits of nodes") {
  check(shaders::conf_half_arithmetic, 10);
}

TEST_CASE_FIXTURE(Bfloat16Arithmetic, "arithmetic: bfloat16 in segments has the bits of nodes") {
  check(shaders::conf_bfloat16_arithmetic, 7);
}

TEST_CASE_FIXTURE(FloatArithmetic, "arithmetic: float in segments has the bits of nodes") {
  check(shaders::conf_float_arithmetic, 23);
}

TEST_CASE_FIXTURE(DoubleArithmetic, "arithmetic: double in segments has the bits of nodes") {
  check(shaders::conf_double_arithmetic, 52);
}

}  // namespace reprise::test::arithmetic_test
