#include "injection/observed_program.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "injection/describe_observed_graph.hpp"
#include "profile/process_info.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kMaxUnmatched = 16384;

std::int64_t change_of(ObservedProgram::MemoryUse used) {
  return used.before == 0 || used.after == 0 ? trace::kUnknownBytes
                                             : static_cast<std::int64_t>(used.after - used.before);
}

}  // namespace

void ObservedProgram::push(trace::Record record) {
  if (records_.size() < limits_.waiting_records) {
    records_.push_back(std::move(record));
  } else {
    ++(std::holds_alternative<trace::Replay>(record) ? lost_replays_ : lost_events_);
  }
}

// --- Memory, devices, queues ---

void ObservedProgram::allocated(const ProgramMemory::Allocation& allocation, trace::Time at) {
  const std::lock_guard lock(mutex_);
  memory_.add(allocation, at);
}

void ObservedProgram::freed(std::uint64_t address, trace::Time at) {
  const std::lock_guard lock(mutex_);
  memory_.remove(address, at);
}

void ObservedProgram::unmapped(std::uint64_t address, std::uint64_t bytes, trace::Time at) {
  const std::lock_guard lock(mutex_);
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
}

// --- Graphs ---

void ObservedProgram::node_created(std::uint64_t graph, std::uint64_t node, NodeOrigin origin) {
  const std::lock_guard lock(mutex_);
  bodies_.erase(node);  // of an earlier node at this address
  scopes_.add(graph, node, std::move(origin));
}

void ObservedProgram::node_copied(std::uint64_t from, std::uint64_t graph, std::uint64_t node) {
  const std::lock_guard lock(mutex_);
  scopes_.copy(from, graph, node);
}

void ObservedProgram::node_destroyed(std::uint64_t node) {
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
  const std::lock_guard lock(mutex_);
  return scopes_.find(node);
}

void ObservedProgram::communicator_created(const NcclCommunicator& communicator) {
  const std::lock_guard lock(mutex_);
  communicators_[{communicator.id, communicator.device}] = communicator;
}

