// load_cost_profile: median node times by command, from the records of a trace file.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include <reprise/cost_profile.hpp>
#include <reprise/error.hpp>

#include "base/failure.hpp"
#include "base/quantile_rank.hpp"
#include "base/text.hpp"
#include "compile/cost_profile_file.hpp"
#include "lowering/cost_schedule.hpp"
#include "trace/latest_records.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint32_t kNewestReplays = 64;  // of each graph and timing source

// Timing methods, the most precise first.
struct TimingSource {
  trace::SampleSource source;
  GraphCosts::TimedBy timed_by;
  trace::Time overhead;  // bias of each time, ns; not of commands that timed themselves
};
constexpr TimingSource kSources[] = {
    {trace::SampleSource::Cupti, GraphCosts::TimedBy::Profiler, 0},
    {trace::SampleSource::Host, GraphCosts::TimedBy::HostClock, 0},
    {trace::SampleSource::Timestamp, GraphCosts::TimedBy::Timestamps, kTimestampOverheadNs}};

struct OccupiedTime {
  trace::Time started = 0, ended = 0;  // 0: unknown
  bool timed_itself = false;           // a command of a segment; see trace::Sample::worker
  void add(const trace::Sample& sample) {
    timed_itself = sample.worker != 0;
    started = started == 0 ? sample.started : std::min(started, sample.started);
    ended = std::max(ended, sample.started + sample.duration);
  }
  [[nodiscard]] trace::Time length() const { return ended - started; }
};

// One version of a graph, and the times of its nodes.
class TimedGraph {
 public:
  explicit TimedGraph(trace::GraphVersion graph)
      : graph_(std::move(graph)),
        own_nodes_(graph_.bodies.empty() ? static_cast<std::uint32_t>(graph_.nodes.size())
                                         : graph_.bodies[0].first_node) {
    for (auto& times : times_) times.resize(own_nodes_);
  }

  [[nodiscard]] const trace::GraphVersion& graph() const { return graph_; }
  [[nodiscard]] bool is_timed() const {
    return std::any_of(replays_.begin(), replays_.end(),
                       [](std::uint32_t count) { return count != 0; });
  }

  // Newest first; ignores replays beyond kNewestReplays.
  void add(const trace::SampleBlock& block) {
    const auto at = static_cast<std::size_t>(
        std::find_if(std::begin(kSources), std::end(kSources),
                     [&](const TimingSource& s) { return s.source == block.source; }) -
        std::begin(kSources));
    if (replays_[at] == kNewestReplays) return;
    std::vector<OccupiedTime> own(own_nodes_), inside(graph_.bodies.empty() ? 0 : own_nodes_);
    bool any = false;
    for (const trace::Sample& sample : block.samples) {
      if (sample.started == 0 || sample.node >= graph_.nodes.size()) continue;
      any = true;
      sample.node < own_nodes_ ? own[sample.node].add(sample)
                               : inside[own_node_of(sample.node)].add(sample);
    }
    if (!any) return;
    ++replays_[at];
    for (std::uint32_t node = 0; node < own_nodes_; ++node) {
      const OccupiedTime& span = own[node].started == 0 && !inside.empty()
                                     ? inside[node]
                                     : own[node];  // the profiler measures nodes of bodies only
      if (span.started != 0)
        times_[at][node].push_back(std::max<trace::Time>(
            0, span.length() - (span.timed_itself ? 0 : kSources[at].overhead)));
    }
  }

  [[nodiscard]] GraphCosts costs(const std::string& device) const {
    GraphCosts costs;
    const auto at =
        static_cast<std::size_t>(std::find_if(replays_.begin(), replays_.end(),
                                              [](std::uint32_t count) { return count != 0; }) -
                                 replays_.begin());
    costs.timed_by = kSources[at].timed_by;
    costs.label = graph_.label;
    costs.device = device;
    costs.plan_hash = graph_.plan_hash;
    costs.replays = replays_[at];
    for (std::uint32_t node = 0; node < own_nodes_; ++node) {
      const trace::Node& traced = graph_.nodes[node];
      const auto times = std::find_if(times_.begin(), times_.end(),
                                      [&](const auto& of) { return !of[node].empty(); });
      if (traced.command == trace::kNone || times == times_.end()) continue;
      costs.commands.push_back({traced.command, label_path(traced.label),
                                graph_.strings[traced.name], work_of(traced),
                                std::chrono::duration<double, std::nano>(median((*times)[node]))});
    }
    std::sort(costs.commands.begin(), costs.commands.end(),
              [](const CommandCost& a, const CommandCost& b) { return a.command < b.command; });
    return costs;
  }

