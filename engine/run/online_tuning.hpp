// GraphCore::Online: how a graph is tuned beside the application's own replays: what nodes cost is read off some of them, another executable is
// made, takes turns with the graph's own, and takes its place at a launch where it is faster beyond doubt; at most twice.
// Threads: turn(), follow(), forget_rival() and leave() under the graph's mutex; step() under its updating_; report() and meter() from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/tuning.hpp>

#include "lanes/lowering_choice.hpp"
#include "run/background_thread.hpp"
#include "run/graph_core.hpp"
#include "run/launch_meter.hpp"
#include "run/replay_times.hpp"

namespace reprise::detail {

class GraphCore::Online {
 public:
  static constexpr std::size_t kMostTries = 2;
  static constexpr std::uint64_t kLaunchesBefore = 128;  // that p99 is told of
  static constexpr std::uint32_t kStretch = 8;           // replays of one of the two, then of the other
  static constexpr std::uint32_t kPairs = 11;

  explicit Online(OnlineTuningReport report) : report_(std::move(report)) {}

  // What this launch runs. The rival that was chosen takes its place here, and nothing is made.
  [[nodiscard]] GraphBody& turn(GraphCore& graph) noexcept;
  // After any change of what nodes are given.
  void follow(GraphCore& graph) noexcept;
  // Before the graph's body becomes another, or is given out. It is over then. `why` lives for ever.
  void forget_rival(GraphCore& graph, std::string_view why) noexcept;
  void leave(GraphCore& graph) noexcept;

  [[nodiscard]] BackgroundJob::Next step(GraphCore& graph) noexcept;

  [[nodiscard]] OnlineTuningReport report() const;
  [[nodiscard]] LaunchMeter& meter() noexcept { return meter_; }

 private:
  enum class Phase : std::uint8_t { Quiet, Costs, Trial, Taking };
  enum class Rival : std::uint8_t { None, TakesTurns, Chosen, Lost };
  [[nodiscard]] BackgroundJob::Next advance(GraphCore& graph);
  [[nodiscard]] BackgroundJob::Next try_next(GraphCore& graph);
  [[nodiscard]] std::unique_ptr<GraphBody> make_rival(GraphCore& graph, const LoweringChoice& choice, OnlineTry& tried);
  [[nodiscard]] BackgroundJob::Next judge(GraphCore& graph);
  [[nodiscard]] BackgroundJob::Next end(GraphCore& graph, std::string_view reason);
  void stop(GraphCore& graph) noexcept;
  void retire_rival(GraphCore& graph) noexcept;  // under the graph's mutex

  LaunchMeter meter_;
  // --- under the graph's mutex ---
  Rival rival_is_ = Rival::None;
  std::unique_ptr<GraphBody> rival_;
  std::uint64_t turns_ = 0;
  std::string_view why_ended_;  // by somebody else
  // --- of step() ---
  Phase phase_ = Phase::Quiet;
  std::vector<LoweringChoice> choices_;
  std::size_t next_choice_ = 0;
  std::vector<std::uint64_t> tried_;  // lowering hashes
  // --- of report() ---
  mutable std::mutex reporting_;
  OnlineTuningReport report_;
};

// Goes with its graph: it only knows it.
class GraphCore::OnlineJob final : public BackgroundJob {
 public:
  explicit OnlineJob(std::weak_ptr<GraphCore> graph) noexcept : graph_(std::move(graph)) {}
  [[nodiscard]] Next step() noexcept override;

 private:
  std::weak_ptr<GraphCore> graph_;
};

// Why a graph with this plan can't be tuned beside its replays; empty where it can.
[[nodiscard]] std::string why_not_online(const DeviceCore& device, const Plan& plan, std::uint32_t instances);

}  // namespace reprise::detail
