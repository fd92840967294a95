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
#include "compile/memory_goal.hpp"
#include "compile/replica_rules.hpp"
#include "compile/stages.hpp"
#include "compile/tuning_file.hpp"
#include "plan/collectives.hpp"
#include "plan/plan.hpp"
#include "profile/host_span.hpp"
#include "profile/nvtx.hpp"
#include "profile/process_info.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/core/instance_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "runtime/graph/graph_replica.hpp"
#include "runtime/memory/pool_core.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kMaxReplicas = 1024;

// Messages of a compile go to the instance; those of refused recordings also to the trace.
class DeviceMessages final : public MessageSink {
 public:
  explicit DeviceMessages(const DeviceCore& device) noexcept : device_(device) {}
  [[nodiscard]] bool suppresses(const Message& message) const override {
    return device_.instance().suppresses(message);
  }
  void report(const Message& message) const override { device_.instance().report(message); }
  void record_refusal(const Message& message) const override {
    if (device_.trace() != nullptr) device_.trace()->report(trace::kNone, message);
  }

 private:
  const DeviceCore& device_;
};

// 0 without a trace.
trace::Time now_of(const DeviceCore& device) { return device.trace() == nullptr ? 0 : trace_now(); }

std::unique_ptr<GraphExecutable> make_executable(ExecutableSpec spec, HostSpan& span) {
  const std::shared_ptr<DeviceCore> device = spec.device;
  const std::shared_ptr<const Plan> plan = spec.plan;
  const std::uint32_t replica = spec.replica.number;
  TransientMemory memory = allocate_transients(device, spec.pool, *plan, replica);
  const auto part = span.part("instantiate");
  const NvtxRange instantiating(NvtxWork::Instantiate, plan->label);
  const trace::Time start = now_of(*device);
  try {
    Bindings bindings = bind(*plan, memory.address, replica);
    auto executable =
        GraphExecutable::instantiate(std::move(spec), std::move(memory), std::move(bindings));
    executable->times.instantiate_time = now_of(*device) - start;
    return executable;
  } catch (const Error& error) {
    throw with_context(error, plan->label, concat("in graph ", plan->label));
  }
}

void check_replicas(const CompileDesc& desc, const Recording& recording, std::string_view label) {
  if (desc.replicas == 0) {
    fail(ErrorCode::InvalidArgument, Stage::Instantiate, label,
         concat("graph ", label, " cannot have 0 replicas"));
  }
  if (desc.replicas > kMaxReplicas) {
    fail(ErrorCode::InvalidArgument, Stage::Instantiate, label,
         concat("graph ", label, " cannot have ", desc.replicas, " replicas; at most ",
                kMaxReplicas, " are possible"));
  }
  require_per_replica(recording, desc.replicas, label);
}

// The device's plan cache, asked for one recording.
struct CacheLookup {
  PlanCache::PlanKeyOptions options;
  // Empty if the plan depends on costs, which are no part of the structure.
  std::optional<std::uint64_t> hash = {};
  std::shared_ptr<const Plan> found = nullptr;  // a plan of the same structure; null: a miss
};

CacheLookup look_up(DeviceCore& device, const Recording& recording, const CompileDesc& desc) {
  CacheLookup lookup{{desc.lowering, device.info().limits.buffer_alignment, desc.memory_goal,
                      desc.memory_search_budget,
                      may_have_segments(recording, desc.lowering, desc.memory_goal, device.info(),
                                        desc.replicas)}};
  // Segments depend on the number of blocks too.
  if (desc.costs || has_hints(recording) || desc.lowering.mode == Lowering::Mode::Persistent)
    return lookup;
  lookup.hash = PlanCache::structure_hash(recording, lookup.options);
  lookup.found = device.plans().find(*lookup.hash, recording, lookup.options);
  return lookup;
}

std::shared_ptr<const Plan> make_cached_plan(DeviceCore& device, const std::string& label,
                                             std::shared_ptr<const Recording> recording,
                                             const CacheLookup& lookup, const CostProfile* costs,
                                             std::future<DependencyGraph> dependencies) {
  auto plan = make_plan(label, std::move(recording),
                        {.lowering = lookup.options.lowering,
                         .alignment = lookup.options.alignment,
                         .segment_lists = device.info().limits.max_segment_blocks,
                         .may_have_segments = lookup.options.may_have_segments,
                         .memory_goal = lookup.options.memory_goal,
                         .memory_search_budget = lookup.options.memory_search_budget,
                         .costs = costs,
                         .like = lookup.found.get()},
                        std::move(dependencies));
  if (lookup.hash && !lookup.found) device.plans().insert(*lookup.hash, *plan, lookup.options);
  return plan;
}

