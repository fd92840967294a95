#include "validate/check_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "base/text.hpp"
#include "dependencies/ancestors.hpp"
#include "dependencies/dependency_graph.hpp"
#include "dependencies/describe.hpp"
#include "dependencies/hazards.hpp"

namespace reprise::detail {

namespace {

// Two conflicting commands.
struct Pair {
  std::uint32_t to = 0;  // graph node
  Conflict conflict;     // its `from` is a command
};

std::optional<DependencyGraph> user_order(const Recording& recording) {
  try {
    return build_dependencies(recording);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::CyclicDependency || error.code() == ErrorCode::InvalidArgument)
      return std::nullopt;
    throw;
  }
}

// The part of a BarrierDesc that names the bytes; empty for memory that no handle names.
std::string view_text(const Recording& recording, std::uint32_t buffer, std::uint64_t begin,
                      std::uint64_t end) {
  const BufferCore& core = *recording.buffers[buffer];
  if (core.kind == BufferKind::BorrowedHost) return "";
  const std::string name = core.name.empty() ? concat('<', display_name(core), '>') : core.name;
  if (begin == 0 && end == core.bytes) return concat(".buffer = ", name, ", ");
  return concat(".buffer = ", name, ".subview(", begin, ", ", end - begin, "), ");
}

std::string range_text(const Recording& recording, std::uint32_t buffer, std::uint64_t begin,
                       std::uint64_t end) {
  return describe_range(*recording.buffers[buffer], begin, end);
}

struct HazardText {
  const char *name, *later_verb, *earlier_verb, *before, *after;
};
HazardText hazard_text(Hazard hazard) {
  switch (hazard) {
    case Hazard::ReadAfterWrite: return {"read after write", "reads", "writes", "Write", "Read"};
    case Hazard::WriteAfterRead: return {"write after read", "writes", "reads", "Read", "Write"};
    case Hazard::WriteAfterWrite:
      return {"write after write", "writes", "writes", "Write", "Write"};
  }
  return {};
}

void add_unordered(const Recording& recording, std::uint32_t from, std::uint32_t to,
                   const Conflict& conflict, Findings& findings) {
  if (!findings.count(Rule::HazardUnordered)) return;
  // The two commands are unordered. Report them in recorded order, which is the order that a
  // barrier can establish.
  Hazard hazard = conflict.hazard;
  if (to < from) {
    std::swap(from, to);
    if (hazard == Hazard::ReadAfterWrite) {
      hazard = Hazard::WriteAfterRead;
    } else if (hazard == Hazard::WriteAfterRead) {
      hazard = Hazard::ReadAfterWrite;
    }
  }
  const HazardText text = hazard_text(hazard);
  const std::string later = describe_command(recording, to),
                    earlier = describe_command(recording, from);
  findings.add_counted(
      Rule::HazardUnordered, to, from,
      concat(
          later, " ", text.later_verb, " ",
          range_text(recording, conflict.buffer, conflict.begin, conflict.end), ", which ", earlier,
          " ", text.earlier_verb, ", and nothing orders these commands (", text.name,
          "). Record between them: barrier({",
          view_text(recording, conflict.buffer, conflict.begin, conflict.end),
          ".before = Access::", text.before, ", .after = Access::", text.after, "})",
          recording.has_programmatic_dependencies() && !recording.starts_programmatically(to)
              ? "; a programmatic barrier orders only kernels dispatched with Start::Programmatic"
              : ""));
}

void report_unordered(const Recording& recording, const DependencyGraph& dependencies,
                      const std::vector<std::uint32_t>& node_of, const std::vector<Pair>& pairs,
                      Findings& findings) {
  std::vector<std::uint32_t> from(dependencies.edges.size()),
      last_query(dependencies.node_count(), 0);
  std::transform(dependencies.edges.begin(), dependencies.edges.end(), from.begin(),
                 [](const Edge& edge) { return edge.from; });
  // Pairs are grouped by the node `to`; first_pair[n] is the first pair of node n.
  std::vector<std::uint32_t> first_pair(dependencies.node_count() + 1, 0);
  for (const Pair& pair : pairs) {
    ++first_pair[pair.to + 1];
    std::uint32_t& last = last_query[node_of[pair.conflict.from]];
    last = std::max(last, pair.to);
  }
  std::partial_sum(first_pair.begin(), first_pair.end(), first_pair.begin());

  const ForwardGraph graph{dependencies.first_edge, from};
  std::vector<std::uint8_t> is_unordered(pairs.size(), 0);
  visit_ancestors(graph, last_query, std::numeric_limits<std::uint64_t>::max(),
                  [&](std::uint32_t node, std::uint32_t begin, const AncestorSet& ancestors) {
                    for (std::uint32_t p = first_pair[node]; p < first_pair[node + 1]; ++p) {
                      const std::uint32_t source = node_of[pairs[p].conflict.from];
                      if (source - begin >= kAncestorBlock || ancestors.contains(source - begin))
                        continue;
                      const auto parents = graph.parents(node);
                      is_unordered[p] =
                          std::binary_search(parents.begin(), parents.end(), source) ? 0 : 1;
                    }
                  });
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    if (is_unordered[p] != 0)
      add_unordered(recording, pairs[p].conflict.from, dependencies.node_command[pairs[p].to],
                    pairs[p].conflict, findings);
  }
}

