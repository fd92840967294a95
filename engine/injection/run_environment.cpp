#include "injection/run_environment.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/uio.h>

#include <reprise/error.hpp>

#include "base/text.hpp"
#include "profile/process_info.hpp"

namespace reprise::detail {
namespace {

std::string_view variable(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

RunEnvironment::Stacks stacks_of(std::string_view text) {
  using Stacks = RunEnvironment::Stacks;
  if (text.empty() || text == "python") return Stacks::Python;
  if (text == "native") return Stacks::Native;
  if (text == "none") return Stacks::None;
  ErrorDetails details;
  details.code = ErrorCode::InvalidArgument;
  details.stage = Stage::Open;
  throw Error(std::move(details),
              concat(kRunStacks, " is \"", text, "\": use python, native or none"));
}

}  // namespace

std::optional<RunEnvironment> read_run_environment() {
  const std::string_view target = variable(kRunTrace);
  if (target.empty()) return std::nullopt;
  RunEnvironment environment;
  environment.trace = trace_options_of(kRunTrace, target);
  const auto rank = launched_environment();
  const bool is_named_by_rank = rank && rank->size > 1;
  if (!is_named_by_rank && variable(kRunParent) != std::to_string(::getppid()))
    environment.trace.file.path += "." + std::to_string(::getpid());
  environment.errors = variable(kRunErrors);
  environment.followed = variable(kRunFollow);
  environment.cost = variable(kRunCost);
  if (variable(kRunNodes) == "1") environment.nodes = ObservedProgram::Nodes::Recorded;
  environment.stacks = stacks_of(variable(kRunStacks));
  environment.launch_stacks = variable(kRunLaunchStacks) == "1";
  environment.faults = variable(kRunFaults) == "1";
  if (const std::string_view seconds = variable(kRunHangAfter); !seconds.empty()) {
    double value = 0;
    std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
    environment.hang_after = static_cast<trace::Time>(value * 1e9);
  }
  if (variable(kRunYield) == "1") environment.cupti = RunEnvironment::Cupti::ByProgram;
  environment.trace.profile = environment.nodes == ObservedProgram::Nodes::Recorded
                                  ? ProfileMode::Every
                                  : ProfileMode::Replays;
  return environment;
}

void report_run_error(const RunEnvironment& environment, std::string_view text) noexcept {
  const int file = ::open(environment.errors.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return;
  char newline = '\n';
  const iovec line[] = {{const_cast<char*>(text.data()), text.size()}, {&newline, 1}};
  [[maybe_unused]] const ssize_t written =
      writev(file, line, std::size(line));  // nothing is left to report to
  ::close(file);
}

}  // namespace reprise::detail
