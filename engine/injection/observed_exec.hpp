// ObservedExec: an executable graph of the program: its nodes with their latest parameters, and the
// replays whose node times are outstanding. Knows nothing about the driver. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "injection/observed_graph.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

// One execution of one node, as the profiler reports it.
struct ObservedRun {
  // The profiler's id: executable in the upper half, node in the lower half.
  std::uint64_t node = 0;
  std::uint32_t correlation = 0;  // of the launch; 0: unknown
  std::uint32_t stream = 0;
  trace::Time started = 0, ended = 0;  // 0: unknown
  std::string_view kernel = {};        // mangled; empty: not a kernel
};

class ObservedExec {
 public:
  struct Identity {
    std::uint32_t graph = 0, device = 0;
    std::uint32_t profiler_id = 0;  // of the executable
    std::string creator;            // label of the range that was open; empty: none
    const CallFrame* stack = nullptr;  // of the instantiating thread, as in NodeOrigin
  };
  ObservedExec(Identity identity, ObservedGraph graph);

  [[nodiscard]] const Identity& identity() const noexcept { return identity_; }
  [[nodiscard]] const ObservedGraph& graph() const noexcept { return *graph_; }
  // Later changes do not affect it.
  [[nodiscard]] std::shared_ptr<const ObservedGraph> picture() const noexcept { return graph_; }

  // --- Changes of parameters, which keep the nodes and their order ---
  // All nodes get the parameters of `graph`, or parameters that were not read.
  void replace(ObservedGraph graph);
  void replace_unread();
  // The node with this handle gets the parameters of `now` and runs `kernel`, null: none. Returns
  // its index; kNone, and no effect, for an unknown handle.
  std::uint32_t change(std::uint64_t handle, const ObservedNode& now, const ObservedKernel* kernel);
  std::uint32_t enable(std::uint64_t handle, ObservedNode::Enabled enabled);
  // Of each node that changed, in order of nodes.
  [[nodiscard]] std::vector<trace::NodeChanges> changes() const;

  // --- State of its owner ---
  trace::Time instantiated = 0, instantiate_time = 0;
  trace::Time described = 0;  // last
  bool is_described = false;
  bool is_current = false;              // nothing changed since its last description
  trace::Time next_read = 0;            // of all parameters that an update gives
  std::vector<std::uint32_t> followed;  // nodes whose changes are recorded, sorted
  // As it was described first.
  std::string label;
  std::vector<trace::Collective> collectives;
  std::uint64_t replays = 0;  // number of launches
  std::vector<LaunchCount> launches;  // those whose call stack was read
  void count_launch(const CallFrame* stack);
  bool is_destroyed = false;  // the program destroyed it; outstanding replays may follow
  trace::CreationCost cost;
  std::uint64_t used_before = 0;  // device memory before its creation, in bytes; 0: unknown

  // --- Replays with recorded nodes ---
  void expect(const trace::Replay& replay, std::uint32_t correlation);
  // Adds a run to the replay with this number. No effect if the replay is complete.
  void take(const ObservedRun& run, std::uint64_t replay, trace::Time now);
  // Adds a run without correlation, such as that of a node in a body. Its time assigns it to a
  // replay once the other runs have arrived.
  void take_unnumbered(const ObservedRun& run, trace::Time now);
  enum class Outstanding : std::uint8_t { Expected, Complete };
  // A complete replay, as it was before its records are made.
  struct Complete {
    trace::Replay replay;
    std::uint32_t correlation = 0;
    std::vector<trace::Sample> samples;
  };
  // Moves the replays that are complete.
  void collect(trace::Time now, Outstanding rest, std::vector<Complete>& complete);
  // Appends the records of a replay. Needs no executable, and takes time for each sample.
  static void add_records(Complete complete, std::vector<trace::Record>& records);
  [[nodiscard]] bool has_pending() const noexcept { return !pending_.empty(); }

 private:
  struct PendingReplay {
    trace::Replay replay;
    std::uint32_t correlation = 0;
    trace::Time last_arrival = 0;  // arrival of the last run
    std::uint32_t runs = 0;
    std::vector<trace::Sample> samples;
  };
  void index();
  [[nodiscard]] ObservedGraph& own_graph();
  [[nodiscard]] std::uint32_t find(std::uint64_t handle);
  void count_change(std::uint32_t node);
  [[nodiscard]] std::uint32_t node_of(const ObservedRun& run);
  [[nodiscard]] std::optional<trace::Sample> sample_of(const ObservedRun& run);
  [[nodiscard]] static trace::Time first_start(const PendingReplay& replay);
  void add_unnumbered(std::size_t next, std::vector<trace::Sample>& samples);
  [[nodiscard]] bool is_complete(std::size_t at, trace::Time now);

  Identity identity_;
  std::shared_ptr<ObservedGraph> graph_;
  std::vector<std::uint64_t> changes_;  // of each node; empty: none
  std::uint64_t replaced_ = 0;          // changes of all nodes
  bool kernels_are_known_ = true;
  // Made when they are needed first; the second by the profiler's id.
  std::unordered_map<std::uint64_t, std::uint32_t> by_handle_, nodes_by_id_;
  std::uint32_t expected_ = 0;                                    // runs per replay
  bool runs_vary_ = false;
  std::vector<PendingReplay> pending_;

  // Runs without correlation, while replays are outstanding.
  std::vector<trace::Sample> unnumbered_;
  bool unnumbered_are_sorted_ = true;  // by start
  trace::Time last_unnumbered_arrival_ = 0;
  // The latest start among the runs that have arrived, by time of arrival; and among those that
  // arrived long enough ago that no earlier run is outstanding.
  struct Arrived {
    trace::Time at = 0, latest_start = 0;
  };
  std::vector<Arrived> arrived_;
  trace::Time settled_start_ = 0;
};

}  // namespace reprise::detail