// Reports doubts about the measured costs that the plan was made with.
void report_costs(const DeviceCore& device, const Plan& plan, std::vector<Message>& messages) {
  for (Message& message : cost_warnings(plan.costs, plan, device.info().name)) {
    if (device.instance().suppresses(message)) continue;
    device.instance().report(message);
    messages.push_back(std::move(message));
  }
}

void report_other_goals(const DeviceCore& device, const Plan& plan, const CompileDesc& desc,
                        std::vector<Message>& messages) {
  if (device.instance().validation() != Validation::Full || desc.memory_goal != MemoryGoal::Speed)
    return;
  std::optional<Message> message =
      other_goals(plan, desc.lowering, device.info().limits.buffer_alignment);
  if (!message || device.instance().suppresses(*message)) return;
  device.instance().report(*message);
  messages.push_back(std::move(*message));
}

// Whether nodes can replace segments that could not be made.
bool is_about_segments(const Error& error) {
  return error.code() == ErrorCode::NativeFailure || error.code() == ErrorCode::Unsupported ||
         error.code() == ErrorCode::LaunchLimits;
}

void report_no_segments(const DeviceCore& device, const std::string& label, const Error& error,
                        std::vector<Message>& messages) {
  Message message;
  message.severity = Severity::Warning;
  message.id = "no-segments";
  message.text =
      concat("graph ", label, " is compiled without segments, which failed: ", error.what(),
             "; Lowering::Auto.without_segments() avoids the attempt");
  if (device.instance().suppresses(message)) return;
  device.instance().report(message);
  messages.push_back(std::move(message));
}

enum class Validated : std::uint8_t { No, Yes };

std::shared_ptr<CompiledGraph> make_graph(const std::shared_ptr<DeviceCore>& device,
                                          std::shared_ptr<const Recording> recording,
                                          const CompileDesc& desc, Validated validated) {
  const std::string label = desc.label.empty() ? recording->label : std::string(desc.label);
  const NvtxRange range(NvtxWork::Compile, label);
  HostSpan span(device->trace() == nullptr ? nullptr : device->trace()->session(),
                concat("compile ", label));
  const trace::Time start = now_of(*device);
  std::vector<Message> messages;
  require_enumerator("CompileDesc::lowering.mode", desc.lowering.mode, Stage::Lowering, label);
  require_enumerator("CompileDesc::memory_goal", desc.memory_goal, Stage::Lowering, label);
  if (desc.lowering.mode == Lowering::Mode::Persistent &&
      device->info().limits.max_segment_blocks == 0) {
    fail(ErrorCode::Unsupported, Stage::Lowering, label,
         concat("graph ", label, ": device ", device->info().selector,
                " runs no segments, which Lowering::Persistent makes"));
  }
  CacheLookup lookup = look_up(*device, *recording, desc);
  std::future<DependencyGraph> dependencies;
  switch (validated) {
    case Validated::Yes: break;
    case Validated::No: {
      if (!lookup.found) dependencies = build_dependencies_async(recording);
      const auto part = span.part("validate");
      messages = check(*device, *recording);
      check_replicas(desc, *recording, label);
      compare_collectives(label, *recording);
    }
  }
  std::shared_ptr<const Plan> plan;
  std::optional<LoweringConfig> tuned;
  {
    const auto part = span.part("plan");
    plan = make_cached_plan(*device, label, std::move(recording), lookup, desc.costs.get(),
                            std::move(dependencies));
    if (!desc.tuning_file.empty())
      tuned = read_tuning(desc.tuning_file, {device->info().name, plan->plan_hash});
    if (tuned) plan = lower_again(*plan, *tuned, device->info().limits.buffer_alignment);
  }
  if (desc.costs) report_costs(*device, *plan, messages);
  switch (validated) {
    case Validated::Yes: break;
    case Validated::No:
      if (!tuned) report_other_goals(*device, *plan, desc, messages);
  }
  trace::Time planned = now_of(*device);
  ExecutableSpec spec{.device = device,
                      .pool = desc.pool,
                      .plan = plan,
                      .lowering = desc.lowering,
                      .memory_goal = desc.memory_goal,
                      .costs = desc.costs,
                      .replica = {0, desc.replicas}};
  const auto make_first = [&] {
    try {
      return make_executable(spec, span);
    } catch (const Error& error) {
      const bool are_chosen = lookup.options.may_have_segments && !tuned;
      if (!are_chosen || plan->lowered.segments.empty() || !is_about_segments(error)) throw;
      report_no_segments(*device, label, error, messages);
      lookup.options.may_have_segments = false;
      lookup.hash.reset();
      lookup.found = nullptr;
      plan = make_cached_plan(*device, label, plan->recording, lookup, desc.costs.get(), {});
      planned = now_of(*device);
      spec.plan = plan;
      return make_executable(spec, span);
    }
  };
  const LaunchedCollectives collectives = plan->collectives;  // outlives the plan if that changes
  CompileReport report;
  std::vector<std::shared_ptr<GraphReplica>> replicas;
  const auto make_replicas = [&] {
    for (; spec.replica.number < desc.replicas; ++spec.replica.number) {
      auto executable = replicas.empty() ? make_first() : make_executable(spec, span);
      if (replicas.empty()) {
        report = make_report(*plan, std::move(messages));
        report.replicas = desc.replicas;
        executable->times.compiled = start;
        executable->times.compile_time = planned - start;
      } else {
        executable->trace.graph = replicas.front()->trace_id();
      }
      replicas.push_back(GraphReplica::make(std::move(executable), report.messages));
      if (device->trace() != nullptr) span.set_graph(replicas.front()->trace_id());
    }
  };
  switch (validated) {
    case Validated::Yes: make_replicas(); break;
    case Validated::No: make_on_all_ranks(collectives, make_replicas);
  }
  auto graph = std::make_shared<CompiledGraph>(std::move(replicas), std::move(report));
  if (tuned) graph->set_tuned(std::move(*tuned));
  return graph;
}

}  // namespace

