// ObservedExec: an executable graph of the program: its versions, and those of its replays whose
// nodes' times are still on their way. Knows no driver. Threads: one at a time.
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

#include "profile/injection/observed_graph.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

// One run of one node, as the profiler tells it.
struct ObservedRun {
  std::uint64_t node =
      0;  // the profiler's id: of the executable in the upper half, of the node in the lower one
  std::uint32_t correlation = 0;  // the launch; 0: not told
  std::uint32_t stream = 0;
  trace::Time started = 0, ended = 0;  // 0: lost
  std::string_view kernel = {};        // mangled; empty: it is none
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

  // --- changes: `what` is told with the next version ---
  void replace(ObservedGraph graph, std::string what);
  // Of the node with this handle; `one` has one node, and its kernel. Nothing where there is no
  // such node.
  void change(std::uint64_t handle, const ObservedGraph& one, const std::string& what);
  void enable(std::uint64_t handle, ObservedNode::Enabled enabled);
  // What changed since the last call; empty: nothing.
  [[nodiscard]] std::string take_changes() { return std::exchange(changes_, {}); }

  std::uint32_t version = 1;
  std::uint64_t replays = 0;  // launched so far

  // --- replays whose nodes are recorded ---
  void await(const trace::Replay& replay, std::uint32_t correlation);
  // A run of the replay with this number; nothing where that is not awaited any more.
  void take(const ObservedRun& run, std::uint64_t replay, trace::Time now);
  // One of which it is not told whose it is, as of nodes in bodies: its time tells, once those of
  // the others are here.
  void take_unnumbered(const ObservedRun& run, trace::Time now);
  enum class Rest : std::uint8_t { IsToCome, IsHere };
  // Appends those of whose nodes nothing more comes, and calls `done` with the correlation of each.
  template <class Done>
  void collect(trace::Time now, Rest rest, std::vector<trace::Record>& records, const Done& done) {
    while (!awaited_.empty() && (rest == Rest::IsHere || is_complete(now))) {
      done(awaited_.front().correlation);
      tell_first(records);
    }
  }
  [[nodiscard]] bool awaits_any() const noexcept { return !awaited_.empty(); }

 private:
  struct Awaited {
    trace::Replay replay;
    std::uint32_t correlation = 0;
    trace::Time touched = 0;  // when the last run came
    std::uint32_t runs = 0;
    std::vector<trace::Sample> samples;
  };
  void index();
  [[nodiscard]] ObservedNode* find(std::uint64_t handle);
  void note(const std::string& what);
  [[nodiscard]] std::uint32_t place_of(const ObservedRun& run) const;
  [[nodiscard]] std::optional<trace::Sample> sample_of(const ObservedRun& run) const;
  void add_unnumbered(std::vector<trace::Sample>& samples);
  [[nodiscard]] bool is_complete(trace::Time now) const;
  void tell_first(std::vector<trace::Record>& records);

  Identity identity_;
  ObservedGraph graph_;
  std::string changes_;
  std::uint32_t change_count_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> by_handle_;
  std::unordered_map<std::uint64_t, std::uint32_t> places_;  // the profiler's id -> node
  std::uint32_t expected_ = 0;                               // runs of a replay
  bool runs_vary_ = false;
  std::deque<Awaited> awaited_;
  std::vector<trace::Sample> unnumbered_;  // while any is awaited
  trace::Time touched_ = 0;                // when the last of those came
};

}  // namespace reprise::detail
