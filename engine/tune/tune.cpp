// CapturedGraph::tune: measures other lowerings of a graph beside the current one, and selects the
// fastest.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
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
#include "plan/plan_hash.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "runtime/graph/graph_candidate.hpp"
#include "runtime/graph/replica_snapshot.hpp"
#include "runtime/queue/queue_core.hpp"
#include "tune/node_costs.hpp"
#include "tune/paired_trial.hpp"
#include "tune/tuning_ranks.hpp"

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
// them. Restores buffer contents before each measurement if TuneDesc::contents requests it.
class TuningRun {
 public:
  // All references outlive the object.
  TuningRun(GraphReplica& replica, std::shared_ptr<QueueCore> queue, const TuneDesc& desc,
            const TuningRanks& ranks)
      : replica_(replica),
        queue_(std::move(queue)),
        desc_(desc),
        ranks_(ranks),
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
    saved_.emplace(replica_, queue_, BufferKind::Device, "tune",
                   "if they may be repeated, set .contents = TuneDesc::Contents::Repeatable");
  }
  // Restores contents for the last time, and waits.
  void finish() {
    restore();
    wait();
    saved_.reset();
  }

  // Nanoseconds of one of `replays` replays, on the slowest rank.
  [[nodiscard]] double time(BackendExec& exec, std::uint32_t replays) {
    restore();
    wait();
    // One more replay, whose collectives make the ranks start together.
    if (ranks_.has_collectives()) replay(exec);
    if (stopwatch_) {
      stopwatch_->start();
      for (std::uint32_t i = 0; i < replays; ++i) replay(exec);
      stopwatch_->stop();
      return ranks_.largest(stopwatch_->nanoseconds() / replays);
    }
    if (ranks_.has_collectives()) wait();
    const Clock::time_point start = Clock::now();
    for (std::uint32_t i = 0; i < replays; ++i) replay(exec);
    wait();
    return ranks_.largest(std::chrono::duration<double, std::nano>(Clock::now() - start).count() /
                          replays);
  }

  struct Finals {
    std::uint32_t pairs = 0, replays = 0;
    std::function<bool()> is_over;  // no further trial starts after this
  };
  // Selects the winner of `series` if it wins a second trial against the current graph. The best of
  // many measurements is partly luck, and CUDA instantiates some executables of the same graph
  // faster than others: the second trial uses new executables of both.
  void choose(PairedTrial& series, const Finals& finals, TuneReport& report) {
    for (std::uint32_t tried = 0; tried < kMaxFinals && (tried == 0 || !finals.is_over());
         ++tried) {
      const std::uint32_t best = series.winner();
      if (best == 0) return;
      PairedTrial final_trial(2);
      report.candidates[best].reason = ranks_.attempt(
          [&] {
            remake(0);
            remake(best);
          },
          lacks_memory);
      if (!report.candidates[best].reason.empty()) return;
      for (const std::uint32_t i : {0U, best}) static_cast<void>(time(*candidates_[i]->exec, 1));
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
    std::shared_ptr<const Plan> plan;
    // The cost of a body depends on how often it runs.
    if (current.plan()->bodies.empty()) {
      PlanOptions options = current.spec().options;
      options.lowering.fault_markers = false;
      options.memory_search_budget = {};
      plan = lower_again(*current.plan(),
                         {.shape = LoweringConfig::Shape::Lanes, .lanes = kCostLanes}, options);
      if (plan->placement.slab_bytes > current.memory.bytes) plan = nullptr;
    }
    if (!ranks_.all(plan != nullptr)) return {};
    const Bindings bindings = bindings_for(replica_, *plan, current.memory.address);
    const auto run = [&](BackendExec& exec) {
      restore();
      replay(exec);
      wait();
    };
    // Another rank may lack times that this one has.
    const auto goes_on = [&](bool lacks_times) { return !ranks_.all(!lacks_times); };
    return measure_node_costs(replica_.device()->backend(), plan, bindings, {run, goes_on});
  }

  std::vector<std::unique_ptr<GraphExecutable>> candidates_;  // null: could not be made

 private:
  void launch(BackendExec& exec) { replica_.launch_uncounted(queue_, exec); }
  void replay(BackendExec& exec) {
    const LaunchedCollectives& collectives = replica_.executable().spec().collectives;
    for (RankAgreement* const ranks : collectives.ranks)
      ranks->record_launch(collectives.hash, 0, 0, nullptr);
    launch(exec);
  }
  void wait() { wait_for_launches(replica_); }
  void restore() {
    if (saved_) saved_->restore();
  }

  // Replaces a candidate's executable by a new one of the same plan.
  void remake(std::uint32_t index) {
    auto candidate = make_candidate(replica_, candidates_[index]->plan());
    candidate.swap(candidates_[index]);
    const std::exception_ptr thrown = candidate->exec->callback_error(1);
    retire(std::move(candidate));
    if (thrown) std::rethrow_exception(thrown);
  }

  void retire(std::unique_ptr<GraphExecutable> candidate) {
    candidate->last = replica_.last();
    replica_.device()->deferred().push(std::move(candidate));
  }

  GraphReplica& replica_;
  const std::shared_ptr<QueueCore> queue_;
  const TuneDesc& desc_;
  const TuningRanks& ranks_;
  std::unique_ptr<QueueStopwatch> stopwatch_;
  std::optional<ReplicaSnapshot> saved_;
};

