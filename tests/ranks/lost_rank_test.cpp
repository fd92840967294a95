// Ranks on GPUs of which one ends, stops, throws or loses its GPU: every other rank ends by itself,
// with a message that names it. The ranks are children of this process, because mpirun would end
// them.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <reprise/collectives.hpp>
#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

namespace {

using namespace reprise;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kStallLimit{1'000};
constexpr std::chrono::seconds kEndLimit{5};  // of a rank, from the fault on
constexpr int kFaultAt = 50;                  // replay
constexpr int kSkipped = 77;

enum class Fault { Kill, Stop, Throw, Exit, Idle, Gpu, KillInLoop };
constexpr struct {
  Fault fault;
  const char* name;
  const char* expected;  // in the message of the other ranks
} kFaults[] = {{Fault::Kill, "a killed rank", "rank 1 ("},
               {Fault::Stop, "a stopped rank", "has not reported replay"},
               {Fault::Throw, "an exception on a rank", "rank 1 ("},
               {Fault::Exit, "an early exit", "rank 1 ("},
               {Fault::Idle, "a rank that launches nothing", "has not reported replay"},
               {Fault::Gpu, "a lost GPU", "rank 1 ("},
               {Fault::KillInLoop, "a rank killed in a loop", "rank 1 ("}};

// A loop of collectives that only a lost rank ends.
CapturedGraph endless_loop(const Device& device, const Communicator& world,
                           const GpuRef<float>& x) {
  CommandBuffer body = device.create_command_buffer({.label = "body", .level = Level::Secondary});
  body.begin();
  body.add(all_reduce(world, x, x));
  body.end();
  const Condition go = device.create_condition({.name = "go", .initial = 1});
  CommandBuffer loop = device.create_command_buffer({.label = "endless"});
  loop.begin();
  loop.fill(x, 0.0f);
  loop.execute_while(go, body, {.max_iterations = std::uint64_t{1} << 60});
  loop.end();
  return device.compile(loop);
}

// Ends the context of the GPU: a graph writes to memory that is freed.
void lose_gpu(const Device& device, const Queue& queue) {
  constexpr std::uint64_t kBytes = std::uint64_t{256} << 20;
  void* freed = nullptr;
  static_cast<void>(cudaSetDevice(1));
  static_cast<void>(cudaMalloc(&freed, kBytes));
  CommandBuffer commands = device.create_command_buffer({.label = "fault"});
  commands.begin();
  commands.fill(from_native(device, static_cast<std::uint32_t*>(freed), kBytes / 4), 1u);
  commands.end();
  CapturedGraph graph = device.compile(commands);
  static_cast<void>(cudaFree(freed));
  graph.launch(queue).wait();
}

// A rank: replays until it is lost.
int run_rank(std::uint32_t rank, Fault fault, int ready) {
  const Instance instance;
  const Device device = instance.open_device(DeviceSelector::named("cuda:" + std::to_string(rank)));
  const Communicator world = Communicator::from_environment(device, {.stall_limit = kStallLimit});
  const Queue queue = device.create_queue();
  const auto pool = device.create_pool();
  const auto x = pool->allocate<float>(1 << 20, "x");
  CommandBuffer commands = device.create_command_buffer({.label = "step"});
  commands.begin();
  commands.fill(x, 1.0f);
  commands.add(all_reduce(world, x, x));
  commands.end();
  CapturedGraph graph =
      device.compile(commands, {.lowering = Lowering::Faithful.with_fault_markers()});
  if (fault == Fault::KillInLoop) {
    CapturedGraph loop = endless_loop(device, world, x);
    const Fence fence = loop.launch(queue);
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      if (write(ready, "x", 1) != 1) return 3;
      static_cast<void>(std::raise(SIGKILL));
    }
    fence.wait();
    return 4;
  }
  for (int replay = 0;; ++replay) {
    if (rank == 1 && replay == kFaultAt) {
      graph.launch(queue).wait();
      if (write(ready, "x", 1) != 1) return 3;
      switch (fault) {
        case Fault::Kill: static_cast<void>(std::raise(SIGKILL)); break;
        case Fault::Stop: static_cast<void>(std::raise(SIGSTOP)); break;
        case Fault::Throw: throw std::runtime_error("a fault of rank 1");
        case Fault::Exit: std::exit(0);
        case Fault::Idle:
          while (!world.is_lost()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
          break;
        case Fault::Gpu: lose_gpu(device, queue); break;
        case Fault::KillInLoop: break;  // above
      }
    }
    graph.launch(queue).wait();
  }
}

struct Child {
  pid_t pid = 0;
  int output = -1;
};

Child start(std::uint32_t rank, std::uint32_t size, Fault fault, int ready, int port) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) std::abort();
  const pid_t pid = fork();
  if (pid != 0) {
    close(pipes[1]);
    return {pid, pipes[0]};
  }
  dup2(pipes[1], STDERR_FILENO);
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(size).c_str(), 1);
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
  int code = 0;
  try {
    code = run_rank(rank, fault, ready);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s", error.what());
    code = error.code() == ErrorCode::RankLost ? 1 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s", error.what());
    code = 1;
  }
  std::exit(code);
}

