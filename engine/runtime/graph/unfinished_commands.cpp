#include "runtime/graph/unfinished_commands.hpp"

#include <cstddef>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kMaxPlaces = 8;  // where blocks wait, in the text

std::string name_of(const Recording& recording, std::uint32_t command) {
  std::string name = concat("command ", command, ", ", recording.command_name(command));
  const std::string label = recording.label_path(recording.commands[command].label);
  if (!label.empty()) name += concat(", in \"", label, "\"");
  return name;
}

}  // namespace

UnfinishedCommands unfinished_commands(const Plan& plan, const BackendExec& exec) {
  const Recording& recording = *plan.recording;
  UnfinishedCommands found;
  std::string running, waiting;
  std::size_t places = 0;
  for (const UnfinishedNode& unfinished : exec.unfinished_nodes()) {
    const std::uint32_t command = plan.command_of(unfinished.node);
    if (command == kNone) continue;
    if (unfinished.waits_for == kNone) {
      found.commands.push_back(command);
      running += concat(running.empty() ? "" : "; ", name_of(recording, command), " (replay ",
                        unfinished.replay, ")");
    } else if (++places <= kMaxPlaces) {
      waiting += concat(
          "; ", unfinished.waiting_blocks,
          unfinished.waiting_blocks == 1 ? " block waits before " : " blocks wait before ",
          name_of(recording, command), ", for command ", plan.command_of(unfinished.waits_for));
    }
  }
  if (places > kMaxPlaces)
    waiting += concat("; blocks wait in ", places - kMaxPlaces, " more places");
  found.text = running.empty() ? "no command had started without completing"
                               : concat("started and not completed: ", running);
  found.text += waiting;
  return found;
}

Error add_unfinished(const Error& error, const Plan& plan, const BackendExec& exec) {
  if (error.code() != ErrorCode::DeviceLost || !plan.lowered.fault_markers) return error;
  ErrorDetails details = error.details();
  UnfinishedCommands found = unfinished_commands(plan, exec);
  details.unfinished.insert(details.unfinished.end(), found.commands.begin(), found.commands.end());
  return with_context(Error(std::move(details), error.text()), "", found.text);
}

}  // namespace reprise::detail
