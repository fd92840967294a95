#include "profile/injection/run_environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace reprise::detail {
namespace {

std::string_view variable(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

std::optional<RunEnvironment> read_run_environment() {
  const std::string_view target = variable(kRunTrace);
  if (target.empty()) return std::nullopt;
  RunEnvironment environment;
  environment.trace = trace_options_of(kRunTrace, target);
  if (variable(kRunParent) != std::to_string(::getppid()))
    environment.trace.file.path += "." + std::to_string(::getpid());
  if (variable(kRunNodes) == "1") environment.nodes = ObservedProgram::Nodes::Recorded;
  if (variable(kRunYield) == "1") environment.cupti = RunEnvironment::Cupti::ByProgram;
  environment.trace.profile = environment.nodes == ObservedProgram::Nodes::Recorded
                                  ? ProfileMode::Every
                                  : ProfileMode::Replays;
  return environment;
}

}  // namespace reprise::detail