std::string text_of(int output) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(output, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(output);
  return text;
}

// Waits for the child until `limit`; false: it has not ended.
bool wait_for(pid_t pid, Clock::time_point limit, int& status) {
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

bool check(const decltype(kFaults[0])& one, std::uint32_t size, int port) {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) std::abort();
  std::vector<Child> children;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    children.push_back(start(rank, size, one.fault, ready[1], port));
  close(ready[1]);
  char byte = 0;
  bool is_right = read(ready[0], &byte, 1) == 1;
  close(ready[0]);
  const Clock::time_point fault = Clock::now();
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    if (rank == 1) continue;
    int status = 0;
    const bool ended = wait_for(children[rank].pid, fault + kEndLimit, status);
    if (!ended) {
      kill(children[rank].pid, SIGKILL);
      waitpid(children[rank].pid, &status, 0);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - fault).count();
    const std::string text = text_of(children[rank].output);
    std::printf("%s: rank %u %s after %.1f s: %s\n", one.name, rank, ended ? "ended" : "HANGS",
                seconds, text.c_str());
    is_right = is_right && ended && WIFEXITED(status) && WEXITSTATUS(status) == 1 &&
               text.find(one.expected) != std::string::npos;
  }
  if (one.fault == Fault::Stop) kill(children[1].pid, SIGCONT);
  int status = 0;
  if (!wait_for(children[1].pid, Clock::now() + kEndLimit, status)) {
    std::printf("%s: rank 1 HANGS\n", one.name);
    kill(children[1].pid, SIGKILL);
    waitpid(children[1].pid, &status, 0);
    is_right = false;
  }
  // Only a signal that the test sends ends it.
  is_right =
      is_right && (one.fault == Fault::Kill || one.fault == Fault::KillInLoop || WIFEXITED(status));
  std::printf("%s: rank 1: %s\n", one.name, text_of(children[1].output).c_str());
  if (!is_right) std::printf("%s: FAILED\n", one.name);
  return is_right;
}

// The number of GPUs, counted by a child: CUDA does not survive a fork.
std::uint32_t count_gpus() {
  const pid_t pid = fork();
  if (pid == 0) {
    std::uint32_t count = 0;
    for (const DeviceInfo& info : Instance().devices())
      count += info.kind == DeviceKind::Cuda ? 1 : 0;
    std::exit(static_cast<int>(count));
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return static_cast<std::uint32_t>(WEXITSTATUS(status));
}

}  // namespace

int main() {
  const std::uint32_t size = count_gpus();
  if (size < 2) {
    std::printf("skipped: %u GPUs, and 2 are needed\n", size);
    return kSkipped;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  bool is_right = true;
  int port = 20'000 + static_cast<int>(getpid() % 10'000);
  for (const auto& one : kFaults) {
    is_right = check(one, size, port) && is_right;
    port += 20;
  }
  return is_right ? 0 : 1;
}