bool accesses_range(const Recording& recording, std::uint32_t command,
                    const BarrierPayload& barrier, Access kind) {
  const Command& c = recording.commands[command];
  const auto begin = recording.accesses.begin() + c.first_access;
  return std::any_of(begin, begin + c.access_count, [&](const BufferAccess& recorded) {
    const bool is_kind =
        (reads(recorded.access) && reads(kind)) || (writes(recorded.access) && writes(kind));
    if (!is_kind || barrier.buffer == kNone) return is_kind;
    const BufferAccess access = recording.in_memory(recorded);
    const BufferAccess range =
        recording.in_memory({barrier.buffer, kind, 0, barrier.begin, barrier.end});
    return access.buffer == range.buffer && access.begin < range.end && range.begin < access.end;
  });
}

const char* access_text(Access access) {
  switch (access) {
    case Access::Read: return "reads";
    case Access::Write: return "writes";
    case Access::ReadWrite: return "reads or writes";
  }
  return "";
}

std::string redundant_barrier_reason(const Recording& recording, std::uint32_t command) {
  const auto& barrier = recording.payload<BarrierPayload>(command);
  const std::string range = barrier.buffer == kNone
                                ? "anything"
                                : range_text(recording, barrier.buffer, barrier.begin, barrier.end);
  const auto has_access = [&](std::uint32_t first, std::uint32_t last, Access kind,
                              Dependency dependency) {
    for (std::uint32_t i = first; i < last; ++i) {
      if (accesses_range(recording, i, barrier, kind) && recording.orders(dependency, i))
        return true;
    }
    return false;
  };
  const auto count = static_cast<std::uint32_t>(recording.commands.size());
  if (!has_access(0, command, barrier.before, Dependency::Full))
    return concat("no command before it ", access_text(barrier.before), " ", range);
  if (!has_access(command + 1, count, barrier.after, Dependency::Full))
    return concat("no command after it ", access_text(barrier.after), " ", range);
  if (!has_access(command + 1, count, barrier.after, barrier.dependency)) {
    return concat("it is programmatic, and no later command that ", access_text(barrier.after), " ",
                  range, " is dispatched with Start::Programmatic");
  }
  return recording.ordering == Ordering::Inferred
             ? "accesses, other barriers and edges already establish this order"
             : "other barriers and edges already establish this order";
}

