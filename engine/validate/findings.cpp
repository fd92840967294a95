#include "validate/findings.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "dependencies/describe.hpp"

namespace reprise::detail {

void sort_by_command(std::vector<Finding>& findings) {
  const auto position = [](const Finding& finding) {
    return finding.message.command.value_or(~std::uint32_t{0});
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return position(a) < position(b); });
}

void Findings::add(Rule rule, std::uint32_t command, std::string_view text) {
  if (count(rule))
    add_counted(rule, command, std::nullopt,
                concat(describe_command(recording_, command), ": ", text));
}

void Findings::add_counted(Rule rule, std::optional<std::uint32_t> command,
                           std::optional<std::uint32_t> other, std::string text) {
  const RuleRow& row = row_of(rule);
  Finding finding;
  finding.code = row.code;
  finding.message.id = row.id;
  finding.message.severity = row.severity;
  finding.message.text = std::move(text);
  finding.message.command = command;
  finding.message.other_command = other;
  if (command && *command < recording_.commands.size()) {
    finding.message.label = recording_.label_path(recording_.commands[*command].label);
    finding.message.where = recording_.commands[*command].where;
  }
  findings_.push_back(std::move(finding));
}

std::vector<Finding> Findings::take() {
  sort_by_command(findings_);
  for (std::size_t rule = 0; rule < counts_.size(); ++rule) {
    if (counts_[rule] <= kMaxReported) continue;
    add_counted(Rule::FindingsLeftOut, std::nullopt, std::nullopt,
                concat(kRules[rule].id, " was found ", counts_[rule], " times; the first ",
                       kMaxReported, " are reported"));
  }
  counts_ = {};
  return std::exchange(findings_, {});
}

}  // namespace reprise::detail
