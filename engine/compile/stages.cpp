#include "compile/stages.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "compile/async.hpp"
#include "compile/cost_lookup.hpp"
#include "compile/memory_goal.hpp"
#include "dependencies/dependency_graph.hpp"
#include "dependencies/same_dependencies.hpp"
#include "lowering/lowered_graph.hpp"
#include "lowering/lowering_config.hpp"
#include "lowering/node_attributes.hpp"
#include "lowering/segment.hpp"
#include "memory/placement.hpp"
#include "memory/transient_uses.hpp"
#include "plan/block_relations.hpp"
#include "plan/plan_hash.hpp"
#include "record/payload.hpp"
#include "validate/validate.hpp"

namespace reprise::detail {

namespace {

// For recordings with the same order: true if their transients have the same sizes, and thus the
// same placement.
bool has_same_transients(const Recording& a, const Recording& b) {
  return std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(), b.buffers.end(),
                    [](const auto& x, const auto& y) {
                      return x->kind == y->kind &&
                             (x->kind != BufferKind::Transient ||
                              (x->bytes == y->bytes && x->alignment == y->alignment));
                    });
}

// The placement of `before` for a recording whose dependencies have the same structure and which is
// lowered as before.lowered. Empty unless the same nodes use transients of the same sizes in both.
std::optional<Placement> reuse_placement(const Recording& recording,
                                         const DependencyGraph& dependencies, const Plan& before,
                                         std::uint32_t alignment) {
  const TransientUses now =
      collect_transient_uses(recording, dependencies, before.lowered, alignment);
  const TransientUses then =
      collect_transient_uses(*before.recording, before.dependencies, before.lowered, alignment);
  const auto same = [](const Transient& a, const Transient& b) {
    return a.bytes == b.bytes && a.first_use == b.first_use && a.use_count == b.use_count;
  };
  const bool is_same = now.nodes == then.nodes && now.by_first_use == then.by_first_use &&
                       std::equal(now.transients.begin(), now.transients.end(),
                                  then.transients.begin(), then.transients.end(), same);
  if (!is_same || before.placement.buffers.size() != now.transients.size()) return std::nullopt;
  Placement placement = before.placement;
  for (std::size_t i = 0; i < placement.buffers.size(); ++i) {
    placement.buffers[i].buffer = now.transients[i].buffer;
    placement.buffers[i].bytes = recording.buffers[now.transients[i].buffer]->bytes;
  }
  return placement;
}

// By body of the recording: the buffer, in the body, of the condition whose loop it is the body of;
// kNone for other bodies.
std::vector<std::uint32_t> loop_conditions(const Recording& recording) {
  std::vector<std::uint32_t> conditions(recording.bodies.size(), kNone);
  for (const Command& command : recording.commands) {
    if (command.kind != CommandKind::Conditional) continue;
    const auto& conditional = *static_cast<const ConditionalPayload*>(command.payload);
    if (conditional.branch != Branch::While) continue;
    const Body& body = conditional.bodies[0];
    const auto end = body.buffers + body.buffer_count,
               at = std::find(body.buffers, end, conditional.condition);
    if (at != end) conditions[body.index] = static_cast<std::uint32_t>(at - body.buffers);
  }
  return conditions;
}

// Plans of the bodies that `before` contains too; null for other bodies. `before` may be null.
std::vector<std::shared_ptr<const Plan>> reuse_bodies(const Recording& recording,
                                                      const Plan* before) {
  std::vector<std::shared_ptr<const Plan>> bodies(recording.bodies.size());
  if (before == nullptr || before->bodies.size() != before->recording->bodies.size()) return bodies;
  std::unordered_map<const Recording*, std::size_t> known;
  for (std::size_t i = 0; i < before->bodies.size(); ++i)
    known.emplace(before->recording->bodies[i].get(), i);
  const std::vector<std::uint32_t> conditions = loop_conditions(recording);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto found = known.find(recording.bodies[i].get());
    if (found == known.end()) continue;
    const std::shared_ptr<const Plan>& body = before->bodies[found->second];
    const std::uint32_t condition = body->lowered.loop_condition;
    if (condition == kNone || condition == conditions[i]) bodies[i] = body;
  }
  return bodies;
}

bool has_several_blocks(std::span<const std::uint32_t> segment_blocks) {
  return std::any_of(segment_blocks.begin(), segment_blocks.end(),
                     [](std::uint32_t blocks) { return blocks > 1; });
}

