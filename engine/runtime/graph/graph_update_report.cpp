#include "runtime/graph/graph_update_report.hpp"

#include "base/enum_names.hpp"
#include "base/text.hpp"

namespace reprise::inline REPRISE_ABI {

REPRISE_TO_STRING(GraphExecUpdateOutcome, Success, Error, TopologyChanged, NodeTypeChanged,
                  FunctionChanged, ParametersChanged, NotSupported, UnsupportedFunctionChange,
                  AttributesChanged)

std::string_view to_string(UpdateMethod method) noexcept {
  switch (method) {
    case UpdateMethod::Unchanged: return "unchanged";
    case UpdateMethod::Nodes: return "nodes";
    case UpdateMethod::WholeGraph: return "whole graph";
    case UpdateMethod::Reinstantiated: return "re-instantiated";
  }
  return "unknown";
}

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {
namespace {

std::string_view reason_of(GraphExecUpdateOutcome outcome) {
  switch (outcome) {
    case GraphExecUpdateOutcome::Success: return "";
    case GraphExecUpdateOutcome::Error: return "the device refused it";
    case GraphExecUpdateOutcome::TopologyChanged:
      return "the nodes or edges of the graph differ from before";
    case GraphExecUpdateOutcome::NodeTypeChanged:
      return "the command that it replaces is of another kind";
    case GraphExecUpdateOutcome::FunctionChanged: return "it runs another kernel";
    case GraphExecUpdateOutcome::ParametersChanged:
      return "its parameters changed in a way that no update in place supports";
    case GraphExecUpdateOutcome::NotSupported: return "it cannot be updated in place";
    case GraphExecUpdateOutcome::UnsupportedFunctionChange:
      return "it runs another kernel, of a kind that cannot replace the one before";
    case GraphExecUpdateOutcome::AttributesChanged:
      return "its cluster size or its cooperative attribute changed";
  }
  return "";
}

std::optional<std::uint32_t> command_of(const Plan& plan, std::uint32_t node) {
  if (node == kNone || plan.command_of(node) == kNone) return {};
  return plan.command_of(node);
}

}  // namespace

std::string describe(const UpdateReport& report) {
  return concat(to_string(report.method), ", ", report.nodes, " nodes",
                report.reason.empty() ? "" : "; ", report.reason);
}

void report_refusal(const ExecUpdate& refused, const Plan& plan, UpdateReport& report) {
  report.outcome = refused.outcome;
  report.native_code = refused.native_code;
  report.native_name = refused.native_name;
  report.command = command_of(plan, refused.node);
  report.edge_from = command_of(plan, refused.from);
  report.reason = reason_of(refused.outcome);
  if (!report.command) return;
  const Recording& recording = *plan.recording;
  std::string where =
      concat("command ", *report.command, ", ", recording.command_name(*report.command));
  if (report.edge_from)
    where += concat(", after command ", *report.edge_from, ", ",
                    recording.command_name(*report.edge_from));
  report.reason = concat(where, ": ", report.reason);
}

}  // namespace reprise::detail
