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
#include "plan/plan.hpp"
#include "profile/host_span.hpp"
#include "profile/nvtx.hpp"
#include "profile/process_info.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/core/instance_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "runtime/graph/graph_replica.hpp"
#include "runtime/graph/rank_comparison.hpp"
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

void check_replicas(const CompileDesc& desc, std::string_view label) {
  if (desc.replicas == 0) {
    fail(ErrorCode::InvalidArgument, Stage::Instantiate, label,
         concat("graph ", label, " cannot have 0 replicas; the minimum is 1"));
  }
  if (desc.replicas > kMaxReplicas) {
    fail(ErrorCode::InvalidArgument, Stage::Instantiate, label,
         concat("graph ", label, " cannot have ", desc.replicas, " replicas; the limit is ",
                kMaxReplicas));
  }
}

// Reports doubts about the measured costs that the plan was made with.
void report_costs(const DeviceCore& device, const Plan& plan, std::vector<Message>& messages) {
  for (Message& message : cost_warnings(plan.costs, plan, device.info().name)) {
    if (device.instance().suppresses(message)) continue;
    device.instance().report(message);
    messages.push_back(std::move(message));
  }
}

void report_other_goals(const DeviceCore& device, const Plan& plan, const PlanOptions& options,
                        std::vector<Message>& messages) {
  if (device.instance().validation() != Validation::Full ||
      options.memory_goal != MemoryGoal::Speed)
    return;
  std::optional<Message> message = other_goals(plan, options.lowering, options.alignment);
  if (!message || device.instance().suppresses(*message)) return;
  device.instance().report(*message);
  messages.push_back(std::move(*message));
}

// Whether nodes can replace segments that could not be made.
bool is_about_segments(const Error& error) {
  return error.code() == ErrorCode::NativeFailure || error.code() == ErrorCode::Unsupported ||
         error.code() == ErrorCode::LaunchLimits;
}

PlanOptions options_of(const DeviceCore& core, const CompileDesc& desc) {
  const DeviceInfo& device = core.info();
  Lowering lowering = desc.lowering;
  if (!core.instance().has_block_relations()) lowering.block_relations = false;
  return {.lowering = lowering,
          .alignment = device.limits.buffer_alignment,
          .segment_lists = device.limits.max_segment_blocks,
          .memory_goal = desc.memory_goal,
          .memory_search_budget = desc.memory_search_budget,
          .costs = desc.costs,
          .tuning_file = desc.tuning_file};
}

void check_options(const DeviceInfo& device, const PlanOptions& options, std::string_view label) {
  require_enumerator("CompileDesc::lowering.mode", options.lowering.mode, Stage::Lowering, label);
  require_enumerator("CompileDesc::memory_goal", options.memory_goal, Stage::Lowering, label);
  if (options.lowering.mode == Lowering::Mode::Persistent && options.segment_lists == 0) {
    fail(ErrorCode::Unsupported, Stage::Lowering, label,
         concat("graph ", label, ": device ", device.selector,
                " cannot run segments, which Lowering::Persistent needs; use Lowering::Auto"));
  }
}

// Lowers the plan again by its entry in the tuning file, if there is one.
void apply_tuning_file(const DeviceCore& device, PlannedGraph& planned) {
  const std::filesystem::path& file = planned.options.tuning_file;
  planned.tuned = read_tuning(file, {device.info().name, planned.plan->plan_hash});
  if (!planned.tuned) return;
  if (planned.tuned->shape == LoweringConfig::Shape::Segments &&
      !planned.options.lowering.segments) {
    fail(
        ErrorCode::InvalidArgument, Stage::Lowering, planned.plan->label,
        concat("tuning file ", file.string(), " lowers graph ", planned.plan->label,
               " to segments, which Lowering::without_segments() excludes; tune this graph again"));
  }
  planned.plan = lower_again(*planned.plan, *planned.tuned, planned.options);
}

