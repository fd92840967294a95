// Programs that call fork(): the child has copies of the parent's objects, but none of its threads.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <reprise/graph_actor.hpp>
#include <reprise/reprise.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

constexpr int kDeadlineMs = 30'000, kExited = 3, kThrew = 99, kKilled = -1;

struct Pipe {
  Pipe() { REQUIRE(::pipe(ends) == 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends) ::close(end);
  }
  void close_writer() { ::close(std::exchange(ends[1], -1)); }
  // Blocks until a byte arrives or the last writer is gone. False after kDeadlineMs.
  [[nodiscard]] bool wait() const {
    pollfd end{ends[0], POLLIN, 0};
    return ::poll(&end, 1, kDeadlineMs) > 0;
  }

  int ends[2]{-1, -1};
};

// A forked child that runs `body` and then exit(kExited).
class ForkedChild {
 public:
  explicit ForkedChild(const std::function<void()>& body) {
    std::cout.flush();  // the child flushes its copy
    id_ = ::fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) {
      try {
        body();
      } catch (...) {
        ::_exit(kThrew);
      }
      std::exit(kExited);
    }
    alive_.close_writer();
  }
  // Returns kKilled if a signal ended the child. A child that hangs is killed.
  [[nodiscard]] int exit_code() const {
    if (!alive_.wait()) ::kill(id_, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(id_, &status, 0) == id_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : kKilled;
  }
  [[nodiscard]] pid_t id() const noexcept { return id_; }

 private:
  Pipe alive_;
  pid_t id_ = -1;
};

int run_in_child(const std::function<void()>& body) { return ForkedChild(body).exit_code(); }

Instance recorded_in(const TraceFolder& folder) {
  return Instance({.application = "forks", .trace = {.target = folder.file()}});
}

// A traced or untraced host device with a graph of one fill.
struct Program {
  explicit Program(const std::string& target)
      : instance({.application = "forks", .trace = {.target = target}}),
        device(instance.open_device(DeviceSelector::named("host"))),
        queue(device.create_queue()),
        pool(device.create_pool()),
        graph(compile({})) {}

  [[nodiscard]] CapturedGraph compile(const std::function<void()>& callback) const {
    const auto x = pool->allocate<int>(64, "x");
    CommandBuffer commands = device.create_command_buffer({.label = "step"});
    commands.begin();
    commands.fill(x, 1);
    if (callback) commands.host(callback, {read(x)});
    commands.end();
    return device.compile(commands, {.pool = pool});
  }
  void launch(int times) {
    for (int i = 0; i < times; ++i) graph.launch(queue).wait();
  }

  // Nothing remains to be deleted in the background: the trace is complete after the destructor.
  void finish() {
    graph = {};
    device.wait_idle();
  }

  Instance instance;
  Device device;
  Queue queue;
  std::shared_ptr<CapturePool> pool;
  CapturedGraph graph;
};

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
static const pid_t first_process = ::getpid();

// A thread of the parent may hold a lock of AddressSanitizer's allocator at the fork. A child that
// looked for leaks when it exits would wait for it without end.
extern "C" int __lsan_is_turned_off() { return ::getpid() == first_process ? 0 : 1; }
#endif

// First: the sanitizer for threads supports no threads in a child of a process with threads.
TEST_CASE("sibling processes: each one with the same target writes its own trace") {
  const TraceFolder folder;
  Pipe opened, go;
  const auto body = [&] {
    Instance own = recorded_in(folder);
    { const TraceRange range = own.trace_range("work"); }
    char byte = 0;
    if (::write(opened.ends[1], &byte, 1) != 1 || ::read(go.ends[0], &byte, 1) != 1) ::_exit(1);
    { const TraceRange range = own.trace_range("work"); }
  };
  const ForkedChild first(body);
  REQUIRE(opened.wait());
  const ForkedChild second(body), third(body);
  char bytes[3]{};
  for (int i = 0; i < 3; ++i) REQUIRE(::read(opened.ends[0], bytes, 1) == 1);
  REQUIRE(::write(go.ends[1], bytes, 3) == 3);
  for (const ForkedChild* child : {&first, &second, &third}) {
    CHECK(child->exit_code() == kExited);
    const trace::Records all = all_records(
        child == &first ? folder.file() : folder.file() + "." + std::to_string(child->id()));
    REQUIRE(all.sessions.size() == 1);
    CHECK(all.sessions[0].pid == static_cast<std::uint32_t>(child->id()));
    CHECK(all.host_ranges.size() == 2);
  }
}

