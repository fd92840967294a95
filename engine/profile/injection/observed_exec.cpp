#include "profile/injection/observed_exec.hpp"

#include <algorithm>
#include <limits>

#include "base/steady_clock.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

constexpr trace::Time kSecond = 1'000'000'000;
constexpr std::uint32_t kChangesNamed = 4;  // named per version; further changes are only counted

}  // namespace

ObservedExec::ObservedExec(Identity identity, ObservedGraph graph)
    : identity_(std::move(identity)), graph_(std::move(graph)) {
  index();
}

void ObservedExec::index() {
  by_handle_.clear();
  places_.clear();
  expected_ = 0;
  runs_vary_ = false;
  for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
    const ObservedNode& node = graph_.nodes[i];
    if (node.handle != 0) by_handle_.emplace(node.handle, i);
    switch (node.recorded) {
      case ObservedNode::Recorded::Never: continue;
      case ObservedNode::Recorded::EachReplay:
        expected_ += node.enabled == ObservedNode::Enabled::Yes ? 1 : 0;
        break;
      case ObservedNode::Recorded::Sometimes: runs_vary_ = true; break;
    }
    if (node.number != trace::kNone)
      places_.emplace((std::uint64_t{identity_.profiler_id} << 32) | node.number, i);
  }
}

void ObservedExec::note(const std::string& what) {
  if (changes_.empty()) change_count_ = 0;
  ++change_count_;
  if (change_count_ > kChangesNamed + 1) {
    changes_.resize(changes_.rfind("; "));
  }
  if (change_count_ > kChangesNamed) {
    changes_ += concat("; and ", change_count_ - kChangesNamed, " more");
  } else {
    if (!changes_.empty()) changes_ += "; ";
    changes_ += what;
  }
}

void ObservedExec::replace(ObservedGraph graph, std::string what) {
  // The executable's nodes keep their handles, which updates of single nodes use, and their
  // profiler numbers.
  if (graph.nodes.size() == graph_.nodes.size()) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      graph.nodes[i].handle = graph_.nodes[i].handle;
      graph.nodes[i].number = graph_.nodes[i].number;
    }
  }
  graph_ = std::move(graph);
  index();
  note(what);
}

ObservedNode* ObservedExec::find(std::uint64_t handle) {
  const auto found = by_handle_.find(handle);
  return found == by_handle_.end() ? nullptr : &graph_.nodes[found->second];
}

void ObservedExec::change(std::uint64_t handle, const ObservedGraph& one, const std::string& what) {
  ObservedNode* const node = find(handle);
  if (node == nullptr || one.nodes.empty()) return;
  ObservedNode changed = one.nodes.front();
  if (changed.kernel != trace::kNone) {
    const ObservedKernel& kernel = one.kernels[changed.kernel];
    const auto same =
        std::find_if(graph_.kernels.begin(), graph_.kernels.end(),
                     [&](const ObservedKernel& k) { return k.full_name == kernel.full_name; });
    changed.kernel = static_cast<std::uint32_t>(same - graph_.kernels.begin());
    if (same == graph_.kernels.end()) graph_.kernels.push_back(kernel);
  }
  changed.scope = node->scope;
  changed.handle = node->handle;
  changed.number = node->number;
  changed.enabled = node->enabled;
  *node = std::move(changed);
  note(concat(what, " of node ", node - graph_.nodes.data()));
}

void ObservedExec::enable(std::uint64_t handle, ObservedNode::Enabled enabled) {
  ObservedNode* const node = find(handle);
  if (node == nullptr || node->enabled == enabled) return;
  node->enabled = enabled;
  index();
  note(concat(enabled == ObservedNode::Enabled::Yes ? "enabled" : "disabled", " node ",
              node - graph_.nodes.data()));
}

void ObservedExec::await(const trace::Replay& replay, std::uint32_t correlation) {
  Awaited awaited;
  awaited.replay = replay;
  awaited.correlation = correlation;
  awaited.samples.reserve(expected_);
  awaited_.push_back(std::move(awaited));
}

std::uint32_t ObservedExec::place_of(const ObservedRun& run) const {
  const auto known = places_.find(run.node);
  if (known == places_.end()) return trace::kNone;
  const ObservedNode& node = graph_.nodes[known->second];
  // A different kernel name means that CUDA numbers the nodes differently than assumed. Fills may
  // run as kernels.
  if (node.kernel != trace::kNone && !run.kernel.empty() &&
      graph_.kernels[node.kernel].full_name != run.kernel)
    return trace::kNone;
  return known->second;
}

std::optional<trace::Sample> ObservedExec::sample_of(const ObservedRun& run) const {
  const std::uint32_t place = place_of(run);
  if (place == trace::kNone) return std::nullopt;
  const bool is_timed = run.started != 0 && run.ended != 0;
  return trace::Sample{place, 0, is_timed ? run.started : 0,
                       is_timed ? saturated_ns(run.ended - run.started) : 0,
                       static_cast<std::uint16_t>(run.stream)};
}

void ObservedExec::take(const ObservedRun& run, std::uint64_t replay, trace::Time now) {
  const auto awaited = std::lower_bound(
      awaited_.begin(), awaited_.end(), replay,
      [](const Awaited& one, std::uint64_t number) { return one.replay.replay < number; });
  if (awaited == awaited_.end() || awaited->replay.replay != replay) return;
  awaited->touched = now;
  ++awaited->runs;
  if (const auto sample = sample_of(run)) awaited->samples.push_back(*sample);
}

void ObservedExec::take_unnumbered(const ObservedRun& run, trace::Time now) {
  if (awaited_.empty()) return;
  touched_ = now;
  if (const auto sample = sample_of(run); sample && sample->started != 0)
    unnumbered_.push_back(*sample);
}

// The runs of the first replay: those that started before the next replay's first sample, or before
// its launch if no sample has a time.
void ObservedExec::add_unnumbered(std::vector<trace::Sample>& samples) {
  trace::Time end = std::numeric_limits<trace::Time>::max();
  if (!awaited_.empty()) {
    const Awaited& next = awaited_.front();
    end = next.replay.launched;
    trace::Time began = std::numeric_limits<trace::Time>::max();
    for (const trace::Sample& sample : next.samples) {
      if (sample.started != 0) began = std::min(began, sample.started);
    }
    if (began != std::numeric_limits<trace::Time>::max()) end = began;
  }
  const auto rest =
      std::partition(unnumbered_.begin(), unnumbered_.end(),
                     [&](const trace::Sample& sample) { return sample.started >= end; });
  samples.insert(samples.end(), rest, unnumbered_.end());
  unnumbered_.erase(rest, unnumbered_.end());
}

bool ObservedExec::is_complete(trace::Time now) const {
  const Awaited& first = awaited_.front();
  if (!runs_vary_ && first.runs >= expected_) return true;
  // Buffers arrive in the order in which they were filled: no record of this replay is outstanding
  // once a later replay has been complete for a while.
  const auto is_settled = [&](const Awaited& one) {
    return one.runs != 0 && now - one.touched > kSecond / 2;
  };
  if (std::any_of(awaited_.begin() + 1, awaited_.end(), is_settled)) return true;
  const trace::Time touched = std::max(first.touched, touched_);
  return touched != 0 && now - touched > 2 * kSecond;
}

void ObservedExec::tell_first(std::vector<trace::Record>& records) {
  Awaited first = std::move(awaited_.front());
  awaited_.pop_front();
  add_unnumbered(first.samples);
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