// Whether segments get their lists with the relations of their blocks.
bool schedules_later(const NodeHints& hints, const Lowering& lowering) {
  return lowering.block_relations && has_several_blocks(hints.segment_blocks);
}

// Whether Lowering::Auto can make one segment of a recording that may_have_segments(), which is
// then faster than nodes: all commands have one block, or each block only waits for blocks that
// can be in its own list.
bool may_be_certain(const Recording& recording) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i)
    if (segment_blocks_of(recording, i) != 1) return keeps_blocks_apart(recording);
  return true;
}

bool run_at_once(const LoweredGraph& lowered) {
  return std::all_of(lowered.segments.begin(), lowered.segments.end(), runs_at_once);
}

// Lets blocks of segments wait for the blocks that they depend on. `lists`: of a segment at most;
// 0: as many as it has. Segments that have lists for these relations stay as they are. Whether one
// has changed.
bool relate_blocks(const Recording& recording, const DependencyGraph& dependencies,
                   const NodeHints& hints, const Lowering& lowering, std::uint32_t lists,
                   const Placement& placement, LoweredGraph& lowered) {
  std::vector<std::vector<BlockRelation>> relations(lowered.segments.size());
  if (lowering.block_relations)
    relations = find_block_relations(recording, dependencies, lowered, placement);
  bool has_changed = false;
  for (std::size_t i = 0; i < relations.size(); ++i) {
    Segment& segment = lowered.segments[i];
    const bool has_lists = !segment.first_item.empty();
    if (has_lists && relations[i] == segment.relations) continue;
    NodeHints of_segment = hints;
    of_segment.segment_blocks = lowered.segment_blocks;
    of_segment.segment_lists = lists != 0 ? lists : segment.lists();
    segment = schedule_segment(lowered, of_segment, segment.first_node, segment.nodes,
                               std::move(relations[i]));
    has_changed = true;
  }
  return has_changed;
}

// A body's lowering to segments, of which one can be its whole loop. All of its transients are in
// use at the same time, so that none shares memory with another.
LoweredGraph lower_body_to_segments(const Recording& recording, const DependencyGraph& dependencies,
                                    const Lowering& lowering, std::uint32_t segment_lists,
                                    std::uint32_t loop_condition) {
  NodeHints hints = hints_of(recording, dependencies);
  const auto lower = [&](std::uint32_t condition) {
    add_segment_hints(recording, dependencies, segment_lists, true, hints, condition);
    hints.schedules_later = schedules_later(hints, lowering);
    return build_lowered_graph(dependencies, Lowering::Persistent, hints);
  };
  LoweredGraph lowered;
  if (loop_condition != kNone) {
    lowered = lower(loop_condition);
    if (lowered.segments.size() == 1 && lowered.segments[0].nodes == lowered.nodes.size())
      lowered.loop_condition = loop_condition;
  }
  if (lowered.loop_condition == kNone) lowered = lower(kNone);
  static_cast<void>(
      relate_blocks(recording, dependencies, hints, lowering, hints.segment_lists, {}, lowered));
  return lowered;
}

// Plans bodies with the same stages: lowered as recorded, without entry and exit kernels, or to
// segments, and with their transients in the outer plan's slab. Commands that execute the same body
// share its plan.
class BodyPlanner {
 public:
  // `segment_lists`: as PlanOptions::segment_lists; 0: no segments.
  BodyPlanner(const Lowering& lowering, std::uint32_t segment_lists)
      : lowering_(lowering), segment_lists_(segment_lists) {}

  // `loop_condition`: see loop_conditions(). Recurses for Recorder::kMaxNesting levels at most.
  std::shared_ptr<const Plan> plan(const std::shared_ptr<const Recording>& recording,
                                   std::uint32_t loop_condition) {
    auto& known = known_[recording.get()];
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& of) { return of.first == loop_condition; });
    if (found != known.end()) return found->second;
    const std::vector<std::uint32_t> conditions = loop_conditions(*recording);
    std::vector<std::shared_ptr<const Plan>> bodies;
    for (std::size_t i = 0; i < recording->bodies.size(); ++i)
      bodies.push_back(plan(recording->bodies[i], conditions[i]));
    known.emplace_back(loop_condition, make(recording, loop_condition, std::move(bodies)));
    return known.back().second;
  }

 private:
  [[gnu::noinline]]  // keeps the frames of plan() small
  std::shared_ptr<const Plan>
  make(const std::shared_ptr<const Recording>& recording, std::uint32_t loop_condition,
       std::vector<std::shared_ptr<const Plan>> bodies) const {
    DependencyGraph dependencies = build_dependencies(*recording);
    LoweredGraph lowered = segment_lists_ == 0
                               ? build_lowered_graph(dependencies, Lowering::Faithful)
                               : lower_body_to_segments(*recording, dependencies, lowering_,
                                                        segment_lists_, loop_condition);
    check_lowered_graph(dependencies, lowered);
    return std::make_shared<const Plan>(freeze_plan(recording->label, recording,
                                                    std::move(dependencies), std::move(lowered), {},
                                                    std::move(bodies)));
  }

  const Lowering lowering_;
  const std::uint32_t segment_lists_;
  // By recording: the loop condition and the plan.
  std::unordered_map<const Recording*,
                     std::vector<std::pair<std::uint32_t, std::shared_ptr<const Plan>>>>
      known_;
};

}  // namespace

