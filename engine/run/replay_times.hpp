// ReplayTimes: how long the next replays of one executable take, and their nodes, for whoever asks. Knows no device.
// Threads: the observer's calls as ReplayObserver says; the rest from one thread at a time, beside them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

class ReplayTimes final : public ReplayObserver {
 public:
  explicit ReplayTimes(const Plan& plan);

  // Yes: replays whose nodes are timed, no others; No: those whose nodes are not, which are faster.
  enum class Nodes : std::uint8_t { No, Yes };
  // From now on so many replays are noted, as they end; what was noted before is forgotten.
  void open(std::uint32_t replays, Nodes nodes);
  void close() noexcept { window_.store(nullptr, std::memory_order_release); }

  [[nodiscard]] std::uint32_t noted() const noexcept;
  [[nodiscard]] bool is_full() const noexcept;
  [[nodiscard]] std::vector<double> durations() const;  // ns, of those noted, in order
  // Of each schedule node the median of its times, less `overhead`, which noting a time takes (ns); 0 for what did not run.
  [[nodiscard]] std::vector<std::uint32_t> node_costs(std::uint32_t overhead) const;

  [[nodiscard]] NodeTime* begin_replay(std::uint64_t replay) noexcept override;
  void end_replay(std::uint64_t replay, std::int64_t started, std::int64_t ended, NodeTime* nodes) noexcept override;

 private:
  // Written by whoever ends replays up to `noted`, read up to there.
  struct Window {
    Nodes nodes = Nodes::No;
    std::atomic<std::uint32_t> noted{0};
    std::vector<double> durations;
    std::vector<std::uint32_t> of_nodes;  // of each replay one for each schedule node; kNone: it did not run
  };
  [[nodiscard]] static bool is_full(const Window& window) noexcept {
    return window.noted.load(std::memory_order_relaxed) == window.durations.size();
  }

  std::vector<std::uint32_t> lowered_node_;  // by schedule node
  std::vector<NodeTime> times_;              // of the replay that runs, with those of bodies
  std::vector<std::unique_ptr<Window>> windows_;  // the last is what was asked for last; a replay under way may look at the others
  std::atomic<Window*> window_{nullptr};
};

}  // namespace reprise::detail
