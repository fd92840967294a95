// The output of `reprise stats`, as text and as JSON. Threads: pure functions, except those that
// read samples from the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/graph_table.hpp"
#include "model/rank_analysis.hpp"
#include "model/slowdown.hpp"
#include "model/trace_summary.hpp"

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
  model::TraceSummary summary;
  std::shared_ptr<const model::Document> document;
  model::GraphTable table;
  model::RankAnalysis ranks;
  std::vector<std::uint32_t> sections;  // indices in summary.graphs, of graphs with a section

  [[nodiscard]] const model::GraphEntry& entry(const model::GraphSummary& g) const {
    return *document->find({g.graph, g.version});
  }
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

void print(const Stats& stats, const StatsOptions& options);
void print_slowdown(const StatsOptions& options, const model::GraphEntry& entry,
                    const model::Slowdown& slowdown);
[[nodiscard]] nlohmann::ordered_json json_of(const Stats& stats, const StatsOptions& options);
[[nodiscard]] nlohmann::ordered_json json_of(const model::Graph& graph, const model::Slowdown& s);

}  // namespace reprise::cli
