// The soak test: reprise_soak [SECONDS]. Several threads make, use and drop recordings, graphs,
// pools, buffers and traces on $REPRISE_DEVICE (default: host) while allocations fail, no thread
// can start, files cannot grow, and viewers attach, stall and vanish. Each fault must surface as
// reprise::Error or std::bad_alloc, and a replay that reports success has the right result. The
// first fifth of the time warms up. Afterwards all owners are gone, and no thread of the engine and
// no more file descriptors exist than after the warm-up; memory has grown by less than kMaxGrowth.
// The exit code is 0 if all of that holds.
#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <reprise/reprise.hpp>

#include "support/counting_allocator.hpp"
#include "support/no_threads.hpp"
#include "support/paths.hpp"
#include "trace/live/live_client.hpp"
#include "trace/live/session_directory.hpp"
#include "words.shaders.hpp"

// Stands before the C library's. A thread of oneTBB stays until the process ends, and would have
// the name of the engine's thread that starts it.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
  static const auto create =
      reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  const int error = create(thread, attributes, start, argument);
  Dl_info library{};
  if (error == 0 && ::dladdr(reinterpret_cast<void*>(start), &library) != 0 &&
      std::string_view(library.dli_fname).find("libtbb") != std::string_view::npos)
    ::pthread_setname_np(*thread, "tbb");
  return error;
}

using namespace reprise;
using Random = std::mt19937_64;

namespace {

constexpr unsigned kWorkers = 4, kCount = 256;
constexpr std::uint64_t kMaxGrowth = 32u << 20;  // bytes
constexpr DispatchDesc kWords{.grid = 1, .block = kCount};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMeasuresMemory = false;  // the sanitizer keeps freed memory
#else
constexpr bool kMeasuresMemory = true;
#endif

std::atomic<unsigned long long> rounds{0}, errors{0}, bad_allocs{0}, replays{0}, viewers{0},
    faults{0};

[[noreturn]] void fail(const std::string& text) {
  std::printf("FAILED: %s\n", text.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

// Replaces the message of std::terminate, which goes to stderr.
[[noreturn]] void report_terminate() {
  std::string text = "std::terminate was called";
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::exception& error) {
    text += std::string(" because of an exception: ") + error.what();
  } catch (...) {
    text += " because of an exception that is no std::exception";
  }
  std::printf("FAILED: %s\n", text.c_str());
  std::fflush(stdout);
  std::abort();
}

void print_stack(int) {
  void* frames[64];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, 64), STDOUT_FILENO);
}

// Runs `work`; only the documented exceptions may leave it.
void attempt(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error&) {
    ++errors;
  } catch (const std::bad_alloc&) {
    ++bad_allocs;
  } catch (const std::exception& error) {
    fail(std::string("an exception of another type: ") + error.what());
  } catch (...) {
    fail("an exception that is no std::exception");
  }
}

struct Objects {
  std::shared_ptr<CapturePool> pool;
  CapturedGraph graph;
  HostRef<unsigned> out;
  GpuRef<unsigned> x, other;
};

// Records out = value + 1 in each replica's copies, by way of a transient.
CommandBuffer record(const Device& device, const Objects& o, unsigned value) {
  const auto t = o.pool->transient<unsigned>(kCount, "t");
  CommandBuffer cmd = device.create_command_buffer({.label = "step"});
  cmd.begin();
  {
    const auto scope = cmd.label("label");
    cmd.dispatch(device.load_kernel(shaders::conf_set), kWords, write(t), slot("value", value),
                 kCount);
  }
  cmd.dispatch(device.load_kernel(shaders::conf_add), kWords, read(t), write(o.x), 1u, kCount);
  cmd.copy(o.x, o.out);
  cmd.host([] {});
  cmd.end();
  return cmd;
}

