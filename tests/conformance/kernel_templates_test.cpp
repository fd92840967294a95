// Kernels that run instances of function templates.
#include <templates.shaders.hpp>

#include <algorithm>
#include <numeric>

#include "conformance/device_fixture.hpp"

namespace reprise::test::kernel_templates_test {
namespace {

struct Line {
  float slope;
  double offset;
};

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "kernel templates: instances have their own types and constants") {
  const auto check = [&]<class T>(const KernelDesc& desc, unsigned n, T) {
    std::vector<T> expected(3 * n);
    std::iota(expected.begin(), expected.end(), T{1});
    const auto from = buffer(expected, "from");
    const auto to = buffer(std::vector<T>(3 * n, 0), "to");
    const auto two = static_cast<unsigned char>(2);
    run([&](CommandBuffer& cmd) {
      cmd.dispatch(kernel(desc), {.grid = 3, .block = n}, read(from), write(to), two);
    });
    std::reverse(expected.begin(), expected.begin() + n);
    std::reverse(expected.begin() + n, expected.begin() + 2 * n);
    std::fill(expected.begin() + 2 * n, expected.end(), T{0});
    CHECK(values(to) == expected);
  };
  check(shaders::reverse_float_64, 64, 0.0f);
  check(shaders::reverse_short_32, 32, short{0});
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "kernel templates: each parameter of an instance has its place and its type") {
  constexpr short kCount = 100;
  const DispatchDesc desc{.grid = 4, .block = 32};
  const auto x = buffer(std::vector<double>(kCount, 3), "x");
  const auto y = buffer(std::vector<int>(kCount, 3), "y");
  const Kernel of_double = kernel(shaders::evaluate_double);
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(of_double, desc, char{2}, Line{0.5f, 7}, true, read_write(x), kCount);
    cmd.dispatch(kernel(shaders::evaluate_int), desc, char{-1}, Line{4, 1}, false, read_write(y),
                 kCount);
  });
  CHECK(values(x) == std::vector<double>(kCount, -17));
  CHECK(values(y) == std::vector<int>(kCount, -13));
  CommandBuffer cmd = recording();
  check_refused(ErrorCode::ArgumentType, {"argument 3", "evaluate_double", "double*"}, [&] {
    cmd.dispatch(of_double, desc, char{2}, Line{1, 1}, true, read_write(y), kCount);
  });
}

}  // namespace reprise::test::kernel_templates_test
