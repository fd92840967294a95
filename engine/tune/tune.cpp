// GraphCore::tune: other lowerings of a graph, measured beside it, and the best of them in its
// place.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "compile/cost_lookup.hpp"
#include "compile/node_costs.hpp"
#include "compile/stages.hpp"
#include "lowering/tuning_candidates.hpp"
#include "plan/plan_hash.hpp"
#include "plan/timing_layout.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/graph_core.hpp"
#include "runtime/graph/trace_graph.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/queue/queue_core.hpp"
#include "tune/buffer_snapshot.hpp"
#include "tune/paired_trial.hpp"

namespace reprise::detail {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSampleNs =
    1e6;  // a measurement takes at least so long, in as many replays as that needs
constexpr std::uint32_t kMostReplays = 64;
constexpr std::uint32_t kMostFinals = 3;  // of the best, against the graph as it is
constexpr std::uint32_t kCostLanes = 8;   // of the run that tells what nodes cost: more would run
                                          // beside each other than are told apart

// The nodes that are switched off, as another lowering of the same schedule numbers them.
std::vector<std::uint8_t> renumber(const std::vector<std::uint8_t>& disabled, const Plan& from,
                                   const Plan& to) {
  if (disabled.empty()) return {};
  std::vector<std::uint32_t> number(from.all_nodes, kNone);  // by number there: the number here
  for (std::uint32_t node = 0; node < to.dependencies.node_count(); ++node)
    number[from.lowered.node_of[node]] = to.lowered.node_of[node];
  const TimingLayout there = timing_layout(from), here = timing_layout(to);
  for (const BodyPlace& body : there.bodies) {
    const BodyPlace& same = here.bodies[here.first_body(number[body.parent]) + body.branch];
    for (std::uint32_t node = 0; node < body.nodes; ++node)
      number[body.first_node + node] = same.first_node + node;
  }
  std::vector<std::uint8_t> result(to.all_nodes, 0);
  for (std::uint32_t node = 0; node < disabled.size(); ++node) {
    if (number[node] != kNone) result[number[node]] = disabled[node];
  }
  return result;
}

}  // namespace

// The graph's own queue work aside from its replays: what it is ordered with, and how long a
// stretch of it takes.
class GraphCore::Tuning {
 public:
  Tuning(GraphCore& graph, std::shared_ptr<QueueCore> queue, const TuneDesc& desc)
      : graph_(graph),
        queue_(std::move(queue)),
        desc_(desc),
        stopwatch_(queue_->backend().make_stopwatch()) {}
  Tuning(const Tuning&) = delete;
  Tuning& operator=(const Tuning&) = delete;
  // Contents are as they were, and what was launched is over.
  ~Tuning() {
    try {
      restore();
    } catch (...) {
      // A device that is lost has nothing left to restore; what threw before tells why.
    }
    try {
      wait();
    } catch (...) {
      // The same.
    }
    for (auto& body : bodies_) {
      if (body) retire(std::move(body));
    }
  }

  void save() {
    switch (desc_.contents) {
      case TuneDesc::Contents::Repeatable: return;
      case TuneDesc::Contents::Restored: break;
    }
    const Recording& recording = *graph_.body_->plan->recording;
    if (!recording.functions.empty()) {
      fail(ErrorCode::Unsupported, Stage::Launch, graph_.label(),
           concat("tune: what the host callbacks of graph ", graph_.label(),
                  " did can't be undone; where it may be replayed at will, say .contents = "
                  "TuneDesc::Contents::Repeatable"));
    }
    std::vector<std::shared_ptr<PoolBuffer>> written;
    for (const Use& use : graph_.uses_) {
      if (use.index == kNone || !writes(use.access) || use.buffer->kind == BufferKind::Condition)
        continue;
      if (std::find(written.begin(), written.end(), use.buffer) == written.end())
        written.push_back(use.buffer);
    }
    saved_ =
        std::make_unique<BufferSnapshot>(make_handle<Device>(graph_.device_), written, recording);
    if (saved_->save() != nullptr) launch(*saved_->save());
    wait();
    saved_->save_host();
  }
  void finish() {
    if (!saved_) return wait();
    restore();
    wait();
    saved_.reset();
  }

  void launch(BackendExec& exec) { graph_.launch_uncounted(queue_, exec); }
  void wait() {
    const QueuePoint last = graph_.last();
    if (last.queue) static_cast<void>(last.queue->backend().wait(last.serial, std::nullopt));
  }
  void restore() {
    if (!saved_) return;
    wait();
    saved_->restore_host();
    if (saved_->restore() != nullptr) launch(*saved_->restore());
  }
  // ns of one of `replays` replays.
  [[nodiscard]] double time(BackendExec& exec, std::uint32_t replays) {
    restore();
    wait();
    if (stopwatch_) {
      stopwatch_->start();
      for (std::uint32_t i = 0; i < replays; ++i) launch(exec);
      stopwatch_->stop();
      return stopwatch_->nanoseconds() / replays;
    }
    const Clock::time_point began = Clock::now();
    for (std::uint32_t i = 0; i < replays; ++i) launch(exec);
    wait();
    return std::chrono::duration<double, std::nano>(Clock::now() - began).count() / replays;
  }

