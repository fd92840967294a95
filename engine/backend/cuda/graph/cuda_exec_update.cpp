// CudaExec's changes: of single nodes in every executable, and of the whole plan.
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "backend/cuda/graph/cuda_exec.hpp"
#include "backend/cuda/graph/cuda_graph_builder.hpp"
#include "plan/plan_difference.hpp"
#include "profile/activity/activity_session.hpp"

namespace reprise::detail {

ExecUpdate CudaExec::set_node(const ExecNodes& of, const BindingChange& change,
                              std::uint32_t node) {
  const bool switches =
      change.what == BindingChange::What::Enable || change.what == BindingChange::What::Disable;
  return switches
             ? update_.set_enabled(of, node, *plan_, bindings_)
             : update_.set(of, node, {*plan_, bindings_, resources_->staged, resources_->retained},
                           &change);
}

ExecUpdate CudaExec::set_nodes(const ExecNodes& of, const BindingChange& change) {
  for (std::size_t i = 0; i < change.nodes.size(); ++i) {
    ExecUpdate result = set_node(of, change, change.nodes[i]);
    if (result.done()) continue;
    undo_nodes(of, change, i + 1);  // nodes of a body of node i may have changed
    return result;
  }
  return {};
}

void CudaExec::undo_nodes(const ExecNodes& of, const BindingChange& change, std::size_t count) {
  undo_.what = change.what == BindingChange::What::Enable    ? BindingChange::What::Disable
               : change.what == BindingChange::What::Disable ? BindingChange::What::Enable
                                                             : change.what;
  undo_.index = change.index;
  undo_.nodes = change.nodes;
  apply(*plan_, undo_, bindings_);
  for (std::size_t restored = 0; restored < count; ++restored)
    static_cast<void>(set_node(of, undo_, change.nodes[restored]));
}

ExecUpdate CudaExec::change(const BindingChange& change) {
  if (nodes_.nodes.empty()) return {.outcome = GraphExecUpdateOutcome::NotSupported};
  const GatePass pass(ActivitySession::of_process().gate());
  const DeviceScope scope(*context_, Stage::Launch);
  const std::lock_guard lock(changing_);
  switch (change.what) {
    case BindingChange::What::Scalar: {
      const auto& values =
          bindings_.scalars.empty() ? plan_->slots.first_values : bindings_.scalars;
      const std::byte* const old = values.data() + plan_->slots.slots[change.index].offset;
      old_value_.assign(old, old + change.value.size());
      undo_.value = old_value_;
      break;
    }
    case BindingChange::What::Buffer: undo_.address = bindings_.address[change.index]; break;
    case BindingChange::What::Disable:
    case BindingChange::What::Enable: break;
  }
  apply(*plan_, change, bindings_);
  ExecUpdate result = set_nodes(nodes_, change);
  if (!result.done()) return result;
  is_changed_ = true;
  source_nodes_.mark_updated(change.nodes);
  if (clone_nodes_.exec != nullptr) {
    result = set_nodes(clone_nodes_, change);
    if (!result.done()) {
      undo_nodes(nodes_, change, change.nodes.size());
      return result;
    }
  }
  return result;
}

ExecUpdate CudaExec::change(const PlanChange& change) {
  if (nodes_.nodes.empty()) return {.outcome = GraphExecUpdateOutcome::NotSupported};
  ExecUpdate result;
  const auto apply_change = [&] {
    // Locked after the source's mutex, under which windows open and close.
    const GatePass pass(ActivitySession::of_process().gate());
    const SetupScope scope(*context_, Stage::Launch);
    const std::lock_guard lock(changing_);
    destroy_clone();  // made again from the new plan on demand
    switch (change.scope) {
      case PlanChange::Scope::Nodes: result = change_nodes(change); break;
      case PlanChange::Scope::Whole: result = change_whole(change); break;
    }
  };
  if (source_) {
    source_->without_clone(apply_change);
  } else {
    apply_change();
  }
  return result;
}

ExecUpdate CudaExec::change_nodes(const PlanChange& change) {
  const std::span<const std::uint32_t> nodes = *change.nodes;
  const bool has_same_segments = segments_
                                     ? segments_->has_same_segments(*plan_, *change.plan, nodes)
                                     : !CudaSegments::has_segments(*change.plan);
  if (!has_same_segments) return {.outcome = GraphExecUpdateOutcome::NotSupported};
  update_.reserve(*change.plan, *change.bindings);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    ExecUpdate result =
        update_.set(nodes_, nodes[i],
                    {*change.plan, *change.bindings, resources_->staged, resources_->retained});
    if (result.done()) continue;
    while (i > 0) {
      --i;
      static_cast<void>(update_.set(nodes_, nodes[i],
                                    {*plan_, bindings_, resources_->staged, resources_->retained}));
    }
    return result;
  }
  is_changed_ = true;
  source_nodes_.mark_updated(nodes);
  bindings_ = *change.bindings;
  return {.replaced = std::exchange(plan_, change.plan)};
}

