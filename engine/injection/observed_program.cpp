#include "injection/observed_program.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "injection/describe_observed_graph.hpp"
#include "profile/process_info.hpp"

namespace reprise::detail {
namespace {

constexpr trace::Time kFirstPause = 250'000'000, kLastPause = 60'000'000'000;  // of descriptions
constexpr trace::Time kReadShare = 20;

std::int64_t change_of(ObservedProgram::MemoryUse used) {
  return used.before == 0 || used.after == 0 ? trace::kUnknownBytes
                                             : static_cast<std::int64_t>(used.after - used.before);
}

}  // namespace

void ObservedProgram::push(Event event) {
  if (events_.size() < limits_.waiting_records) {
    events_.push_back(std::move(event));
  } else {
    ++(std::holds_alternative<trace::Replay>(event) ? lost_replays_ : lost_events_);
  }
}

// --- Memory, devices, queues ---

void ObservedProgram::allocated(const ProgramMemory::Allocation& allocation, trace::Time at) {
  const std::lock_guard lock(mutex_);
  memory_.add(allocation, at);
}

void ObservedProgram::freed(std::uint64_t address, trace::Time at) {
  const std::lock_guard lock(mutex_);
  take_pictures(Which::New, at);  // a new graph may use it
  memory_.remove(address, at);
}

void ObservedProgram::unmapped(std::uint64_t address, std::uint64_t bytes, trace::Time at) {
  const std::lock_guard lock(mutex_);
  take_pictures(Which::New, at);
  memory_.remove_range(address, bytes, at);
}

void ObservedProgram::add_device(const trace::Device& device) {
  const std::lock_guard lock(mutex_);
  if (devices_.try_emplace(device.id, device).second) push(device);
}

bool ObservedProgram::has_device(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  return devices_.contains(id);
}

void ObservedProgram::name_queue(std::uint64_t stream, std::uint32_t device, std::string label) {
  const std::lock_guard lock(mutex_);
  if (!queues_.try_emplace(stream, next_queue_).second) return;
  push(trace::Queue{next_queue_++, device, std::move(label)});
}

bool ObservedProgram::has_queue(std::uint64_t stream) const {
  const std::lock_guard lock(mutex_);
  return queues_.contains(stream);
}

void ObservedProgram::remove_queue(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  queues_.erase(stream);
  captures_.erase(stream);
  if (waits_ != nullptr) waits_->removed(stream);
}

// --- Graphs ---

void ObservedProgram::node_created(std::uint64_t graph, std::uint64_t node, NodeOrigin origin) {
  if (!origin.is_known()) {
    if (!has_origins_) return;
  } else {
    has_origins_ = true;
  }
  const std::lock_guard lock(mutex_);
  bodies_.erase(node);  // of an earlier node at this address
  scopes_.add(graph, node, std::move(origin));
}

void ObservedProgram::node_copied(std::uint64_t from, std::uint64_t graph, std::uint64_t node) {
  if (!has_origins_) return;
  const std::lock_guard lock(mutex_);
  scopes_.copy(from, graph, node);
}

void ObservedProgram::node_destroyed(std::uint64_t node) {
  if (!has_origins_) return;
  const std::lock_guard lock(mutex_);
  bodies_.erase(node);
  scopes_.remove_node(node);
}

void ObservedProgram::graph_destroyed(std::uint64_t graph) {
  const std::lock_guard lock(mutex_);
  scopes_.remove_graph(graph);
  captured_.erase(graph);
}

void ObservedProgram::capture_began(std::uint64_t stream, std::uint64_t used, trace::Time at) {
  const std::lock_guard lock(mutex_);
  captures_[stream] = {at, 0, used};
}

void ObservedProgram::capture_ended(std::uint64_t stream, std::uint64_t graph, trace::Time at) {
  const std::lock_guard lock(mutex_);
  const auto found = captures_.find(stream);
  if (found == captures_.end()) return;
  Capture capture = found->second;
  captures_.erase(found);
  if (graph == 0) return;
  capture.duration = at - capture.at;
  captured_[graph] = capture;
}

NodeOrigin ObservedProgram::origin_of(std::uint64_t node) const {
  if (!has_origins_) return {};
  const std::lock_guard lock(mutex_);
  return scopes_.find(node);
}

void ObservedProgram::communicator_created(const NcclCommunicator& communicator) {
  const std::lock_guard lock(mutex_);
  communicators_[{communicator.id, communicator.device}] = communicator;
}

void ObservedProgram::bodies_created(std::uint64_t node, std::vector<std::uint64_t> graphs) {
  has_origins_ = true;
  const std::lock_guard lock(mutex_);
  bodies_[node] = std::move(graphs);
}

std::vector<std::uint64_t> ObservedProgram::bodies_of(std::uint64_t node) const {
  const std::lock_guard lock(mutex_);
  const auto found = bodies_.find(node);
  return found == bodies_.end() ? std::vector<std::uint64_t>() : found->second;
}

// --- Executables ---

ObservedProgram::Exec ObservedProgram::find(std::uint64_t exec) const {
  const auto found = execs_.find(exec);
  return found == execs_.end() ? nullptr : found->second;
}

// A communicator whose creation was not observed is taken for that of all ranks.
void ObservedProgram::identify(std::vector<trace::Collective>& collectives, std::uint32_t device) {
  if (collectives.empty()) return;
  const RankEnvironment job = launched_environment().value_or(RankEnvironment{});
  std::set<std::uint64_t> counted;
  for (trace::Collective& collective : collectives) {
    const OnDevice key{collective.communicator, device};
    std::uint64_t& graphs = collective_graphs_[key];
    if (counted.insert(collective.communicator).second) ++graphs;
    collective.number = graphs;
    const auto known = communicators_.find(key);
    collective.ranks = known == communicators_.end() ? job.size : known->second.ranks;
    collective.rank = known == communicators_.end() ? job.rank : known->second.rank;
  }
}

// Runs without the lock, one call at a time.
trace::GraphVersion ObservedProgram::describe(const Picture& picture) {
  ObservedExec& exec = *picture.exec;
  const ObservedExec::Identity& identity = exec.identity();
  if (exec.label.empty()) {
    exec.label = identity.creator.empty() ? graph_label(*picture.graph) : identity.creator;
    if (const std::uint32_t number = ++label_counts_[exec.label]; number > 1)
      exec.label += concat(" #", number);
  }
  trace::GraphVersion version =
      describe_observed_graph(*picture.graph,
                              {identity.graph, identity.device, exec.label, exec.instantiated,
                               exec.instantiate_time, identity.stack},
                              picture.locations, picture.launches);
  version.changes = picture.changes;
  if (version.collectives.empty()) return version;
  const std::lock_guard lock(mutex_);
  if (exec.collectives.empty()) {
    identify(version.collectives, identity.device);
    exec.collectives = version.collectives;
  }
  version.collectives = exec.collectives;
  return version;
}

void ObservedProgram::take_pictures(Which which, trace::Time now) {
  if (which == Which::New && new_execs_ == 0) return;
  std::erase_if(undescribed_, [&](const Exec& exec) {
    const bool is_new = !exec->is_described;
    // Pauses grow with the age of the graph, so that a long run has few descriptions.
    const trace::Time pause =
        std::clamp(exec->described - exec->instantiated, kFirstPause, kLastPause);
    const bool is_due = is_new || exec->is_destroyed || now - exec->described >= pause;
    if (which == Which::New ? !is_new : which == Which::Due && !is_due) return false;
    pictures_.push_back({exec, exec->picture(), locate_accesses(exec->graph(), memory_),
                         exec->changes(), exec->launches});
    if (is_new) --new_execs_;
    exec->is_described = exec->is_current = true;
    exec->described = now;
    return true;
  });
}

void ObservedProgram::mark_changed(const Exec& exec, std::uint32_t node, trace::Time at) {
  if (node == trace::kNone) return;
  if (std::exchange(exec->is_current, false)) undescribed_.push_back(exec);
  if (!std::binary_search(exec->followed.begin(), exec->followed.end(), node)) return;
  push(trace::Update{at, exec->identity().graph, kObservedVersion, kObservedVersion,
                     describe_observed_node(exec->graph(), node)});
}

std::vector<std::uint32_t> ObservedProgram::followed_nodes(const ObservedGraph& graph) const {
  std::vector<std::uint32_t> followed;
  if (limits_.followed.empty()) return followed;
  const auto contains = [&](const std::string& text) {
    return text.find(limits_.followed) != std::string::npos;
  };
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const ObservedNode& node = graph.nodes[i];
    const auto& scope = node.origin.scope;
    if (contains(node.kernel == trace::kNone ? node.name : graph.kernels[node.kernel].full_name) ||
        (scope && std::any_of(scope->begin(), scope->end(), contains)))
      followed.push_back(i);
  }
  return followed;
}

