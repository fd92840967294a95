#include "injection/observed_exec.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/steady_clock.hpp"

namespace reprise::detail {
namespace {

constexpr trace::Time kSecond = 1'000'000'000;

}  // namespace

ObservedExec::ObservedExec(Identity identity, ObservedGraph graph)
    : identity_(std::move(identity)), graph_(std::make_shared<ObservedGraph>(std::move(graph))) {
  index();
}

void ObservedExec::index() {
  by_handle_.clear();
  nodes_by_id_.clear();
  expected_ = 0;
  runs_vary_ = false;
  for (const ObservedNode& node : graph_->nodes) {
    switch (node.recorded) {
      case ObservedNode::Recorded::Never: break;
      case ObservedNode::Recorded::EachReplay:
        expected_ += node.enabled == ObservedNode::Enabled::Yes ? 1 : 0;
        break;
      case ObservedNode::Recorded::Sometimes: runs_vary_ = true; break;
    }
  }
}

// A picture of the graph stays as it is.
ObservedGraph& ObservedExec::own_graph() {
  if (graph_.use_count() > 1) graph_ = std::make_shared<ObservedGraph>(*graph_);
  return *graph_;
}

void ObservedExec::count_change(std::uint32_t node) {
  changes_.resize(graph_->nodes.size());
  ++changes_[node];
}

std::vector<trace::NodeChanges> ObservedExec::changes() const {
  std::vector<trace::NodeChanges> counts;
  for (std::uint32_t node = 0; node < graph_->nodes.size(); ++node) {
    const std::uint64_t count = replaced_ + (changes_.empty() ? 0 : changes_[node]);
    if (count != 0) counts.push_back({node, count});
  }
  return counts;
}

void ObservedExec::replace(ObservedGraph graph) {
  // The executable's nodes keep their handles, which updates of single nodes use, and their
  // profiler numbers.
  if (graph.nodes.size() == graph_->nodes.size()) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      graph.nodes[i].handle = graph_->nodes[i].handle;
      graph.nodes[i].number = graph_->nodes[i].number;
    }
  } else {
    changes_.clear();
  }
  graph_ = std::make_shared<ObservedGraph>(std::move(graph));
  kernels_are_known_ = true;
  ++replaced_;
  index();
}

void ObservedExec::replace_unread() {
  kernels_are_known_ = false;
  ++replaced_;
}

void ObservedExec::count_launch(const CallFrame* stack) {
  const auto known = std::find_if(launches.begin(), launches.end(),
                                  [&](const LaunchCount& one) { return one.stack == stack; });
  if (known != launches.end()) {
    ++known->launches;
  } else {
    launches.push_back({stack, 1});
  }
}

std::uint32_t ObservedExec::find(std::uint64_t handle) {
  if (by_handle_.empty()) {
    for (std::uint32_t i = 0; i < graph_->nodes.size(); ++i) {
      if (graph_->nodes[i].handle != 0) by_handle_.emplace(graph_->nodes[i].handle, i);
    }
  }
  const auto found = by_handle_.find(handle);
  return found == by_handle_.end() ? trace::kNone : found->second;
}

std::uint32_t ObservedExec::change(std::uint64_t handle, const ObservedNode& now,
                                   const ObservedKernel* kernel) {
  const std::uint32_t at = find(handle);
  if (at == trace::kNone) return at;
  ObservedGraph& graph = own_graph();
  ObservedNode& node = graph.nodes[at];
  if (kernel != nullptr) {
    const auto is_same = [&](const ObservedKernel& k) { return k.full_name == kernel->full_name; };
    if (node.kernel == trace::kNone || !is_same(graph.kernels[node.kernel])) {
      const auto same = std::find_if(graph.kernels.begin(), graph.kernels.end(), is_same);
      node.kernel = static_cast<std::uint32_t>(same - graph.kernels.begin());
      if (same == graph.kernels.end()) graph.kernels.push_back(*kernel);
    }
  } else if (node.kernel == trace::kNone) {
    node.name = now.name;
  }
  std::copy(std::begin(now.grid), std::end(now.grid), node.grid);
  std::copy(std::begin(now.block), std::end(now.block), node.block);
  node.shared_bytes = now.shared_bytes;
  node.bytes = now.bytes;
  node.accesses.assign(now.accesses.begin(), now.accesses.end());
  if (node.recorded == ObservedNode::Recorded::EachReplay && node.recorded != now.recorded) {
    node.recorded = now.recorded;
    index();
  }
  count_change(at);
  return at;
}

