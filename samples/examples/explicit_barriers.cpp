// Orders commands by barriers, as in Vulkan. With Validation::Full, compiling refuses a recording
// in which no barrier orders two conflicting commands, and names both.
#include "example.hpp"
#include "kernels.shaders.hpp"  // generated from kernels.cu by reprise_add_shaders

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance({.application = "explicit_barriers",
                     .validation = Validation::Full,
                     .on_message = [](const Message&) {}});  // errors are thrown as well
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto x = pool->allocate<float>(n, "x"), y = pool->allocate<float>(n, "y");
  auto result = pool->host<float>(n, "result");
  Kernel scale = device.load_kernel(shaders::scale);

  CommandBuffer commands =
      device.create_command_buffer({.label = "barriers", .ordering = Ordering::Explicit});
  const auto record = [&](bool with_second_barrier) {
    commands.begin();
    commands.fill(x, 2.0f);
    commands.barrier();  // everything above before everything below
    commands.dispatch(scale, {.grid = ceil_div(n, 256), .block = 256}, 3.0f, read(x), write(y), n);
    if (with_second_barrier)  // only writes of y before reads of y
      commands.barrier({.buffer = y, .before = Access::Write, .after = Access::Read});
    commands.copy(y, result);
    commands.end();
  };

  ErrorCode code = ErrorCode::Internal;
  try {
    record(false);
    static_cast<void>(device.compile(commands));
  } catch (const Error& error) {
    std::printf("without the second barrier: %s\n", error.what());
    code = error.code();
  }
  example::check(code == ErrorCode::MissingBarrier, "the missing barrier was not reported");

  record(true);
  device.compile(commands).launch(queue).wait();
  example::check(result[0] == 6.0f && result[n - 1] == 6.0f, "the result is wrong");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