 private:
  [[nodiscard]] std::uint32_t own_node_of(std::uint32_t node) const {
    while (node >= own_nodes_) {
      const auto behind = std::upper_bound(
          graph_.bodies.begin(), graph_.bodies.end(), node,
          [](std::uint32_t n, const trace::Body& body) { return n < body.first_node; });
      node = std::prev(behind)->parent;
    }
    return node;
  }
  [[nodiscard]] std::string label_path(std::uint32_t label) const {
    std::string path;
    for (; label != 0; label = graph_.labels[label].parent) {
      const std::string& name = graph_.strings[graph_.labels[label].name];
      path = path.empty() ? name : concat(name, '/', path);
    }
    return path;
  }
  [[nodiscard]] static std::uint64_t work_of(const trace::Node& node) {
    if (node.kind != trace::NodeKind::Dispatch) return node.bytes;
    std::uint64_t threads = 1;
    for (int i = 0; i < 3; ++i) threads *= std::uint64_t{node.grid[i]} * node.block[i];
    return threads;
  }
  [[nodiscard]] static double median(std::vector<trace::Time> times) {
    return static_cast<double>(quantile_of(times, 0.5));
  }

  trace::GraphVersion graph_;
  std::uint32_t own_nodes_;
  std::array<std::uint32_t, std::size(kSources)> replays_{};
  std::array<std::vector<std::vector<trace::Time>>, std::size(kSources)>
      times_;  // by source and node
};

CostProfile costs_of(const std::filesystem::path& path) {
  const trace::TraceReader reader(path);
  trace::LatestRecords topology;
  for (const trace::ChunkEntry& chunk : reader.chunks()) {
    if (chunk.header.kind != trace::ChunkKind::Topology) continue;
    trace::Records records = reader.read(chunk);
    topology.add(records);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, TimedGraph> graphs;  // by graph and version
  for (auto& [key, graph] : topology.graphs) graphs.try_emplace(key, std::move(graph));
  for (auto chunk = reader.chunks().rbegin(); chunk != reader.chunks().rend(); ++chunk) {
    if (chunk->header.kind != trace::ChunkKind::Samples) continue;
    const trace::Records records = reader.read(*chunk);
    for (auto block = records.sample_blocks.rbegin(); block != records.sample_blocks.rend();
         ++block) {
      if (const auto found = graphs.find({block->graph, block->version}); found != graphs.end())
        found->second.add(*block);
    }
  }
  CostProfile costs{.source = path.string()};
  for (const auto& [key, graph] : graphs) {
    if (graph.is_timed()) {
      costs.graphs.push_back(graph.costs(topology.devices[graph.graph().device].name));
    } else {
      costs.untimed.push_back(graph.graph().label);
    }
  }
  if (costs.graphs.empty()) {
    const std::string cut =
        reader.damage().empty() ? "" : concat("; its end is missing: ", reader.damage());
    fail(ErrorCode::InvalidArgument, Stage::Profile, "",
         concat("costs: ", path.string(), " contains no node times of any of its ", graphs.size(),
                " graphs; write it with ProfileMode::Sampled or Every, and replay them", cut));
  }
  return costs;
}

}  // namespace
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

std::shared_ptr<const CostProfile> load_cost_profile(const std::filesystem::path& trace) {
  if (detail::is_cost_profile_file(trace))
    return std::make_shared<const CostProfile>(detail::read_cost_profile_file(trace));
  try {
    return std::make_shared<const CostProfile>(detail::costs_of(trace));
  } catch (const reprise::trace::TraceError& error) {
    const bool is_unreadable = error.code() == reprise::trace::TraceErrorCode::Io;
    detail::fail(is_unreadable ? ErrorCode::NativeFailure : ErrorCode::InvalidArgument,
                 Stage::Profile, "",
                 detail::concat("costs of the trace ", trace.string(), ": ", error.what()));
  }
}

}  // namespace reprise::inline REPRISE_ABI
