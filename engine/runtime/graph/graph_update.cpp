// Updates of a whole replica to another recording, by the cheapest method.
#include "runtime/graph/graph_update.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "compile/changed_nodes.hpp"
#include "compile/stages.hpp"
#include "profile/device_trace.hpp"
#include "profile/host_span.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/buffer_attach_transaction.hpp"
#include "runtime/graph/compile_graph.hpp"
#include "runtime/graph/graph_update_report.hpp"
#include "runtime/graph/trace_graph.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {
namespace {

// Owns the objects that an update replaced until `last`, the last launch that may use them, has
// completed.
class ReplacedParts final : public DeferredDelete {
 public:
  explicit ReplacedParts(std::shared_ptr<DeviceCore> owner) noexcept : device(std::move(owner)) {}
  ~ReplacedParts() override {
    parts.reset();  // before the memory that they use
  }
  [[nodiscard]] Pending pending() const noexcept override {
    if (is_complete(last)) return {};
    return {last.queue->shared_backend(), last.serial};
  }

  std::shared_ptr<DeviceCore> device;
  QueuePoint last;
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const void> parts;
  TransientMemory memory;
};

// Runs `record`, which describes a completed update in the trace; without memory, the record is
// lost.
template <class Record>
void record_or_drop(DeviceTrace* trace, Record&& record) {
  if (trace == nullptr) return;
  try {
    record(*trace);
  } catch (const std::bad_alloc&) {
    trace->session()->count_dropped();
  }
}

// Updates the backend's executable. `replaced` receives the objects that pending launches may
// still use.
UpdateReport update_in_place(GraphExecutable& executable, const std::shared_ptr<const Plan>& plan,
                             const Bindings& bindings, const UpdateDesc& desc,
                             std::shared_ptr<const void>& replaced) {
  UpdateReport report;
  const auto try_change = [&](const PlanChange& change) {
    ExecUpdate result = executable.exec->change(change);
    replaced = std::move(result.replaced);
    if (!result.done()) report_refusal(result, *plan, report);
    return result.done();
  };
  const auto done = [&](UpdateMethod method, std::size_t nodes) {
    report = {};
    report.method = nodes == 0 ? UpdateMethod::Unchanged : method;
    report.nodes = static_cast<std::uint32_t>(nodes);
    return report;
  };
  const Bindings& current = executable.bindings.current();
  // Setting single nodes would leave disabled ones disabled.
  const bool has_disabled = std::find(current.disabled.begin(), current.disabled.end(),
                                      std::uint8_t{1}) != current.disabled.end();
  const auto changed = desc.first <= UpdateMethod::WholeGraph
                           ? find_changed_nodes({*executable.plan(), current}, {*plan, bindings})
                           : std::nullopt;
  const bool can_be_set = changed && changed->can_be_set_one_by_one && !has_disabled;
  // No method is needed.
  if (can_be_set && changed->nodes.empty() &&
      try_change({PlanChange::Scope::Nodes, plan, &bindings, changed->nodes}))
    return done(UpdateMethod::Unchanged, 0);
  if (desc.first <= UpdateMethod::Nodes && desc.last >= UpdateMethod::Nodes) {
    const bool few = can_be_set && (changed->nodes.size() * 2 <= plan->lowered.nodes.size() ||
                                    desc.last == UpdateMethod::Nodes);
    if (few && try_change({PlanChange::Scope::Nodes, plan, &bindings, changed->nodes}))
      return done(UpdateMethod::Nodes, changed->nodes.size());
    if (!can_be_set && desc.last == UpdateMethod::Nodes) {
      report.outcome = GraphExecUpdateOutcome::NotSupported;
      report.reason = "setting single nodes cannot turn one recording of this graph into the other";
    }
  }
  if (desc.first <= UpdateMethod::WholeGraph && desc.last >= UpdateMethod::WholeGraph &&
      try_change({PlanChange::Scope::Whole, plan, &bindings,
                  changed ? std::optional<std::span<const std::uint32_t>>(changed->nodes)
                          : std::nullopt})) {
    return done(UpdateMethod::WholeGraph, plan->lowered.nodes.size());
  }
  // `desc` allows no method in place.
  if (report.outcome == GraphExecUpdateOutcome::Success)
    report.outcome = GraphExecUpdateOutcome::NotSupported;
  return report;
}

// The uses of `from` that `other` does not contain as often. Both lists are usually equal.
std::vector<BufferUse> difference(const std::vector<BufferUse>& from,
                                  const std::vector<BufferUse>& other) {
  const auto same = [](const BufferUse& a, const BufferUse& b) {
    return a.buffer == b.buffer && a.access == b.access;
  };
  const auto [use, rest] =
      std::mismatch(from.begin(), from.end(), other.begin(), other.end(), same);
  std::vector<const BufferUse*> unmatched;
  for (auto two = rest; two != other.end(); ++two) unmatched.push_back(&*two);
  std::vector<BufferUse> found;
  std::copy_if(use, from.end(), std::back_inserter(found), [&](const BufferUse& one) {
    const auto match = std::find_if(unmatched.begin(), unmatched.end(),
                                    [&](const BufferUse* two) { return same(one, *two); });
    const bool is_new = match == unmatched.end();
    if (!is_new) unmatched.erase(match);
    return is_new;
  });
  return found;
}

}  // namespace