void report_redundant_barriers(const Recording& recording, const DependencyGraph& dependencies,
                               Findings& findings) {
  std::vector<std::uint8_t> is_needed(recording.commands.size(), 0);
  for (const Edge& edge : dependencies.edges) {
    if (edge.cause.kind == CauseKind::Barrier) is_needed[edge.cause.barrier] = 1;
  }
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    if (recording.commands[i].kind != CommandKind::Barrier || is_needed[i] != 0 ||
        !findings.count(Rule::BarrierOrdersNothing))
      continue;
    findings.add_counted(Rule::BarrierOrdersNothing, i, std::nullopt,
                         concat(describe_command(recording, i),
                                " orders nothing: ", redundant_barrier_reason(recording, i),
                                ". Remove it, or widen its accesses or range"));
  }
}

void report_redundant_edges(const Recording& recording, Findings& findings) {
  for (const UserEdge& edge : recording.edges) {
    const bool is_valid = std::max(edge.before, edge.after) < recording.commands.size();
    if (!is_valid || recording.orders(edge.dependency, edge.after) ||
        !findings.count(Rule::EdgeOrdersNothing))
      continue;
    findings.add_counted(Rule::EdgeOrdersNothing, edge.after, edge.before,
                         concat("an edge (", edge.where.file, ':', edge.where.line,
                                ") orders nothing: it is programmatic, and ",
                                describe_command(recording, edge.after),
                                " is not dispatched with Start::Programmatic"));
  }
}

void report_uninitialized_read(const Recording& recording, std::uint32_t command,
                               const UninitializedRead& read, Findings& findings) {
  findings.add(Rule::TransientReadBeforeWrite, command,
               concat("it reads ", range_text(recording, read.buffer, read.begin, read.end),
                      ", a transient, before a command of the same replay writes them; their "
                      "contents are undefined. Write or fill them first"));
}

// True if recorded order is an allowed execution order and suffices to answer every query of the
// rules.
bool follows_recorded_order(const Recording& recording) {
  const auto is_barrier = [](const Command& command) {
    return command.kind == CommandKind::Barrier;
  };
  const auto leads_forward = [&](const UserEdge& edge) {
    return edge.before < edge.after && edge.after < recording.commands.size();
  };
  return recording.ordering != Ordering::Explicit &&
         std::none_of(recording.commands.begin(), recording.commands.end(), is_barrier) &&
         std::all_of(recording.edges.begin(), recording.edges.end(), leads_forward);
}

void check_recorded_order(const Recording& recording, Findings& findings) {
  const auto is_transient = [](const auto& buffer) {
    return buffer->kind == BufferKind::Transient;
  };
  if (std::none_of(recording.buffers.begin(), recording.buffers.end(), is_transient)) return;
  HazardTracker tracker(recording, HazardTracker::Watch::ConflictsAndTransients);
  for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
    static_cast<void>(tracker.visit(command));
    for (const UninitializedRead& read : tracker.uninitialized_reads())
      report_uninitialized_read(recording, command, read, findings);
  }
}

}  // namespace

void check_order(const Recording& recording, Findings& findings) {
  report_redundant_edges(recording, findings);
  if (follows_recorded_order(recording)) return check_recorded_order(recording, findings);
  const std::optional<DependencyGraph> dependencies = user_order(recording);
  if (!dependencies) return;
  std::vector<std::uint32_t> node_of(recording.commands.size(), kNone);
  std::vector<Pair> pairs;
  HazardTracker tracker(recording, HazardTracker::Watch::ConflictsAndTransients);
  for (std::uint32_t node = 0; node < dependencies->node_count(); ++node) {
    if (dependencies->is_join[node] != 0) continue;
    const std::uint32_t command = dependencies->node_command[node];
    node_of[command] = node;
    const auto conflicts = tracker.visit(command);
    if (recording.ordering == Ordering::Explicit) {
      for (const Conflict& conflict : conflicts) pairs.push_back({node, conflict});
    }
    for (const UninitializedRead& read : tracker.uninitialized_reads())
      report_uninitialized_read(recording, command, read, findings);
  }
  report_unordered(recording, *dependencies, node_of, pairs, findings);
  if (recording.ordering != Ordering::Linear)
    report_redundant_barriers(recording, *dependencies, findings);
}

}  // namespace reprise::detail
