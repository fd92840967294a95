#include "profile/process_info.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include <reprise/error.hpp>

#include "base/creator_process.hpp"
#include "base/rank_environment.hpp"
#include "base/steady_clock.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

constexpr trace::Time kSecond = 1'000'000'000;

trace::Time utc_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string file_text(const std::string& path) {
  try {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  } catch (const std::ios_base::failure&) {
    return {};  // the thread of this file has ended
  }
}

// From the kernel's tick count since boot; 0 if it cannot be read.
trace::Time process_start() {
  const std::string stat = file_text("/proc/self/stat");
  const std::size_t name_end = stat.rfind(')');  // the name may contain any character
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < 20 && fields >> field; ++i) {
  }  // stops at field 22, starttime
  std::uint64_t ticks = 0;
  if (std::from_chars(field.data(), field.data() + field.size(), ticks).ec != std::errc()) return 0;
  timespec up{};
  if (clock_gettime(CLOCK_BOOTTIME, &up) != 0) return 0;
  const trace::Time age = up.tv_sec * kSecond + up.tv_nsec -
                          static_cast<trace::Time>(ticks) * (kSecond / sysconf(_SC_CLK_TCK));
  return utc_now() - age;
}

std::string command_line() {
  std::string text = file_text("/proc/self/cmdline");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  return text;
}

// Identifies the host clock: the boot of the machine, and the process's time namespace, which
// shifts the clock.
std::string clock_name() {
  std::string boot = file_text("/proc/sys/kernel/random/boot_id");
  while (!boot.empty() && boot.back() == '\n') boot.pop_back();
  char offsets[64] = "";  // "time:[4026531834]", as all processes with the same offsets
  if (boot.empty() || readlink("/proc/self/ns/time", offsets, sizeof(offsets) - 1) < 0) return boot;
  return concat(boot, " ", offsets);
}

}  // namespace

std::optional<RankEnvironment> launched_environment() {
  try {
    return read_rank_environment(process_variable);
  } catch (const Error&) {
    return std::nullopt;  // a communicator reports it
  }
}

trace::Time trace_now() noexcept { return steady_now(); }

trace::Session describe_process(std::string_view application) {
  trace::Session session;
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) == 0) session.host = host;
  session.pid = static_cast<std::uint32_t>(getpid());
  // Computed once: it identifies the process and must not vary.
  struct Start {
    const trace::Time utc = process_start();
  };
  static PerProcess<Start> start;
  session.process_start_utc = start.get().utc;
  if (const std::optional<RankEnvironment> environment = launched_environment()) {
    session.rank = environment->rank;
    session.ranks = environment->size;
    session.job = job_name(process_variable, *environment);
  }
  session.clock = clock_name();
  session.application = application;
  session.command_line = command_line();
  session.engine_version = REPRISE_VERSION;
  return session;
}

trace::Clock read_clocks() {
  const trace::Time before = trace_now();
  const trace::Time utc = utc_now();
  const trace::Time after = trace_now();
  return {trace::kNone, before + (after - before) / 2, utc, (after - before + 1) / 2};
}

trace::Time thread_cpu_time(pthread_t thread) noexcept {
  clockid_t clock{};
  timespec run{};
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &run) != 0) return 0;
  return run.tv_sec * kSecond + run.tv_nsec;
}

std::uint32_t thread_number() noexcept {
  struct Cached {
    CreatorProcess process;
    std::uint32_t number = static_cast<std::uint32_t>(syscall(SYS_gettid));
  };
  thread_local Cached cached;
  if (!cached.process.is_current()) cached = {};
  return cached.number;
}

std::string thread_name(std::uint32_t number) {
  std::string name = file_text(concat("/proc/self/task/", number, "/comm"));
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

}  // namespace reprise::detail
