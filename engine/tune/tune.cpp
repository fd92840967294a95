// CapturedGraph::tune: measures other lowerings of a graph beside the current one, and selects the
// fastest.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <reprise/captured_graph.hpp>
#include <reprise/device.hpp>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "compile/cost_lookup.hpp"
#include "compile/stages.hpp"
#include "compile/tuning_file.hpp"
#include "lowering/segment.hpp"
#include "lowering/tuning_candidates.hpp"
#include "plan/collectives.hpp"
#include "plan/plan_hash.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "runtime/graph/graph_candidate.hpp"
#include "runtime/queue/queue_core.hpp"
#include "tune/buffer_snapshot.hpp"
#include "tune/node_costs.hpp"
#include "tune/paired_trial.hpp"

namespace reprise::detail {

namespace {

using Clock = std::chrono::steady_clock;

// Duration of one measurement: as many replays as that takes, at most kMaxReplays.
constexpr double kSampleNs = 1e6;
constexpr std::uint32_t kMaxReplays = 64;
constexpr std::uint32_t kMaxFinals = 3;  // trials of the best candidates against the current graph
// Lanes of the executable that measures node costs. With more, concurrent nodes slow each other
// down too much to measure them separately.
constexpr std::uint32_t kCostLanes = 8;

// Launches candidates of one replica on a queue, ordered with the replica's launches, and measures
// them. Restores buffer contents before each measurement if the description says so.
class TuningRun {
 public:
  TuningRun(GraphReplica& replica, std::shared_ptr<QueueCore> queue, const TuneDesc& desc)
      : replica_(replica),
        queue_(std::move(queue)),
        desc_(desc),
        stopwatch_(queue_->backend().make_stopwatch()) {}
  TuningRun(const TuningRun&) = delete;
  TuningRun& operator=(const TuningRun&) = delete;
  // Restores contents, waits for what was launched, and retires the candidates.
  ~TuningRun() {
    try {
      restore();
    } catch (...) {
      // A lost device has nothing to restore; the caller already has the cause.
    }
    try {
      wait();
    } catch (...) {
      // As above.
    }
    for (auto& candidate : candidates_) {
      if (candidate) retire(std::move(candidate));
    }
  }

  // Saves the contents that replays write. Throws Unsupported for host callbacks, OutOfMemory.
  void save() {
    switch (desc_.contents) {
      case TuneDesc::Contents::Repeatable: return;
      case TuneDesc::Contents::Restored: break;
    }
    const Recording& recording = *replica_.executable().plan()->recording;
    if (!recording.functions.empty()) {
      fail(ErrorCode::Unsupported, Stage::Launch, replica_.label(),
           concat("tune: the effects of graph ", replica_.label(),
                  "'s host callbacks cannot be undone; if they may be repeated, set .contents = "
                  "TuneDesc::Contents::Repeatable"));
    }
    std::vector<std::shared_ptr<PoolBuffer>> written;
    for (const BufferUse& use : replica_.uses()) {
      if (use.index == kNone || !writes(use.access) || use.buffer->kind == BufferKind::Condition)
        continue;
      if (std::find(written.begin(), written.end(), use.buffer) == written.end())
        written.push_back(use.buffer);
    }
    saved_ = std::make_unique<BufferSnapshot>(make_handle<Device>(replica_.device()), written,
                                              recording);
    if (saved_->save() != nullptr) launch(*saved_->save());
    wait();
    saved_->save_host();
  }
  // Restores contents for the last time, and waits.
  void finish() {
    if (!saved_) return wait();
    restore();
    wait();
    saved_.reset();
  }

  // Nanoseconds of one of `replays` replays.
  [[nodiscard]] double time(BackendExec& exec, std::uint32_t replays) {
    restore();
    wait();
    if (stopwatch_) {
      stopwatch_->start();
      for (std::uint32_t i = 0; i < replays; ++i) launch(exec);
      stopwatch_->stop();
      return stopwatch_->nanoseconds() / replays;
    }
    const Clock::time_point start = Clock::now();
    for (std::uint32_t i = 0; i < replays; ++i) launch(exec);
    wait();
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / replays;
  }

  struct Finals {
    std::uint32_t pairs = 0, replays = 0;
    Clock::time_point until;  // no further trial starts after this
  };
  // Selects the winner of `series` if it wins a second trial against the current graph. The best of
  // many measurements is partly luck, and CUDA instantiates some executables of the same graph
  // faster than others: the second trial uses new executables of both.
  void choose(PairedTrial& series, const Finals& finals, TuneReport& report) {
    for (std::uint32_t tried = 0; tried < kMaxFinals && (tried == 0 || Clock::now() < finals.until);
         ++tried) {
      const std::uint32_t best = series.winner();
      if (best == 0) return;
      PairedTrial final_trial(2);
      try {
        remake(0);
        remake(best);
      } catch (const Error& error) {
        if (!lacks_memory(error)) throw;
        report.candidates[best].reason = error.what();
        return;
      }
      final_trial.run({.rounds = finals.pairs, .measure = [&](std::uint32_t i) {
                         return time(*candidates_[i == 0 ? 0 : best]->exec, finals.replays);
                       }});
      if (final_trial.winner() != 0) {
        report.chosen = best;
        report.confirmed_ratio = final_trial.ratio(1).median;
        return;
      }
      report.candidates[best].reason = "did not win a second time";
      series.drop(best, report.candidates[best].reason);
    }
  }

