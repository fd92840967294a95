// A library that contains the engine and is loaded at run time.
#include <reprise/reprise.hpp>

extern "C" __attribute__((visibility("default"))) int replay_on_host() {
  using namespace reprise;
  Instance instance;
  Device device = instance.open_device(DeviceSelector::named("host"));
  const Queue queue = device.create_queue();
  const auto pool = device.create_pool();
  const auto x = pool->allocate<unsigned>(64), y = pool->allocate<unsigned>(64);
  CommandBuffer commands = device.create_command_buffer();
  commands.begin();
  commands.fill(x, 1u);
  commands.fill(y, 1u);
  commands.end();
  CapturedGraph graph = device.compile(commands);
  for (int i = 0; i < 50; ++i) static_cast<void>(graph.launch(queue));
  queue.wait_idle();
  return static_cast<int>(graph.replay_count());
}
