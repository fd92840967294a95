// Recovers from a lost device: old handles are stale, recordings survive, buffers get new memory.
// Programs decide by ErrorCode, never by the text of an error.
#include <vector>

#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance({.application = "lost_device"});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto result = pool->host<float>(n, "result");
  CommandBuffer commands = device.create_command_buffer({.label = "step"});
  commands.begin();
  commands.fill(result, 1.0f);
  commands.dispatch(device.load_kernel(shaders::add), {.grid = ceil_div(n, 256), .block = 256},
                    1.0f, read_write(result), n);
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool});
  graph.launch(queue).wait();

  try {
    device.simulate_loss();  // as a faulting kernel would
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
    throw example::Skipped(
        "only a fault loses a GPU, which the driver then returns to no process; "
        "start a new one");
  }
  try {
    graph.launch(queue).wait();
    example::check(false, "a lost device accepted a launch");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::DeviceLost && error.code() != ErrorCode::StaleHandle) throw;
    std::printf("%s\n", error.what());
  }

  const std::vector<RebuiltBuffer> rebuilt = device.rebuild();
  example::check(result.is_stale() && rebuilt.size() == 1, "rebuild() did not replace the buffer");
  HostRef<float> fresh(rebuilt.front().after);
  queue = device.create_queue();
  graph = device.compile(commands);  // the recording of before
  graph.launch(queue).wait();
  example::check(fresh[n - 1] == 2.0f, "the result after rebuild() is wrong");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
