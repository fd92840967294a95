// A process of process_test.cpp: child <task>.
#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string_view>

#include <reprise/reprise.hpp>

namespace {

using namespace reprise;

// A graph with two branches, which oneTBB's threads share, and a callback.
struct Replays {
  Instance instance{{.validation = Validation::Off}};
  Device device = instance.open_device(DeviceSelector::named("host"));
  Queue queue = device.create_queue();
  std::shared_ptr<CapturePool> pool = device.create_pool();
  GpuRef<unsigned> x = pool->allocate<unsigned>(1 << 20), y = pool->allocate<unsigned>(1 << 20);
  CapturedGraph graph;

  explicit Replays(const std::function<void()>& callback) {
    CommandBuffer commands = device.create_command_buffer();
    commands.begin();
    for (int i = 0; i < 20; ++i) {
      commands.fill(x, 1u);
      commands.fill(y, 2u);
    }
    commands.host(callback);
    commands.end();
    graph = device.compile(commands);
    for (int i = 0; i < 20; ++i) static_cast<void>(graph.launch(queue));
  }
};
Replays* leaked = nullptr;

int exit_in_callback() {
  int replay = 0;
  Replays replays([&replay] {
    if (++replay == 3) std::exit(7);
  });
  replays.queue.wait_idle();
  return 1;
}

int leak_replays() {
  leaked = new Replays([] {});
  return 0;
}

// The C library takes thread-local memory from the stack; the static CUDA runtime has 12 KiB.
constexpr std::size_t kSmallStack = 32 * 1024;

int start_small_thread() {
  const Replays replays([] {});
  replays.queue.wait_idle();
  pthread_attr_t attributes;
  pthread_t thread{};
  if (::pthread_attr_init(&attributes) != 0 ||
      ::pthread_attr_setstacksize(&attributes, kSmallStack) != 0 ||
      ::pthread_create(
          &thread, &attributes, [](void*) -> void* { return nullptr; }, nullptr) != 0)
    return 1;
  return ::pthread_join(thread, nullptr);
}

}  // namespace

int main(int, char** argv) {
  const std::string_view what = argv[1];
  return what == "exit-in-callback"     ? exit_in_callback()
         : what == "leak-replays"       ? leak_replays()
         : what == "start-small-thread" ? start_small_thread()
                                        : 2;
}
