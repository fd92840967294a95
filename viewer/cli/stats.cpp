#include "cli/stats.hpp"

namespace reprise::cli {

model::ReplayTimes times_of(const model::Document& document, const model::Graph& graph,
                            const trace::Replay& replay) {
  const auto block = replay.sampled == 0 ? nullptr : document.samples->find(replay);
  return model::replay_times(graph, block ? *block : trace::SampleBlock{});
}

std::vector<model::Slowdown> slowest_of(const Stats& stats, const model::GraphEntry& entry,
                                        std::size_t count) {
  std::vector<model::Slowdown> slowest;
  const auto replays = model::slowest_replays(entry.replays, count);
  if (replays.empty()) return slowest;
  const model::ReplayBaseline baseline =
      model::replay_baseline(*stats.document, entry, {}, entry.statistics->medians());
  for (const std::size_t i : replays) {
    const trace::Replay& replay = entry.replays[i];
    slowest.push_back(
        model::slowdown(entry, baseline, replay, times_of(*stats.document, *entry.graph, replay)));
  }
  return slowest;
}

std::vector<LoopSummary> loops_of(const model::GraphEntry& entry) {
  std::vector<LoopSummary> loops;
  const auto& bodies = entry.graph->record().bodies;
  for (const trace::Body& body : bodies) {
    if (body.kind == trace::BodyKind::Loop) loops.push_back({.node = body.parent});
  }
  for (const trace::LoopRun& run : entry.loops) {
    const auto loop = std::find_if(loops.begin(), loops.end(), [&](const LoopSummary& l) {
      return l.node == bodies[run.body].parent;
    });
    if (loop == loops.end()) continue;
    loop->min = loop->replays == 0 ? run.iterations : std::min(loop->min, run.iterations);
    loop->max = std::max(loop->max, run.iterations);
    ++loop->replays;
    loop->iterations += run.iterations;
    loop->timed += run.timed;
  }
  return loops;
}

std::string device_of(const Stats& stats, const model::GraphEntry& entry) {
  return trace::device_name(*stats.document->devices, entry.graph->record().device);
}

Totals totals_of(const model::Document& document) {
  Totals totals;
  for (const trace::Loss& l : document.losses) totals.losses[l.kind] += l.count;
  for (const trace::Message& m : document.messages) ++totals.messages[m.severity];
  const auto add = [](trace::Time& sum, trace::Time time) {  // saturates: the trace can be damaged
    if (__builtin_add_overflow(sum, time, &sum)) sum = std::numeric_limits<trace::Time>::max();
  };
  for (const trace::ProfilingOverhead& o : document.profiling_overheads)
    add(totals.profile_host, o.host);
  totals.unknown_samples = document.unknown_samples;
  for (const auto& [key, entry] : document.graphs)
    totals.unknown_samples += entry.statistics->unknown;
  return totals;
}

std::vector<model::NodeGroup> kinds_of(const Stats& stats, const StatsOptions& options) {
  std::vector<model::NodeTimes> times;
  if (options.graph.empty()) {
    for (const auto& [key, entry] : stats.document->graphs)
      times.push_back(model::node_times(entry));
  } else {
    for (const model::GraphEntry* entry : stats.sections)
      times.push_back(model::node_times(*entry));
  }
  std::vector<model::NodeGroup> kinds = model::groups_by_kind(times);
  std::erase_if(kinds, [](const model::NodeGroup& kind) { return kind.samples == 0; });
  return kinds;
}

}  // namespace reprise::cli
