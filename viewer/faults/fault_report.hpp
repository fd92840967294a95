// The report of a core dump, as text and as records of the trace. Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "faults/core_dump.hpp"
#include "faults/trace_facts.hpp"

namespace reprise::faults {

// Messages with these ids: an Error names the most likely node, Warnings the others.
inline constexpr char kFaultMessage[] = "run.fault", kHangMessage[] = "run.hang";

struct FaultReport {
  std::vector<std::string> lines;
  std::vector<trace::Message> messages;
};

// Names the kernels that faulted; for a dump without exceptions, the kernels that ran.
[[nodiscard]] FaultReport report_dump(const CoreDump& dump, const TraceFacts& facts);

}  // namespace reprise::faults
