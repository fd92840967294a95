// Changes a compiled graph between replays: other buffers, a disabled command, another recording.
// Each change uses the cheapest method that suffices; queued replays are not affected.
#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance({.application = "update_graph"});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto x = pool->allocate<float>(n, "x");
  auto result = pool->host<float>(n, "result"), other = pool->host<float>(n, "other");
  Kernel add = device.load_kernel(shaders::add);

  CommandRef second;
  CommandBuffer commands = device.create_command_buffer({.label = "steps"});
  const auto record = [&](float value, bool has_third_step) {
    const DispatchDesc all{.grid = ceil_div(n, 256), .block = 256};
    commands.begin();
    commands.fill(x, 1.0f);
    commands.dispatch(add, all, value, read_write(x), n);
    second = commands.dispatch(add, all, 10.0f, read_write(x), n);
    if (has_third_step) commands.dispatch(add, all, 100.0f, read_write(x), n);
    commands.copy(x, result);
    commands.end();
  };
  record(1.0f, false);
  CapturedGraph graph = device.compile(commands, {.pool = pool});
  const auto check = [&](const HostRef<float>& written, float value) {
    graph.launch(queue).wait();
    example::check(written[n - 1] == value, "a replay is wrong");
  };
  const auto print = [](const char* change, const UpdateReport& report) {
    std::printf("%s: %s, %u nodes%s%s\n", change, std::string(to_string(report.method)).c_str(),
                report.nodes, report.reason.empty() ? "" : ", because ", report.reason.c_str());
    example::check(report.done(), "the update was refused");
  };
  check(result, 12.0f);

  print("another buffer", graph.rebind(result, other));
  check(other, 12.0f);
  graph.disable(second);
  check(other, 2.0f);
  record(2.0f, false);
  print("another value", graph.update(commands));  // also resets the buffer and enables all
  check(result, 13.0f);
  record(2.0f, true);
  print("one more command", graph.update(commands));
  check(result, 113.0f);
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