void ObservedProgram::instantiated(const Instantiation& made, ObservedGraph graph) {
  const std::lock_guard lock(mutex_);
  erase(made.exec, made.at);  // an earlier one, whose destruction was not observed
  if (described_nodes_ + graph.nodes.size() > limits_.nodes) {
    if (!std::exchange(limit_reported_, true)) {
      push(trace::Message{made.at, trace::Severity::Warning, "run.graphs",
                          concat("graphs with ", described_nodes_,
                                 " nodes were described; graphs instantiated from now on and "
                                 "their replays are not recorded")});
    }
    return;
  }
  ObservedExec::Identity identity{next_graph_, made.device, made.profiler_id, made.scope,
                                  made.stack};
  ++next_graph_;
  const std::string error = std::move(graph.error);
  for (const ObservedNode& node : graph.nodes) {
    if (node.allocates != 0)
      memory_.add({node.allocates, node.bytes, ProgramMemory::Source::Graph, made.device}, made.at);
  }
  const auto exec = std::make_shared<ObservedExec>(std::move(identity), std::move(graph));
  exec->instantiated = made.at;
  exec->instantiate_time = made.started == 0 ? 0 : made.at - made.started;
  exec->followed = followed_nodes(exec->graph());
  described_nodes_ += exec->graph().nodes.size();
  exec->cost = {.graph = exec->identity().graph, .at = made.at};
  exec->used_before = made.used_before;
  if (const auto capture =
          captured_.extract(made.graph)) {  // further executables do not pay for it
    exec->cost.capture_time = capture.mapped().duration;
    exec->used_before = capture.mapped().used_before;
  }
  undescribed_.push_back(exec);
  ++new_execs_;
  if (!error.empty()) {
    push(trace::Message{made.at, trace::Severity::Warning, "run.unread",
                        concat("the graph was read incompletely: ", error), exec->identity().graph,
                        kObservedVersion});
  }
  if (made.launchers == Instantiation::Launchers::HostAndKernels) {
    push(trace::Message{made.at, trace::Severity::Warning, "run.device-launch",
                        "kernels can launch this graph; its replays are launches by the host only, "
                        "launches by kernels are not visible",
                        exec->identity().graph, kObservedVersion});
  }
  execs_.emplace(made.exec, exec);
}