std::shared_ptr<const Recording> recording_to_compile(const DeviceCore& device,
                                                      const CommandBuffer& commands,
                                                      const CapturePool* pool) {
  const CommandBufferCore& core =
      require_handle(core_of(commands), "CommandBuffer", "compile", Stage::Validate);
  if (core.device() != device.status()) {
    fail(ErrorCode::WrongDevice, Stage::Validate, core.label(),
         concat("command buffer ", core.label(), " of ",
                name_beside(*core.device(), *device.status()), " cannot be compiled on ",
                device.status()->selector));
  }
  if (pool != nullptr && core_of(*pool)->device()->status() != device.status()) {
    fail(ErrorCode::WrongDevice, Stage::Validate, core.label(),
         concat("pool ", pool->label(), " of ",
                name_beside(*core_of(*pool)->device()->status(), *device.status()),
                " cannot serve a graph on ", device.status()->selector));
  }
  if (core.level() == Level::Secondary) {
    fail(ErrorCode::InvalidArgument, Stage::Validate, core.label(),
         concat("command buffer ", core.label(),
                " is secondary; execute() it from a primary one and compile that"));
  }
  device.require_usable(Stage::Validate);
  return core.executable("compile");
}

std::vector<Message> check(const DeviceCore& device, const Recording& recording) {
  return check(recording, {device.info(), device.instance().validation(), DeviceMessages(device)});
}

std::shared_ptr<CompiledGraph> compile(const std::shared_ptr<DeviceCore>& device,
                                       const CommandBuffer& commands, const CompileDesc& desc) {
  device->deferred().limit_backlog();
  auto graph = make_graph(device, recording_to_compile(*device, commands, desc.pool.get()), desc,
                          Validated::No);
  for (const auto& replica : graph->replicas()) core_of(commands)->add_pending_source(replica);
  return graph;
}

std::shared_ptr<CompiledGraph> compile_checked(const std::shared_ptr<DeviceCore>& device,
                                               std::shared_ptr<const Recording> recording,
                                               const CompileDesc& desc) {
  return make_graph(device, std::move(recording), desc, Validated::Yes);
}

}  // namespace reprise::detail

namespace reprise {

CapturedGraph Device::compile(const CommandBuffer& commands, const CompileDesc& desc) const {
  static_cast<void>(detail::require_handle(core_, "Device", "compile", Stage::Validate));
  detail::require_outside_callback("Device", "compile", Stage::Validate, commands.label());
  return detail::make_handle<CapturedGraph>(detail::compile(core_, commands, desc));
}

}  // namespace reprise
