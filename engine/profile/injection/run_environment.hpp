// RunEnvironment: what `reprise run` tells the programs that it starts, by their environment.
// Threads: pure functions of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profile/injection/observed_program.hpp"
#include "profile/trace_options.hpp"

namespace reprise::detail {

// The names are what `reprise run` and the library that programs load agree on.
inline constexpr char kRunTrace[] = "REPRISE_RUN_TRACE";    // as REPRISE_TRACE
inline constexpr char kRunParent[] = "REPRISE_RUN_PARENT";  // the process of `reprise run`
inline constexpr char kRunNodes[] = "REPRISE_RUN_NODES";  // 1: the nodes of every replay are timed
inline constexpr char kRunYield[] = "REPRISE_RUN_YIELD";  // 1: CUPTI is the program's own

struct RunEnvironment {
  TraceOptions trace;
  ObservedProgram::Nodes nodes = ObservedProgram::Nodes::Unrecorded;
  enum class Cupti : std::uint8_t { IsOurs, IsTheirs } cupti = Cupti::IsOurs;
};

// The program that `reprise run` started itself writes FILE, each that one starts FILE.PID. Empty:
// nobody asked for a trace. Throws InvalidArgument naming the variable.
[[nodiscard]] std::optional<RunEnvironment> read_run_environment();

}  // namespace reprise::detail
