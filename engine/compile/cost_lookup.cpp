#include "compile/cost_lookup.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "record/payload.hpp"

namespace reprise::detail {

namespace {

std::uint64_t volume(const Extent& extent) { return extent.width * extent.height * extent.depth; }

// Identifies a command in a cost profile; see CommandCost.
struct CommandKey {
  std::string label = {}, name = {};
  std::uint64_t work = 0;
  [[nodiscard]] std::string by_work() const { return concat(name, '\n', work); }
  [[nodiscard]] std::string key() const { return concat(label, '\n', by_work()); }
  [[nodiscard]] std::string text() const {
    return label.empty() ? name : concat(name, " in ", label);
  }
};

CommandKey likeness_of(const CommandCost& cost) { return {cost.label, cost.name, cost.work}; }

CommandKey likeness_of(const Recording& recording, std::uint32_t index) {
  CommandKey likeness{.label = recording.label_path(recording.commands[index].label),
                      .name = recording.traced_name(index)};
  switch (recording.commands[index].kind) {
    case CommandKind::Dispatch: {
      const auto& dispatch = recording.payload<DispatchPayload>(index);
      likeness.work = dispatch.grid.volume() * dispatch.block.volume();
      break;
    }
    case CommandKind::Copy:
      likeness.work = volume(recording.payload<CopyPayload>(index).extent);
      break;
    case CommandKind::Fill:
      likeness.work = volume(recording.payload<FillPayload>(index).extent);
      break;
    case CommandKind::Update: likeness.work = recording.payload<UpdatePayload>(index).bytes; break;
    case CommandKind::Host:
    case CommandKind::Op:
    case CommandKind::Barrier:
    case CommandKind::Nested:
    case CommandKind::Conditional: break;
  }
  return likeness;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The commands of one graph, by key.
class CostTable {
 public:
  explicit CostTable(const GraphCosts& graph) {
    for (const CommandCost& cost : graph.commands) {
      const CommandKey likeness = likeness_of(cost);
      in_order_[likeness.key()].push_back(cost.time.count());
      alike_[likeness.by_work()].push_back(cost.time.count());
    }
  }
  // The n-th of the commands with equal keys; kNone if there are fewer.
  [[nodiscard]] std::uint32_t exact(const std::string& key, std::size_t n) const {
    const auto found = in_order_.find(key);
    return found == in_order_.end() || n >= found->second.size() ? kNone
                                                                 : cost_ns(found->second[n]);
  }
  [[nodiscard]] std::uint32_t alike(const std::string& by_work) const {
    const auto found = alike_.find(by_work);
    return found == alike_.end() ? kNone : cost_ns(median(found->second));
  }

 private:
  std::unordered_map<std::string, std::vector<double>> in_order_, alike_;
};

struct FoundCosts {
  std::vector<std::uint32_t> ns;  // by dependency node; kNone: not found
  std::uint32_t exactly = 0, count = 0;
};

FoundCosts find_costs(const GraphCosts& graph, const Recording& recording,
                      const DependencyGraph& dependencies) {
  const CostTable table(graph);
  FoundCosts found;
  found.ns.assign(dependencies.node_count(), kNone);
  std::unordered_map<std::string, std::size_t> before;
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    const CommandKey likeness = likeness_of(recording, dependencies.node_command[node]);
    const std::string key = likeness.key();
    std::uint32_t& ns = found.ns[node];
    ns = table.exact(key, before[key]++);
    if (ns != kNone) ++found.exactly;
    if (ns == kNone) ns = table.alike(likeness.by_work());
    if (ns != kNone) ++found.count;
  }
  return found;
}

std::string_view timing_method(GraphCosts::TimedBy timed_by) {
  switch (timed_by) {
    case GraphCosts::TimedBy::HostClock: return "the host's clock";
    case GraphCosts::TimedBy::Timestamps: return "timestamps";
    case GraphCosts::TimedBy::Profiler: break;
  }
  return "the profiler";
}

std::string list_of(const CostProfile& costs) {
  constexpr std::size_t kMaxNames = 8;
  std::vector<std::string> names;
  for (const GraphCosts& graph : costs.graphs) names.push_back(concat('"', graph.label, '"'));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i)
    text += concat(i == 0 ? "" : ", ", names[i]);
  if (names.size() > kMaxNames) text += concat(" and ", names.size() - kMaxNames, " more");
  return text;
}

}  // namespace

CostsReport CostLookup::report(std::uint64_t plan_hash) const {
  CostsReport report = found;
  report.same_recording =
      std::find(same_plans.begin(), same_plans.end(), plan_hash) != same_plans.end();
  return report;
}

