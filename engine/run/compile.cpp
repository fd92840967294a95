#include "run/compile.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "lanes/lowered_graph.hpp"
#include "memory/placement.hpp"
#include "plan/plan.hpp"
#include "profile/host_span.hpp"
#include "profile/nvtx.hpp"
#include "profile/process_info.hpp"
#include "run/device_core.hpp"
#include "run/failure.hpp"
#include "run/graph_core.hpp"
#include "run/instance_core.hpp"
#include "run/pool_core.hpp"
#include "schedule/schedule.hpp"
#include "validate/validate.hpp"

namespace reprise::detail {

namespace {

std::shared_ptr<const Recording> checked_recording(const DeviceCore& device, const CommandBuffer& commands, const CompileDesc& desc) {
  if (!commands.core()) fail(ErrorCode::InvalidState, Stage::Validate, "", "compile: the command buffer was moved away");
  const CommandBufferCore& core = *commands.core();
  if (core.device() != device.status()) {
    fail(ErrorCode::WrongDevice, Stage::Validate, core.label(),
         concat("command buffer ", core.label(), " of ", core.device()->selector, " cannot be compiled on ", device.status()->selector));
  }
  if (desc.pool && desc.pool->core()->device()->status() != device.status()) {
    fail(ErrorCode::WrongDevice, Stage::Validate, core.label(),
         concat("pool ", desc.pool->label(), " of ", desc.pool->core()->device()->status()->selector, " cannot serve a graph on ",
                device.status()->selector));
  }
  if (core.level() == Level::Secondary) {
    fail(ErrorCode::InvalidArgument, Stage::Validate, core.label(),
         concat("command buffer ", core.label(), " is secondary; execute() it from a primary one and compile that"));
  }
  device.require_usable(Stage::Validate);
  return core.executable("compile");
}

// Reports what was found, keeps what is no error, throws the first error.
std::vector<Message> check(const DeviceCore& device, const Recording& recording) {
  std::vector<Finding> findings = validate(recording, device.info(), device.instance().validation());
  std::erase_if(findings, [&](const Finding& finding) { return device.instance().suppresses(finding.message); });
  for (const Finding& finding : findings) device.instance().report(finding.message);
  const bool refused = std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.message.severity == Severity::Error; });
  if (refused && device.trace() != nullptr) {
    for (const Finding& finding : findings) device.trace()->report(trace::kNone, finding.message);
  }
  throw_first_error(findings, recording);
  std::vector<Message> kept;
  for (Finding& finding : findings) kept.push_back(std::move(finding.message));
  return kept;
}

std::shared_ptr<const Plan> make_plan(std::string label, std::shared_ptr<const Recording> recording, Lowering lowering, std::uint32_t alignment) {
  Schedule schedule = build_schedule(*recording);
  LoweredGraph lowered = build_lowered_graph(schedule, lowering);
  check_lowered_graph(schedule, lowered);
  Placement placement = place_transients(*recording, schedule, lowered, alignment);
  return std::make_shared<const Plan>(
      freeze_plan(std::move(label), std::move(recording), std::move(schedule), std::move(lowered), std::move(placement)));
}

std::byte* allocate_slab(DeviceCore& device, const Plan& plan) {
  const std::uint64_t bytes = plan.placement.slab_bytes;
  if (bytes == 0) return nullptr;
  try {
    return device.allocate(BufferKind::Device, bytes);
  } catch (const Error& error) {
    throw with_context(error, plan.label, concat("for the ", bytes, " bytes of graph ", plan.label, "'s transient buffers"));
  }
}

Bindings bind(const Plan& plan, std::byte* slab) {
  Bindings bindings;
  bindings.address.reserve(plan.recording->buffers.size());
  for (const auto& buffer : plan.recording->buffers) bindings.address.push_back(buffer->address);
  for (const PlacedBuffer& placed : plan.placement.buffers) bindings.address[placed.buffer] = slab + placed.offset;
  return bindings;
}

CompileReport make_report(const Plan& plan, std::vector<Message> messages) {
  CompileReport report;
  report.messages = std::move(messages);
  report.commands = static_cast<std::uint32_t>(plan.recording->commands.size());
  report.nodes = static_cast<std::uint32_t>(plan.lowered.nodes.size());
  report.needed_edges = static_cast<std::uint32_t>(plan.schedule.edges.size());
  report.implied_edges_left = plan.schedule.implied_edges_left;
  report.added_edges = plan.lowered.added_edges;
  report.lanes = plan.lowered.lanes;
  report.frame = plan.lowered.frame;
  report.transient_bytes = plan.placement.naive_bytes;
  report.slab_bytes = plan.placement.slab_bytes;
  report.slab_lower_bound = plan.placement.lower_bound;
  report.plan_hash = plan.plan_hash;
  report.lowering_hash = plan.lowering_hash;
  return report;
}

}  // namespace

std::shared_ptr<GraphCore> compile(const std::shared_ptr<DeviceCore>& device, const CommandBuffer& commands, const CompileDesc& desc) {
  auto recording = checked_recording(*device, commands, desc);
  const std::string label = desc.label.empty() ? recording->label : std::string(desc.label);
  const NvtxRange range(NvtxWork::Compile, label);
  HostSpan span(device->trace() == nullptr ? nullptr : device->trace()->session(), concat("compile ", label));
  const trace::Time began = device->trace() == nullptr ? 0 : trace_now();
  std::vector<Message> messages;
  {
    const auto part = span.part("validate");
    messages = check(*device, *recording);
  }
  auto body = std::make_unique<GraphBody>(device);
  body->pool = desc.pool;
  {
    const auto part = span.part("plan");
    body->plan = make_plan(label, recording, desc.lowering, device->info().limits.buffer_alignment);
    body->slab = allocate_slab(*device, *body->plan);
  }
  const trace::Time planned = device->trace() == nullptr ? 0 : trace_now();
  try {
    const auto part = span.part("instantiate");
    const NvtxRange instantiating(NvtxWork::Instantiate, label);
    body->exec = device->backend().instantiate(body->plan, bind(*body->plan, body->slab),
                                                 device->trace() == nullptr ? Instruments::None : Instruments::Stamps);
  } catch (const Error& error) {
    throw with_context(error, body->plan->label, concat("in graph ", body->plan->label));
  }
  if (device->trace() != nullptr) body->times = {began, planned - began, trace_now() - planned};
  CompileReport report = make_report(*body->plan, std::move(messages));
  auto graph = GraphCore::make(std::move(body), std::move(report));
  if (device->trace() != nullptr) span.about(graph->trace_id());
  commands.core()->add_pending_source(graph);
  return graph;
}

}  // namespace reprise::detail
