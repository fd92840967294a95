// RunEnvironment: the settings that `reprise run` passes to programs in environment variables.
// Threads: pure functions of the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "injection/observed_program.hpp"
#include "profile/trace_options.hpp"

namespace reprise::detail {

// Variable names shared by `reprise run` and the injected library.
inline constexpr char kRunTrace[] = "REPRISE_RUN_TRACE";    // syntax of REPRISE_TRACE
inline constexpr char kRunParent[] = "REPRISE_RUN_PARENT";  // process id of `reprise run`
inline constexpr char kRunNodes[] = "REPRISE_RUN_NODES";    // 1: record the nodes of every replay
inline constexpr char kRunFollow[] = "REPRISE_RUN_FOLLOW";  // ObservedProgramLimits::followed
inline constexpr char kRunErrors[] = "REPRISE_RUN_ERRORS";  // pipe that takes errors, one a line
inline constexpr char kRunCost[] = "REPRISE_RUN_COST";      // measured cost of observing, a text
inline constexpr char kRunFaults[] = "REPRISE_RUN_FAULTS";  // 1: the driver's dump aborts
inline constexpr char kRunHangAfter[] = "REPRISE_RUN_HANG_AFTER";  // seconds, a decimal number
inline constexpr char kRunYield[] = "REPRISE_RUN_YIELD";    // 1: leave CUPTI to the program
inline constexpr char kRunStacks[] = "REPRISE_RUN_STACKS";  // python (default), native or none
inline constexpr char kRunLaunchStacks[] = "REPRISE_RUN_LAUNCH_STACKS";  // 1: of launches too

struct RunEnvironment {
  TraceOptions trace;
  ObservedProgram::Nodes nodes = ObservedProgram::Nodes::Unrecorded;
  enum class Cupti : std::uint8_t { ByReprise, ByProgram } cupti = Cupti::ByReprise;
  // The call stacks that nodes and graphs have.
  enum class Stacks : std::uint8_t { Python, Native, None } stacks = Stacks::Python;
  bool launch_stacks = false;  // launches have them too
  std::string followed = {};
  std::string cost = {};    // measured by `reprise run --measure-cost`; empty: not measured
  std::string errors = {};  // path; empty: none
  bool faults = false;      // the trace is to be complete when the process aborts
  trace::Time hang_after = 0;  // ns; 0: waits are not watched
};

// The program that `reprise run` started directly writes FILE; a process that the program starts
// writes FILE.PID. Empty: no trace. Throws InvalidArgument with the name of the variable.
[[nodiscard]] std::optional<RunEnvironment> read_run_environment();

// Passes an error to `reprise run`, which prints it after the program has ended. No effect where
// its process is out of reach, for example in another container.
void report_run_error(const RunEnvironment& environment, std::string_view text) noexcept;

}  // namespace reprise::detail
