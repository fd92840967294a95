// Random programs of the whole API on one device, compared with plain C++: see usage().
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <system_error>

#include "base/text.hpp"
#include "programs/runner.hpp"
#include "programs/shrink.hpp"

using namespace reprise;
using namespace reprise::test::programs;

namespace {

constexpr unsigned kMaxSeconds = 120;    // of one program
constexpr std::uint32_t kProcesses = 8;  // of an attempt to shrink: a failure may depend on chance

struct Options {
  double seconds = 60;
  std::uint64_t seed = std::random_device{}();
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t runs = 1;  // of each program
  bool shrinks = false;
  std::string device = "host";
};

[[noreturn]] void usage(const char* program, int status) {
  std::fprintf(
      status == 0 ? stdout : stderr,
      "usage: %s [SECONDS] [--seed N] [--count N] [--runs N] [--shrink] [--device NAME]\n"
      "Runs programs of seed N, N + 1, ... (default: random) for SECONDS (default: 60) or "
      "until COUNT\nhave run, each of them RUNS times (default: 1), on NAME (default: "
      "$REPRISE_DEVICE, otherwise\nhost). Stops at the first difference from plain C++ or "
      "the first error and prints the seed,\nthe step and the plan. --shrink then removes "
      "what the failure does not need, for at most as\nlong again, and prints the program. "
      "Each attempt is several processes at once, so that crashes,\nhangs, lost devices and "
      "failures by chance are shrunk too.\nExit code 1: a failure.\n",
      program);
  std::exit(status);
}

Options parse(int argc, char** argv) {
  Options options;
  if (const char* const name = std::getenv("REPRISE_DEVICE"); name != nullptr && *name != '\0')
    options.device = name;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto number = [&](std::string_view text) {
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc{} || end != text.data() + text.size()) usage(argv[0], 2);
      return value;
    };
    const auto next = [&]() -> std::string_view {
      if (i + 1 == argc) usage(argv[0], 2);
      return argv[++i];
    };
    if (argument == "--help") usage(argv[0], 0);
    if (argument == "--seed") {
      options.seed = number(next());
    } else if (argument == "--count") {
      options.count = number(next());
    } else if (argument == "--runs") {
      options.runs = static_cast<std::uint32_t>(std::max<std::uint64_t>(number(next()), 1));
    } else if (argument == "--shrink") {
      options.shrinks = true;
    } else if (argument == "--device") {
      options.device = next();
    } else {
      options.seconds = static_cast<double>(number(argument));
    }
  }
  return options;
}

// The failing program, which a failing process leaves to the process that shrinks it.
struct Found {
  volatile std::uint64_t seed;
  bool has_segments;
};
Found* found = nullptr;  // in memory that forked processes share

void report_hang(int) {
  char text[64] = "FAILED: a program does not end: --seed ";
  std::size_t length = std::strlen(text);
  char digits[20];
  std::size_t count = 0;
  for (std::uint64_t rest = found->seed; count == 0 || rest != 0; rest /= 10)
    digits[count++] = static_cast<char>('0' + rest % 10);
  while (count != 0) text[length++] = digits[--count];
  text[length++] = '\n';
  static_cast<void>(!::write(STDOUT_FILENO, text, length));
  ::_exit(1);
}

// A device, opened once per process.
class Runner {
 public:
  explicit Runner(const Options& options)
      : runs_(options.runs),
        instance_({.application = "programs",
                   .validation = Validation::Full,
                   .on_message = [](const Message&) {}}),
        device_(instance_.open_device(DeviceSelector::named(options.device))),
        kernels_(device_) {}

  [[nodiscard]] const DeviceInfo& info() const { return device_.info(); }
  [[nodiscard]] std::optional<Failure> run(const Program& program) const {
    std::optional<Failure> failure;
    for (std::uint32_t i = 0; i < runs_ && !failure; ++i) {
      ::alarm(kMaxSeconds);
      failure = test::programs::run(device_, kernels_, program);
      if (failure && runs_ > 1) failure->text = detail::concat("run ", i + 1, ", ", failure->text);
    }
    ::alarm(0);
    return failure;
  }

