// GraphCore::update: another recording for a graph, by the cheapest rung that does.
#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "compile/changed_nodes.hpp"
#include "compile/replica_rules.hpp"
#include "compile/stages.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/buffer_attach.hpp"
#include "runtime/graph/graph_core.hpp"
#include "runtime/graph/graph_update_report.hpp"
#include "runtime/graph/trace_graph.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {
namespace {

// What launches before an update may still use of what it replaced.
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

}  // namespace

UpdateReport GraphCore::update_in_place(const std::shared_ptr<const Plan>& plan,
                                        const Bindings& bindings, const UpdateDesc& desc,
                                        std::shared_ptr<const void>& replaced) {
  UpdateReport report;
  const auto take = [&](const PlanChange& change) {
    ExecUpdate result = body_->exec->change(change);
    replaced = std::move(result.replaced);
    if (!result.done()) note_refusal(result, *plan, report);
    return result.done();
  };
  const auto done = [&](UpdateMethod method, std::size_t nodes) {
    report = {};
    report.method = nodes == 0 ? UpdateMethod::Unchanged : method;
    report.nodes = static_cast<std::uint32_t>(nodes);
    return report;
  };
  // Nodes that are disabled stay so by themselves only where they are set one by one.
  const auto& off = body_->journal.now().disabled;
  const bool has_disabled = std::find(off.begin(), off.end(), std::uint8_t{1}) != off.end();
  const auto changed =
      desc.first <= UpdateMethod::WholeGraph
          ? find_changed_nodes({*body_->plan, body_->journal.now()}, {*plan, bindings})
          : std::nullopt;
  if (desc.first <= UpdateMethod::Nodes && desc.last >= UpdateMethod::Nodes) {
    const bool can_be_set = changed && changed->can_be_set_one_by_one && !has_disabled;
    const bool few = can_be_set && (changed->nodes.size() * 2 <= plan->lowered.nodes.size() ||
                                    desc.last == UpdateMethod::Nodes);
    if (few && take({PlanChange::Scope::Nodes, plan, &bindings, changed->nodes}))
      return done(UpdateMethod::Nodes, changed->nodes.size());
    if (!can_be_set && desc.last == UpdateMethod::Nodes) {
      report.outcome = GraphExecUpdateOutcome::NotSupported;
      report.reason =
          "setting nodes one by one can't bring this graph from the one recording to the other";
    }
  }
  if (desc.first <= UpdateMethod::WholeGraph && desc.last >= UpdateMethod::WholeGraph &&
      take({PlanChange::Scope::Whole, plan, &bindings,
            changed ? std::optional<std::span<const std::uint32_t>>(changed->nodes)
                    : std::nullopt})) {
    return done(UpdateMethod::WholeGraph, plan->lowered.nodes.size());
  }
  if (report.outcome == GraphExecUpdateOutcome::Success)
    report.outcome = GraphExecUpdateOutcome::NotSupported;  // nothing was allowed that could
  return report;
}

// The executable that there was goes when its launches are over; the new one is a version of its
// own to whoever looks on.
void GraphCore::reinstantiate(std::shared_ptr<const Plan> plan, Bindings bindings,
                              TransientMemory* memory) {
  auto next = std::make_unique<GraphExecutable>(device_);
  next->last = body_->last;
  next->pool = pool_;
  next->plan = std::move(plan);
  next->lowering = body_->lowering;
  next->memory_goal = body_->memory_goal;
  next->costs = body_->costs;
  next->is_ours = true;
  next->replays_before = replays_.load(std::memory_order_relaxed);
  next->instance = instance_;
  next->trace_id = traced_as_;
  next->versions = body_->versions;
  next->journal = BindingState(next->plan, std::move(bindings));
  next->exec = device_->backend().instantiate(next->plan, next->journal.now(),
                                              instrumentation_for(*device_));
  replaced_executables_.reserve(replaced_executables_.size() + 1);
  if (device_->trace() != nullptr) trace_graph(*next, {});
  // Nothing fails from here on.
  for (const auto& pool : pools_) pool->detach(*this);
  next->memory = std::move(memory != nullptr ? *memory : body_->memory);
  body_.swap(next);
  for (const auto& pool : pools_) pool->attach(*this);
  uploaded_.store(false, std::memory_order_relaxed);
  if (next->plan->recording->functions.empty()) {
    device_->retired().push(std::move(next));
  } else {
    replaced_executables_.push_back(std::move(next));
  }
}

void GraphCore::trace_update_report(const UpdateReport& report) {
  DeviceTrace* const trace = device_->trace();
  if (trace == nullptr) return;
  Message message;
  message.severity = Severity::Info;
  message.id = "graph-updated";
  message.text = concat("graph ", label(), " was updated in ", report.time.count() / 1000,
                        " us: ", describe(report));
  trace->report(trace_id(), message);
}

