#include "backend/host/host_exec.hpp"

#include <chrono>

#include "backend/host/crew.hpp"
#include "backend/host/host_queue.hpp"
#include "backend/host/node_clock.hpp"
#include "backend/host/queue_line.hpp"
#include "backend/host/queue_registry.hpp"

namespace reprise::detail {

namespace {

using Clock = std::chrono::steady_clock;

// Handing a node to another thread takes some hundred nanoseconds: what nodes have to take on average to be worth it, and
// below what they are not any more. A replay this short stays on one thread in any case.
constexpr std::uint64_t kLongNodeNs = 2'000, kShortNodeNs = 1'000, kShortReplayNs = 20'000;
constexpr std::uint32_t kFirstReplays = 2;  // in which every node is looked at

std::uint64_t nanoseconds_since(Clock::time_point begin) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count());
}

bool is_long(std::uint64_t ns, std::uint32_t nodes) { return ns > kShortReplayNs && ns > kLongNodeNs * nodes; }

}  // namespace

HostExec::HostExec(std::shared_ptr<const Plan> plan, const Bindings& bindings, const Lifeline& lifeline, std::shared_ptr<QueueRegistry> queues,
                   ReplayMode mode)
    : lifeline_(lifeline),
      queues_(std::move(queues)),
      marks_(plan->lowered.fault_markers ? std::make_unique<FaultMarks>(lifeline, plan->lowered.nodes.size()) : nullptr),
      program_(std::move(plan), bindings, marks_.get()),
      parallel_(program_, lifeline_, errors_),
      mode_(mode) {}

HostExec::~HostExec() {
  if (lifeline_.is_cut()) queues_->wait_until_not_running(*this);
}

void HostExec::upload(BackendQueue& queue) {
  lifeline_.require(Stage::Upload, "graph", program_.label());
  static_cast<HostQueue&>(queue).line().require_alive(Stage::Upload);
}

std::uint64_t HostExec::launch(BackendQueue& queue) {
  lifeline_.require(Stage::Launch, "graph", program_.label());
  const std::uint64_t serial = static_cast<HostQueue&>(queue).line().submit(*this, launches_ + 1);
  ++launches_;
  return serial;
}

void HostExec::run(Crew& crew, std::uint64_t replay) noexcept {
  if (observer_ == nullptr) return run_nodes(crew, replay, nullptr);
  NodeTime* const times = observer_->begin_replay(replay);
  const std::int64_t started = steady_now();
  run_nodes(crew, replay, times);
  observer_->end_replay(replay, started, lifeline_.is_cut() ? 0 : steady_now(), times);
}

void HostExec::run_nodes(Crew& crew, std::uint64_t replay, NodeTime* times) noexcept {
  switch (mode_) {
    case ReplayMode::Parallel: return parallel_.run(crew, replay, 0, times);
    case ReplayMode::InOrder: return run_in_order(crew, replay, times);
    case ReplayMode::Measured: break;
  }
  if (crew.threads() > 1 && program_.is_wide()) return run_measured(crew, replay, times);
  run_in_order(crew, replay, times);
}

void HostExec::run_in_order(Crew& crew, std::uint64_t replay, NodeTime* times) noexcept {
  const std::uint32_t count = program_.node_count();
  if (times == nullptr) {
    for (std::uint32_t node = 0; node < count && !lifeline_.is_cut(); ++node) program_.run(node, crew, replay, errors_);
    return;
  }
  // One look at the clock a node: what ends one begins the next.
  std::int64_t started = steady_now();
  for (std::uint32_t node = 0; node < count && !lifeline_.is_cut(); ++node) {
    program_.run(node, crew, replay, errors_);
    const std::int64_t ended = steady_now();
    times[node] = node_time(started, ended, 1);
    started = ended;
  }
}

void HostExec::run_measured(Crew& crew, std::uint64_t replay, NodeTime* times) noexcept {
  const std::uint32_t count = program_.node_count();
  const auto begin = Clock::now();
  if (use_parallel_) {
    parallel_.run(crew, replay, 0, times);
    use_parallel_ = nanoseconds_since(begin) * crew.threads() > kShortNodeNs * count;
    return;
  }
  if (measured_ >= kFirstReplays) {
    run_in_order(crew, replay, times);
    use_parallel_ = is_long(nanoseconds_since(begin), count);
    return;
  }
  ++measured_;
  for (std::uint32_t node = 0; node < count && !lifeline_.is_cut(); ++node) {
    const std::int64_t started = times == nullptr ? 0 : steady_now();
    program_.run(node, crew, replay, errors_);
    if (times != nullptr) times[node] = node_time(started, steady_now(), 1);
    if (is_long(nanoseconds_since(begin), node + 1)) {
      use_parallel_ = true;
      return parallel_.run(crew, replay, node + 1, times);
    }
  }
}

}  // namespace reprise::detail