 private:
  const std::uint32_t runs_;
  const Instance instance_;
  const Device device_;
  const Kernels kernels_;
};

int run_programs(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const Runner runner(options);
  found->has_segments = runner.info().limits.max_segment_blocks != 0;
  std::printf("programs on %s from seed %llu\n", runner.info().name.c_str(),
              static_cast<unsigned long long>(options.seed));
  const auto started = Clock::now();
  auto printed = started;
  std::uint64_t count = 0;
  const auto progress = [&] {
    std::printf("%llu programs, 0 differences\n", static_cast<unsigned long long>(count));
    std::fflush(stdout);
  };
  for (; count < options.count; ++count) {
    const auto now = Clock::now();
    if (std::chrono::duration<double>(now - started).count() > options.seconds) break;
    if (now - printed > std::chrono::seconds(5)) {
      progress();
      printed = now;
    }
    found->seed = options.seed + count;
    const auto failure = runner.run(generate(found->seed, found->has_segments));
    if (!failure) continue;
    std::printf("FAILED: --seed %llu --count 1\n%s\n", static_cast<unsigned long long>(found->seed),
                failure->text.c_str());
    return 1;
  }
  progress();
  return 0;
}

int run_part(const Options& options, const Program& program, bool prints) {
  const auto failure = Runner(options).run(program);
  if (prints && failure) std::printf("%s\n", failure->text.c_str());
  return failure ? 1 : 0;
}

int print_error() {
  try {
    throw;
  } catch (const std::exception& error) {
    return std::printf("FAILED: %s\n", error.what()), 1;
  }
}

// Starts a process that exits with what `work` returns. The calling process must not have opened a
// device.
template <class Work>
pid_t start_child(const Work& work) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child != 0) return child;
  int status = 1;
  try {
    status = work();
  } catch (...) {
    status = print_error();
  }
  std::fflush(stdout);
  ::_exit(status);
}

// Returns its status, as of waitpid().
int wait_for_child(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool succeeded(int status) {
  if (WIFSIGNALED(status))
    std::printf("FAILED: signal %d: --seed %llu --count 1\n", WTERMSIG(status),
                static_cast<unsigned long long>(found->seed));
  return status == 0;
}

int run_and_shrink(const Options& options) {
  if (succeeded(wait_for_child(start_child([&] { return run_programs(options); })))) return 0;
  const auto started = std::chrono::steady_clock::now();
  std::uint64_t attempts = 0;
  const auto fails = [&](const Program& part) {
    if (std::chrono::steady_clock::now() - started > std::chrono::duration<double>(options.seconds))
      return false;
    if (++attempts % 50 == 0)
      std::printf("%llu attempts to shrink it\n", static_cast<unsigned long long>(attempts));
    std::array<pid_t, kProcesses> children;
    for (pid_t& child : children)
      child = start_child([&] { return run_part(options, part, false); });
    return std::ranges::count_if(children,
                                 [](pid_t child) { return wait_for_child(child) != 0; }) != 0;
  };
  const Program whole = generate(found->seed, found->has_segments);
  if (!fails(whole)) return std::printf("By itself, the program does not fail.\n"), 1;
  const Program smallest = shrink(whole, fails);
  std::printf("\nThe smallest part that fails:\n%s", to_text(smallest).c_str());
  if (succeeded(wait_for_child(start_child([&] { return run_part(options, smallest, true); }))))
    std::printf("It does not fail always.\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  void* const shared =
      ::mmap(nullptr, sizeof(Found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  found = new (shared) Found{};
  ::signal(SIGALRM, report_hang);
  return options.shrinks ? run_and_shrink(options) : run_programs(options);
} catch (...) {
  return print_error();
}