  // Costs of nodes by dependency node, in ns. Empty if the device cannot measure them.
  [[nodiscard]] std::vector<std::uint32_t> measured_costs() {
    const GraphExecutable& current = replica_.executable();
    // The cost of a body depends on how often it runs.
    if (!current.plan()->bodies.empty()) return {};
    const auto plan = lower_again(
        *current.plan(), {.shape = LoweringConfig::Shape::Lanes, .lanes = kCostLanes}, alignment());
    if (plan->placement.slab_bytes > current.memory.bytes) return {};
    const Bindings bindings = bindings_for(replica_, *plan, current.memory.address);
    return measure_node_costs(replica_.device()->backend(), plan, bindings, [&](BackendExec& exec) {
      restore();
      launch(exec);
      wait();
    });
  }

  [[nodiscard]] std::uint32_t alignment() const {
    return replica_.device()->info().limits.buffer_alignment;
  }

  std::vector<std::unique_ptr<GraphExecutable>> candidates_;  // null: could not be made

 private:
  void launch(BackendExec& exec) { replica_.launch_uncounted(queue_, exec); }
  void wait() {
    const QueuePoint last = replica_.last();
    if (last.queue) static_cast<void>(last.queue->backend().wait(last.serial, std::nullopt));
  }
  void restore() {
    if (!saved_) return;
    wait();
    saved_->restore_host();
    if (saved_->restore() != nullptr) launch(*saved_->restore());
  }

  // Replaces a candidate's executable by a new one of the same plan.
  void remake(std::uint32_t index) {
    auto candidate = make_candidate(replica_, candidates_[index]->plan());
    candidate.swap(candidates_[index]);
    const std::exception_ptr thrown = candidate->exec->callback_error(1);
    retire(std::move(candidate));
    if (thrown) std::rethrow_exception(thrown);
    static_cast<void>(time(*candidates_[index]->exec, 1));
  }

  void retire(std::unique_ptr<GraphExecutable> candidate) {
    candidate->last = replica_.last();
    replica_.device()->deferred().push(std::move(candidate));
  }