std::vector<Message> check(const Recording& recording, const CheckDesc& desc) {
  std::vector<Finding> findings = validate(recording, desc.device, desc.validation);
  std::erase_if(findings,
                [&](const Finding& finding) { return desc.sink.suppresses(finding.message); });
  for (const Finding& finding : findings) desc.sink.report(finding.message);
  const bool is_refused = std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
    return f.message.severity == Severity::Error;
  });
  if (is_refused) {
    for (const Finding& finding : findings) desc.sink.record_refusal(finding.message);
  }
  throw_first_error(findings, recording);
  std::vector<Message> kept;
  for (Finding& finding : findings) kept.push_back(std::move(finding.message));
  return kept;
}

bool may_have_segments(const Recording& recording, const Lowering& lowering, MemoryGoal goal,
                       const DeviceInfo& device, std::uint32_t replicas) {
  if (lowering.mode != Lowering::Mode::Auto || !lowering.segments || lowering.fault_markers ||
      goal != MemoryGoal::Speed || device.kind == DeviceKind::Host ||
      device.limits.max_segment_blocks == 0 || replicas != 1)
    return false;
  const bool relates_blocks = lowering.block_relations && may_relate_blocks(recording);
  std::uint32_t commands = 0;
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    const CommandKind kind = recording.commands[i].kind;
    if (kind == CommandKind::Barrier) continue;
    // Lowering finds the exclusions of dispatches, since they depend on their kernels' code.
    if (kind != CommandKind::Dispatch && !segment_exclusion(recording, i).empty()) return false;
    if (segment_blocks_of(recording, i) != 1 && !relates_blocks) return false;
    ++commands;
  }
  return commands >= kMinAutoCommands;
}

std::future<DependencyGraph> build_dependencies_async(std::shared_ptr<const Recording> recording) {
  const std::size_t commands = recording->commands.size();
  return async_if_large(
      commands, [recording = std::move(recording)] { return build_dependencies(*recording); });
}