  struct Finals {
    std::uint32_t pairs = 0, replays = 0;
    Clock::time_point until;  // after which there is no other one
  };
  // The best of many is lucky too, and so may its executable be, of which CUDA makes some faster
  // than others of the same graph: it has to win once more, alone, and as new executables are made
  // of both.
  void choose(PairedTrial& series, const Finals& finals, TuneReport& report) {
    for (std::uint32_t tried = 0;
         tried < kMostFinals && (tried == 0 || Clock::now() < finals.until); ++tried) {
      const std::uint32_t best = series.winner();
      if (best == 0) return;
      PairedTrial last(2);
      try {
        make_again(0);
        make_again(best);
      } catch (const Error& error) {
        if (!lacks_memory(error)) throw;
        report.candidates[best].reason = error.what();
        return;
      }
      last.run({.rounds = finals.pairs, .measure = [&](std::uint32_t i) {
                  return time(*bodies_[i == 0 ? 0 : best]->exec, finals.replays);
                }});
      if (last.winner() != 0) {
        report.chosen = best;
        report.confirmed_ratio = last.ratio(1).median;
        return;
      }
      report.candidates[best].reason = "did not win a second time";
      series.drop(best, report.candidates[best].reason);
    }
  }

  // What nodes cost, by schedule node. Empty where it can't be told.
  [[nodiscard]] std::vector<std::uint32_t> measured_costs() {
    const Plan& now = *graph_.body_->plan;
    if (!now.bodies.empty()) return {};  // what a body takes depends on how often it runs
    const auto plan =
        lower_again(now, {.shape = LoweringConfig::Shape::Lanes, .lanes = kCostLanes}, alignment());
    if (plan->placement.slab_bytes > graph_.body_->memory.bytes) return {};
    const Bindings bindings = graph_.bindings_of(*plan, graph_.body_->memory.address);
    return measure_node_costs(graph_.device_->backend(), plan, bindings, [&](BackendExec& exec) {
      restore();
      launch(exec);
      wait();
    });
  }

  [[nodiscard]] std::uint32_t alignment() const {
    return graph_.device_->info().limits.buffer_alignment;
  }

  std::vector<std::unique_ptr<GraphExecutable>>
      bodies_;  // of the candidates; null: it could not be made

 private:
  // A new executable in the place of a contestant's.
  void make_again(std::uint32_t contestant) {
    auto body = graph_.make_candidate(bodies_[contestant]->plan);
    body.swap(bodies_[contestant]);
    const std::exception_ptr thrown = body->exec->callback_error(1);
    retire(std::move(body));
    if (thrown) std::rethrow_exception(thrown);
    static_cast<void>(time(*bodies_[contestant]->exec, 1));
  }

  void retire(std::unique_ptr<GraphExecutable> body) {
    body->last = graph_.last();
    graph_.device_->retired().push(std::move(body));
  }

  GraphCore& graph_;
  const std::shared_ptr<QueueCore> queue_;
  const TuneDesc& desc_;
  std::unique_ptr<QueueStopwatch> stopwatch_;
  std::unique_ptr<BufferSnapshot> saved_;
};

Bindings GraphCore::bindings_of(const Plan& plan, std::byte* transients) const {
  std::lock_guard lock(mutex_);
  const Bindings& now = body_->journal.now();
  Bindings bindings;
  bindings.address = now.address;
  for (const PlacedBuffer& placed : plan.placement.buffers)
    bindings.address[placed.buffer] = transients + placed.offset;
  bindings.scalars = now.scalars;
  bindings.disabled = renumber(now.disabled, *body_->plan, plan);
  return bindings;
}

// Under updating_, while the graph's pages are kept. Its transients lie where the graph's do, or in
// a slab of its own where that is too small and no memory goal forbids it.
std::unique_ptr<GraphExecutable> GraphCore::make_candidate(std::shared_ptr<const Plan> plan) {
  auto body = std::make_unique<GraphExecutable>(device_);
  body->pool = pool_;
  if (body_->memory_goal != MemoryGoal::Speed && plan->placement.slab_bytes > body_->memory.bytes) {
    fail(ErrorCode::OutOfMemory, Stage::Memory, label(),
         concat("it needs ", plan->placement.slab_bytes,
                " bytes of transients, which the graph's memory goal gave up"));
  }
  body->memory = allocate_beside(body_->memory, device_, pool_, *plan);
  if (body->memory.share) body->memory.share->settle();
  body->lowering = body_->lowering;
  body->memory_goal = body_->memory_goal;
  body->costs = body_->costs;
  body->is_ours = true;
  body->instance = instance_;
  body->trace_id = traced_as_;
  body->journal = BindingState(plan, bindings_of(*plan, body->memory.address));
  body->plan = std::move(plan);
  body->exec = device_->backend().instantiate(body->plan, body->journal.now(),
                                              instrumentation_for(*device_));
  return body;
}

