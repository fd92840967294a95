// GraphTable: all graphs of a process, one row per graph, and their families. A family consists of
// the graphs with the same topology, such as those that PyTorch and inference servers capture for
// each batch size. One document describes one process; rows refer to it. Time: O(replays log
// replays
// + nodes + edges). Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/document.hpp"
#include "model/replay_statistics.hpp"

namespace reprise::model {

// Sums over graphs.
struct GraphTotals {
  std::uint64_t graphs = 0, never_replayed = 0, replays = 0, nodes = 0;
  double device_time = 0;  // ns, of all replays with known device times
  double share = 0;        // fraction of the device time of all graphs
  std::uint64_t slab_bytes = 0;
  // ns on the host; 0: unknown. Of observed programs: record is the capture, and upload includes
  // the first launch.
  trace::Time record = 0, compile = 0, instantiate = 0, upload = 0;
  // Device memory that graphs of observed programs took, in bytes: from before the capture to after
  // the instantiation, and during the uploads and the first launch. Sums contain the known values.
  std::optional<std::int64_t> capture_bytes, launch_bytes;
  [[nodiscard]] std::optional<std::int64_t> memory_bytes() const;  // both
  [[nodiscard]] trace::Time preparation() const noexcept;          // ns
};

// All versions of one graph. Times in ns; negative: unknown.
struct GraphRow {
  GraphKey key;  // the newest version; structure and memory are of this version
  std::uint32_t process = 0;  // index in GraphTable::processes
  std::uint32_t versions = 1;
  std::string name, pool;     // pool: of its transients; empty: none or unknown
  std::uint32_t family = 0;   // index in GraphTable::families
  GraphTotals totals;         // of this graph; preparation: of all versions
  std::uint64_t sampled = 0;  // replays
  std::size_t edges = 0;
  trace::Time median = -1, p99 = -1;  // device time
  trace::Time latency = -1;           // median, launch-to-start
  trace::Time gap = -1;               // median, since the previous replay of this graph
};

struct GraphFamily {
  std::uint64_t topology = 0;
  std::vector<std::uint32_t> rows = {};  // by device time, longest first
  GraphTotals totals = {};
  trace::Time min_median = -1, max_median = -1;  // of its graphs
  // Nodes in which any graph of the family differs from the first.
  std::uint64_t other_kernels = 0, other_grids = 0, other_bytes = 0;
};

struct GraphTable {
  std::vector<std::string> processes;  // names; see trace::process_name()
  std::vector<GraphRow> rows;         // by graph id
  std::vector<GraphFamily> families;  // by device time, longest first
  GraphTotals totals;
};

[[nodiscard]] GraphTable graph_table(const Document& document);

// "batch * (67 graphs)", "tail and 1 more"; the name of the graph if it is the only one.
[[nodiscard]] std::string family_name(const GraphTable& table, const GraphFamily& family);
// "kernels in 3 nodes, grids in 12"; empty if the graphs differ in neither. Buffers and names are
// not compared.
[[nodiscard]] std::string differences_text(const GraphFamily& family);

}  // namespace reprise::model
