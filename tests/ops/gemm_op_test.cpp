#include <reprise/ops/gemm_op.hpp>

#include <algorithm>
#include <cmath>

#include "conformance/device_fixture.hpp"
#include "ops/as_on_gpu.hpp"
#include "ops/small_values.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

struct Sizes {
  std::uint64_t m, n, k;
  Transpose a = Transpose::No, b = Transpose::No;
  double alpha = 1, beta = 0;
  std::uint64_t batch = 1, more_a = 0, more_b = 0, more_c = 0;  // gaps after each row
};

// The product by three loops in double precision; exact for small integers.
struct Product {
  explicit Product(const Sizes& sizes) : s(sizes) {
    row_a = (s.a == Transpose::No ? s.k : s.m) + s.more_a;
    row_b = (s.b == Transpose::No ? s.n : s.k) + s.more_b;
    row_c = s.n + s.more_c;
    stride_a = row_a * (s.a == Transpose::No ? s.m : s.k);
    stride_b = row_b * (s.b == Transpose::No ? s.k : s.n);
    stride_c = row_c * s.m;
    a = small_integers(stride_a * s.batch, 3);
    b = small_integers(stride_b * s.batch, 5);
    c = small_integers(stride_c * s.batch, 11);
  }
  [[nodiscard]] std::vector<double> result() const {
    std::vector<double> out = c;
    for (std::uint64_t g = 0; g < s.batch; ++g) {
      for (std::uint64_t i = 0; i < s.m; ++i) {
        for (std::uint64_t j = 0; j < s.n; ++j) {
          double sum = 0;
          for (std::uint64_t l = 0; l < s.k; ++l) {
            sum += a[g * stride_a + (s.a == Transpose::No ? i * row_a + l : l * row_a + i)] *
                   b[g * stride_b + (s.b == Transpose::No ? l * row_b + j : j * row_b + l)];
          }
          double& value = out[g * stride_c + i * row_c + j];
          value = s.alpha * sum + (s.beta == 0 ? 0 : s.beta * value);
        }
      }
    }
    return out;
  }
  Sizes s;
  std::uint64_t row_a = 0, row_b = 0, row_c = 0, stride_a = 0, stride_b = 0, stride_c = 0;
  std::vector<double> a, b, c;
};

const Sizes kGemmSizes[] = {
    {1, 1, 1},
    {7, 5, 3},
    {64, 48, 32},
    {130, 33, 17, Transpose::Yes, Transpose::No},
    {33, 130, 17, Transpose::No, Transpose::Yes},
    {20, 24, 28, Transpose::Yes, Transpose::Yes, 2, 3},
    {16, 16, 16, Transpose::No, Transpose::No, 1, 0, 5},
    {72, 8, 24, Transpose::No, Transpose::Yes, -1, 1, 3, 8, 8, 8},
    {40, 70, 90, Transpose::Yes, Transpose::Yes, 1, 2, 1, 3, 5, 7},
    {5, 3, 300},
    // Too large for the kernel of small products.
    {128, 96, 64, Transpose::No, Transpose::Yes, 2, 1, 2},
    {65, 130, 257, Transpose::Yes, Transpose::No, 1, 0, 1, 2, 1, 3},
};
bool is_small(const Sizes& s) { return s.m * s.n * s.k * s.batch <= 1u << 18; }

