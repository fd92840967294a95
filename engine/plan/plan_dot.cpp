#include <algorithm>
#include <utility>

#include "base/dot_writer.hpp"
#include "base/text.hpp"
#include "plan/describe.hpp"
#include "plan/dot_parameters.hpp"
#include "plan/plan.hpp"
#include "record/payload.hpp"

namespace reprise::detail {

namespace {

// Writes nodes grouped into label clusters, followed by edges.
class PlanDot {
 public:
  // `prefix` precedes every node name: empty for the graph itself, unique for each body.
  PlanDot(const Plan& plan, DotFlags flags, DotWriter& out, std::string prefix = {})
      : plan_(plan),
        recording_(*plan.recording),
        flags_(flags),
        prefix_(std::move(prefix)),
        out_(out) {}

  void write() {
    entry_exit_nodes();
    sort_by_label();
    clusters();
    bodies();
    edges();
  }

 private:
  void entry_exit_nodes() {
    if (!has_flag(flags_, DotFlags::AddedEdges)) return;
    const auto write = [this](std::size_t node, std::string_view name) {
      out_.node(name_of(node), name, "shape=ellipse, style=dashed, color=gray50, fontcolor=gray30");
    };
    if (plan_.lowered.entry_exit.entry) write(0, "entry");
    if (plan_.lowered.entry_exit.exit) write(plan_.lowered.nodes.size() - 1, "exit");
  }

  // Groups work nodes by label and finds the labels in use. A label's parent has a lower index.
  void sort_by_label() {
    const std::size_t labels = recording_.labels.size();
    nodes_.resize(labels);
    children_.resize(labels);
    std::vector<std::uint8_t> is_used(labels, 0);
    for (std::uint32_t node = 0; node < plan_.lowered.nodes.size(); ++node) {
      if (plan_.lowered.nodes[node].kind != LoweredKind::Work) continue;
      const std::uint32_t label = command_of(node).label;
      nodes_[label].push_back(node);
      is_used[label] = 1;
    }
    for (std::size_t label = labels; label-- > 1;) {
      if (is_used[label] == 0) continue;
      is_used[recording_.labels[label].parent] = 1;
      children_[recording_.labels[label].parent].push_back(static_cast<std::uint32_t>(label));
    }
  }

  // Depth-first without recursion, because labels nest to any depth.
  void clusters() {
    std::vector<std::uint32_t> open = {0};
    work_nodes(0);
    while (!open.empty()) {
      auto& children = children_[open.back()];
      if (children.empty()) {
        open.pop_back();
        if (!open.empty()) out_.end_cluster();
        continue;
      }
      const std::uint32_t label = children.back();
      children.pop_back();
      out_.begin_cluster(concat(prefix_, label), recording_.labels[label].name, "rounded",
                         color_of(label));
      work_nodes(label);
      open.push_back(label);
    }
  }

  std::string color_of(std::uint32_t label) const {
    const Color color = recording_.labels[label].color;
    if (color == Color{}) return "gray60";
    const std::string digits =
        hex(std::uint64_t{color.r} << 16 | std::uint64_t{color.g} << 8 | color.b);
    return concat("\"#", digits.substr(digits.size() - 6), '"');
  }

  const Command& command_of(std::uint32_t node) const {
    return recording_
        .commands[plan_.dependencies.node_command[plan_.lowered.nodes[node].dependency_node]];
  }

  void work_nodes(std::uint32_t label) {
    for (const std::uint32_t node : nodes_[label]) {
      const std::uint32_t dependency_node = plan_.lowered.nodes[node].dependency_node;
      const bool is_join = plan_.dependencies.is_join[dependency_node] != 0;
      out_.node(name_of(node), node_label(node), is_join ? "shape=diamond" : "");
    }
  }

