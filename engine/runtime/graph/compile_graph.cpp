#include "runtime/graph/compile_graph.hpp"

#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "compile/cost_lookup.hpp"
#include "compile/replica_rules.hpp"
#include "compile/stages.hpp"
#include "compile/tuning_file.hpp"
#include "plan/plan.hpp"
#include "profile/host_span.hpp"
#include "profile/nvtx.hpp"
#include "profile/process_info.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/core/instance_core.hpp"
#include "runtime/graph/graph_core.hpp"
#include "runtime/graph/graph_replicas.hpp"

namespace reprise::detail {

namespace {

// The trace's clock, where there is a trace.
trace::Time now_of(const DeviceCore& device) { return device.trace() == nullptr ? 0 : trace_now(); }

// One instance, with its memory and its executable.
std::unique_ptr<GraphExecutable> make_body(const std::shared_ptr<DeviceCore>& device,
                                           std::shared_ptr<const Plan> plan,
                                           const CompileDesc& desc, std::uint32_t instance,
                                           HostSpan& span) {
  auto body = std::make_unique<GraphExecutable>(device);
  body->pool = desc.pool;
  body->plan = std::move(plan);
  body->lowering = desc.lowering;
  body->memory_goal = desc.memory_goal;
  body->costs = desc.costs;
  body->is_ours = true;
  body->instance = {instance, desc.replicas};
  body->memory = allocate_transients(device, desc.pool, *body->plan, instance);
  const auto part = span.part("instantiate");
  const NvtxRange instantiating(NvtxWork::Instantiate, body->plan->label);
  const trace::Time began = now_of(*device);
  try {
    body->journal = BindingState(body->plan, bind(*body->plan, body->memory.address, instance));
    body->exec = device->backend().instantiate(body->plan, body->journal.now(),
                                               instrumentation_for(*device));
  } catch (const Error& error) {
    throw with_context(error, body->plan->label, concat("in graph ", body->plan->label));
  }
  body->times.instantiate_time = now_of(*device) - began;
  return body;
}

void check_instances(const CompileDesc& desc, const Recording& recording, std::string_view label) {
  if (desc.replicas == 0) {
    fail(ErrorCode::InvalidArgument, Stage::Instantiate, label,
         concat("graph ", label, " was asked for with no instances; 1 is a graph without others"));
  }
  require_per_replica(recording, desc.replicas, label);
}

// What the device knows of a structure.
struct Known {
  PlanCache::Way way;
  std::optional<std::uint64_t> number;  // none: what is known of its nodes is no part of the
                                        // structure that plans are kept by
  std::shared_ptr<const Plan> like;     // one of the same structure, where there was one before
};

Known look_up(DeviceCore& device, const Recording& recording, const CompileDesc& desc) {
  Known known{{desc.lowering, device.info().limits.buffer_alignment, desc.memory_goal,
               desc.memory_search_budget},
              {},
              {}};
  if (desc.costs || has_hints(recording)) return known;
  known.number = PlanCache::number_of(recording, known.way);
  known.like = device.plans().find(*known.number, recording, known.way);
  return known;
}

std::shared_ptr<const Plan> plan_of(DeviceCore& device, const std::string& label,
                                    std::shared_ptr<const Recording> recording, const Known& known,
                                    const CostProfile* costs, std::future<DependencyGraph> ahead) {
  auto plan = make_plan(label, std::move(recording),
                        {.lowering = known.way.lowering,
                         .alignment = known.way.alignment,
                         .memory_goal = known.way.memory_goal,
                         .memory_search_budget = known.way.memory_search_budget,
                         .costs = costs,
                         .like = known.like.get()},
                        std::move(ahead));
  if (known.number && !known.like) device.plans().note(*known.number, *plan, known.way);
  return plan;
}

// What of the costs is not as it might be thought to be.
void report_costs(const DeviceCore& device, const Plan& plan, std::vector<Message>& messages) {
  for (Message& message : cost_warnings(plan.costs, plan, device.info().name)) {
    if (device.instance().suppresses(message)) continue;
    device.instance().report(message);
    messages.push_back(std::move(message));
  }
}

enum class Checked : std::uint8_t { Already, ByThis };

std::shared_ptr<GraphCore> make_graph(const std::shared_ptr<DeviceCore>& device,
                                      std::shared_ptr<const Recording> recording,
                                      const CompileDesc& desc, Checked checked) {
  const std::string label = desc.label.empty() ? recording->label : std::string(desc.label);
  const NvtxRange range(NvtxWork::Compile, label);
  HostSpan span(device->trace() == nullptr ? nullptr : device->trace()->session(),
                concat("compile ", label));
  const trace::Time began = now_of(*device);
  std::vector<Message> messages;
  const Known known = look_up(*device, *recording, desc);
  std::future<DependencyGraph> ahead;
  if (checked == Checked::ByThis) {
    if (!known.like) ahead = build_dependencies_async(recording);
    const auto part = span.part("validate");
    messages = check(*device, *recording);
    check_instances(desc, *recording, label);
  }
  std::shared_ptr<const Plan> plan;
  std::optional<LoweringConfig> tuned;
  {
    const auto part = span.part("plan");
    plan = plan_of(*device, label, std::move(recording), known, desc.costs.get(), std::move(ahead));
    if (!desc.tuning_file.empty())
      tuned = read_tuning(desc.tuning_file, {device->info().name, plan->plan_hash});
    if (tuned) plan = lower_again(*plan, *tuned, device->info().limits.buffer_alignment);
  }
  if (desc.costs) report_costs(*device, *plan, messages);
  const trace::Time planned = now_of(*device);
  CompileReport report = make_report(*plan, std::move(messages));
  report.replicas = desc.replicas;
  auto body = make_body(device, plan, desc, 0, span);
  body->times.compiled = began;
  body->times.compile_time = planned - began;
  auto graph = GraphCore::make(std::move(body), report);
  if (tuned) graph->set_tuned(std::move(*tuned));
  if (device->trace() != nullptr) span.about(graph->trace_id());
  std::vector<std::shared_ptr<GraphCore>> others;
  for (std::uint32_t i = 1; i < desc.replicas; ++i) {
    auto other = make_body(device, plan, desc, i, span);
    other->trace_id = graph->trace_id();
    others.push_back(GraphCore::make(std::move(other), report));
  }
  if (!others.empty())
    graph->set_replicas(std::make_unique<GraphReplicas>(*graph, std::move(others)));
  return graph;
}

}  // namespace

std::shared_ptr<GraphCore> compile(const std::shared_ptr<DeviceCore>& device,
                                   const CommandBuffer& commands, const CompileDesc& desc) {
  auto graph =
      make_graph(device, checked_recording(*device, commands, desc), desc, Checked::ByThis);
  if (graph->replicas() != nullptr) {
    for (const auto& other : graph->replicas()->others())
      core_of(commands)->add_pending_source(other);
  }
  core_of(commands)->add_pending_source(graph);
  return graph;
}

std::shared_ptr<GraphCore> compile_checked(const std::shared_ptr<DeviceCore>& device,
                                           std::shared_ptr<const Recording> recording,
                                           const CompileDesc& desc) {
  return make_graph(device, std::move(recording), desc, Checked::Already);
}

}  // namespace reprise::detail