void ObservedProgram::instantiation_ended(std::uint64_t handle, std::uint64_t used) {
  const std::lock_guard lock(mutex_);
  const Exec exec = find(handle);
  if (!exec) return;
  exec->cost.capture_bytes = change_of({exec->used_before, used});
  push(exec->cost);
}

bool ObservedProgram::is_launched(std::uint64_t handle) const {
  const std::lock_guard lock(mutex_);
  const Exec exec = find(handle);
  return !exec || exec->replays != 0;
}

void ObservedProgram::uploaded(std::uint64_t handle, trace::Time duration, MemoryUse used,
                               trace::Time at) {
  const std::lock_guard lock(mutex_);
  if (const Exec exec = find(handle)) add_launch_cost(*exec, duration, used, at);
}

void ObservedProgram::add_launch_cost(ObservedExec& exec, trace::Time duration, MemoryUse used,
                                      trace::Time at) {
  trace::CreationCost& cost = exec.cost;
  cost.at = at;
  cost.launch_time += duration;
  if (const std::int64_t change = change_of(used); change != trace::kUnknownBytes)
    cost.launch_bytes =
        cost.launch_bytes == trace::kUnknownBytes ? change : cost.launch_bytes + change;
  push(cost);
}

bool ObservedProgram::reads_update(std::uint64_t handle, trace::Time at) const {
  const std::lock_guard lock(mutex_);
  const Exec exec = find(handle);
  return exec && at >= exec->next_read;
}

