#include "validate/validate.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "dependencies/describe.hpp"
#include "record/payload.hpp"
#include "validate/check_commands.hpp"
#include "validate/check_conditionals.hpp"
#include "validate/check_order.hpp"
#include "validate/check_uses.hpp"
#include "validate/findings.hpp"

namespace reprise::detail {

namespace {

std::vector<Finding> check_recording(const Recording& recording, const DeviceInfo& device,
                                     Validation level) {
  Findings findings(recording, level);
  check_handles(recording, findings);
  check_commands(recording, device.limits, findings);
  if (findings.checks(Validation::Full)) check_order(recording, findings);
  return findings.take();
}

// Reports findings inside bodies as findings of the command that runs the body.
void check_bodies(const Recording& recording, const DeviceInfo& device, Validation level,
                  std::vector<Finding>& found) {
  for (std::uint32_t i = 0; !recording.bodies.empty() && i < recording.commands.size(); ++i) {
    for (const Body& body : bodies_of(recording.commands[i])) {
      const Recording& inner_recording = *recording.bodies[body.index];
      std::vector<Finding> inner_findings = check_recording(inner_recording, device, level);
      check_bodies(inner_recording, device, level, inner_findings);
      for (Finding& finding : inner_findings) {
        // A body may read a transient that earlier commands wrote. The accesses of the command
        // itself reveal an uninitialized read.
        if (finding.message.id == row_of(Rule::TransientReadBeforeWrite).id) continue;
        finding.message.text = concat(describe_command(recording, i), " runs ",
                                      inner_recording.label, ": ", finding.message.text);
        finding.message.command = i;
        finding.message.other_command.reset();
        finding.message.label = recording.label_path(recording.commands[i].label);
        found.push_back(std::move(finding));
      }
    }
  }
}

}  // namespace

std::vector<Finding> validate(const Recording& recording, const DeviceInfo& device,
                              Validation level) {
  std::vector<Finding> found = check_recording(recording, device, level);
  if (level == Validation::Full) {
    Findings uses(recording, level);
    check_uses(recording, uses);
    for (Finding& finding : uses.take()) found.push_back(std::move(finding));
    sort_by_command(found);
  }
  if (recording.bodies.empty() && !has_condition(recording)) return found;
  check_bodies(recording, device, level, found);
  Findings conditionals(recording, level);
  check_conditionals(recording, device.limits, conditionals);
  for (Finding& finding : conditionals.take()) found.push_back(std::move(finding));
  sort_by_command(found);
  return found;
}

void throw_first_error(const std::vector<Finding>& findings, const Recording& recording) {
  const auto is_error = [](const Finding& finding) {
    return finding.message.severity == Severity::Error;
  };
  const auto first = std::find_if(findings.begin(), findings.end(), is_error);
  if (first == findings.end()) return;
  const auto more = std::count_if(std::next(first), findings.end(), is_error);
  ErrorDetails details;
  details.code = first->code;
  details.stage = Stage::Validate;
  details.command = first->message.command;
  details.label = first->message.command ? first->message.label : recording.label;
  details.message_id = first->message.id;
  std::string text = concat(first->message.id, ": ", first->message.text);
  if (more != 0) text += concat(" (and ", more, more == 1 ? " more error)" : " more errors)");
  throw Error(std::move(details), text);
}

}  // namespace reprise::detail