// Most often both lists are the same.
void GraphCore::find_new_uses(const std::vector<Use>& wanted, std::vector<Use>& added,
                              std::vector<Use>& gone) const {
  const auto same = [](const Use& a, const Use& b) {
    return a.buffer == b.buffer && a.access == b.access;
  };
  const auto [now, old] =
      std::mismatch(wanted.begin(), wanted.end(), uses_.begin(), uses_.end(), same);
  const auto is_in = [&](const Use& use, const auto& first, const auto& last) {
    return std::any_of(first, last, [&](const Use& other) { return same(use, other); });
  };
  for (auto use = now; use != wanted.end(); ++use) {
    if (!is_in(*use, old, uses_.end())) added.push_back(*use);
  }
  for (auto use = old; use != uses_.end(); ++use) {
    if (!is_in(*use, now, wanted.end())) gone.push_back(*use);
  }
}

GraphCore::NextPlan GraphCore::plan_update(const CommandBuffer& commands) {
  auto recording = checked_recording(*device_, commands, {.pool = pool_});
  std::vector<Message> messages = check(*device_, *recording);
  require_per_replica(*recording, instance_.count, label());
  require_updatable("update");
  const std::shared_ptr<const Plan> before = body_->plan;
  return {make_plan(label(), std::move(recording),
                    {.lowering = body_->lowering,
                     .alignment = device_->info().limits.buffer_alignment,
                     .memory_goal = body_->memory_goal,
                     .costs = body_->costs.get(),
                     .like = before.get()}),
          std::move(messages)};
}

UpdateReport GraphCore::update(const std::shared_ptr<GraphCore>& self,
                               const CommandBuffer& commands, const UpdateDesc& desc) {
  const UpdateClock clock;
  std::lock_guard one(updating_);
  UpdateReport report = become(self, commands, plan_update(commands), desc);
  report.time = clock.elapsed();
  trace_update_report(report);
  return report;
}

UpdateReport GraphCore::become(const std::shared_ptr<GraphCore>& self,
                               const CommandBuffer& commands, const NextPlan& next,
                               const UpdateDesc& desc) {
  require_updatable("update");
  const ResidencyPin pages(*this);
  const std::shared_ptr<const Plan>& plan = next.plan;
  std::optional<TransientMemory> memory;
  if (plan->placement.slab_bytes > body_->memory.bytes)
    memory = allocate_transients(device_, pool_, *plan, instance_.number);
  Bindings bindings =
      bind(*plan, memory ? memory->address : body_->memory.address, instance_.number);
  CompileReport compiled = make_report(*plan, next.messages);
  compiled.replicas = instance_.count;
  auto old_parts = std::make_unique<ReplacedParts>(device_);
  BindingState journal(plan, bindings);

  std::lock_guard order(device_->order());
  std::vector<Use> wanted = uses_of(*plan->recording, memory ? *memory : body_->memory);
  for (const Use& use : wanted) {
    if (!use.buffer->is_stale()) continue;
    fail(ErrorCode::StaleHandle, Stage::Launch, label(),
         concat("update of graph ", label(), ": ", display_name(*use.buffer), " is stale"));
  }
  std::vector<Use> added, gone;
  find_new_uses(wanted, added, gone);
  BufferAttachTransaction uses(*this, std::move(added));
  if (memory && memory->share) {
    memory->share->settle();
    memory->share->tell(trace_id());
  }
  UpdateReport report;
  QueuePoint last;
  DeviceTrace* const trace = device_->trace();
  std::uint32_t version = 0, version_before = 0;
  {
    std::lock_guard lock(mutex_);
    version_before = body_->versions.now();
    report = update_in_place(plan, bindings, desc, old_parts->parts);
    if (report.done()) {
      old_parts->plan = std::exchange(body_->plan, plan);
      body_->journal = std::move(journal);
      if (memory) old_parts->memory = std::exchange(body_->memory, std::move(*memory));
    } else if (desc.last == UpdateMethod::Reinstantiated) {
      reinstantiate(plan, std::move(bindings), memory ? &*memory : nullptr);
      report.method = UpdateMethod::Reinstantiated;
      report.nodes = static_cast<std::uint32_t>(plan->lowered.nodes.size());
      if (desc.first == UpdateMethod::Reinstantiated)
        report.outcome = GraphExecUpdateOutcome::Success;  // nothing else was tried
    }
    last = old_parts->last = body_->last;
    if (report.done()) {
      report_ = std::move(compiled);
      if (old_parts->plan == nullptr || old_parts->plan->lowering_hash != plan->lowering_hash)
        tuned_.reset();
      uses_.swap(wanted);
      uses.keep();
      for (Scalar& scalar : scalars_) {
        const std::uint32_t slot = plan->slots.find(scalar.name);
        scalar.slot = slot != kNone && plan->slots.slots[slot].bytes == scalar.bytes ? slot : kNone;
      }
      if (trace != nullptr && report.method != UpdateMethod::Reinstantiated)
        trace_update(*body_, replays() - body_->replays_before + 1);
    }
    version = body_->versions.now();
  }
  if (version != version_before && instance_.number == 0)
    trace->record_update(trace_id(), version_before, version, describe(report));
  if (report.done()) {
    for (const Use& use : gone) use.buffer->detach(*this, last);
    device_->retired().push(std::move(old_parts));
    core_of(commands)->add_pending_source(self);
  }
  return report;
}

}  // namespace reprise::detail
