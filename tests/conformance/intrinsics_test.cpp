#include <cmath>
#include <limits>

#include "conformance/device_fixture.hpp"
#include "intrinsics.shaders.hpp"

namespace reprise::test::intrinsics_test {

TEST_CASE_FIXTURE(DeviceFixture, "intrinsics: rounded arithmetic equals the C++ operators") {
  const float a = 1.1f, b = 3.3f, c = -3.63f;
  const auto in = buffer(std::vector<float>{a, b, c}, "in");
  const auto out = pool->allocate<float>(8, "out");
  const auto wide = pool->allocate<double>(5, "wide");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_rounded), {}, read(in), write(out), write(wide));
  });
  CHECK(values(out) == std::vector<float>{a + b, a * b, a / b, std::fma(a, b, c), std::sqrt(a),
                                          1 / b, 16'777'216.0f, 0.1f});
  const double da = a, db = b, dc = c;
  CHECK(values(wide) == std::vector<double>{da + db, da / db, std::fma(da, db, dc), std::sqrt(da),
                                            18'446'744'073'709'551'616.0});
}

TEST_CASE_FIXTURE(DeviceFixture, "intrinsics: conversions round as they say, and saturate") {
  constexpr long long kMin = std::numeric_limits<int>::min(),
                      kMax = std::numeric_limits<int>::max(),
                      kMaxUnsigned = std::numeric_limits<unsigned>::max();
  const std::vector<float> given{2.5f, -2.5f, 3.5f, 1e10f, -1e10f, std::nanf("")};
  const auto in = buffer(given, "in");
  const auto out = pool->allocate<long long>(6 * given.size(), "out");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_to_integers),
                 {.grid = 1, .block = static_cast<unsigned>(given.size())}, read(in), write(out));
  });
  const std::vector<long long> found = values(out), expected{2,
                                                             2,
                                                             2,
                                                             3,
                                                             2,
                                                             2,
                                                             -2,
                                                             -2,
                                                             -3,
                                                             -2,
                                                             0,
                                                             -2,
                                                             4,
                                                             3,
                                                             3,
                                                             4,
                                                             4,
                                                             4,
                                                             kMax,
                                                             kMax,
                                                             kMax,
                                                             kMax,
                                                             kMaxUnsigned,
                                                             10'000'000'000,
                                                             kMin,
                                                             kMin,
                                                             kMin,
                                                             kMin,
                                                             0,
                                                             -10'000'000'000};
  CHECK(std::vector<long long>(found.begin(), found.end() - 6) == expected);
  // A NaN becomes 0 as an int, and CUDA does not say what it becomes as a long long.
  CHECK(std::vector<long long>(found.end() - 6, found.end() - 1) == std::vector<long long>(5, 0));
}

TEST_CASE_FIXTURE(DeviceFixture, "intrinsics: the clock does not go back, assert() and printf()") {
  const auto out = pool->allocate<long long>(1, "out");
  run([&](CommandBuffer& cmd) { cmd.dispatch(kernel(shaders::conf_clock), {}, write(out), 1); });
  CHECK(values(out)[0] >= 0);
}

}  // namespace reprise::test::intrinsics_test