void trace_update_report(const GraphReplica& replica, const UpdateReport& report) {
  DeviceTrace* const trace = replica.device()->trace();
  if (trace == nullptr) return;
  Message message;
  message.severity = Severity::Info;
  message.id = "graph-updated";
  message.text = concat("graph ", replica.label(), " was updated in ", report.time.count() / 1000,
                        " us: ", describe(report));
  trace->report(replica.trace_id(), message);
}

PlannedGraph plan_update(const GraphReplica& replica, const CommandBuffer& commands) {
  replica.require_updatable("update");
  DeviceCore& device = *replica.device();
  const ExecutableSpec& spec = replica.executable().spec();
  HostSpan untraced(nullptr, {});
  return plan_recording(device,
                        {.label = replica.label(),
                         .recording = recording_to_compile(device, commands, replica.pool().get()),
                         .options = spec.options,
                         .replicas = replica.index().count,
                         .like = spec.plan.get()},
                        untraced);
}

UpdateReport apply_update(const std::shared_ptr<GraphReplica>& replica,
                          const CommandBuffer& commands, const PlannedGraph& next,
                          const UpdateDesc& desc) {
  replica->require_updatable("update");
  const std::shared_ptr<DeviceCore>& device = replica->device();
  const std::string& label = replica->label();
  const std::uint32_t number = replica->index().number;
  const ResidencyPin pin(*replica);
  const std::shared_ptr<const Plan>& plan = next.plan;
  const TransientMemory& current = replica->executable().memory;
  std::optional<TransientMemory> memory;
  if (plan->placement.slab_bytes > current.bytes)
    memory = allocate_transients(device, replica->pool(), *plan, number);
  Bindings bindings = bind(*plan, memory ? memory->address : current.address, number);
  auto replaced = std::make_unique<ReplacedParts>(device);
  BindingState state(plan, bindings);
  ExecutableSpec spec = replica->executable().spec().with_plan(plan);
  spec.options = next.options;
  spec.collectives = next.collectives;

  std::vector<BufferUse> uses =
      collect_buffer_uses(device, *plan->recording, memory ? *memory : current, number);

  std::lock_guard order(device->order());
  for (const BufferUse& use : uses) {
    if (!use.buffer->is_stale()) continue;
    fail(ErrorCode::StaleHandle, Stage::Launch, label,
         concat("update of graph ", label, ": ", display_name(*use.buffer), " is stale"));
  }
  const std::vector<BufferUse> removed = difference(replica->uses(), uses);
  BufferAttachTransaction added(*replica, difference(uses, replica->uses()));
  if (memory && memory->lease) {
    memory->lease->mark_attached();
    memory->lease->set_trace_graph(replica->trace_id());
  }
  UpdateReport report;
  DeviceTrace* const trace = device->trace();
  std::uint32_t version = 0, version_before = 0;
  {
    const GraphReplica::Edit edit(*replica);
    version_before = edit.executable().trace.versions.current();
    replaced->last = edit.executable().last;
    report = update_in_place(edit.executable(), plan, bindings, desc, replaced->parts);
    if (report.done()) {
      replaced->plan = edit.executable().set_plan(std::move(spec), std::move(state));
      if (memory) replaced->memory = std::exchange(edit.executable().memory, std::move(*memory));
      record_or_drop(trace,
                     [&](DeviceTrace&) { trace_update(edit.executable(), edit.next_replay()); });
    } else if (desc.last == UpdateMethod::Reinstantiated) {
      edit.replace_executable(GraphExecutable::instantiate(
                                  std::move(spec), memory ? std::move(*memory) : TransientMemory{},
                                  std::move(bindings)),
                              GraphReplica::Edit::Upload::Needed);
      report.method = UpdateMethod::Reinstantiated;
      report.nodes = static_cast<std::uint32_t>(plan->lowered.nodes.size());
      // No other method was tried.
      if (desc.first == UpdateMethod::Reinstantiated)
        report.outcome = GraphExecUpdateOutcome::Success;
    }
    if (report.done()) {
      edit.uses().swap(uses);
      added.commit();
      edit.scalars().remap(plan->slots);
    }
    version = edit.executable().trace.versions.current();
  }
  if (report.done()) {
    for (const BufferUse& use : removed) use.buffer->detach(*replica, use.access, replaced->last);
    device->deferred().push(std::move(replaced));
  }
  if (version != version_before && number == 0) {
    record_or_drop(trace, [&](DeviceTrace& to) {
      to.record_update(replica->trace_id(), version_before, version, describe(report));
    });
  }
  if (report.done()) core_of(commands)->add_pending_source(replica);
  return report;
}

}  // namespace reprise::detail
