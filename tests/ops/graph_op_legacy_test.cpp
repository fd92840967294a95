#include <reprise/ops/graph_op_legacy.hpp>

#include "conformance/device_fixture.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // tests deprecated declarations

using namespace reprise;
using namespace reprise::test;

TEST_CASE_FIXTURE(DeviceFixture, "legacy: each alternative converts to its op") {
  const auto x = buffer(std::vector<float>{1, 2, 3, 4}, "x");
  const auto y = pool->allocate<float>(4, "y"), z = pool->allocate<float>(4, "z"),
             u = pool->allocate<float>(4, "u");
  const auto spectrum = pool->allocate<std::complex<float>>(3, "spectrum");
  const RngStream stream(device, queue, {.seed = 1});
  const GraphOpLegacy script[] = {
      SgemmDesc{.a = x, .b = x, .c = y, .m = 2, .n = 2, .k = 2},
      MemcpyDesc{.source = y, .destination = z},
      RngFillUniformDesc{.destination = u, .stream = stream},
      FftR2CDesc{.input = x, .output = spectrum, .size = 4},
  };
  const std::string_view names[] = {"sgemm", "memcpy", "rng_fill_uniform", "fft_r2c"};
  run([&](CommandBuffer& cmd) {
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(script[i].op()->op_name() == names[i]);
      cmd.add(script[i].op());
    }
  });
  CHECK(values(z) == std::vector<float>{7, 10, 15, 22});
  CHECK(values(spectrum)[0] == std::complex<float>(10, 0));
  CHECK(stream.position(queue) == 4);
}