// What was set, bound and switched since `body` was made.
void GraphCore::sync_bindings(GraphExecutable& body) {
  const auto take = [&](const BindingChange& change) {
    if (!body.exec->change(change).done()) {
      fail(ErrorCode::Unsupported, Stage::Launch, label(),
           concat("tune: graph ", label(),
                  " was updated meanwhile, and the new executable does not take it"));
    }
    body.journal.note(change);
  };
  for (std::uint32_t slot = 0; slot < body.plan->slots.slots.size(); ++slot) {
    const std::span<const std::byte> value = body_->journal.value(slot);
    if (std::equal(value.begin(), value.end(), body.journal.value(slot).begin())) continue;
    take({.what = BindingChange::What::Scalar,
          .index = slot,
          .value = value,
          .nodes = body.journal.nodes_of_slot(slot)});
  }
  const Bindings& now = body_->journal.now();
  const auto& buffers = body.plan->recording->buffers;
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i]->kind == BufferKind::Transient ||
        now.address[i] == body.journal.now().address[i])
      continue;
    take({.what = BindingChange::What::Buffer,
          .index = i,
          .address = now.address[i],
          .nodes = body.journal.nodes_of_buffer(i)});
  }
  if (now.disabled.empty() && body.journal.now().disabled.empty()) return;
  Bindings wanted;
  wanted.disabled = renumber(now.disabled, *body_->plan, *body.plan);
  std::vector<std::uint32_t> off, on;
  for (std::uint32_t node = 0; node < body.plan->all_nodes; ++node) {
    if (wanted.is_disabled(node) == body.journal.now().is_disabled(node)) continue;
    (wanted.is_disabled(node) ? off : on).push_back(node);
  }
  if (!off.empty()) take({.what = BindingChange::What::Disable, .nodes = off});
  if (!on.empty()) take({.what = BindingChange::What::Enable, .nodes = on});
}

// Between two launches: the executable that there was goes when its launches are over.
void GraphCore::replace_executable(std::unique_ptr<GraphExecutable> next) {
  CompileReport report = make_report(*next->plan, report_.messages);
  std::lock_guard order(device_->order());
  std::lock_guard lock(mutex_);
  sync_bindings(*next);
  next->last = body_->last;
  next->replays_before = replays_.load(std::memory_order_relaxed);
  replaced_executables_.reserve(replaced_executables_.size() + 1);
  if (device_->trace() != nullptr) trace_graph(*next, {});
  // Nothing fails from here on.
  for (const auto& pool : pools_) pool->detach(*this);
  if (next->memory.share) next->memory.share->tell(next->trace_id);
  if (!next->memory.own) next->memory.own = std::move(body_->memory.own);
  body_.swap(next);
  report_ = std::move(report);
  for (const auto& pool : pools_) pool->attach(*this);
  uploaded_.store(true, std::memory_order_relaxed);
  if (next->plan->recording->functions.empty()) {
    device_->retired().push(std::move(next));
  } else {
    replaced_executables_.push_back(std::move(next));
  }
}

