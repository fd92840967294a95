// Random programs of the whole API on one device, compared with plain C++: see usage().
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include "programs/runner.hpp"
#include "programs/shrink.hpp"

using namespace reprise;
using namespace reprise::test::programs;

namespace {

constexpr unsigned kMaxSeconds = 120;  // of one program
constexpr int kAttempts = 3;           // to see a failure that depends on time

struct Options {
  double seconds = 60;
  std::uint64_t seed = std::random_device{}();
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
  bool shrinks = false;
  std::string device = "host";
};

[[noreturn]] void usage(const char* program, int status) {
  std::fprintf(
      status == 0 ? stdout : stderr,
      "usage: %s [SECONDS] [--seed N] [--count N] [--shrink] [--device NAME]\n"
      "Runs programs of seed N, N + 1, ... (default: random) for SECONDS (default: 60) or "
      "until COUNT\nhave run, on NAME (default: $REPRISE_DEVICE, otherwise host). Stops at "
      "the first difference from\nplain C++ or the first error and prints the seed, the "
      "step and the plan. --shrink then removes\nwhat the failure does not need, and prints "
      "the program. Exit code 1: a failure.\n",
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

volatile std::uint64_t current_seed = 0;

void report_hang(int) {
  char text[64] = "FAILED: a program does not end: --seed ";
  std::size_t length = std::strlen(text);
  char digits[20];
  std::size_t count = 0;
  for (std::uint64_t rest = current_seed; count == 0 || rest != 0; rest /= 10)
    digits[count++] = static_cast<char>('0' + rest % 10);
  while (count != 0) text[length++] = digits[--count];
  text[length++] = '\n';
  static_cast<void>(!::write(STDOUT_FILENO, text, length));
  ::_exit(1);
}

int run_programs(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const Instance instance({.application = "programs",
                           .validation = Validation::Full,
                           .on_message = [](const Message&) {}});
  const Device device = instance.open_device(DeviceSelector::named(options.device));
  const Kernels kernels(device);
  const bool has_segments = device.info().limits.max_segment_blocks != 0;
  std::printf("programs on %s from seed %llu\n", device.info().name.c_str(),
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
    const std::uint64_t seed = options.seed + count;
    current_seed = seed;
    ::alarm(kMaxSeconds);
    const Program program = generate(seed, has_segments);
    const auto failure = run(device, kernels, program);
    if (!failure) continue;
    std::printf("FAILED: --seed %llu --count 1\n%s\n", static_cast<unsigned long long>(seed),
                failure->text.c_str());
    std::fflush(stdout);
    if (!options.shrinks || device.is_lost()) return 1;
    const Program smaller = shrink(program, [&](const Program& part) {
      ::alarm(kMaxSeconds);
      for (int attempt = 0; attempt < kAttempts && !device.is_lost(); ++attempt)
        if (run(device, kernels, part)) return true;
      return false;
    });
    const auto again = run(device, kernels, smaller);
    std::printf("\nThe smallest part that fails:\n%s%s\n", to_text(smaller).c_str(),
                again ? again->text.c_str() : "It does not fail always.");
    return 1;
  }
  ::alarm(0);
  progress();
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  ::signal(SIGALRM, report_hang);
  return run_programs(options);
} catch (const std::exception& error) {
  return std::printf("FAILED: %s\n", error.what()), 1;
}