TEST_CASE("forked process: a child that exits does not affect the trace of its parent") {
  const TraceFolder folder;
  {
    Program program(folder.file());
    program.launch(3);
    CHECK(run_in_child([] {}) == kExited);
    program.launch(2);
    program.finish();
  }
  CHECK(all_records(folder.file()).replays.size() == 5);
}

TEST_CASE("forked process: a child can destroy the objects of its parent") {
  const TraceFolder folder;
  std::string target;
  SUBCASE("with a trace") { target = folder.file(); }
  SUBCASE("without a trace") { target.clear(); }
  std::optional<Program> program(target);
  std::optional<GraphActor> actor(std::in_place, program->device, program->queue);
  program->launch(1);
  CHECK(run_in_child([&] {
          actor.reset();
          program.reset();
        }) == kExited);
  program->launch(1);
  actor.reset();
  program->finish();
  program.reset();
  if (!target.empty()) CHECK(all_records(target).replays.size() == 2);
}

TEST_CASE("forked process: a child that exits does not wait for the launches of its parent") {
  const NoTraceEnvironment none;
  Program program("");
  std::atomic<bool> is_running{false}, may_end{false};
  {
    CapturedGraph busy = program.compile([&] {
      is_running = true;
      is_running.notify_one();
      may_end.wait(false);
    });
    (void)busy.launch(program.queue);
    is_running.wait(false);
  }  // dropped while it runs
  const int ended = run_in_child([] {});
  may_end = true;
  may_end.notify_one();
  program.device.wait_idle();
  CHECK(ended == kExited);
}

#if !defined(__SANITIZE_THREAD__)  // see above
// The child's threads get the stacks of its parent's threads, to which oneTBB may still refer.
TEST_CASE(
    "forked process: a child that starts threads exits, also if its parent runs host devices") {
  const NoTraceEnvironment none;
  const auto run_threads = [] {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([] {});
  };
  run_threads();
  {
    Program program("");
    const auto x = program.pool->allocate<int>(1 << 20, "x");
    CommandBuffer commands = program.device.create_command_buffer();
    commands.begin();
    for (std::uint64_t part = 0; part < 16; ++part)  // several threads at once
      commands.fill(x.slice(part << 16, 1 << 16), 1);
    commands.end();
    CapturedGraph graph = program.device.compile(commands);
    for (int replay = 0; replay < 10; ++replay) graph.launch(program.queue).wait();
    graph = {};
    program.finish();
  }
  for (int child = 0; child < 10; ++child) CHECK(run_in_child(run_threads) == kExited);
}

TEST_CASE("forked process: an instance of the child writes its own trace") {
  const TraceFolder folder;
  std::optional<Instance> parent(recorded_in(folder));
  { const TraceRange range = parent->trace_range("parent"); }
  const ForkedChild child([&] {
    Instance own = recorded_in(folder);
    const TraceRange range = own.trace_range("child");
  });
  CHECK(child.exit_code() == kExited);
  parent.reset();
  const trace::Records before = all_records(folder.file());
  REQUIRE(before.sessions.size() == 1);
  REQUIRE(before.host_ranges.size() == 1);
  CHECK(before.host_ranges[0].name == "parent");
  const trace::Records after = all_records(folder.file() + "." + std::to_string(child.id()));
  REQUIRE(after.sessions.size() == 1);
  CHECK(after.sessions[0].process_start_utc > before.sessions[0].process_start_utc);
  REQUIRE(after.host_ranges.size() == 1);
  CHECK(after.host_ranges[0].name == "child");
  CHECK(after.host_ranges[0].thread == static_cast<std::uint32_t>(child.id()));
}
#endif