// `builder` made the graph; null: the graph is the source of exec_.
ExecUpdate CudaExec::take_graph(cudaGraph_t graph, const CudaGraphBuilder* builder,
                                const Plan& plan) {
  cudaGraphExecUpdateResultInfo info = {};
  const cudaError_t result = cudaGraphExecUpdate(exec_, graph, &info);
  if (result == cudaSuccess) return {};
  if (is_sticky(result))
    throw_cuda_error(NativeApi::Runtime, result, "cudaGraphExecUpdate",
                     context_->at(Stage::Launch, plan_->label));
  const auto lowered_of = [&](cudaGraphNode_t node) {
    if (builder != nullptr) return builder->lowered_of(node);
    // The nodes of bodies follow.
    const auto own = std::span(nodes_.nodes).first(plan_->lowered.nodes.size());
    const auto at = node == nullptr ? own.end() : std::find(own.begin(), own.end(), node);
    return at == own.end() ? kNone : static_cast<std::uint32_t>(at - own.begin());
  };
  ExecUpdate refused;
  refused.outcome = info.result == cudaGraphExecUpdateSuccess ? GraphExecUpdateOutcome::Error
                                                              : outcome_of(info.result);
  refused.native_code = result;
  refused.native_name = cudaGetErrorName(result);
  refused.node = lowered_of(info.errorNode);
  refused.from = lowered_of(info.errorFromNode);
  cuda_ignore(result);
  // CUDA names no node for graphs of different shapes.
  if (refused.node == kNone) {
    const PlanDifference difference = find_difference(*plan_, plan);
    if (difference.outcome == refused.outcome)
      refused.node = difference.node, refused.from = difference.from;
  }
  return refused;
}

ExecUpdate CudaExec::update_by_nodes(const PlanChange& change, std::span<const std::uint32_t> nodes,
                                     Resources& resources,
                                     const std::shared_ptr<HostCallbacks::Set>& callbacks) {
  const auto is_in_segment = [&](std::uint32_t node) {
    return segments_ && segments_->contains(node);
  };
  resources.retained = resources_->retained;
  source_nodes_.mark_updated(nodes);
  is_changed_ = true;
  std::size_t count = 0;  // nodes that are set
  const auto undo = [&] {
    callbacks_.restore_set(callbacks);
    while (count > 0) {
      if (is_in_segment(nodes[--count])) continue;
      static_cast<void>(
          update_.set(nodes_, nodes[count],
                      {*plan_, bindings_, resources_->staged, resources_->retained, &callbacks_}));
    }
  };
  try {
    for (; count < nodes.size(); ++count) {
      if (is_in_segment(nodes[count])) continue;
      ExecUpdate result = update_.set(
          nodes_, nodes[count],
          {*change.plan, *change.bindings, resources.staged, resources.retained, &callbacks_});
      if (result.done()) continue;
      undo();
      return result;
    }
  } catch (...) {
    undo();
    throw;
  }
  return {};
}

std::optional<ExecUpdate> CudaExec::update_by_source(const PlanChange& change,
                                                     Resources& resources) {
  const auto nodes = source_nodes_.nodes_to_update(change);
  if (!nodes) return std::nullopt;
  source_nodes_.mark_updated(*nodes);  // marked as differing until exec_ takes the graph
  is_changed_ = true;
  resources.retained = resources_->retained;  // both plans have the same ops
  for (const std::uint32_t node : *nodes) {
    if (!update_
             .set_in_graph(nodes_, node,
                           {*change.plan, *change.bindings, resources.staged, resources.retained,
                            &callbacks_})
             .done())
      return std::nullopt;
  }
  ExecUpdate result = take_graph(graph_, nullptr, *change.plan);
  if (result.done()) source_nodes_.mark_equal();
  return result;
}

ExecUpdate CudaExec::update_by_new_graph(const PlanChange& change, Resources& resources,
                                         CudaSegments* segments) {
  resources.retained.clear();
  const CallContext call = context_->at(Stage::Launch, plan_->label);
  cudaGraph_t made = nullptr;
  cuda_check(cudaGraphCreate(&made, 0), "cudaGraphCreate", call);
  const OwnedGraph graph(made);
  CudaGraphBuilder::Timestamps timestamps;
  if (source_) timestamps = {&source_->instrumentation(), source_->ring().memory(), nullptr};
  CudaGraphBuilder builder(
      *context_, *change.plan, *change.bindings,
      {made, resources.staged, callbacks_, resources.retained, kernels_.entry_exit.get(),
       kernels_.copy.get(), timestamps, markers_.get(), loops_.get(), nullptr, segments});
  builder.add_nodes();
  ExecNodes now = builder.exec_nodes(exec_);
  ExecUpdate result = take_graph(made, &builder, *change.plan);
  if (!result.done()) return result;
  source_nodes_.mark_all_updated();
  // exec_ still knows the nodes of its first graph.
  nodes_.timing = std::move(now.timing);
  nodes_.first_keys = std::move(now.first_keys);
  nodes_.handles = std::move(now.handles);
  return result;
}