std::shared_ptr<const Plan> make_plan(std::string label, std::shared_ptr<const Recording> recording,
                                      const PlanOptions& options, EarlierStages earlier) {
  const Plan* const like = earlier.like;
  // Hash and slots of the recording depend on no stage except the plans of its bodies.
  const std::size_t async_commands = recording->bodies.empty() ? recording->commands.size() : 0;
  std::vector<std::shared_ptr<const Plan>> bodies = reuse_bodies(*recording, like);
  auto recorded =
      async_if_large(async_commands, [&] { return recorded_parts(*recording, bodies); });
  // Skip the stages whose input is the same as for an earlier plan.
  const Plan* same_edges = nullptr;
  if (like != nullptr && has_same_ordering(*like->recording, *recording)) {
    same_edges = like;
  } else if (earlier.cache != nullptr) {
    same_edges = earlier.cache->find();
  }
  DependencyGraph dependencies = same_edges != nullptr          ? same_edges->dependencies
                                 : earlier.dependencies.valid() ? earlier.dependencies.get()
                                                                : build_dependencies(*recording);
  auto hashed = async_if_large(async_commands, [&] {
    RecordedParts parts = recorded.get();
    const std::uint64_t hash = hash_dependencies(parts.hash, dependencies);
    return std::pair(std::move(parts), hash);
  });
  const CostProfile* const costs = options.costs.get();
  CostLookup known = look_up_costs(costs, label, *recording, dependencies);
  if (costs != nullptr && like == nullptr)
    require_known(known, *costs, label, *recording, dependencies);
  NodeHints& hints = known.hints;
  const bool has_tuned_segments =
      like != nullptr && options.lowering.segments && !like->lowered.segments.empty();
  const bool is_persistent = options.lowering.mode == Lowering::Mode::Persistent;
  bool makes_segments = is_persistent || (options.may_have_segments && may_be_certain(*recording));
  if (makes_segments || has_tuned_segments)
    add_segment_hints(*recording, dependencies, options.segment_lists, is_persistent, hints);
  if (!is_persistent)
    makes_segments = makes_segments && hints.segment_blocks.size() >= kMinAutoCommands &&
                     std::find(hints.segment_blocks.begin(), hints.segment_blocks.end(), 0u) ==
                         hints.segment_blocks.end();
  const auto has_same_lowering = [&](const Plan* plan) {
    return plan != nullptr &&
           (plan == same_edges || same_structure(dependencies, plan->dependencies)) &&
           hints.works == plan->lowered.works &&
           (plan->lowered.segments.empty() ||
            hints.segment_blocks == plan->lowered.segment_blocks) &&
           (!has_programmatic_starts(plan->lowered) ||
            allows_programmatic_starts(plan->lowered, hints));
  };
  const Plan* before = has_same_lowering(like)         ? like
                       : has_same_lowering(same_edges) ? same_edges
                                                       : nullptr;
  // What an earlier recording is lowered to does not depend on its edges alone.
  if (before != nullptr && before != like && before->lowered.segments.empty() == makes_segments)
    before = nullptr;
  GoalResult result;
  const auto lower = [&] {
    if (!makes_segments) hints.segment_blocks.clear();
    hints.schedules_later = schedules_later(hints, options.lowering);
    result = lower_for_goal(*recording, dependencies,
                            {.goal = options.memory_goal,
                             .lowering = options.lowering,
                             .alignment = options.alignment,
                             .budget = options.memory_search_budget,
                             .hints = hints});
  };
  if (before == nullptr) {
    lower();
  } else if (before == same_edges && has_same_transients(*before->recording, *recording)) {
    result = {before->lowered, before->placement, before->memory_tradeoff};
  } else {
    std::optional<Placement> placement =
        reuse_placement(*recording, dependencies, *before, options.alignment);
    if (!placement)
      placement = place_transients(*recording, dependencies, before->lowered, options.alignment,
                                   options.memory_search_budget);
    result = {before->lowered, std::move(*placement), before->memory_tradeoff};
    if (result.memory_tradeoff.goal != MemoryGoal::Speed)
      result.memory_tradeoff.after.slab_bytes = result.placement.slab_bytes;
  }
  const bool has_changed =
      relate_blocks(*recording, dependencies, hints, options.lowering,
                    makes_segments ? hints.segment_lists : 0, result.placement, result.lowered);
  // A plan that was tuned keeps its segments.
  const bool is_tuned = before != nullptr && before == like && !run_at_once(before->lowered);
  if (makes_segments && !is_persistent && !is_tuned &&
      has_several_blocks(result.lowered.segment_blocks) && !run_at_once(result.lowered)) {
    makes_segments = false;
    before = nullptr;
    lower();
  }
  // An earlier lowering was checked against the same edges already.
  if (before == nullptr || has_changed) check_lowered_graph(dependencies, result.lowered);
  // Fault markers name a command of the plan itself, not of a body.
  const bool has_segments_in_bodies = is_persistent && !options.lowering.fault_markers;
  const std::vector<std::uint32_t> conditions = loop_conditions(*recording);
  BodyPlanner planner(options.lowering, has_segments_in_bodies ? options.segment_lists : 0);
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (!bodies[i]) bodies[i] = planner.plan(recording->bodies[i], conditions[i]);
  auto [parts, hash] = hashed.get();
  Plan plan =
      freeze_plan({std::move(label), std::move(recording), std::move(dependencies),
                   std::move(result.lowered), std::move(result.placement), std::move(bodies)},
                  std::move(parts), hash);
  plan.memory_tradeoff = result.memory_tradeoff;
  plan.costs = known.report(plan.plan_hash);
  if (before == nullptr && earlier.cache != nullptr) earlier.cache->insert(plan);
  return std::make_shared<const Plan>(std::move(plan));
}

