#include "runtime/graph/device_lost_details.hpp"

#include <string>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {

Error add_unfinished(const Error& error, const Plan& plan, const BackendExec& exec) {
  if (error.code() != ErrorCode::DeviceLost) return error;
  if (!plan.lowered.fault_markers) return error;
  const Recording& recording = *plan.recording;
  ErrorDetails details = error.details();
  std::string names;
  for (const UnfinishedNode& unfinished : exec.unfinished_nodes()) {
    const std::uint32_t command = plan.command_of(unfinished.node);
    if (command == kNone) continue;
    const std::string label = recording.label_path(recording.commands[command].label);
    details.unfinished.push_back(command);
    names += concat(names.empty() ? "" : "; ", "command ", command, ", ",
                    recording.command_name(command));
    if (!label.empty()) names += concat(", in \"", label, "\"");
    names += concat(" (replay ", unfinished.replay, ")");
  }
  const std::string found = names.empty() ? "no command had started without completing"
                                          : concat("started and not completed: ", names);
  return with_context(Error(std::move(details), text_of(error)), "", found);
}

}  // namespace reprise::detail