struct GemmFixture : DeviceFixture {
  // Encode and Decode convert between numbers and elements.
  template <class T, class Encode, class Decode>
  void check(GemmType type, const Encode& encode, const Decode& decode) {
    for (const Sizes& sizes : kGemmSizes)
      check_both_ways(device, is_small(sizes),
                      [&](const AddOp& add) { check<T>(type, sizes, encode, decode, add); });
  }
  template <class T, class Encode, class Decode>
  void check(GemmType type, const Sizes& sizes, const Encode& encode, const Decode& decode,
             const AddOp& add) {
    const Product product(sizes);
    const auto encoded = [&](const std::vector<double>& values) {
      return generated<T>(values.size(), [&](std::size_t i) { return encode(values[i]); });
    };
    const auto a = buffer(encoded(product.a), "a"), b = buffer(encoded(product.b), "b"),
               c = buffer(encoded(product.c), "c");
    const GemmOp op({.a = a,
                     .b = b,
                     .c = c,
                     .type = type,
                     .m = sizes.m,
                     .n = sizes.n,
                     .k = sizes.k,
                     .transpose_a = sizes.a,
                     .transpose_b = sizes.b,
                     .alpha = sizes.alpha,
                     .beta = sizes.beta,
                     .row_a = product.row_a,
                     .row_b = product.row_b,
                     .row_c = product.row_c,
                     .batch = sizes.batch});
    run([&](CommandBuffer& cmd) { add(cmd, op); });
    const std::vector<T> found = values(c);
    const std::vector<double> expected = product.result();
    INFO("m ", sizes.m, " n ", sizes.n, " k ", sizes.k);
    CHECK(generated<double>(found.size(), [&](std::size_t i) { return decode(found[i]); }) ==
          generated<double>(found.size(),
                            [&](std::size_t i) { return decode(encode(expected[i])); }));
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    GemmFixture,
    "gemm: f32 is exact for exact sums; transposed, scaled, accumulated, batched, with row gaps") {
  check<float>(
      GemmType::F32, [](double v) { return static_cast<float>(v); },
      [](float v) { return static_cast<double>(v); });
}
TEST_CASE_FIXTURE(GemmFixture, "gemm: f64") {
  check<double>(
      GemmType::F64, [](double v) { return v; }, [](double v) { return v; });
}
TEST_CASE_FIXTURE(GemmFixture, "gemm: f16 multiplies and accumulates in f32") {
  check<std::uint16_t>(
      GemmType::F16, [](double v) { return f16_bits(static_cast<float>(v)); },
      [](std::uint16_t v) { return f16_value(v); });
}
TEST_CASE_FIXTURE(GemmFixture, "gemm: bf16 multiplies and accumulates in f32") {
  check<std::uint16_t>(
      GemmType::BF16, [](double v) { return bf16_bits(static_cast<float>(v)); },
      [](std::uint16_t v) { return bf16_value(v); });
}

TEST_CASE_FIXTURE(GemmFixture,
                  "gemm: with alpha 0, a and b do not matter, with beta 0, c does not") {
  const float nan = std::nanf("");
  const auto x = buffer(std::vector<float>(64, nan), "x");
  for (const bool is_scaled : {false, true}) {
    check_both_ways(device, true, [&](const AddOp& add) {
      const auto c = buffer(std::vector<float>(64, is_scaled ? 3.0f : nan), "c");
      const SgemmOp op({.a = x,
                        .b = x,
                        .c = c,
                        .m = 8,
                        .n = 8,
                        .k = 8,
                        .alpha = 0,
                        .beta = is_scaled ? 2.0f : 0.0f});
      run([&](CommandBuffer& cmd) { add(cmd, op); });
      CHECK(values(c) == std::vector<float>(64, is_scaled ? 6.0f : 0.0f));
    });
  }
}

TEST_CASE_FIXTURE(GemmFixture, "gemm: dependent and independent products on two queues") {
  const auto numbers = [](std::size_t count, std::uint32_t salt) {
    const std::vector<double> values = small_integers(count, salt);
    return std::vector<float>(values.begin(), values.end());
  };
  const std::vector<float> a = numbers(32 * 32, 1), b = numbers(32 * 32, 2);
  const auto x = buffer(a, "x"), y = buffer(b, "y");
  const auto left = pool->transient<float>(1024, "left"),
             right = pool->transient<float>(1024, "right");
  const auto sum = pool->allocate<float>(1024, "sum");
  CommandBuffer cmd = recording();
  cmd.add(SgemmOp({.a = x, .b = y, .c = left, .m = 32, .n = 32, .k = 32}));
  cmd.add(SgemmOp({.a = y, .b = x, .c = right, .m = 32, .n = 32, .k = 32}));
  cmd.add(SgemmOp({.a = left, .b = right, .c = sum, .m = 32, .n = 32, .k = 32, .alpha = 0.5f}));
  CapturedGraph graph = compile(cmd);
  CHECK(graph.report().needed_edges == 2);
  const auto product = [](const std::vector<float>& p, const std::vector<float>& q, float alpha) {
    return generated<float>(1024, [&](std::size_t at) {
      float total = 0;
      for (std::size_t l = 0; l < 32; ++l) total += p[at / 32 * 32 + l] * q[l * 32 + at % 32];
      return alpha * total;
    });
  };
  const std::vector<float> expected = product(product(a, b, 1), product(b, a, 1), 0.5f);
  const Queue other = device.create_queue({.label = "other"});
  for (int replay = 0; replay < 4; ++replay) graph.launch(replay % 2 == 0 ? queue : other).wait();
  CHECK(values(sum) == expected);
}

TEST_CASE_FIXTURE(GemmFixture, "gemm: concurrent products equal the single product") {
  const Sizes sizes{200, 96, 64};
  const Product product(sizes);
  const auto a = buffer(std::vector<float>(product.a.begin(), product.a.end()), "a"),
             b = buffer(std::vector<float>(product.b.begin(), product.b.end()), "b");
  const std::vector<double> result = product.result();
  const std::vector<float> expected(result.begin(), result.end());
  constexpr std::uint64_t kProducts = 24;
  const auto c = pool->allocate<float>(kProducts * expected.size(), "c");
  CommandBuffer cmd = recording();
  for (std::uint64_t i = 0; i < kProducts; ++i) {
    cmd.add(SgemmOp({.a = a,
                     .b = b,
                     .c = c.slice(i * expected.size(), expected.size()),
                     .m = 200,
                     .n = 96,
                     .k = 64,
                     .workspace_bytes = 1 << 20}));
  }
  CapturedGraph graph = compile(cmd);
  CHECK(graph.report().needed_edges == 0);
  for (int replay = 0; replay < 10; ++replay) {
    graph.launch(queue).wait();
    const std::vector<float> found = values(c);
    for (std::uint64_t i = 0; i < kProducts; ++i) {
      CHECK(std::equal(expected.begin(), expected.end(),
                       found.begin() + static_cast<std::ptrdiff_t>(i * expected.size())));
    }
  }
}

TEST_CASE_FIXTURE(GemmFixture, "gemm: an invalid product is refused") {
  const auto x = pool->allocate<float>(16, "x"), y = pool->allocate<float>(16, "y"),
             z = pool->allocate<float>(16, "z");
  const auto refused = [&](ErrorCode code, std::initializer_list<std::string_view> parts,
                           const GemmDesc& desc) {
    check_refused(code, parts, [&] { static_cast<void>(GemmOp(desc)); });
  };
  refused(ErrorCode::InvalidArgument, {"gemm", "k 0"}, {.a = x, .b = y, .c = z, .m = 4, .n = 4});
  refused(ErrorCode::NotInitialized, {"gemm", "matrix b", "empty buffer"},
          {.a = x, .c = z, .m = 4, .n = 4, .k = 4});
  refused(ErrorCode::OutOfRange, {"gemm", "matrix a of 5 x 4", "80 bytes"},
          {.a = x, .b = y, .c = z, .m = 5, .n = 4, .k = 4});
  refused(ErrorCode::OutOfRange, {"gemm", "matrix c"},
          {.a = x, .b = y, .c = z.slice(1, 15), .m = 4, .n = 4, .k = 4});
  refused(ErrorCode::InvalidArgument, {"gemm", "rows of a"},
          {.a = x, .b = y, .c = z, .m = 4, .n = 4, .k = 4, .row_a = 3});
  refused(ErrorCode::Overlap, {"gemm", "overlap"},
          {.a = x, .b = y, .c = z, .m = 2, .n = 2, .k = 2, .batch = 2, .stride_c = 2});
  refused(ErrorCode::OutOfRange, {"gemm"},
          {.a = x, .b = y, .c = z, .m = std::uint64_t{1} << 31, .n = 1, .k = 1});
  refused(ErrorCode::InvalidArgument, {"gemm", "not a multiple of 4"},
          {.a = x.subview(2, 32), .b = y, .c = z, .m = 2, .n = 2, .k = 2});
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;  // twice this is 0
  refused(ErrorCode::OutOfRange, {"gemm", "matrix a"},
          {.a = x, .b = y, .c = z, .m = 2, .n = 2, .k = 2, .batch = 3, .stride_a = kHalf});
  refused(ErrorCode::OutOfRange, {"gemm", "matrix c"},
          {.a = x, .b = y, .c = z, .m = 2, .n = 2, .k = 2, .batch = 2, .stride_c = kHalf / 2});
  refused(ErrorCode::InvalidArgument, {"gemm", ".type is 9"},
          {.a = x, .b = y, .c = z, .type = static_cast<GemmType>(9), .m = 2, .n = 2, .k = 2});
  refused(
      ErrorCode::InvalidArgument, {"gemm", ".transpose_b is 9"},
      {.a = x, .b = y, .c = z, .m = 2, .n = 2, .k = 2, .transpose_b = static_cast<Transpose>(9)});
}
