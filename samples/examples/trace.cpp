// Writes a trace from code and reads the times of its commands back. `reprise view trace.reprise`
// opens the file. REPRISE_TRACE=trace.reprise makes any program write one without a change.
#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance(
      {.application = "trace",
       .trace = {.target = "trace.reprise", .profile = ProfileMode::Every}});  // times of all nodes
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue({.label = "main"});
  auto pool = device.create_pool({.label = "step"});
  auto x = pool->allocate<float>(n, "x"), y = pool->allocate<float>(n, "y");
  Kernel scale = device.load_kernel(shaders::scale), add = device.load_kernel(shaders::add);
  const DispatchDesc all{.grid = ceil_div(n, 256), .block = 256};

  CommandBuffer commands = device.create_command_buffer({.label = "step"});
  commands.begin();
  commands.fill(x, 1.0f);
  {
    LabelScope scope = commands.label("forward");  // groups commands in the viewer
    commands.dispatch(scale, all, 2.0f, read(x), write(y), n);
    commands.dispatch(add, all, 1.0f, read_write(y), n);
  }
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool});
  {
    TraceRange range = instance.trace_range("ten replays");  // a range of this thread
    for (int replay = 0; replay < 10; ++replay) graph.launch(queue).wait();
  }
  instance.flush_trace();  // the file contains everything up to here

  const auto profile = load_cost_profile("trace.reprise");
  const GraphCosts& step = profile->graphs.front();
  std::printf("graph %s, %u replays\n", step.label.c_str(), step.replays);
  for (const CommandCost& cost : step.commands)
    std::printf("%.2f us: %s, label '%s'\n", cost.time.count(), cost.name.c_str(),
                cost.label.c_str());
  example::check(step.replays == 10 && step.commands.size() == 3, "the trace is incomplete");
  example::check(step.commands[1].label == "forward", "the trace lacks a label");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
