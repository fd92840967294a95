// The output of `reprise stats`, as text and as JSON. Threads: pure functions, except those that
// read samples from the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/graph_table.hpp"
#include "model/node_groups.hpp"
#include "model/rank_analysis.hpp"
#include "model/slowdown.hpp"
#include "trace/record_names.hpp"

namespace reprise::cli {

struct StatsOptions {
  std::string file, graph;
  std::optional<std::uint64_t> replay = {};
  std::uint32_t top = 10;  // rows of each list; 0: all
  bool json = false;
  [[nodiscard]] std::size_t limit(std::size_t rows) const {
    return top == 0 ? rows : std::min<std::size_t>(top, rows);
  }
};

// A trace and what is printed of it.
struct Stats {
  std::string file;
  std::uint64_t bytes = 0, trailing_bytes = 0;  // trailing: after the last complete chunk
  std::size_t chunks = 0;
  std::uint64_t contents_bytes = 0;  // data of the program, from inspections
  std::string damage;                // empty if the file is intact
  std::shared_ptr<const model::Document> document;
  model::GraphTable table;
  model::RankAnalysis ranks;
  std::vector<const model::GraphEntry*> sections;  // graphs with a section
};

// A loop, over the replays that reported iteration counts.
struct LoopSummary {
  std::uint32_t node = 0;
  std::uint64_t replays = 0;
  std::uint64_t iterations = 0, timed = 0;  // totals; timed: iterations with node samples
  std::uint64_t min = 0, max = 0;           // iterations per replay
};

// What the whole trace counts.
struct Totals {
  std::map<trace::LossKind, std::uint64_t> losses;
  std::map<trace::Severity, std::uint64_t> messages;
  trace::Time profile_host = 0;       // CPU time of the profiler's own code, ns
  std::uint64_t unknown_samples = 0;  // of graphs, versions or nodes that the trace lacks
};

// Traces with more graphs get a table of families instead of a section for each graph.
inline constexpr std::size_t kMaxSections = 16;

// The replay's own times; without a measured node if the trace has no samples of it.
[[nodiscard]] model::ReplayTimes times_of(const model::Document& document,
                                          const model::Graph& graph, const trace::Replay& replay);
// The replays with the longest device times. Throws TraceError.
[[nodiscard]] std::vector<model::Slowdown> slowest_of(const Stats& stats,
                                                      const model::GraphEntry& entry,
                                                      std::size_t count);

[[nodiscard]] std::vector<LoopSummary> loops_of(const model::GraphEntry& entry);  // by node
// The device that the graph runs on; empty if not described.
[[nodiscard]] std::string device_of(const Stats& stats, const model::GraphEntry& entry);
[[nodiscard]] Totals totals_of(const model::Document& document);

// The nodes of all graphs, or of the chosen one, by kind; only kinds with samples.
[[nodiscard]] std::vector<model::NodeGroup> kinds_of(const Stats& stats,
                                                     const StatsOptions& options);

void print(const Stats& stats, const StatsOptions& options);
void print_slowdown(const StatsOptions& options, const model::GraphEntry& entry,
                    const model::Slowdown& slowdown);
[[nodiscard]] nlohmann::ordered_json json_of(const Stats& stats, const StatsOptions& options);
[[nodiscard]] nlohmann::ordered_json json_of(const model::Graph& graph, const model::Slowdown& s);

}  // namespace reprise::cli