// Makes the graph run `plan` in a new executable, whose replays count from 1. Keeps the graph
// unchanged if memory is short.
void select_tuned(CompiledGraph& graph, const std::shared_ptr<QueueCore>& queue,
                  const std::shared_ptr<const Plan>& plan, const TuningRanks& ranks,
                  TuneReport& report) {
  std::unique_ptr<GraphExecutable> next;
  const std::string reason = ranks.attempt(
      [&] {
        next = make_candidate(graph.first(), plan);
        next->exec->upload(queue->backend());
      },
      lacks_memory);
  if (reason.empty()) return select_candidate(graph, std::move(next));
  report.candidates[report.chosen].reason = reason;
  report.chosen = 0;
}

bool is_no_reason(const Error&) { return false; }
bool is_any_reason(const Error&) { return true; }

void check_desc(CompiledGraph& graph, const std::shared_ptr<QueueCore>& queue,
                const TuneDesc& desc) {
  const std::string& label = graph.label();
  if (!queue) fail_empty("Queue", concat("tune of graph ", label), Stage::Launch, label);
  require_enumerator("TuneDesc::contents", desc.contents, Stage::Launch, label);
  if (desc.pairs < PairedTrial::kMinRounds || desc.budget <= std::chrono::milliseconds(0)) {
    fail(ErrorCode::InvalidArgument, Stage::Launch, label,
         concat("tune of graph ", label, ": ", desc.pairs, " pairs in ", desc.budget.count(),
                " ms; at least ", PairedTrial::kMinRounds, " pairs and 1 ms are required"));
  }
}

