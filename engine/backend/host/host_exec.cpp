#include "backend/host/host_exec.hpp"

#include <chrono>
#include <utility>

#include "backend/host/elapsed.hpp"
#include "backend/host/host_queue.hpp"
#include "backend/host/host_work_queue.hpp"
#include "backend/host/node_clock.hpp"
#include "backend/host/queue_registry.hpp"
#include "backend/host/worker_arena.hpp"
#include "plan/plan_difference.hpp"

namespace reprise::detail {

namespace {

// Handing a node to another thread costs some hundred nanoseconds. A replay switches to several
// threads above the first average node time, and back to one thread below the second. A shorter
// replay than the third always runs on one thread.
constexpr std::uint64_t kLongNodeNs = 2'000, kShortNodeNs = 1'000, kShortReplayNs = 20'000;
constexpr std::uint32_t kMeasuredReplays = 2;  // replays in which every node is measured

bool is_long(std::uint64_t ns, std::uint32_t nodes) {
  return ns > kShortReplayNs && ns > kLongNodeNs * nodes;
}

}  // namespace

HostExec::HostExec(std::shared_ptr<const Plan> plan, const Bindings& bindings,
                   const DeviceGeneration& generation, std::shared_ptr<QueueRegistry> queues,
                   ReplayMode mode)
    : generation_(generation),
      queues_(std::move(queues)),
      marks_(plan->lowered.fault_markers
                 ? std::make_unique<FaultMarks>(generation, plan->lowered.nodes.size())
                 : nullptr),
      loaded_(std::make_shared<Loaded>(plan, bindings, generation_, marks_.get(), errors_)),
      mode_(mode),
      plan_(std::move(plan)),
      bindings_(bindings),
      latest_(loaded_),
      has_callbacks_(loaded_->program.has_callbacks()) {}

HostExec::~HostExec() {
  if (generation_.is_lost()) queues_->wait_until_not_running(*this);
}

void HostExec::upload(BackendQueue& queue) {
  generation_.require(Stage::Upload, "graph", plan_->label);
  static_cast<HostQueue&>(queue).work_queue().require_alive(Stage::Upload);
}

std::uint64_t HostExec::launch(BackendQueue& queue) {
  generation_.require(Stage::Launch, "graph", plan_->label);
  const std::uint64_t serial =
      static_cast<HostQueue&>(queue).work_queue().submit(*this, launches_ + 1);
  ++launches_;
  return serial;
}

ExecUpdate HostExec::change(const BindingChange& change) {
  generation_.require(Stage::Launch, "graph", plan_->label);
  Bindings changed = bindings_;
  apply(*plan_, change, changed);
  Change entry;
  switch (change.what) {
    case BindingChange::What::Scalar:
    case BindingChange::What::Buffer:
      entry.rebuilt.reserve(change.nodes.size());
      for (const std::uint32_t node : change.nodes)
        entry.rebuilt.push_back(latest_->program.rebuild_node(node, changed));
      break;
    case BindingChange::What::Disable:
    case BindingChange::What::Enable:
      for (const std::uint32_t node : change.nodes) {
        if (node < plan_->lowered.nodes.size()) {
          entry.toggled.push_back(node);
        } else {  // in a body, which is rebuilt
          entry.rebuilt.push_back(
              latest_->program.rebuild_node(latest_->program.timing().own_node_of(node), changed));
        }
      }
      entry.disabled = change.what == BindingChange::What::Disable ? 1 : 0;
      break;
  }
  add_change(std::move(entry));
  bindings_ = std::move(changed);
  return {};
}

ExecUpdate HostExec::change(const PlanChange& change) {
  generation_.require(Stage::Launch, "graph", plan_->label);
  if (change.scope == PlanChange::Scope::Whole) {
    const PlanDifference difference = find_difference(*plan_, *change.plan);
    if (difference.outcome != GraphExecUpdateOutcome::Success)
      return {.outcome = difference.outcome, .node = difference.node, .from = difference.from};
  }
  Change entry;
  entry.program =
      std::make_shared<Loaded>(change.plan, *change.bindings, generation_, marks_.get(), errors_);
  Bindings bindings = *change.bindings;
  auto next = entry.program;
  if (next->program.timing().has_same_nodes(timing_)) next->program.set_timing(timing_);
  add_change(std::move(entry));
  if (next->program.has_callbacks()) has_callbacks_.store(true, std::memory_order_relaxed);
  plan_ = change.plan;
  bindings_ = std::move(bindings);
  return {.replaced = std::exchange(latest_, std::move(next))};
}

void HostExec::add_change(Change change) {
  change.replay = launches_ + 1;
  std::list<Change> one;
  one.push_back(std::move(change));
  const std::lock_guard lock(changes_mutex_);
  changes_.splice(changes_.end(), one);
  pending_changes_.fetch_add(1, std::memory_order_release);
}

void HostExec::apply_changes(std::uint64_t replay) noexcept {
  std::list<Change> taken;  // with the replaced nodes, which are destroyed without the lock
  {
    const std::lock_guard lock(changes_mutex_);
    while (!changes_.empty() && changes_.front().replay <= replay) {
      taken.splice(taken.end(), changes_, changes_.begin());
      pending_changes_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  for (Change& change : taken) {
    for (HostProgram::RebuiltNode& made : change.rebuilt) loaded_->program.replace(made);
    for (const std::uint32_t node : change.toggled)
      loaded_->program.set_disabled(node, change.disabled);
    if (change.program) loaded_.swap(change.program);
  }
}

void HostExec::run(WorkerArena& workers, std::uint64_t replay) noexcept {
  if (pending_changes_.load(std::memory_order_acquire) != 0) apply_changes(replay);
  NodeTime* const times = observer_ == nullptr ? nullptr : observer_->begin_replay(replay);
  HostProgram& program = loaded_->program;
  // A later recording may run other bodies, for which the observer has no slots.
  program.begin_replay(program.timing() == timing_ ? times : nullptr);
  if (observer_ == nullptr) return run_nodes(workers, replay, nullptr);
  const std::int64_t started = steady_now();
  run_nodes(workers, replay, times);
  observer_->end_replay(replay, started, generation_.is_lost() ? 0 : steady_now(), times);
}

void HostExec::run_nodes(WorkerArena& workers, std::uint64_t replay, NodeTime* times) noexcept {
  if (loaded_->program.has_segments()) return run_in_order(workers, replay, times);
  switch (mode_) {
    case ReplayMode::Parallel: return loaded_->parallel.run(workers, replay, 0, times);
    case ReplayMode::InOrder: return run_in_order(workers, replay, times);
    case ReplayMode::Measured: break;
  }
  if (workers.threads() > 1 && loaded_->program.has_parallelism())
    return run_measured(workers, replay, times);
  run_in_order(workers, replay, times);
}

void HostExec::run_in_order(WorkerArena& workers, std::uint64_t replay, NodeTime* times) noexcept {
  loaded_->program.run_in_order(workers, replay, errors_, times, 1);
}

void HostExec::run_measured(WorkerArena& workers, std::uint64_t replay, NodeTime* times) noexcept {
  HostProgram& program = loaded_->program;
  const std::uint32_t count = program.node_count();
  const auto begin = std::chrono::steady_clock::now();
  if (use_parallel_) {
    loaded_->parallel.run(workers, replay, 0, times);
    use_parallel_ = nanoseconds_since(begin) * workers.threads() > kShortNodeNs * count;
    return;
  }
  if (measured_ >= kMeasuredReplays) {
    run_in_order(workers, replay, times);
    use_parallel_ = is_long(nanoseconds_since(begin), count);
    return;
  }
  ++measured_;
  for (std::uint32_t node = 0; node < count && !generation_.is_lost(); ++node) {
    const std::int64_t started = times == nullptr ? 0 : steady_now();
    program.run(node, workers, replay, errors_);
    if (times != nullptr) times[node] = node_time(started, steady_now(), 1);
    if (is_long(nanoseconds_since(begin), node + 1)) {
      use_parallel_ = true;
      return loaded_->parallel.run(workers, replay, node + 1, times);
    }
  }
}

}  // namespace reprise::detail
