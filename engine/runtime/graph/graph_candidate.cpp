#include "runtime/graph/graph_candidate.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "compile/stages.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {
namespace {

// Applies to `candidate` what differs in the bindings of `current`.
void sync_bindings(const GraphExecutable& current, GraphExecutable& candidate,
                   std::string_view label) {
  BindingState& state = candidate.bindings;
  const Bindings& wanted = current.bindings.current();
  const auto change = [&](const BindingChange& one) {
    if (!candidate.exec->change(one).done()) {
      fail(ErrorCode::Unsupported, Stage::Launch, label,
           concat("tune: graph ", label,
                  " was updated meanwhile, and the new executable does not support the update"));
    }
    state.record(one);
  };
  const Plan& plan = *candidate.plan();
  for (std::uint32_t slot = 0; slot < plan.slots.slots.size(); ++slot) {
    const std::span<const std::byte> value = current.bindings.value(slot);
    if (std::equal(value.begin(), value.end(), state.value(slot).begin())) continue;
    change({.what = BindingChange::What::Scalar,
            .index = slot,
            .value = value,
            .nodes = state.nodes_of_slot(slot)});
  }
  const auto& buffers = plan.recording->buffers;
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i]->kind == BufferKind::Transient ||
        wanted.address[i] == state.current().address[i])
      continue;
    change({.what = BindingChange::What::Buffer,
            .index = i,
            .address = wanted.address[i],
            .nodes = state.nodes_of_buffer(i)});
  }
  if (wanted.disabled.empty() && state.current().disabled.empty()) return;
  Bindings renumbered;
  renumbered.disabled = renumber_disabled(wanted.disabled, *current.plan(), plan);
  std::vector<std::uint32_t> off, on;
  for (std::uint32_t node = 0; node < plan.total_nodes; ++node) {
    if (renumbered.is_disabled(node) == state.current().is_disabled(node)) continue;
    (renumbered.is_disabled(node) ? off : on).push_back(node);
  }
  if (!off.empty()) change({.what = BindingChange::What::Disable, .nodes = off});
  if (!on.empty()) change({.what = BindingChange::What::Enable, .nodes = on});
}

}  // namespace

Bindings bindings_for(GraphReplica& replica, const Plan& plan, std::byte* transients) {
  const GraphReplica::Edit edit(replica);
  const Bindings& current = edit.executable().bindings.current();
  Bindings bindings;
  bindings.address = current.address;
  for (const PlacedBuffer& placed : plan.placement.buffers)
    bindings.address[placed.buffer] = transients + placed.offset;
  bindings.scalars = current.scalars;
  bindings.disabled = renumber_disabled(current.disabled, *edit.executable().plan(), plan);
  return bindings;
}

std::unique_ptr<GraphExecutable> make_candidate(GraphReplica& replica,
                                                std::shared_ptr<const Plan> plan) {
  const GraphExecutable& current = replica.executable();
  if (current.spec().options.memory_goal != MemoryGoal::Speed &&
      plan->placement.slab_bytes > current.memory.bytes) {
    fail(ErrorCode::OutOfMemory, Stage::Memory, replica.label(),
         concat("it needs ", plan->placement.slab_bytes,
                " bytes of transients, more than the graph's memory goal allows"));
  }
  TransientMemory memory =
      allocate_candidate_transients(current.memory, replica.device(), replica.pool(), *plan);
  // The replica is attached to the slab's proxy buffer already.
  if (memory.lease) memory.lease->mark_attached();
  Bindings bindings = bindings_for(replica, *plan, memory.address);
  return GraphExecutable::instantiate(current.spec().with_plan(std::move(plan)), std::move(memory),
                                      std::move(bindings));
}

void select_candidate(CompiledGraph& graph, std::unique_ptr<GraphExecutable> candidate) {
  GraphReplica& replica = graph.first();
  CompileReport report = make_report(*candidate->plan(), graph.report()->messages);
  {
    std::lock_guard order(graph.device()->order());
    const GraphReplica::Edit edit(replica);
    sync_bindings(edit.executable(), *candidate, graph.label());
    edit.replace_executable(std::move(candidate), GraphReplica::Edit::Upload::Done);
  }
  graph.set_report(std::move(report));
}

}  // namespace reprise::detail
