#include "blocks.shaders.hpp"
#include "conformance/device_fixture.hpp"

namespace reprise::test::atomics_test {

TEST_CASE_FIXTURE(DeviceFixture,
                  "atomics: every operation over many blocks gives the result of a single thread") {
  constexpr unsigned n = 10000;
  const auto totals =
      buffer(std::vector<unsigned>{0, 0xffffffffu, 0, 0, 0xffffffffu, 0, 0, 0}, "totals");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_atomics), {.grid = ceil_div(n, 128), .block = 128},
                 read_write(totals), n);
  });
  std::vector<unsigned> expected{0, 5, n - 1, 0x7fffffffu, 0xffffff00u, 0, n - 1, 1};
  for (unsigned i = 0; i < n; ++i) {
    expected[0] += i;
    expected[5] ^= i;
  }
  CHECK(values(totals) == expected);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "atomics: a shared-memory histogram accumulates in device memory") {
  const auto bytes = generated<unsigned char>(
      50001, [](std::size_t i) { return static_cast<unsigned char>(i * 31 + i / 7); });
  const auto in = buffer(bytes, "in");
  const auto bins = buffer(std::vector<unsigned>(16, 0), "bins");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_histogram), {.grid = 12, .block = 128}, read(in),
                 read_write(bins), static_cast<unsigned>(bytes.size()));
  });
  std::vector<unsigned> expected(16, 0);
  for (const unsigned char byte : bytes) ++expected[byte % 16];
  CHECK(values(bins) == expected);
}

}  // namespace reprise::test::atomics_test