std::uint32_t ObservedExec::enable(std::uint64_t handle, ObservedNode::Enabled enabled) {
  const std::uint32_t at = find(handle);
  if (at == trace::kNone || graph_->nodes[at].enabled == enabled) return trace::kNone;
  ObservedNode& node = own_graph().nodes[at];
  node.enabled = enabled;
  if (node.recorded == ObservedNode::Recorded::EachReplay)
    enabled == ObservedNode::Enabled::Yes ? ++expected_ : --expected_;
  count_change(at);
  return at;
}

void ObservedExec::expect(const trace::Replay& replay, std::uint32_t correlation) {
  PendingReplay pending;
  pending.replay = replay;
  pending.correlation = correlation;
  pending.samples.reserve(expected_);
  pending_.push_back(std::move(pending));
}

std::uint32_t ObservedExec::node_of(const ObservedRun& run) {
  if (nodes_by_id_.empty()) {
    for (std::uint32_t i = 0; i < graph_->nodes.size(); ++i) {
      const ObservedNode& node = graph_->nodes[i];
      if (node.recorded != ObservedNode::Recorded::Never && node.number != trace::kNone)
        nodes_by_id_.emplace((std::uint64_t{identity_.profiler_id} << 32) | node.number, i);
    }
  }
  const auto known = nodes_by_id_.find(run.node);
  if (known == nodes_by_id_.end()) return trace::kNone;
  const ObservedNode& node = graph_->nodes[known->second];
  // A different kernel name means that CUDA numbers the nodes differently than assumed. Fills may
  // run as kernels.
  if (kernels_are_known_ && node.kernel != trace::kNone && !run.kernel.empty() &&
      graph_->kernels[node.kernel].full_name != run.kernel)
    return trace::kNone;
  return known->second;
}

std::optional<trace::Sample> ObservedExec::sample_of(const ObservedRun& run) {
  const std::uint32_t node_index = node_of(run);
  if (node_index == trace::kNone) return std::nullopt;
  const bool is_timed = run.started != 0 && run.ended != 0;
  return trace::Sample{node_index, 0, is_timed ? run.started : 0,
                       is_timed ? saturated_ns(run.ended - run.started) : 0,
                       static_cast<std::uint16_t>(run.stream)};
}

void ObservedExec::take(const ObservedRun& run, std::uint64_t replay, trace::Time now) {
  const auto pending = std::lower_bound(
      pending_.begin(), pending_.end(), replay,
      [](const PendingReplay& one, std::uint64_t number) { return one.replay.replay < number; });
  if (pending == pending_.end() || pending->replay.replay != replay) return;
  pending->last_arrival = now;
  ++pending->runs;
  if (const auto sample = sample_of(run)) pending->samples.push_back(*sample);
}

void ObservedExec::take_unnumbered(const ObservedRun& run, trace::Time now) {
  if (pending_.empty()) return;
  last_unnumbered_arrival_ = now;
  const auto sample = sample_of(run);
  if (!sample || sample->started == 0) return;
  if (!unnumbered_.empty() && sample->started < unnumbered_.back().started)
    unnumbered_are_sorted_ = false;
  unnumbered_.push_back(*sample);
  const trace::Time latest =
      arrived_.empty() ? sample->started : std::max(arrived_.back().latest_start, sample->started);
  if (arrived_.empty() || arrived_.back().at != now) arrived_.push_back({now, latest});
  arrived_.back().latest_start = latest;
}