std::shared_ptr<CompiledGraph> make_graph(const std::shared_ptr<DeviceCore>& device,
                                          std::shared_ptr<const Recording> recording,
                                          const CompileDesc& desc, IsChecked is_checked) {
  const std::string label = desc.label.empty() ? recording->label : std::string(desc.label);
  const NvtxRange range(NvtxWork::Compile, label);
  HostSpan span(device->trace() == nullptr ? nullptr : device->trace()->session(),
                concat("compile ", label));
  const trace::Time start = now_of(*device);
  if (is_checked == IsChecked::No) check_replicas(desc, label);
  PlannedGraph planned = plan_recording(*device,
                                        {.label = label,
                                         .recording = std::move(recording),
                                         .options = options_of(*device, desc),
                                         .replicas = desc.replicas,
                                         .is_checked = is_checked},
                                        span);
  if (desc.costs) report_costs(*device, *planned.plan, planned.messages);
  if (is_checked == IsChecked::No && !planned.tuned)
    report_other_goals(*device, *planned.plan, planned.options, planned.messages);
  trace::Time planned_at = 0;
  ReplicaIndex index{0, desc.replicas};
  const auto make_one = [&] {
    return make_executable({.device = device,
                            .pool = desc.pool,
                            .plan = planned.plan,
                            .options = planned.options,
                            .collectives = planned.collectives,
                            .replica = index},
                           span);
  };
  const auto make_first = [&] {
    return make_or_leave_out_segments(*device, planned, [&] {
      planned_at = now_of(*device);
      return make_one();
    });
  };
  CompileReport report;
  std::vector<std::shared_ptr<GraphReplica>> replicas;
  const auto make_replicas = [&] {
    for (; index.number < desc.replicas; ++index.number) {
      auto executable = replicas.empty() ? make_first() : make_one();
      if (replicas.empty()) {
        report = make_report(*planned.plan, std::move(planned.messages));
        report.replicas = desc.replicas;
        executable->times.compiled = start;
        executable->times.compile_time = planned_at - start;
      } else {
        executable->trace.graph = replicas.front()->trace_id();
      }
      replicas.push_back(GraphReplica::make(std::move(executable), report.messages));
      if (device->trace() != nullptr) span.set_graph(replicas.front()->trace_id());
    }
  };
  switch (is_checked) {
    case IsChecked::Yes: make_replicas(); break;
    case IsChecked::No: make_on_all_ranks(planned.collectives, make_replicas);
  }
  auto graph = std::make_shared<CompiledGraph>(std::move(replicas), std::move(report));
  if (planned.tuned) graph->set_tuned(std::move(*planned.tuned));
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
                " is a secondary; execute() it in a primary and compile the primary"));
  }
  device.require_usable(Stage::Validate);
  return core.executable("compile");
}

std::vector<Message> check(const DeviceCore& device, const Recording& recording) {
  return check(recording, {device.info(), device.instance().validation(), DeviceMessages(device)});
}

PlannedGraph plan_recording(DeviceCore& device, PlanRequest request, HostSpan& span) {
  PlannedGraph planned{.options = std::move(request.options)};
  PlanOptions& options = planned.options;
  const std::shared_ptr<const Recording>& recording = request.recording;
  check_options(device.info(), options, request.label);
  options.may_have_segments = may_have_segments(*recording, options.lowering, options.memory_goal,
                                                device.info(), request.replicas);
  CacheLookup cache(device.plans(), *recording, options);
  EarlierStages earlier{.like = request.like, .cache = &cache};
  if (request.is_checked == IsChecked::No) {
    if (earlier.like == nullptr && cache.find() == nullptr)
      earlier.dependencies = build_dependencies_async(recording);
    const auto part = span.part("validate");
    planned.messages = check(device, *recording);
    require_per_replica(*recording, request.replicas, request.label);
    planned.collectives = compare_collectives(request.label, *recording);
  }
  const auto part = span.part("plan");
  planned.plan = make_plan(std::move(request.label), recording, options, std::move(earlier));
  const bool is_lowered_as_before =
      request.like != nullptr && request.like->lowering_hash == planned.plan->lowering_hash;
  if (!options.tuning_file.empty() && !is_lowered_as_before) apply_tuning_file(device, planned);
  return planned;
}

bool leave_out_segments(DeviceCore& device, PlannedGraph& planned, const Error& error) {
  if (!planned.options.may_have_segments || planned.tuned ||
      planned.plan->lowered.segments.empty() || !is_about_segments(error))
    return false;
  planned.options.lowering = planned.options.lowering.without_segments();
  planned.options.may_have_segments = false;
  planned.plan = make_plan(planned.plan->label, planned.plan->recording, planned.options,
                           {.like = planned.plan.get()});
  Message message;
  message.severity = Severity::Warning;
  message.id = "no-segments";
  message.text = concat("graph ", planned.plan->label,
                        " is compiled without segments, which failed: ", error.what(),
                        "; Lowering::Auto.without_segments() avoids the attempt");
  if (device.instance().suppresses(message)) return true;
  device.instance().report(message);
  planned.messages.push_back(std::move(message));
  return true;
}

std::shared_ptr<CompiledGraph> compile(const std::shared_ptr<DeviceCore>& device,
                                       const CommandBuffer& commands, const CompileDesc& desc) {
  device->deferred().limit_backlog();
  auto graph = make_graph(device, recording_to_compile(*device, commands, desc.pool.get()), desc,
                          IsChecked::No);
  for (const auto& replica : graph->replicas()) core_of(commands)->add_pending_source(replica);
  return graph;
}

std::shared_ptr<CompiledGraph> compile_checked(const std::shared_ptr<DeviceCore>& device,
                                               std::shared_ptr<const Recording> recording,
                                               const CompileDesc& desc) {
  return make_graph(device, std::move(recording), desc, IsChecked::Yes);
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

CapturedGraph Device::compile(const CommandBuffer& commands, const CompileDesc& desc) const {
  static_cast<void>(detail::require_handle(core_, "Device", "compile", Stage::Validate));
  detail::require_outside_callback("Device", "compile", Stage::Validate, commands.label());
  return detail::make_handle<CapturedGraph>(detail::compile(core_, commands, desc));
}

}  // namespace reprise::inline REPRISE_ABI
