#include "validate/validate.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "validate/check_commands.hpp"
#include "validate/check_order.hpp"
#include "validate/findings.hpp"

namespace reprise::detail {

std::vector<Finding> validate(const Recording& recording, const DeviceInfo& device, Validation level) {
  Findings findings(recording, level);
  check_handles(recording, findings);
  check_commands(recording, device.limits, findings);
  if (findings.checks(Validation::Full)) check_order(recording, findings);
  return findings.take();
}

void throw_first_error(const std::vector<Finding>& findings, const Recording& recording) {
  const auto is_error = [](const Finding& finding) { return finding.message.severity == Severity::Error; };
  const auto first = std::find_if(findings.begin(), findings.end(), is_error);
  if (first == findings.end()) return;
  const auto more = std::count_if(std::next(first), findings.end(), is_error);
  ErrorDetails details;
  details.code = first->code;
  details.stage = Stage::Validate;
  details.command = first->message.command;
  details.label = first->message.command == Message::kNoCommand ? recording.label : first->message.label;
  details.message_id = first->message.id;
  std::string text = concat(first->message.id, ": ", first->message.text);
  if (more != 0) text += concat(" (and ", more, more == 1 ? " more error)" : " more errors)");
  throw Error(std::move(details), text);
}

}  // namespace reprise::detail
