// The text of a RaceReport.
#include <algorithm>

#include <reprise/find_races.hpp>

#include "base/text.hpp"

namespace reprise::inline REPRISE_ABI {

namespace {

using detail::concat;

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return concat(count, ' ', count == 1 ? one : many);
}

std::string describe(const RaceCommand& command) {
  const std::string label = command.label.empty() ? std::string() : concat(" in ", command.label);
  return concat("command ", command.index, ", ", command.name, label, " (", command.where.file, ':',
                command.where.line, ')');
}

std::string describe(const RaceBytes& bytes) {
  return concat(bytes.buffer, ": ", counted(bytes.count, "byte", "bytes"), " from byte ",
                bytes.first, " on");
}

std::string list(const std::vector<RaceBytes>& all) {
  std::string text;
  for (const RaceBytes& bytes : all) text += concat("    ", describe(bytes), '\n');
  return text;
}

std::string describe_order(const RaceFinding& finding) {
  std::string text = concat(
      "the order of two commands matters, and their declared accesses do not order them:\n    ",
      describe(finding.first), "\n    ", describe(finding.second), '\n');
  if (!finding.at_once.empty()) text += "  different right after them:\n";
  for (const RaceBytes& bytes : finding.at_once) {
    text += concat("    ", describe(bytes));
    if (!bytes.first_declares.empty()) {
      text += concat("; there command ", finding.first.index, " declares ", bytes.first_declares,
                     ", command ", finding.second.index, " declares ", bytes.second_declares);
    }
    text += '\n';
  }
  return text +
         concat("  different at the end (order ", finding.order, "):\n", list(finding.at_end));
}

std::string describe_undefined(const RaceFinding& finding) {
  const std::string whose = finding.transient.empty()
                                ? std::string("bytes of no transient buffer")
                                : concat("bytes of transient ", finding.transient);
  return concat("a result depends on ", whose,
                " that no command wrote, or that were written outside of the transient's declared "
                "uses:\n    ",
                describe(finding.first), "\n  different at the end:\n", list(finding.at_end));
}

std::string describe_undeclared(const RaceFinding& finding) {
  std::string text = concat("an op writes bytes that it does not declare as written:\n    ",
                            describe(finding.first), "\n  changed by it:\n");
  for (const RaceBytes& bytes : finding.at_once) {
    text += concat("    ", describe(bytes));
    if (!bytes.first_declares.empty()) text += concat("; there it declares ", bytes.first_declares);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string to_text(const RaceReport& report) {
  std::string text =
      concat("find_races ", report.label, ": ", counted(report.commands, "command", "commands"),
             ", ", counted(report.orders, "order", "orders"), " from number ", report.seed, " on, ",
             counted(report.replays, "replay", "replays"), ": ",
             report.clean() ? std::string("nothing found")
                            : counted(report.findings.size(), "finding", "findings"),
             '\n');
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const RaceFinding& finding = report.findings[i];
    text += concat(i + 1, ". ");
    switch (finding.kind) {
      case RaceFinding::Kind::Order: text += describe_order(finding); break;
      case RaceFinding::Kind::Undefined: text += describe_undefined(finding); break;
      case RaceFinding::Kind::Undeclared: text += describe_undeclared(finding); break;
    }
  }
  if (report.one_order_only)
    text += "only the recorded order is allowed: no other order was tried\n";
  if (!report.excluded.empty())
    text += concat("not compared, since two replays of one order differ:\n", list(report.excluded));
  return text;
}

}  // namespace reprise::inline REPRISE_ABI