// The choices that every rank has, in an order that is equal on all ranks.
std::vector<LoweringConfig> common_choices(std::vector<LoweringConfig> own,
                                           const TuningRanks& ranks) {
  std::vector<std::string> names;
  for (const LoweringConfig& choice : own) names.push_back(name_of(choice));
  std::vector<LoweringConfig> choices;
  for (const std::string& name : ranks.common(names)) {
    const auto at = std::find(names.begin(), names.end(), name) - names.begin();
    choices.push_back(std::move(own[static_cast<std::size_t>(at)]));
  }
  return choices;
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
  const TuningRanks ranks(replica.executable().spec().collectives, graph.label());
  ranks.require_equal(concat(desc.pairs, " pairs, a budget of ", desc.budget.count(), " ms and ",
                             to_string(desc.contents), " contents"));
  const auto is_past = [&ranks, start](std::chrono::milliseconds limit) {
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    return ranks.first(elapsed >= limit);
  };
  const auto is_over = [&] { return is_past(desc.budget); };
  TuneReport report;
  report.plan_hash = plan->plan_hash;
  std::vector<LoweringConfig> choices;
  std::shared_ptr<const Plan> selected;  // null: the graph keeps its lowering
  {
    TuningRun tuning(replica, queue, desc, ranks);
    static_cast<void>(ranks.attempt([&] { tuning.save(); }, is_no_reason));
    const PlanOptions options = replica.executable().spec().options;
    NodeHints hints = known_hints(options.costs.get(), *plan);
    if (std::vector<std::uint32_t> costs = tuning.measured_costs(); !costs.empty())
      hints.costs = std::move(costs);
    if (options.segment_lists != 0 && options.lowering.segments)
      add_segment_hints(*plan->recording, plan->dependencies, options.segment_lists, true, hints);
    choices = common_choices(tuning_candidates(plan->dependencies, hints), ranks);

    // Candidate 0 is the current graph. Choices that lower to the same graph are skipped.
    report.candidates.push_back({.name = "as it was", .slab_bytes = plan->placement.slab_bytes});
    const auto make = [&](const std::shared_ptr<const Plan>& of,
                          bool (*is_expected)(const Error&)) {
      std::unique_ptr<GraphExecutable> next;
      std::string reason = ranks.attempt([&] { next = make_candidate(replica, of); }, is_expected);
      if (!reason.empty()) next.reset();  // another rank failed
      tuning.candidates_.push_back(std::move(next));
      return reason;
    };
    static_cast<void>(make(plan, is_no_reason));
    std::unordered_set<std::uint64_t> made{hash_execution(plan->lowered, plan->placement)};
    PairedTrial series(static_cast<std::uint32_t>(choices.size()) + 1);
    for (const LoweringConfig& choice : choices) {
      const auto index = static_cast<std::uint32_t>(report.candidates.size());
      TuneCandidate candidate{.name = name_of(choice)};
      if (is_past(desc.budget / 2)) {
        candidate.reason = "the budget left no time to make it";
      } else {
        // The driver may be unable to compile a segment's kernel.
        const auto is_expected =
            choice.shape == LoweringConfig::Shape::Segments ? is_any_reason : lacks_memory;
        std::shared_ptr<const Plan> other;
        candidate.reason =
            ranks.attempt([&] { other = lower_again(*plan, choice, options); }, is_expected);
        if (candidate.reason.empty()) {
          candidate.slab_bytes = other->placement.slab_bytes;
          const bool is_known =
              !made.insert(hash_execution(other->lowered, other->placement)).second;
          candidate.reason = ranks.all(is_known) ? "the same graph as an earlier candidate"
                                                 : make(other, is_expected);
        }
      }
      if (tuning.candidates_.size() == index) tuning.candidates_.push_back(nullptr);
      if (!candidate.reason.empty()) series.drop(index, candidate.reason);
      report.candidates.push_back(std::move(candidate));
    }
    for (auto& executable : tuning.candidates_) {
      if (executable) static_cast<void>(tuning.time(*executable->exec, 1));
    }
    const double once = tuning.time(*tuning.candidates_[0]->exec, 1);
    const auto replays = static_cast<std::uint32_t>(
        std::clamp(std::ceil(kSampleNs / std::max(once, 1.0)), 1.0, double{kMaxReplays}));
    const auto measure = [&](std::uint32_t i) {
      return tuning.time(*tuning.candidates_[i]->exec, replays);
    };
    series.run({.rounds = desc.pairs, .is_over = is_over, .measure = measure});
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
    tuning.choose(series, {.pairs = desc.pairs, .replays = replays, .is_over = is_over}, report);
    tuning.finish();
    for (auto& executable : tuning.candidates_) {
      if (const std::exception_ptr thrown =
              executable ? executable->exec->callback_error(1) : nullptr)
        std::rethrow_exception(thrown);
    }
    if (report.chosen != 0) selected = tuning.candidates_[report.chosen]->plan();
  }
  // After the candidates, which may use the slab that the selection replaces.
  if (selected) select_tuned(graph, queue, selected, ranks, report);
  if (report.chosen != 0) graph.set_tuned(std::move(choices[report.chosen - 1]));
  report.time = Clock::now() - start;
  return report;
}

}  // namespace

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

namespace {

detail::CompiledGraph& checked(const std::shared_ptr<detail::CompiledGraph>& core,
                               std::string_view call, Stage stage) {
  return detail::require_handle(core, "CapturedGraph", call, stage);
}

}  // namespace

TuneReport CapturedGraph::tune(const Queue& queue, const TuneDesc& desc) {
  detail::CompiledGraph& graph = checked(core_, "tune", Stage::Launch);
  detail::require_outside_callback("CapturedGraph", "tune", Stage::Launch, graph.label());
  return detail::tune(graph, detail::core_of(queue), desc);
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

}  // namespace reprise::inline REPRISE_ABI
