#include "run/online_tuning.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <utility>

#include "base/paired_ratios.hpp"
#include "base/text.hpp"
#include "lanes/tuning_choices.hpp"
#include "plan/plan_hash.hpp"
#include "run/compile_stages.hpp"
#include "run/device_core.hpp"
#include "run/failure.hpp"
#include "run/node_costs.hpp"
#include "run/queue_core.hpp"
#include "run/retire_queue.hpp"

namespace reprise::detail {

namespace {

using Next = BackgroundJob::Next;
using Stretch = LaunchMeter::Stretch;

constexpr std::uint32_t kCostReplays = 5;
constexpr double kFaster = 0.98, kSurelyFaster = 0.995;  // the median of the ratios, and the upper end of their interval
constexpr double kHopeless = 1.25;                        // after one stretch of each it is not worth going on

// Times that a device keeps itself are fetched; others have been told already.
void collect_times(const GraphBody& body) {
  if (const auto source = body.exec->replay_source()) static_cast<void>(source->collect(*body.watched));
}

// The medians of the stretches.
std::vector<double> medians(const std::vector<double>& times, std::uint32_t stretch) {
  std::vector<double> result;
  for (std::size_t first = 0; first + stretch <= times.size(); first += stretch) {
    const auto begin = times.begin() + static_cast<std::ptrdiff_t>(first);
    result.push_back(median_of({begin, begin + stretch}));
  }
  return result;
}

}  // namespace

std::string why_not_online(const DeviceCore& device, const Plan& plan, std::uint32_t instances) {
  if (device.trace() != nullptr) return "the times of its replays are a trace's; save_tuning() without one, and compile with that tuning_file";
  if (instances > 1) return concat("it has ", instances, " instances");
  if (!plan.bodies.empty()) return "what its nested and conditional commands take differs from replay to replay";
  if (plan.lowered.fault_markers) return "its lowering has fault markers";
  const bool has_host_ops = device.info().kind == DeviceKind::Host;
  for (const Command& command : plan.recording->commands) {
    const bool may_throw = command.kind == CommandKind::Host || (command.kind == CommandKind::Op && has_host_ops);
    if (may_throw) return "what its host callbacks throw is told by the executable that ran them";
  }
  return {};
}

void GraphCore::tune_online(const std::shared_ptr<GraphCore>& self) {
  online_ = std::make_unique<Online>(OnlineTuningReport{.state = OnlineTuningReport::State::Underway});
  is_watched_.store(true, std::memory_order_release);
  device_->background().add(std::make_unique<OnlineJob>(self));
}

void GraphCore::refuse_online_tuning(std::string why) {
  online_ = std::make_unique<Online>(OnlineTuningReport{.state = OnlineTuningReport::State::Over, .reason = std::move(why)});
}

OnlineTuningReport GraphCore::online_tuning() const { return online_ ? online_->report() : OnlineTuningReport{}; }

void GraphCore::end_online_tuning(std::string_view why) {
  if (!online_) return;
  std::lock_guard one(updating_);
  std::lock_guard lock(mutex_);
  online_->forget_rival(*this, why);
}

Next GraphCore::OnlineJob::step() noexcept {
  const RetireQueue::Hold hold;
  if (!hold) return Next::Over;
  const std::shared_ptr<GraphCore> graph = graph_.lock();  // goes before the hold does
  if (!graph) return Next::Over;
  std::lock_guard one(graph->updating_);
  return graph->online_->step(*graph);
}

GraphBody& GraphCore::Online::turn(GraphCore& graph) noexcept {
  switch (rival_is_) {
    case Rival::None:
    case Rival::Lost: break;
    case Rival::TakesTurns: return turns_++ / kStretch % 2 == 0 ? *graph.body_ : *rival_;
    case Rival::Chosen:
      rival_->last = graph.body_->last;
      rival_->replays_before = graph.body_->replays_before;
      if (!rival_->memory.own) rival_->memory.own = std::move(graph.body_->memory.own);
      graph.body_.swap(rival_);
      retire_rival(graph);
      break;
  }
  return *graph.body_;
}

void GraphCore::Online::follow(GraphCore& graph) noexcept {
  if (rival_is_ != Rival::TakesTurns && rival_is_ != Rival::Chosen) return;
  try {
    graph.bring_up_to_date(*rival_);
  } catch (const std::exception&) {
    rival_is_ = Rival::Lost;  // what it would launch is not what the graph does
  }
}

void GraphCore::Online::forget_rival(GraphCore& graph, std::string_view why) noexcept {
  retire_rival(graph);
  if (why_ended_.empty()) why_ended_ = why;
}

void GraphCore::Online::leave(GraphCore& graph) noexcept { retire_rival(graph); }

void GraphCore::Online::retire_rival(GraphCore& graph) noexcept {
  rival_is_ = Rival::None;
  if (!rival_) return;
  rival_->last = graph.body_->last;
  graph.device_->retired().push(std::move(rival_));
}

OnlineTuningReport GraphCore::Online::report() const {
  std::lock_guard lock(reporting_);
  OnlineTuningReport report = report_;
  if (report.state == OnlineTuningReport::State::Off) return report;
  report.before = meter_.times(Stretch::Before);
  report.meanwhile = meter_.times(Stretch::Meanwhile);
  return report;
}

Next GraphCore::Online::step(GraphCore& graph) noexcept {
  std::string_view why;
  Rival rival = Rival::None;
  {
    std::lock_guard lock(graph.mutex_);
    why = why_ended_;
    rival = rival_is_;
  }
  try {
    if (!why.empty()) return end(graph, why);
    if (rival == Rival::Lost) return end(graph, "an update could not be passed on to the executable that was being tried");
    return advance(graph);
  } catch (const std::exception& error) {
    stop(graph);
    try {
      return end(graph, error.what());
    } catch (const std::exception&) {
      return Next::Over;  // no memory for a word about it
    }
  }
}

Next GraphCore::Online::advance(GraphCore& graph) {
  switch (phase_) {
    case Phase::Quiet: {
      if (meter_.launches(Stretch::Before) < kLaunchesBefore) return Next::Again;
      const PagesKept pages(graph);  // for a twin
      meter_.begin(Stretch::Meanwhile);
      graph.body_->watched->open(kCostReplays, ReplayTimes::Nodes::Yes);
      if (const auto source = graph.body_->exec->replay_source()) source->time_nodes(kCostReplays, ReplaySource::Closeness::Cheap);
      phase_ = Phase::Costs;
      return Next::Again;
    }
    case Phase::Costs: {
      const GraphBody& body = *graph.body_;
      collect_times(body);
      const auto source = body.exec->replay_source();
      const bool is_over = body.watched->is_full() || (source && !source->is_timing_nodes());
      if (!is_over) return Next::Again;
      if (body.watched->noted() == 0) return end(graph, "the device told no times of its nodes");
      NodeHints hints = hints_of(*body.plan->recording, body.plan->schedule);
      hints.costs = body.watched->node_costs(source ? kStampOverheadNs : 0);
      choices_ = likely_choices(body.plan->schedule, hints);
      return try_next(graph);
    }
    case Phase::Trial: return judge(graph);
    case Phase::Taking: {
      std::lock_guard lock(graph.mutex_);
      if (rival_is_ == Rival::Chosen) return Next::Again;  // until the next launch
      break;
    }
  }
  {
    std::lock_guard lock(reporting_);
    report_.tries.back().kept = true;
  }
  graph.tuned_ = choices_[next_choice_ - 1];
  return try_next(graph);
}

// Null, with the reason in `tried`, where it would be a graph that there is or was, or lacks memory.
std::unique_ptr<GraphBody> GraphCore::Online::make_rival(GraphCore& graph, const LoweringChoice& choice, OnlineTry& tried) {
  const GraphBody& body = *graph.body_;
  auto plan = lower_again(*body.plan, choice, graph.device_->info().limits.buffer_alignment);
  const std::uint64_t hash = hash_execution(plan->lowered, plan->placement);
  const bool was_tried = std::find(tried_.begin(), tried_.end(), hash) != tried_.end();
  if (was_tried || hash == hash_execution(body.plan->lowered, body.plan->placement)) return nullptr;
  tried_.push_back(hash);
  tried = {.name = name_of(choice), .lanes = plan->lowered.lanes};
  if (body.memory_goal != MemoryGoal::Speed && plan->placement.slab_bytes > body.memory.bytes) {
    tried.reason = concat("it needs ", plan->placement.slab_bytes, " bytes of transients, which the graph's memory goal gave up");
    return nullptr;
  }
  try {
    auto rival = graph.make_other_body(std::move(plan), Watched::Yes);
    // On a queue of its own: the application's has other things to do.
    const auto queue = graph.device_->backend().create_queue("online tuning");
    rival->exec->upload(*queue);
    static_cast<void>(queue->wait(queue->mark(), std::nullopt));
    return rival;
  } catch (const Error& error) {
    if (!lacks_memory(error)) throw;
    tried.reason = error.what();
    return nullptr;
  }
}

Next GraphCore::Online::try_next(GraphCore& graph) {
  const PagesKept pages(graph);  // nodes are made and set
  std::size_t tries = 0;
  {
    std::lock_guard lock(reporting_);
    tries = report_.tries.size();
  }
  while (tries < kMostTries && next_choice_ < choices_.size()) {
    OnlineTry tried;
    std::unique_ptr<GraphBody> rival = make_rival(graph, choices_[next_choice_++], tried);
    if (!rival && tried.reason.empty()) continue;
    ++tries;
    {
      std::lock_guard lock(reporting_);
      report_.tries.push_back(std::move(tried));
    }
    if (!rival) continue;
    graph.body_->watched->open(kPairs * kStretch, ReplayTimes::Nodes::No);
    rival->watched->open(kPairs * kStretch, ReplayTimes::Nodes::No);
    std::lock_guard lock(graph.mutex_);
    graph.bring_up_to_date(*rival);
    rival_ = std::move(rival);
    rival_is_ = Rival::TakesTurns;
    turns_ = 0;
    phase_ = Phase::Trial;
    return Next::Again;
  }
  return end(graph, tries == 0 ? "no lowering is likely to be faster than the one that it has" : "");
}

Next GraphCore::Online::judge(GraphCore& graph) {
  const GraphBody* rival = nullptr;
  {
    std::lock_guard lock(graph.mutex_);
    rival = rival_.get();  // stays while the graph is being updated by this
  }
  collect_times(*graph.body_);
  collect_times(*rival);
  const std::vector<double> ours = medians(rival->watched->durations(), kStretch), theirs = medians(graph.body_->watched->durations(), kStretch);
  const std::size_t pairs = std::min(ours.size(), theirs.size());
  const RatioInterval ratio = ratio_interval(std::span(ours).first(pairs), std::span(theirs).first(pairs));
  const bool is_hopeless = pairs != 0 && ratio.low > kHopeless;
  if (pairs < kPairs && !is_hopeless) return Next::Again;
  const bool is_faster = ratio.median < kFaster && ratio.high < kSurelyFaster;
  {
    std::lock_guard lock(reporting_);
    OnlineTry& tried = report_.tries.back();
    tried.pairs = static_cast<std::uint32_t>(pairs);
    tried.ratio = ratio.median;
    tried.ratio_low = ratio.low;
    tried.ratio_high = ratio.high;
    if (!is_faster) tried.reason = is_hopeless ? "slower beyond doubt" : "not faster beyond doubt";
  }
  {
    std::lock_guard lock(graph.mutex_);
    if (is_faster && rival_is_ == Rival::TakesTurns) {
      rival_is_ = Rival::Chosen;
      phase_ = Phase::Taking;
      return Next::Again;
    }
    retire_rival(graph);
  }
  return try_next(graph);
}

void GraphCore::Online::stop(GraphCore& graph) noexcept {
  graph.is_watched_.store(false, std::memory_order_release);
  {
    std::lock_guard lock(graph.mutex_);
    retire_rival(graph);
  }
  if (graph.body_->watched) {
    graph.body_->watched->close();
    if (const auto source = graph.body_->exec->replay_source()) source->pause();
  }
  std::lock_guard lock(reporting_);
  report_.state = OnlineTuningReport::State::Over;
}

Next GraphCore::Online::end(GraphCore& graph, std::string_view reason) {
  {
    std::lock_guard lock(reporting_);
    report_.reason = reason;
    if (!report_.tries.empty() && !report_.tries.back().kept && report_.tries.back().reason.empty()) report_.tries.back().reason = reason;
  }
  stop(graph);
  return Next::Over;
}

}  // namespace reprise::detail