// The start of a replay's first sample; its launch if no sample has a time.
trace::Time ObservedExec::first_start(const PendingReplay& replay) {
  trace::Time started = std::numeric_limits<trace::Time>::max();
  for (const trace::Sample& sample : replay.samples) {
    if (sample.started != 0) started = std::min(started, sample.started);
  }
  return started == std::numeric_limits<trace::Time>::max() ? replay.replay.launched : started;
}

// The runs that started before the replay at `next` did.
void ObservedExec::add_unnumbered(std::size_t next, std::vector<trace::Sample>& samples) {
  if (unnumbered_.empty()) return;
  const auto by_start = [](const trace::Sample& a, const trace::Sample& b) {
    return a.started < b.started;
  };
  if (!std::exchange(unnumbered_are_sorted_, true))
    std::sort(unnumbered_.begin(), unnumbered_.end(), by_start);
  auto end = unnumbered_.end();
  if (next < pending_.size()) {
    trace::Sample first;
    first.started = first_start(pending_[next]);
    end = std::lower_bound(unnumbered_.begin(), unnumbered_.end(), first, by_start);
  }
  samples.insert(samples.end(), unnumbered_.begin(), end);
  unnumbered_.erase(unnumbered_.begin(), end);
}

bool ObservedExec::is_complete(std::size_t at, trace::Time now) {
  const PendingReplay& first = pending_[at];
  if (!runs_vary_ && first.runs >= expected_) return true;
  // Buffers arrive in the order in which they were filled: no record of this replay is outstanding
  // once a later replay has been complete for a while.
  const auto is_settled = [&](trace::Time arrival) { return now - arrival > kSecond / 2; };
  const auto later = pending_.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  if (std::any_of(later, pending_.end(), [&](const PendingReplay& one) {
        return one.runs != 0 && is_settled(one.last_arrival);
      }))
    return true;
  // Without a run that has a correlation, the same holds once a run of a later replay is settled.
  auto unsettled = arrived_.begin();
  for (; unsettled != arrived_.end() && is_settled(unsettled->at); ++unsettled)
    settled_start_ = std::max(settled_start_, unsettled->latest_start);
  arrived_.erase(arrived_.begin(), unsettled);
  if (expected_ == 0 && later != pending_.end() && settled_start_ >= first_start(*later))
    return true;
  const trace::Time last_arrival = std::max(first.last_arrival, last_unnumbered_arrival_);
  return last_arrival != 0 && now - last_arrival > 2 * kSecond;
}

void ObservedExec::collect(trace::Time now, Outstanding rest, std::vector<Complete>& complete) {
  std::size_t at = 0;
  for (; at < pending_.size() && (rest == Outstanding::Complete || is_complete(at, now)); ++at) {
    PendingReplay& first = pending_[at];
    add_unnumbered(at + 1, first.samples);
    complete.push_back({first.replay, first.correlation, std::move(first.samples)});
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(at));
}

void ObservedExec::add_records(Complete first, std::vector<trace::Record>& records) {
  trace::SampleBlock block;
  block.graph = first.replay.graph;
  block.version = first.replay.version;
  block.replay = first.replay.replay;
  block.source = trace::SampleSource::Cupti;
  block.samples = std::move(first.samples);
  std::sort(block.samples.begin(), block.samples.end(),
            [](const trace::Sample& a, const trace::Sample& b) { return a.started < b.started; });
  std::unordered_map<std::uint32_t, std::uint32_t> runs;
  for (trace::Sample& sample : block.samples) {
    sample.occurrence = runs[sample.node]++;
    if (sample.started == 0) continue;
    if (first.replay.started == 0) first.replay.started = sample.started;
    first.replay.ended = std::max(first.replay.ended, sample.started + sample.duration);
  }
  first.replay.sampled = block.samples.empty() ? 0 : 1;
  records.emplace_back(first.replay);
  if (!block.samples.empty()) records.emplace_back(std::move(block));
}

}  // namespace reprise::detail