ExecUpdate CudaExec::change_whole(const PlanChange& change) {
  const LoweredGraph &old = plan_->lowered, &lowered = change.plan->lowered;
  const bool cannot_build = lowered.entry_exit != old.entry_exit ||
                            lowered.fault_markers != old.fault_markers ||
                            (markers_ && lowered.nodes.size() != old.nodes.size());
  if (!CudaSegments::are_of_same_nodes(*plan_, *change.plan)) {
    const PlanDifference difference = find_difference(*plan_, *change.plan);
    const bool is_known = difference.outcome != GraphExecUpdateOutcome::Success;
    return {.outcome = is_known ? difference.outcome : GraphExecUpdateOutcome::NotSupported,
            .node = difference.node,
            .from = difference.from};
  }
  if (cannot_build) return {.outcome = GraphExecUpdateOutcome::TopologyChanged};
  update_.reserve(*change.plan, *change.bindings);
  // All that may run out of memory comes before exec_ changes.
  struct Replaced {
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const void> resources, callbacks;
    std::unique_ptr<CudaSegments> segments;
  };
  auto replaced = std::make_shared<Replaced>();
  Bindings bindings = *change.bindings;
  auto resources = std::make_shared<Resources>(context_, *change.plan->recording, *resources_);
  auto callbacks = callbacks_.begin_set(launches_);
  ExecUpdate result;
  std::unique_ptr<CudaSegments::Records> records;  // for segments_, or else what replaces it
  const auto undo = [&] { callbacks_.restore_set(std::move(callbacks)); };
  try {
    if (segments_ && segments_->has_same_segments(*plan_, *change.plan))
      records = segments_->prepare(*change.plan, bindings);
    if (segments_ && !records) replaced->segments = segments_->make_for(*change.plan, bindings);
    const auto nodes = !replaced->segments && has_copies_refused_in_graphs(*plan_->recording)
                           ? nodes_to_set(change)
                           : std::nullopt;
    std::optional<ExecUpdate> updated;
    if (nodes) {
      updated = update_by_nodes(change, *nodes, *resources, callbacks);
    } else if (!segments_) {
      updated = update_by_source(change, *resources);
    }
    result = updated ? std::move(*updated)
                     : update_by_new_graph(
                           change, *resources,
                           replaced->segments ? replaced->segments.get() : segments_.get());
  } catch (...) {
    undo();
    throw;
  }
  if (!result.done()) {
    undo();
    return result;
  }
  if (records) segments_->take(*records);
  if (replaced->segments) std::swap(segments_, replaced->segments);
  nodes_.segments = segments_.get();
  std::swap(bindings_, bindings);
  // Earlier launches use the resources of the previous plan.
  replaced->plan = std::exchange(plan_, change.plan);
  replaced->resources = std::exchange(resources_, std::move(resources));
  replaced->callbacks = std::move(callbacks);
  result.replaced = std::move(replaced);
  is_changed_ = true;
  for (std::uint32_t node = 0; node < nodes_.nodes.size(); ++node) {
    if (bindings.is_disabled(node) || bindings_.is_disabled(node))
      static_cast<void>(update_.set_enabled(nodes_, node, *plan_, bindings_));
  }
  if (boundary_ && timestamp_mode_ == TimestampMode::Off)
    set_timestamp_mode(exec_, boundary_, timestamp_mode_,
                       context_->at(Stage::Launch, plan_->label));
  return result;
}

OwnedGraph CudaExec::rebuild_graph() const {
  cudaGraph_t made = nullptr;
  cuda_check(cudaGraphCreate(&made, 0), "cudaGraphCreate",
             context_->at(Stage::Instantiate, plan_->label));
  OwnedGraph graph(made);
  CudaGraphBuilder builder(*context_, *plan_, bindings_,
                           {made,
                            resources_->staged,
                            callbacks_,
                            resources_->retained,
                            kernels_.entry_exit.get(),
                            kernels_.copy.get(),
                            {},
                            markers_.get(),
                            loops_.get()});
  builder.add_nodes();
  return graph;
}

}  // namespace reprise::detail