// Makes one graph with everything around it, uses it, and drops all in a random order, mostly
// before the last replays have ended.
void use(const Device& device, Random& random) {
  Objects o;
  const auto replicas = static_cast<std::uint32_t>(1 + random() % 3);
  const auto value = static_cast<unsigned>(random() % 1000);
  o.pool = device.create_pool(
      {.label = "soak",
       .sharing = random() % 2 == 0 ? SlabSharing::OneAtATime : SlabSharing::None});
  o.x = o.pool->allocate<unsigned>(kCount, "x", PerReplica{replicas});
  o.other = o.pool->allocate<unsigned>(kCount, "other", PerReplica{replicas});
  o.out = o.pool->host<unsigned>(kCount, "out", PerReplica{replicas});
  const bool has_segments = device.info().limits.max_segment_blocks != 0 && random() % 4 == 0;
  o.graph = device.compile(record(device, o, value),
                           {.pool = o.pool,
                            .lowering = has_segments ? Lowering::Persistent : Lowering::Auto,
                            .replicas = replicas});
  std::vector<Queue> queues;
  for (std::uint64_t i = 1 + random() % 2; i != 0; --i) queues.push_back(device.create_queue());
  const auto launch_and_check = [&](unsigned expected) {
    for (std::uint64_t i = random() % 4; i != 0; --i)
      static_cast<void>(o.graph.launch(queues[random() % queues.size()]));
    const Fence last = o.graph.launch(queues[0]);
    last.wait();
    if (o.out.replica(last.replica())[kCount - 1] != expected + 1) fail("a replay's result");
    ++replays;
  };
  launch_and_check(value);
  switch (random() % 6) {
    case 0: o.graph.scalar<unsigned>("value").set(value + 1); return launch_and_check(value + 1);
    case 1:
      static_cast<void>(o.graph.rebind(o.x, o.other));
      launch_and_check(value);
      break;
    case 2:
      static_cast<void>(o.graph.update(record(device, o, value + 2)));
      launch_and_check(value + 2);
      break;
    case 3: static_cast<void>(o.pool->trim()); break;
    case 4: static_cast<void>(device.statistics()); break;
    default: break;
  }
  for (std::uint64_t i = random() % 3; i != 0; --i) static_cast<void>(o.graph.launch(queues[0]));
  switch (random() % 4) {
    case 0: o.graph = {}; break;
    case 1: o.pool.reset(); break;
    case 2: queues.clear(); break;
    default: device.wait_idle(); break;
  }
}

std::string trace_target(Random& random, unsigned worker) {
  const std::string file =
      (test::scratch_folder() / ("soak-" + std::to_string(worker) + ".reprise")).string();
  switch (random() % 6) {
    case 0: return file + ",max=256k";
    case 1: return "live," + file + ",max=256k";
    case 2: return "live";
    case 3: return "/dev/full";
    case 4: return (test::scratch_folder() / "no such folder" / "x.reprise").string();
    default: return {};
  }
}

// Rounds of one worker, each on the device that all share or on one of its own, with a trace. Half
// of the rounds fail at a random allocation, some of them at all later ones too.
void work(unsigned worker, const Device& shared, const std::atomic<bool>& stop) {
  Random random(worker + 1);
  while (!stop) {
    ++rounds;
    const std::uint64_t n = random() % (std::uint64_t{1} << random() % 13),
                        count = random() % 2 == 0 ? 1 : test::FailingAllocations::kAll;
    const bool fails = random() % 2 == 0, is_own = random() % 3 == 0;
    const std::string target = trace_target(random, worker);
    attempt([&] {
      std::optional<test::FailingAllocations> failing;
      if (fails) failing.emplace(n, count);
      if (!is_own) return use(shared, random);
      Instance instance({.application = "soak",
                         .on_message = [](const Message&) {},
                         .trace = {.target = target, .profile = ProfileMode::Every}});
      const Device own = instance.open_device(DeviceSelector::best());
      use(own, random);
      if (random() % 2 == 0) instance.flush_trace();
    });
  }
}

