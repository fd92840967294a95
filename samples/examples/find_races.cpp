// Finds a command that reads bytes which it does not declare: find_races replays the recording in
// other orders that the declarations allow, and compares the contents of buffers.
#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance({.application = "find_races"});
  Device device = instance.open_device(selector);
  auto pool = device.create_pool();
  auto x = pool->allocate<float>(n, "x"), y = pool->allocate<float>(n, "y");
  Kernel scale = device.load_kernel(shaders::scale);

  const auto record = [&](const GpuRef<float>& declared) {
    CommandBuffer commands = device.create_command_buffer({.label = "step"});
    commands.begin();
    commands.fill(x.slice(0, n / 2), 1.0f);
    commands.fill(x.slice(n / 2, n / 2), 2.0f);
    // The kernel reads all n elements of x, whatever is declared.
    commands.dispatch(scale, {.grid = ceil_div(n, 256), .block = 256}, 3.0f, read(declared),
                      write(y), n);
    commands.end();
    return commands;
  };

  const RaceReport wrong = find_races(record(x.slice(0, n / 2)), {.runs = 16});
  std::fputs(to_text(wrong).c_str(), stdout);
  example::check(!wrong.clean(), "the undeclared read was not found");
  const RaceFinding& finding = wrong.findings.front();
  example::check(finding.first.index == 1 && finding.second.index == 2,
                 "other commands than the second fill and the dispatch were reported");

  const RaceReport right = find_races(record(x), {.runs = 16});
  example::check(right.clean(), "a race was reported where all bytes are declared");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