  GraphReplica& replica_;
  const std::shared_ptr<QueueCore> queue_;
  const TuneDesc& desc_;
  std::unique_ptr<QueueStopwatch> stopwatch_;
  std::unique_ptr<BufferSnapshot> saved_;
};

// Makes the graph run `plan` in a new executable, whose replays count from 1. Keeps the graph
// unchanged if memory is short.
void select_tuned(CompiledGraph& graph, const std::shared_ptr<QueueCore>& queue,
                  const std::shared_ptr<const Plan>& plan, TuneReport& report) {
  try {
    auto next = make_candidate(graph.first(), plan);
    next->exec->upload(queue->backend());
    select_candidate(graph, std::move(next));
  } catch (const Error& error) {
    if (!lacks_memory(error)) throw;
    report.candidates[report.chosen].reason = error.what();
    report.chosen = 0;
  }
}

void check_desc(CompiledGraph& graph, const std::shared_ptr<QueueCore>& queue,
                const TuneDesc& desc) {
  const std::string& label = graph.label();
  if (!queue) fail_empty("Queue", concat("tune of graph ", label), Stage::Launch, label);
  if (desc.pairs < PairedTrial::kMinRounds || desc.budget <= std::chrono::milliseconds(0)) {
    fail(ErrorCode::InvalidArgument, Stage::Launch, label,
         concat("tune of graph ", label, ": at least ", PairedTrial::kMinRounds,
                " pairs and a positive budget are required"));
  }
}

TuneReport tune(CompiledGraph& graph, const std::shared_ptr<QueueCore>& queue,
                const TuneDesc& desc) {
  const Clock::time_point start = Clock::now();
  check_desc(graph, queue, desc);
  const auto lock = graph.lock_updates();
  GraphReplica& replica = graph.first();
  replica.require_updatable("tune");
  replica.require_launchable(*queue, Stage::Launch);
  if (replica.index().count != 1) {
    fail(ErrorCode::Unsupported, Stage::Launch, graph.label(),
         concat("tune: graph ", graph.label(), " has ", replica.index().count,
                " replicas; tune a graph of the same recording with one replica, save_tuning() it, "
                "and compile this graph with that tuning_file"));
  }
  const ResidencyPin pin(replica);  // candidates use the slab without the replica's mutex
  const std::shared_ptr<const Plan> plan = replica.executable().plan();
  require_no_collectives(*plan->recording, "tune",
                         "each rank would measure, and might choose, other lowerings");
  TuneReport report;
  report.plan_hash = plan->plan_hash;
  std::vector<LoweringConfig> choices;
  {
    TuningRun tuning(replica, queue, desc);
    tuning.save();
    NodeHints hints = known_hints(replica.executable().spec().costs.get(), *plan);
    if (std::vector<std::uint32_t> costs = tuning.measured_costs(); !costs.empty())
      hints.costs = std::move(costs);
    const DeviceInfo& device = graph.device()->info();
    const bool has_priorities = device.kind != DeviceKind::Host;
    if (device.limits.max_segment_blocks != 0)
      add_segment_hints(*plan->recording, plan->dependencies, device.limits.max_segment_blocks,
                        hints);
    choices = tuning_candidates(plan->dependencies, hints,
                                has_priorities ? DevicePriorities::Yes : DevicePriorities::No);

    // Candidate 0 is the current graph. Choices that lower to the same graph are skipped.
    report.candidates.push_back({.name = "as it was", .slab_bytes = plan->placement.slab_bytes});
    tuning.candidates_.push_back(make_candidate(replica, plan));
    std::vector<LoweringConfig> kept{LoweringConfig{}};
    std::unordered_set<std::uint64_t> made{hash_execution(plan->lowered, plan->placement)};
    PairedTrial series(static_cast<std::uint32_t>(choices.size()) + 1);
    for (LoweringConfig& choice : choices) {
      const auto index = static_cast<std::uint32_t>(report.candidates.size());
      TuneCandidate candidate{.name = name_of(choice)};
      std::unique_ptr<GraphExecutable> executable;
      if (Clock::now() - start > desc.budget / 2) {
        candidate.reason = "the budget left no time to make it";
      } else {
        try {
          auto other = lower_again(*plan, choice, tuning.alignment());
          candidate.slab_bytes = other->placement.slab_bytes;
          if (!made.insert(hash_execution(other->lowered, other->placement)).second) {
            candidate.reason = "the same graph as an earlier candidate";
          } else {
            executable = make_candidate(replica, std::move(other));
          }
        } catch (const Error& error) {
          // The driver may be unable to compile a segment's kernel.
          if (!lacks_memory(error) && choice.shape != LoweringConfig::Shape::Segments) throw;
          candidate.reason = error.what();
        }
      }
      if (!candidate.reason.empty()) series.drop(index, candidate.reason);
      report.candidates.push_back(std::move(candidate));
      tuning.candidates_.push_back(std::move(executable));
      kept.push_back(std::move(choice));
    }
    choices = std::move(kept);
    for (auto& executable : tuning.candidates_) {
      if (executable) static_cast<void>(tuning.time(*executable->exec, 1));
    }
    const double once = tuning.time(*tuning.candidates_[0]->exec, 1);
    const auto replays = static_cast<std::uint32_t>(
        std::clamp(std::ceil(kSampleNs / std::max(once, 1.0)), 1.0, double{kMaxReplays}));
    const auto measure = [&](std::uint32_t i) {
      return tuning.time(*tuning.candidates_[i]->exec, replays);
    };
    series.run({.rounds = desc.pairs, .until = start + desc.budget, .measure = measure});
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
      if (tuning.candidates_[i]) {
        const LoweredGraph& lowered = tuning.candidates_[i]->plan()->lowered;
        candidate.nodes = static_cast<std::uint32_t>(lowered.nodes.size());
        candidate.edges = static_cast<std::uint32_t>(lowered.edges.size());
        candidate.lanes = lowered.lanes;
      }
    }
    tuning.choose(series, {.pairs = desc.pairs, .replays = replays, .until = start + desc.budget},
                  report);
    tuning.finish();
    for (auto& executable : tuning.candidates_) {
      if (const std::exception_ptr thrown =
              executable ? executable->exec->callback_error(1) : nullptr)
        std::rethrow_exception(thrown);
    }
    if (report.chosen != 0)
      select_tuned(graph, queue, tuning.candidates_[report.chosen]->plan(), report);
  }
  if (report.chosen != 0) graph.set_tuned(std::move(choices[report.chosen]));
  report.time = Clock::now() - start;
  return report;
}

}  // namespace

}  // namespace reprise::detail

namespace reprise {

namespace {

detail::CompiledGraph& checked(const std::shared_ptr<detail::CompiledGraph>& core,
                               std::string_view call, Stage stage) {
  return detail::require_handle(core, "CapturedGraph", call, stage);
}

}  // namespace

TuneReport CapturedGraph::tune(const Queue& queue, const TuneDesc& desc) {
  return detail::tune(checked(core_, "tune", Stage::Launch), detail::core_of(queue), desc);
}

void CapturedGraph::save_tuning(const std::filesystem::path& path) const {
  detail::CompiledGraph& graph = checked(core_, "save_tuning", Stage::Lowering);
  const auto lock = graph.lock_updates();
  if (!graph.tuned()) {
    detail::fail(ErrorCode::InvalidState, Stage::Lowering, graph.label(),
                 detail::concat("graph ", graph.label(),
                                " has no tuned lowering to save: it is lowered as compiled"));
  }
  detail::write_tuning(path, {graph.device()->info().name, graph.plan().plan_hash}, *graph.tuned());
}

}  // namespace reprise
