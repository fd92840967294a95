// Kernels whose names clash with those of functions.
#include <names.shaders.hpp>

#include "conformance/device_fixture.hpp"

namespace reprise::test::kernel_names_test {

TEST_CASE_FIXTURE(DeviceFixture,
                  "kernel names: a kernel may have the name of a function of C or CUDA") {
  constexpr int kCount = 32;
  const auto x = buffer(std::vector<float>(kCount, 0), "x");
  CommandBuffer cmd = recording({.ordering = Ordering::Linear});
  for (const KernelDesc* desc : {&shaders::gamma, &shaders::index, &shaders::log, &shaders::read,
                                 &shaders::round, &shaders::dispatch})
    cmd.dispatch(kernel(*desc), {.grid = 1, .block = 64}, read_write(x), kCount);
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<float>(kCount, 31));
  CHECK(graph.to_text().find("dispatch log") != std::string::npos);
}

}  // namespace reprise::test::kernel_names_test
