// Gives graphs to an actor: a thread that compiles and launches them for any number of clients, who
// get futures.
#include <memory>
#include <thread>
#include <vector>

#include <reprise/child_graph_op.hpp>

#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024, kClients = 4, kLaunches = 10;
  Instance instance({.application = "graph_actor"});
  Device device = instance.open_device(selector);
  auto pool = device.create_pool();
  auto x = pool->host<float>(n, "x");

  // A script is a list of ops; a secondary command buffer is one.
  CommandBuffer step = device.create_command_buffer({.label = "step", .level = Level::Secondary});
  step.begin();
  step.dispatch(device.load_kernel(shaders::add), {.grid = ceil_div(n, 256), .block = 256}, 1.0f,
                read_write(x), n);
  step.end();
  const auto op = std::make_shared<ChildGraphOp>(step);

  GraphActor actor(device, device.create_queue());
  const GraphHandle graph = actor.record({op, op}, {.label = "two steps", .pool = pool}).get();
  std::vector<std::thread> clients;
  for (unsigned client = 0; client < kClients; ++client)
    clients.emplace_back([&] {
      for (unsigned i = 0; i < kLaunches; ++i) actor.launch(graph).get();  // after its completion
    });
  for (std::thread& client : clients) client.join();
  actor.shutdown();

  std::printf("%llu replays\n", static_cast<unsigned long long>(graph.graph()->replay_count()));
  example::check(x[n - 1] == 2.0f * kClients * kLaunches, "a replay is missing");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