CostLookup look_up_costs(const CostProfile* costs, std::string_view label,
                         const Recording& recording, const DependencyGraph& dependencies) {
  CostLookup known;
  FoundCosts best;
  if (costs != nullptr) {
    for (const GraphCosts& graph : costs->graphs) {
      if (graph.label != label) continue;
      known.same_plans.push_back(graph.plan_hash);
      FoundCosts found = find_costs(graph, recording, dependencies);
      if (known.graph != nullptr &&
          std::pair(found.exactly, found.count) < std::pair(best.exactly, best.count))
        continue;
      known.graph = &graph;
      best = std::move(found);
    }
  }
  known.hints = hints_of(recording, dependencies, best.ns);
  CostsReport& report = known.found;
  report.measured = known.hints.measured;
  report.hinted = known.hints.hinted;
  report.guessed = known.hints.guessed;
  if (report.measured == 0) return known;
  report.source =
      concat(costs->source, ": ", known.graph->replays, " replays of graph ", known.graph->label,
             " on ", known.graph->device, ", timed by ", timing_method(known.graph->timed_by));
  report.device = known.graph->device;
  for (std::uint32_t node = 0; node < dependencies.node_count() && report.guessed != 0; ++node) {
    const std::uint32_t command = dependencies.node_command[node];
    const bool has_hint = recording.commands[command].kind == CommandKind::Dispatch &&
                          recording.payload<DispatchPayload>(command).cost > 0;
    if (best.ns[node] != kNone || has_hint || dependencies.is_join[node] != 0) continue;
    report.first_guessed = command;
    break;
  }
  return known;
}

NodeHints known_hints(const CostProfile* costs, const Plan& plan) {
  return look_up_costs(costs, plan.label, *plan.recording, plan.dependencies).hints;
}

void require_known(const CostLookup& known, const CostProfile& costs, std::string_view label,
                   const Recording& recording, const DependencyGraph& dependencies) {
  if (known.found.measured != 0 || dependencies.node_count() == 0) return;
  if (known.graph == nullptr) {
    const bool was_found =
        std::find(costs.untimed.begin(), costs.untimed.end(), label) != costs.untimed.end();
    fail(ErrorCode::InvalidArgument, Stage::Lowering, label,
         was_found ? concat("costs: ", costs.source, " has graph \"", label,
                            "\", but no replay with node times")
                   : concat("costs: ", costs.source, " has no graph \"", label,
                            "\" with node times; it has ", list_of(costs)));
  }
  const std::vector<CommandCost>& theirs = known.graph->commands;
  std::string both = "it has no commands";
  for (std::uint32_t node = 0; node < dependencies.node_count() && !theirs.empty(); ++node) {
    const std::uint32_t command = dependencies.node_command[node];
    const auto there =
        std::lower_bound(theirs.begin(), theirs.end(), command,
                         [](const CommandCost& cost, std::uint32_t i) { return cost.command < i; });
    const CommandKey ours = likeness_of(recording, command);
    if (there != theirs.end() && there->command == command &&
        likeness_of(*there).key() == ours.key())
      continue;
    const std::string other = there != theirs.end() && there->command == command
                                  ? concat("is ", likeness_of(*there).text())
                                  : "does not exist";
    both = concat("the first command that differs, ", command, ", ", other, ", and is ",
                  ours.text(), " here");
    break;
  }
  fail(ErrorCode::InvalidArgument, Stage::Lowering, label,
       concat("costs: graph \"", label, "\" of ", costs.source, " is another recording: ", both));
}

std::vector<Message> cost_warnings(const CostsReport& costs, const Plan& plan,
                                   std::string_view device) {
  std::vector<Message> messages;
  if (costs.source.empty()) return messages;
  if (costs.guessed != 0) {
    const Recording& recording = *plan.recording;
    const std::uint32_t command = costs.first_guessed.value_or(0);
    Message message;
    message.id = "costs-unmatched";
    message.command = command;
    message.label = recording.label_path(recording.commands[command].label);
    message.where = recording.commands[command].where;
    message.text = concat(
        "graph ", plan.label, ": ", costs.guessed, " of its commands have no cost in ",
        costs.source, "; they get the median cost of the others; the first is command ", command,
        ", ", likeness_of(recording, command).text(), "; write a new trace if they matter");
    messages.push_back(std::move(message));
  }
  if (costs.device != device) {
    Message message;
    message.id = "costs-of-another-device";
    message.text = concat("graph ", plan.label, ": its costs were measured on ", costs.device,
                          ", and this is ", device, " (", costs.source, ")");
    messages.push_back(std::move(message));
  }
  return messages;
}

}  // namespace reprise::detail