// Limits the size of files, as a full disk does; writes beyond it fail without a signal.
void limit_files(rlim_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

// One viewer of a session of this process: it reads, stops reading, and vanishes.
void view(const std::function<void()>& pause) {
  for (const trace::LiveSession& session : trace::list_sessions()) {
    if (session.pid != static_cast<std::uint32_t>(::getpid()) || !session.alive) continue;
    trace::LiveClient client({.address = session.path.string()});
    client.request({trace::LiveRequest::Kind::SetProfile, trace::LiveProfile::Sampled});
    client.request({trace::LiveRequest::Kind::Flush});
    for (int i = 0; i < 5; ++i) {
      static_cast<void>(client.poll());
      pause();
    }
    pause();
    ++viewers;
    return;
  }
}

// Faults of the whole process, one after the other.
void disturb(const std::atomic<bool>& stop) {
  Random random(99);
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  while (!stop) {
    switch (random() % 4) {
      case 0: {
        const test::NoThreads none;
        if (!none.works()) fail("threads can start in spite of NoThreads");
        pause();
        break;
      }
      case 1:
        limit_files(random() % 8192);
        pause();
        limit_files(RLIM_INFINITY);
        break;
      default: view(pause); break;
    }
    ++faults;
    pause();
  }
}

void run_for(std::chrono::duration<double> time) {
  std::atomic<bool> stop{false};
  {
    const Instance instance(
        {.application = "soak", .on_message = [](const Message&) {}, .trace = {.target = "live"}});
    const Device shared = instance.open_device(DeviceSelector::best());
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kWorkers; ++i) threads.emplace_back([&, i] { work(i, shared, stop); });
    threads.emplace_back([&] { disturb(stop); });
    std::this_thread::sleep_for(time);
    stop = true;
    for (std::thread& thread : threads) thread.join();
  }
}

std::vector<std::string> open_files() {
  std::vector<std::string> targets;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    targets.push_back(std::filesystem::read_symlink(entry.path()).string());
  return targets;
}

// On a GPU, only what is allocated: CUDA maps and unmaps 32 MiB at a time as it likes.
std::uint64_t used_bytes(bool is_host) {
  if (!is_host) {
    const struct mallinfo2 info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
  }
  ::malloc_trim(0);
  std::uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The engine's threads by name. They end soon after their last owner.
std::string engine_threads() {
  std::string names;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    if (name.starts_with("reprise-")) names += " " + name;
  }
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 60;
  if (argc > 2 || !(seconds > 0)) return std::printf("usage: %s [SECONDS]\n", argv[0]), 2;
  ::alarm(static_cast<unsigned>(seconds) + 300);  // a hang
  // One arena: with one for each of the thousands of threads, the free memory of each counts as
  // used, tens of MiB after an hour.
  ::mallopt(M_ARENA_MAX, 1);
  ::signal(SIGXFSZ, SIG_IGN);
  struct sigaction crash {};
  crash.sa_handler = print_stack;
  crash.sa_flags = SA_RESETHAND;  // the signal then ends the program
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    ::sigaction(signal, &crash, nullptr);
  std::set_terminate(report_terminate);
  ::setenv("REPRISE_DEVICE", "host", 0);
  ::setenv("XDG_RUNTIME_DIR", test::scratch_folder().c_str(), 1);
  // The engine reports traces that it cannot write; there are thousands here.
  stderr = std::fopen("/dev/null", "w");

  run_for(std::chrono::duration<double>(seconds * 0.2));
  const std::size_t files = open_files().size();
  const bool is_host = std::string_view(std::getenv("REPRISE_DEVICE")) == "host";
  const std::uint64_t bytes = used_bytes(is_host);
  run_for(std::chrono::duration<double>(seconds * 0.8));
  const std::uint64_t after = used_bytes(is_host);

  std::printf(
      "%llu rounds, %llu results, %llu errors, %llu without memory, %llu faults of the process, "
      "%llu viewers; %.1f MiB used after the warm-up, %.1f MiB at the end\n",
      rounds.load(), replays.load(), errors.load(), bad_allocs.load(), faults.load(),
      viewers.load(), static_cast<double>(bytes) / 1048576, static_cast<double>(after) / 1048576);
  for (int i = 0; i < 1000 && !engine_threads().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (const std::string left = engine_threads(); !left.empty()) fail("threads are left:" + left);
  if (const auto open = open_files(); open.size() > files) {
    fail(std::to_string(open.size() - files) +
         " more open files than after the warm-up, among them " + open[open.size() / 2]);
  }
  if (kMeasuresMemory && after > bytes + kMaxGrowth) fail("memory has grown");
  for (const auto* count : {&replays, &errors, &bad_allocs, &faults, &viewers})
    if (*count == 0) fail("one of the counts is 0: the test showed nothing");
  return 0;
}
