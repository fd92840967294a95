// Runs the project's own kernel on the device that the first argument names, and checks the result
// in plain C++.
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include <horner.shaders.hpp>
#include <reprise/reprise.hpp>

namespace {

int run(const char* device_name) {
  constexpr int kCount = 1000;
  // Exact in binary, like every x below.
  const std::vector<float> coefficients = {1.0f, -2.0f, 0.5f, 0.25f};
  std::vector<float> x(kCount);
  for (int i = 0; i < kCount; ++i)
    x[static_cast<std::size_t>(i)] = static_cast<float>(i - 500) / 64.0f;
  std::vector<float> result(kCount, -1.0f);

  const reprise::Instance instance(
      {.application = "package_check", .validation = reprise::Validation::Full});
  const reprise::Device device = instance.open_device(reprise::DeviceSelector::named(device_name));
  const reprise::Queue queue = device.create_queue();
  const auto pool = device.create_pool();
  const auto gpu_x = pool->allocate<float>(kCount, "x");
  const auto gpu_y = pool->allocate<float>(kCount, "y");
  const auto gpu_c = pool->allocate<float>(coefficients.size(), "coefficients");
  const reprise::Kernel horner = device.load_kernel(shaders::horner);

  reprise::CommandBuffer commands = device.create_command_buffer();
  commands.begin();
  commands.copy(reprise::snapshot(x), gpu_x);
  commands.copy(reprise::snapshot(coefficients), gpu_c);
  commands.dispatch(horner, {.grid = reprise::ceil_div(kCount, 128), .block = 128},
                    reprise::read(gpu_x), reprise::write(gpu_y), reprise::read(gpu_c),
                    static_cast<int>(coefficients.size()) - 1, kCount);
  commands.copy(gpu_y, reprise::borrowed(result));
  commands.end();

  reprise::CapturedGraph graph = device.compile(commands, {.pool = pool});
  graph.launch(queue).wait();

  for (int i = 0; i < kCount; ++i) {
    float expected = coefficients.back();
    for (std::size_t k = coefficients.size() - 1; k-- > 0;)
      expected = std::fma(expected, x[static_cast<std::size_t>(i)], coefficients[k]);
    if (result[static_cast<std::size_t>(i)] != expected) {
      std::fprintf(stderr, "y[%d] is %g, expected %g\n", i,
                   static_cast<double>(result[static_cast<std::size_t>(i)]),
                   static_cast<double>(expected));
      return 1;
    }
  }
  std::printf("%s: %d values of the project's kernel are correct\n", device.info().name.c_str(),
              kCount);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "host");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "package_check: %s\n", error.what());
    return 1;
  }
}