TuneReport GraphCore::tune(const std::shared_ptr<QueueCore>& queue, const TuneDesc& desc) {
  const Clock::time_point began = Clock::now();
  if (desc.pairs < PairedTrial::kLeastRounds || desc.budget <= std::chrono::milliseconds(0)) {
    fail(ErrorCode::InvalidArgument, Stage::Launch, label(),
         concat("tune of graph ", label(), ": at least ", PairedTrial::kLeastRounds,
                " pairs, and a budget of more than nothing"));
  }
  std::lock_guard one(updating_);
  require_updatable("tune");
  require_launchable(*queue, Stage::Launch);
  if (replicas_) {
    fail(ErrorCode::Unsupported, Stage::Launch, label(),
         concat("tune: graph ", label(), " has ", instance_.count,
                " instances; tune one of the same recording with a single instance, save_tuning() "
                "it, and "
                "compile this one with that tuning_file"));
  }
  const ResidencyPin pages(*this);  // candidates replay on the slab without the graph's mutex
  const std::shared_ptr<const Plan> plan = body_->plan;
  TuneReport report;
  report.plan_hash = plan->plan_hash;
  std::vector<LoweringConfig> choices;
  {
    Tuning tuning(*this, queue, desc);
    tuning.save();
    NodeHints hints = known_hints(body_->costs.get(), *plan);
    if (std::vector<std::uint32_t> costs = tuning.measured_costs(); !costs.empty())
      hints.costs = std::move(costs);
    const bool has_priorities = device_->info().kind != DeviceKind::Host;
    choices = tuning_candidates(plan->dependencies, hints,
                                has_priorities ? DevicePriorities::Yes : DevicePriorities::No);

    // The graph as it is, then the choices that are not the same graph.
    report.candidates.push_back({.name = "as it was", .slab_bytes = plan->placement.slab_bytes});
    tuning.bodies_.push_back(make_candidate(plan));
    std::vector<LoweringConfig> kept{LoweringConfig{}};
    std::unordered_set<std::uint64_t> made{hash_execution(plan->lowered, plan->placement)};
    PairedTrial series(static_cast<std::uint32_t>(choices.size()) + 1);
    for (LoweringConfig& choice : choices) {
      const auto at = static_cast<std::uint32_t>(report.candidates.size());
      TuneCandidate candidate{.name = name_of(choice)};
      std::unique_ptr<GraphExecutable> body;
      if (Clock::now() - began > desc.budget / 2) {
        candidate.reason = "no time was left to make it";
      } else {
        try {
          auto other = lower_again(*plan, choice, tuning.alignment());
          candidate.slab_bytes = other->placement.slab_bytes;
          if (!made.insert(hash_execution(other->lowered, other->placement)).second) {
            candidate.reason = "the same graph as one before it";
          } else {
            body = make_candidate(std::move(other));
          }
        } catch (const Error& error) {
          if (!lacks_memory(error)) throw;
          candidate.reason = error.what();
        }
      }
      if (!candidate.reason.empty()) series.drop(at, candidate.reason);
      report.candidates.push_back(std::move(candidate));
      tuning.bodies_.push_back(std::move(body));
      kept.push_back(std::move(choice));
    }
    choices = std::move(kept);
    for (auto& body : tuning.bodies_) {
      if (body) static_cast<void>(tuning.time(*body->exec, 1));
    }
    const double once = tuning.time(*tuning.bodies_[0]->exec, 1);
    const auto replays = static_cast<std::uint32_t>(
        std::clamp(std::ceil(kSampleNs / std::max(once, 1.0)), 1.0, double{kMostReplays}));
    const auto measure = [&](std::uint32_t i) {
      return tuning.time(*tuning.bodies_[i]->exec, replays);
    };
    series.run({.rounds = desc.pairs, .until = began + desc.budget, .measure = measure});
    for (std::uint32_t i = 0; i < report.candidates.size(); ++i) {
      TuneCandidate& candidate = report.candidates[i];
      const PairedTrial::Candidate& measured = series.candidates()[i];
      const RatioInterval ratio = series.ratio(i);
      candidate.pairs = static_cast<std::uint32_t>(measured.times.size());
      if (candidate.pairs != 0) {
        candidate.median = std::chrono::duration<double, std::nano>(median_of(measured.times));
        candidate.ratio = ratio.median;
        candidate.ratio_low = ratio.low;
        candidate.ratio_high = ratio.high;
      }
      if (candidate.reason.empty()) candidate.reason = measured.reason;
      if (tuning.bodies_[i]) {
        const LoweredGraph& lowered = tuning.bodies_[i]->plan->lowered;
        candidate.nodes = static_cast<std::uint32_t>(lowered.nodes.size());
        candidate.edges = static_cast<std::uint32_t>(lowered.edges.size());
        candidate.lanes = lowered.lanes;
      }
    }
    tuning.choose(series, {.pairs = desc.pairs, .replays = replays, .until = began + desc.budget},
                  report);
    tuning.finish();
    for (auto& body : tuning.bodies_) {
      if (const std::exception_ptr thrown = body ? body->exec->callback_error(1) : nullptr)
        std::rethrow_exception(thrown);
    }
    if (report.chosen != 0) take_tuned(queue, tuning.bodies_[report.chosen]->plan, report);
  }
  if (report.chosen != 0) tuned_ = std::move(choices[report.chosen]);
  report.time = Clock::now() - began;
  return report;
}

// An executable of its own, whose replays count from 1. Where there is no memory for it, the graph
// stays what it is.
void GraphCore::take_tuned(const std::shared_ptr<QueueCore>& queue,
                           const std::shared_ptr<const Plan>& plan, TuneReport& report) {
  try {
    auto next = make_candidate(plan);
    next->exec->upload(queue->backend());
    replace_executable(std::move(next));
  } catch (const Error& error) {
    if (!lacks_memory(error)) throw;
    report.candidates[report.chosen].reason = error.what();
    report.chosen = 0;
  }
}

}  // namespace reprise::detail