std::shared_ptr<const Plan> lower_again(const Plan& plan, const LoweringConfig& choice,
                                        const PlanOptions& options) {
  NodeHints hints = hints_of(*plan.recording, plan.dependencies);
  if (choice.shape == LoweringConfig::Shape::Segments)
    hints.segment_blocks = segment_blocks(*plan.recording, plan.dependencies);
  hints.schedules_later = schedules_later(hints, options.lowering);
  LoweredGraph lowered = build_lowered_graph(plan.dependencies, choice, hints);
  lowered.fault_markers = options.lowering.fault_markers;
  Placement placement = place_transients(*plan.recording, plan.dependencies, lowered,
                                         options.alignment, options.memory_search_budget);
  hints.costs.clear();
  if (choice.costs.size() == plan.dependencies.node_count()) hints.costs = choice.costs;
  static_cast<void>(relate_blocks(*plan.recording, plan.dependencies, hints, options.lowering,
                                  choice.lanes, placement, lowered));
  check_lowered_graph(plan.dependencies, lowered);
  Plan again = freeze_plan(plan.label, plan.recording, plan.dependencies, std::move(lowered),
                           std::move(placement), plan.bodies);
  again.costs = plan.costs;
  again.memory_tradeoff = plan.memory_tradeoff;
  if (again.memory_tradeoff.goal != MemoryGoal::Speed)
    again.memory_tradeoff.after = side_of(again.lowered, again.placement);
  return std::make_shared<const Plan>(std::move(again));
}

Bindings bind(const Plan& plan, std::byte* slab, std::uint32_t replica) {
  Bindings bindings;
  bindings.address.reserve(plan.recording->buffers.size());
  for (const auto& buffer : plan.recording->buffers)
    bindings.address.push_back(copy_for(buffer, replica)->address);
  for (const PlacedBuffer& placed : plan.placement.buffers)
    bindings.address[placed.buffer] = slab + placed.offset;
  return bindings;
}

namespace {

// Adds the segments of a plan and of its bodies.
void count_segments(const Plan& plan, SegmentsReport& report) {
  for (const Segment& segment : plan.lowered.segments) {
    ++report.segments;
    report.commands += segment.nodes;
    report.items += static_cast<std::uint32_t>(segment.items.size());
    report.lists = std::max(report.lists, segment.lists());
    report.relations += static_cast<std::uint32_t>(
        std::count_if(segment.relations.begin(), segment.relations.end(),
                      [](const BlockRelation& one) { return !one.is_of_all_blocks(); }));
  }
  for (const auto& body : plan.bodies) count_segments(*body, report);
}

SegmentsReport segments_report(const Plan& plan) {
  SegmentsReport report;
  const LoweredGraph& lowered = plan.lowered;
  if (lowered.segment_blocks.empty()) return report;
  count_segments(plan, report);
  std::vector<std::uint32_t> of_blocks;  // dispatches of several blocks in segments
  for (std::uint32_t node = 0; node < lowered.nodes.size(); ++node) {
    const std::uint32_t command = plan.command_of(node);
    if (command == kNone) continue;
    if (lowered.segment_of(node) != kNone) {
      if (lowered.segment_blocks[lowered.nodes[node].dependency_node] > 1)
        of_blocks.push_back(command);
      continue;
    }
    const std::string_view reason = segment_exclusion(*plan.recording, command);
    report.left_out.push_back(
        {command, std::string(reason.empty() ? "no other command beside it" : reason)});
  }
  std::vector<std::string> problems = footprint_problems(*plan.recording, of_blocks);
  for (std::size_t i = 0; i < of_blocks.size(); ++i)
    report.footprints.push_back({of_blocks[i], std::move(problems[i])});
  return report;
}

}  // namespace

CompileReport make_report(const Plan& plan, std::vector<Message> messages) {
  CompileReport report;
  report.messages = std::move(messages);
  report.commands = static_cast<std::uint32_t>(plan.recording->commands.size());
  report.nodes = static_cast<std::uint32_t>(plan.lowered.nodes.size());
  report.needed_edges = static_cast<std::uint32_t>(plan.dependencies.edges.size());
  report.redundant_edges_left = plan.dependencies.redundant_edges_left;
  report.added_edges = plan.lowered.added_edges;
  report.lanes = plan.lowered.lanes;
  report.segments = segments_report(plan);
  report.entry_exit = plan.lowered.entry_exit.any();
  report.transient_bytes = plan.placement.naive_bytes;
  report.slab_bytes = plan.placement.slab_bytes;
  report.slab_lower_bound = plan.placement.lower_bound;
  report.costs = plan.costs;
  report.costs.used = plan.lowered.by_cost;
  report.memory_tradeoff = plan.memory_tradeoff;
  report.plan_hash = plan.plan_hash;
  report.lowering_hash = plan.lowering_hash;
  return report;
}

}  // namespace reprise::detail