void ObservedProgram::bodies_created(std::uint64_t node, std::vector<std::uint64_t> graphs) {
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

void ObservedProgram::describe(const ObservedExec& exec, trace::Time at,
                               trace::Time instantiate_time) {
  const ObservedExec::Identity& identity = exec.identity();
  described_nodes_ += exec.graph().nodes.size();
  trace::GraphVersion version = describe_observed_graph(
      exec.graph(),
      {identity.graph, exec.version, identity.device, identity.label, at, instantiate_time},
      memory_);
  identify(version.collectives, identity.device);
  push(std::move(version));
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
  ObservedExec::Identity identity{
      next_graph_, made.device, made.profiler_id,
      concat(made.scope.empty() ? "graph" : made.scope, " ", next_graph_)};
  ++next_graph_;
  const std::string error = std::move(graph.error);
  for (const ObservedNode& node : graph.nodes) {
    if (node.allocates != 0)
      memory_.add({node.allocates, node.bytes, ProgramMemory::Source::Graph, made.device}, made.at);
  }
  const auto exec = std::make_shared<ObservedExec>(std::move(identity), std::move(graph));
  const trace::Time instantiate_time = made.started == 0 ? 0 : made.at - made.started;
  exec->cost = {.graph = exec->identity().graph, .at = made.at};
  exec->used_before = made.used_before;
  if (const auto capture =
          captured_.extract(made.graph)) {  // further executables do not pay for it
    exec->cost.capture_time = capture.mapped().duration;
    exec->used_before = capture.mapped().used_before;
  }
  describe(*exec, made.at, instantiate_time);
  if (!error.empty()) {
    push(trace::Message{made.at, trace::Severity::Warning, "run.unread",
                        concat("the graph was read incompletely: ", error), exec->identity().graph,
                        1});
  }
  if (made.launchers == Instantiation::Launchers::HostAndKernels) {
    push(trace::Message{made.at, trace::Severity::Warning, "run.device-launch",
                        "kernels can launch this graph; its replays are launches by the host only, "
                        "launches by kernels are not visible",
                        exec->identity().graph, 1});
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

void ObservedProgram::replaced(std::uint64_t handle, ObservedGraph graph, trace::Time at) {
  const std::lock_guard lock(mutex_);
  const Exec exec = find(handle);
  if (!exec) return;
  exec->replace(std::move(graph), "cudaGraphExecUpdate");
  apply_changes(*exec, at);
}

void ObservedProgram::refused(std::uint64_t handle, const std::string& why, trace::Time at) {
  const std::lock_guard lock(mutex_);
  const Exec exec = find(handle);
  if (!exec) return;
  push(trace::Message{at, trace::Severity::Info, "run.update",
                      concat("CUDA rejected an update of the whole graph (", why, ")"),
                      exec->identity().graph, exec->version});
}

void ObservedProgram::changed(std::uint64_t handle, std::uint64_t node, const ObservedGraph& one,
                              const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (const Exec exec = find(handle)) exec->change(node, one, what);
}

void ObservedProgram::enabled(std::uint64_t handle, std::uint64_t node,
                              ObservedNode::Enabled enabled) {
  const std::lock_guard lock(mutex_);
  if (const Exec exec = find(handle)) exec->enable(node, enabled);
}

void ObservedProgram::apply_changes(ObservedExec& exec, trace::Time at) {
  std::string what = exec.take_changes();
  if (what.empty()) return;
  const std::uint32_t from = exec.version;
  if (from < limits_.versions && described_nodes_ + exec.graph().nodes.size() <= limits_.nodes) {
    ++exec.version;
    describe(exec, at, 0);
  } else {
    what += " (not described: too many versions)";
  }
  push(trace::Update{at, exec.identity().graph, from, exec.version, std::move(what)});
}

void ObservedProgram::destroyed(std::uint64_t handle, trace::Time at) {
  const std::lock_guard lock(mutex_);
  const auto found = execs_.find(handle);
  if (found == execs_.end()) return;
  const ObservedExec& exec = *found->second;
  push(trace::Update{
      at, exec.identity().graph, exec.version, exec.version,
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

// --- Replays ---

ObservedProgram::Order ObservedProgram::launched(const Launch& launch, Nodes nodes) {
  const std::lock_guard lock(mutex_);
  const Exec exec = find(launch.exec);
  ++hooks_.launches;
  if (!exec) {
    ++lost_replays_;
    return Order::Later;
  }
  apply_changes(*exec, launch.started);
  trace::Replay replay;
  replay.graph = exec->identity().graph;
  replay.version = exec->version;
  const auto queue = queues_.find(launch.stream);
  replay.queue = queue == queues_.end() ? 0 : queue->second;
  replay.replay = ++exec->replays;
  replay.launched = launch.started;
  replay.launch_returned = launch.returned;
  replay.thread = launch.thread;
  const Order order = replay.replay == 1 ? Order::First : Order::Later;
  if (nodes == Nodes::Unrecorded || launch.correlation == 0) {
    push(replay);
    return order;
  }
  if (!exec->has_pending()) pending_execs_.push_back(exec);
  exec->expect(replay, launch.correlation);
  const PendingReplay pending{exec, replay.replay};
  by_correlation_[launch.correlation] = pending;
  deliver_unmatched(pending, launch.correlation, launch.returned);
  return order;
}

void ObservedProgram::first_launch_ended(std::uint64_t handle, trace::Time duration, MemoryUse used,
                                         trace::Time at) {
  const std::lock_guard lock(mutex_);
  if (const Exec exec = find(handle)) add_launch_cost(*exec, duration, used, at);
}

void ObservedProgram::deliver_unmatched(const PendingReplay& pending, std::uint32_t correlation,
                                        trace::Time now) {
  std::erase_if(unmatched_runs_, [&](UnmatchedRun& unmatched) {
    if (unmatched.run.correlation != correlation) return false;
    unmatched.run.kernel = unmatched.kernel;
    pending.exec->take(unmatched.run, pending.replay, now);
    return true;
  });
}

void ObservedProgram::ran(const std::vector<ObservedRun>& runs, trace::Time now) {
  const std::lock_guard lock(mutex_);
  for (const ObservedRun& run : runs) {
    if (run.started == 0 || run.ended == 0) ++lost_times_;
    ++hooks_.nodes;
    if (run.correlation == 0) {  // only the executable is known
      const auto exec = std::find_if(
          pending_execs_.begin(), pending_execs_.end(),
          [&](const Exec& one) { return one->identity().profiler_id == run.node >> 32; });
      if (exec != pending_execs_.end()) (*exec)->take_unnumbered(run, now);
      continue;
    }
    const auto launch = by_correlation_.find(run.correlation);
    if (launch != by_correlation_.end()) {
      launch->second.exec->take(run, launch->second.replay, now);
    } else if (unmatched_runs_.size() < kMaxUnmatched) {
      unmatched_runs_.push_back({run, std::string(run.kernel)});
    } else {
      unmatched_runs_.erase(unmatched_runs_.begin(),
                            unmatched_runs_.begin() +
                                kMaxUnmatched / 2);  // their launches were probably not observed
    }
  }
}

void ObservedProgram::collect(trace::Time now, ObservedExec::Outstanding outstanding,
                              std::vector<trace::Record>& records) {
  const std::lock_guard lock(mutex_);
  switch (outstanding) {
    case ObservedExec::Outstanding::Expected: memory_.collect(now, records); break;
    case ObservedExec::Outstanding::Complete: memory_.finish(now, records); break;
  }
  for (trace::Record& record : records_) records.push_back(std::move(record));
  records_.clear();
  std::erase_if(pending_execs_, [&](const Exec& exec) {
    exec->collect(now, outstanding, records, [&](std::uint32_t correlation) {
      ++hooks_.replays;
      by_correlation_.erase(correlation);
    });
    if (exec->has_pending()) return false;
    if (exec->is_destroyed)
      records.emplace_back(trace::Ended{now, trace::ObjectKind::Graph, exec->identity().graph});
    return true;
  });
  const auto tell = [&](std::uint64_t& count, trace::LossKind kind, const char* why) {
    if (count != 0) records.emplace_back(trace::Loss{now, kind, std::exchange(count, 0), why});
  };
  tell(lost_replays_, trace::LossKind::Replays,
       "launches of graphs that are not described, or more than could be written");
  tell(lost_events_, trace::LossKind::Events, "more than could be written");
  tell(lost_times_, trace::LossKind::ZeroTimestamps, "the profiler reported no times");
}

HookCounts ObservedProgram::take_hooks() {
  const std::lock_guard lock(mutex_);
  return std::exchange(hooks_, {});
}

}  // namespace reprise::detail
