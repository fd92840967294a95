// ObservedExec: an executable graph of the program: its versions, and the replays whose node times
// are outstanding. Knows nothing about the driver. Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
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
    std::string label;
  };
  ObservedExec(Identity identity, ObservedGraph graph);

  [[nodiscard]] const Identity& identity() const noexcept { return identity_; }
  [[nodiscard]] const ObservedGraph& graph() const noexcept { return graph_; }

  // --- Changes: `what` describes them in the record of the next version ---
  void replace(ObservedGraph graph, std::string what);
  // Replaces the node with this handle by the only node of `one`. No effect for an unknown handle.
  void change(std::uint64_t handle, const ObservedGraph& one, const std::string& what);
  void enable(std::uint64_t handle, ObservedNode::Enabled enabled);
  // Descriptions of the changes since the last call; empty: none.
  [[nodiscard]] std::string take_changes() { return std::exchange(changes_, {}); }

  std::uint32_t version = 1;
  std::uint64_t replays = 0;  // number of launches
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
  // Appends the replays that are complete and calls `done` with the correlation of each.
  template <class Done>
  void collect(trace::Time now, Outstanding rest, std::vector<trace::Record>& records,
               const Done& done) {
    while (!pending_.empty() && (rest == Outstanding::Complete || is_complete(now))) {
      done(pending_.front().correlation);
      emit_first(records);
    }
  }
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
  [[nodiscard]] ObservedNode* find(std::uint64_t handle);
  void add_change(const std::string& what);
  [[nodiscard]] std::uint32_t node_of(const ObservedRun& run) const;
  [[nodiscard]] std::optional<trace::Sample> sample_of(const ObservedRun& run) const;
  [[nodiscard]] static trace::Time first_start(const PendingReplay& replay);
  void add_unnumbered(std::vector<trace::Sample>& samples);
  [[nodiscard]] bool is_complete(trace::Time now);
  void emit_first(std::vector<trace::Record>& records);

  Identity identity_;
  ObservedGraph graph_;
  std::string changes_;
  std::uint32_t change_count_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> by_handle_;
  std::unordered_map<std::uint64_t, std::uint32_t> nodes_by_id_;  // key: the profiler's id
  std::uint32_t expected_ = 0;                                    // runs per replay
  bool runs_vary_ = false;
  std::deque<PendingReplay> pending_;

  // Runs without correlation, while replays are outstanding.
  std::deque<trace::Sample> unnumbered_;
  bool unnumbered_are_sorted_ = true;  // by start
  trace::Time last_unnumbered_arrival_ = 0;
  // The latest start among the runs that have arrived, by time of arrival; and among those that
  // arrived long enough ago that no earlier run is outstanding.
  struct Arrived {
    trace::Time at = 0, latest_start = 0;
  };
  std::deque<Arrived> arrived_;
  trace::Time settled_start_ = 0;
};

}  // namespace reprise::detail