void ObservedProgram::replaced(std::uint64_t handle, ObservedGraph graph, trace::Time began,
                               trace::Time at) {
  const std::lock_guard lock(mutex_);
  const Exec exec = find(handle);
  if (!exec) return;
  exec->replace(std::move(graph));
  exec->next_read = at + kReadShare * (at - began);
  mark_replaced(exec, at);
}

void ObservedProgram::replaced_unread(std::uint64_t handle, trace::Time at) {
  const std::lock_guard lock(mutex_);
  const Exec exec = find(handle);
  if (!exec) return;
  exec->replace_unread();
  mark_replaced(exec, at);
}

void ObservedProgram::mark_replaced(const Exec& exec, trace::Time at) {
  if (std::exchange(exec->is_current, false)) undescribed_.push_back(exec);
  if (exec->followed.empty()) return;
  push(trace::Update{at, exec->identity().graph, kObservedVersion, kObservedVersion,
                     "new parameters of all nodes (cudaGraphExecUpdate)"});
}

void ObservedProgram::refused(std::uint64_t handle, const std::string& why, trace::Time at) {
  const std::lock_guard lock(mutex_);
  const Exec exec = find(handle);
  if (!exec) return;
  push(trace::Message{at, trace::Severity::Info, "run.update",
                      concat("CUDA rejected an update of the whole graph (", why, ")"),
                      exec->identity().graph, kObservedVersion});
}

void ObservedProgram::changed(std::uint64_t handle, std::uint64_t node, const ObservedNode& now,
                              const ObservedKernel* kernel, trace::Time at) {
  const std::lock_guard lock(mutex_);
  if (const Exec exec = find(handle)) mark_changed(exec, exec->change(node, now, kernel), at);
}

void ObservedProgram::enabled(std::uint64_t handle, std::uint64_t node,
                              ObservedNode::Enabled enabled, trace::Time at) {
  const std::lock_guard lock(mutex_);
  if (const Exec exec = find(handle)) mark_changed(exec, exec->enable(node, enabled), at);
}

void ObservedProgram::destroyed(std::uint64_t handle, trace::Time at) {
  const std::lock_guard lock(mutex_);
  const auto found = execs_.find(handle);
  if (found == execs_.end()) return;
  const ObservedExec& exec = *found->second;
  push(trace::Update{
      at, exec.identity().graph, kObservedVersion, kObservedVersion,
      concat("destroyed after ", exec.replays, exec.replays == 1 ? " replay" : " replays")});
  erase(handle, at);
}

// Outstanding runs keep the object alive.
void ObservedProgram::erase(std::uint64_t handle, trace::Time at) {
  const Exec exec = find(handle);
  if (!exec) return;
  exec->is_destroyed = true;
  if (!exec->has_pending())
    push(trace::Ended{at, trace::ObjectKind::Graph, exec->identity().graph});
  execs_.erase(handle);
}

std::uint32_t ObservedProgram::device_of(std::uint64_t handle) const {
  const std::lock_guard lock(mutex_);
  const Exec exec = find(handle);
  return exec ? exec->identity().device : 0;
}

}  // namespace reprise::detail
