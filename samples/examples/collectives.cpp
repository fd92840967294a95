// Adds the values of all ranks inside a graph. `mpirun -n 4 example_collectives` starts four ranks;
// without a launcher this process is the only one.
#include <chrono>

#include <reprise/collectives.hpp>

#include "example.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance({.application = "collectives"});
  Device device = instance.open_device(selector);  // of several GPUs: launched_rank().local_rank
  Queue queue = device.create_queue();
  // A rank that launches nothing for so long ends the job, on every rank.
  const Communicator world =
      Communicator::from_environment(device, {.stall_limit = std::chrono::minutes(1)});
  auto pool = device.create_pool();
  auto gradients = pool->allocate<float>(n, "gradients");
  auto result = pool->host<float>(n, "result");

  CommandBuffer commands = device.create_command_buffer({.label = "step"});
  commands.begin();
  commands.fill(gradients, static_cast<float>(world.rank() + 1));  // the work of this rank
  commands.add(all_reduce(world, gradients, gradients));           // in place
  commands.copy(gradients, result);
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool});  // all ranks call it together
  graph.launch(queue).wait();

  const float sum = static_cast<float>(world.size() * (world.size() + 1) / 2);
  std::printf("rank %u of %u: %g\n", world.rank(), world.size(), static_cast<double>(result[0]));
  example::check(result[0] == sum && result[n - 1] == sum, "the sum of all ranks is wrong");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
