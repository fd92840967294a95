// Lets kernels decide inside a replay what runs next: a loop (while), a branch (if) and a selection
// (switch). The host takes no part.
#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  Instance instance({.application = "conditionals"});
  Device device = instance.open_device(selector);
  if (device.info().limits.conditionals != DeviceLimits::Conditionals::All)
    throw example::Skipped("this device has no selections (CUDA 12.8 has)");
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto number = pool->host<unsigned>(1, "number");
  auto result = pool->host<float>(2, "result");
  auto x = pool->allocate<float>(1, "x"), y = pool->allocate<float>(1, "y");
  Kernel halve = device.load_kernel(shaders::halve), choose = device.load_kernel(shaders::choose);

  Condition go = device.create_condition({.name = "go", .initial = 1});
  Condition is_set = device.create_condition({.name = "is_set"});
  Condition choice = device.create_condition({.name = "choice"});
  CommandBuffer iteration = device.create_command_buffer({.level = Level::Secondary});
  iteration.begin();
  iteration.dispatch(halve, {}, read_write(x), 1.0f, go);  // halves x, goes on while x > 1
  iteration.end();
  const auto fill_y = [&](float value) {
    CommandBuffer commands = device.create_command_buffer({.level = Level::Secondary});
    commands.begin();
    commands.fill(y, value);
    commands.end();
    return commands;
  };
  const CommandBuffer half = fill_y(0.5f), ten = fill_y(10.0f), eleven = fill_y(11.0f);

  CommandBuffer commands = device.create_command_buffer({.label = "conditionals"});
  commands.begin();
  commands.fill(x, 100.0f);
  commands.execute_while(go, iteration, {.max_iterations = 1000});
  commands.copy(x, result.slice(0, 1));
  commands.fill(y, 0.0f);
  commands.dispatch(choose, {}, read(number), is_set);
  commands.execute_if(is_set, half);
  commands.dispatch(choose, {}, read(number), choice);
  commands.execute_switch(choice, {eleven, ten});  // nothing for other numbers
  commands.copy(y, result.slice(1, 1));
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool});
  for (const float expected : {11.0f, 10.0f, 0.5f}) {
    graph.launch(queue).wait();
    example::check(graph.loops().front().iterations == 7 && result[0] == 100.0f / 128,
                   "100 was not halved until it was at most 1");
    example::check(result[1] == expected, "a wrong branch was taken");
    ++number[0];
  }
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