  std::string node_label(std::uint32_t node) const {
    const std::uint32_t index =
        plan_.dependencies.node_command[plan_.lowered.nodes[node].dependency_node];
    const Command& command = recording_.commands[index];
    std::string text = concat(index, ": ", recording_.command_name(index));
    if (plan_.lowered.lanes != 0) text += concat("\nlane ", plan_.lowered.nodes[node].lane);
    if (const std::uint32_t segment = plan_.lowered.segment_of(node); segment != kNone)
      text += concat("\nsegment ", segment);
    for (std::uint32_t i = 0; has_flag(flags_, DotFlags::Accesses) && i < command.access_count;
         ++i) {
      const BufferAccess& access = recording_.accesses[command.first_access + i];
      text += concat('\n', access_name(access.access), ' ',
                     display_name(*recording_.buffers[access.buffer]), ' ',
                     range_text(access.begin, access.end));
    }
    text += dot_parameters(plan_, index, flags_);
    if (has_flag(flags_, DotFlags::Locations)) text += concat('\n', location_text(command.where));
    return text;
  }

  // Draws each body as a subgraph with a dotted edge from its command.
  void bodies() {
    for (std::uint32_t node = 0; node < plan_.lowered.nodes.size(); ++node) {
      if (plan_.lowered.nodes[node].kind != LoweredKind::Work) continue;
      for (const Body& body : bodies_of(
               recording_.commands[plan_.dependencies
                                       .node_command[plan_.lowered.nodes[node].dependency_node]])) {
        if (body.index >= plan_.bodies.size()) continue;
        const Plan& inner = *plan_.bodies[body.index];
        const std::string prefix = concat(prefix_, 'b', body.index, '_');
        out_.begin_cluster(concat(prefix, "body"), inner.label, "dashed", "gray60");
        PlanDot(inner, flags_, out_, prefix).write();
        out_.end_cluster();
        if (!inner.lowered.nodes.empty())
          out_.edge(name_of(node), concat(prefix, "n0"), {}, "style=dotted");
      }
    }
  }

  [[nodiscard]] std::string name_of(std::size_t node) const { return concat(prefix_, 'n', node); }

  void edges() {
    if (!has_flag(flags_, DotFlags::AddedEdges)) {
      for (std::uint32_t node = 0; node < plan_.dependencies.node_count(); ++node) {
        std::uint32_t number = 0;
        for (const Edge& edge : plan_.dependencies.edges_into(node)) {
          needed_edge(plan_.lowered.node_of[edge.from], plan_.lowered.node_of[edge.to], edge,
                      number++);
        }
      }
      return;
    }
    for (std::uint32_t node = 0; node < plan_.lowered.nodes.size(); ++node) {
      std::uint32_t number = 0;
      for (const LoweredEdge& edge : plan_.lowered.edges_into(node))
        lowered_edge(node, edge, number++);
    }
  }

  // `number`: index of the edge among those into its node, in device order.
  void lowered_edge(std::uint32_t node, const LoweredEdge& edge, std::uint32_t number) {
    if (edge.origin != EdgeOrigin::Needed)
      return out_.edge(name_of(edge.from), name_of(node), number_text(number),
                       "style=dashed, color=gray50");
    const Edge* needed =
        find_edge(plan_.dependencies, plan_.lowered.nodes[edge.from].dependency_node,
                  plan_.lowered.nodes[node].dependency_node);
    if (needed != nullptr) needed_edge(edge.from, node, *needed, number);
  }

  void needed_edge(std::uint32_t from, std::uint32_t to, const Edge& edge, std::uint32_t number) {
    std::string label = number_text(number);
    if (has_flag(flags_, DotFlags::Causes))
      label += concat(label.empty() ? "" : " ", cause_text(recording_, edge.cause));
    out_.edge(name_of(from), name_of(to), label);
  }

  [[nodiscard]] std::string number_text(std::uint32_t number) const {
    return has_flag(flags_, DotFlags::ExtraTopoInfo) ? concat('#', number) : "";
  }

  const Plan& plan_;
  const Recording& recording_;
  const DotFlags flags_;
  const std::string prefix_;
  std::vector<std::vector<std::uint32_t>> nodes_;     // by label: lowered nodes
  std::vector<std::vector<std::uint32_t>> children_;  // by label: labels still to write, last first
  DotWriter& out_;
};

}  // namespace

std::string to_dot(const Plan& plan, DotFlags flags) {
  const std::string title =
      concat(plan.label, "\nplan ", hex(plan.plan_hash), ", lowering ", hex(plan.lowering_hash),
             plan.lowered.fault_markers ? ", fault markers" : "");
  DotWriter out(plan.label, title, "style=rounded");
  PlanDot(plan, flags, out).write();
  return out.finish();
}

}  // namespace reprise::detail
