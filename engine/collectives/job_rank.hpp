// JobRank: this rank of a job, with what all its communicators share: the order of the collectives
// of its device, the channel to the other ranks, and the launches that they compare. Threads: any;
// collective calls on one at a time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <reprise/collectives.hpp>

#include "collectives/launch_reports.hpp"
#include "collectives/rank_control.hpp"
#include "record/rank_agreement.hpp"

namespace reprise::detail {

class CommunicatorCore;

// The buffer that every collective of a device reads and writes, which orders them.
class CollectiveOrder {
 public:
  explicit CollectiveOrder(const Device& device);
  // The one of the device, which exists while somebody holds it.
  [[nodiscard]] static std::shared_ptr<CollectiveOrder> of(const Device& device);
  [[nodiscard]] const BufferView& buffer() const noexcept { return buffer_; }
  // A word in pinned host memory, which is 0.
  [[nodiscard]] HostRef<std::uint32_t> make_word() const;

 private:
  std::shared_ptr<CapturePool> pool_;
  BufferView buffer_;
};

class JobRank final : public RankAgreement {
 public:
  // `control`: null if the ranks cannot talk to each other. A rank that launches nothing for
  // `stall_limit`, while another waits for it, ends the job.
  JobRank(std::shared_ptr<CollectiveOrder> order, std::shared_ptr<RankControl> control,
          std::chrono::milliseconds stall_limit);
  JobRank(const JobRank&) = delete;
  JobRank& operator=(const JobRank&) = delete;
  ~JobRank() override;

  [[nodiscard]] const std::shared_ptr<RankControl>& control() const noexcept { return control_; }

  void compare(std::string_view graph, std::uint64_t hash,
               std::span<const Collective> collectives) override;
  void compare_outcomes(std::uint64_t hash, const std::string& error) override;
  [[nodiscard]] std::vector<Message> exchange(std::uint64_t hash, std::string message) override;
  void record_launch(std::uint64_t hash, std::uint64_t replay, std::uint32_t replica,
                     const std::shared_ptr<const Graph>& graph) override;
  [[nodiscard]] const BufferView& order() const noexcept override { return order_->buffer(); }
  void require_all_ranks() const override;
  [[nodiscard]] const std::uint32_t* lost_word() const noexcept override { return lost_word_; }
  [[nodiscard]] Traced traced(const GraphOp& op, std::uint64_t hash) const override;
  [[nodiscard]] std::vector<ClockExchange> take_clock_exchanges() override {
    return control_ ? control_->take_clock_exchanges() : std::vector<ClockExchange>();
  }
  // The communicator is destroyed, and with it all graphs that have collectives of it.
  void end_communicator(std::uint64_t id) noexcept;
  [[nodiscard]] bool is_lost() const { return control_ && !control_->abort_reason().empty(); }

 private:
  static constexpr std::size_t kKeptLaunches = 64;
  struct Launch {
    std::uint64_t hash = 0, replay = 0;  // of the graph
    std::uint32_t replica = 0;
    std::weak_ptr<const Graph> graph;
    std::chrono::steady_clock::time_point time;
  };
  // The launches of graphs with collectives of one communicator.
  struct Launches {
    std::vector<std::uint32_t> members;  // ascending
    std::uint64_t id = 0;                // of the communicator
    std::uint64_t traced_id = 0;         // in traces
    std::uint64_t count = 0, hash = 0;
    std::uint64_t checked = 0;   // the launch that old_launches() returned last
    bool has_ended = false;      // the communicator is destroyed here, but not on all ranks
    Launch kept[kKeptLaunches];  // by count modulo kKeptLaunches
  };
  struct KnownGraph {
    std::string label;
    struct InCommunicator {
      Launches* launches = nullptr;
      std::uint64_t hash = 0;    // of the graph's collectives in it
      std::uint64_t number = 0;  // of the graph among those compared in it
    };
    std::vector<InCommunicator> communicators;  // the largest first
  };
  [[nodiscard]] std::string launches_text(const Launches& launches) const;
  // Reports own progress, ends the job if another rank falls behind, and reports replays that no
  // rank completes.
  void watch();
  struct OtherRank {
    LaunchReports reports;
    // When the rank last made progress, or lacked no launch of this one.
    std::chrono::steady_clock::time_point since;
  };
  [[nodiscard]] std::string find_stall(std::vector<OtherRank>& others);
  // The latest launch of each communicator, once, if it was `stall_limit` ago.
  [[nodiscard]] std::vector<Launch> old_launches();
  // Under the mutex.
  [[nodiscard]] std::string next_report();
  void forget_ended(const std::vector<OtherRank>& others,
                    std::span<const RankControl::Progress> progress);

  const std::shared_ptr<CollectiveOrder> order_;
  const std::shared_ptr<RankControl> control_;
  const std::chrono::milliseconds stall_limit_;
  const HostRef<std::uint32_t> lost_;
  std::uint32_t* const lost_word_;        // null: the ranks cannot talk to each other
  std::shared_ptr<const void> on_abort_;  // sets the word
  mutable std::mutex mutex_;              // protects the members below; a leaf
  std::unordered_map<std::uint64_t, KnownGraph> graphs_;  // by the hash that launches note
  std::unordered_map<std::uint64_t, Launches> launches_;  // by communicator
  std::condition_variable ended_;
  bool ends_ = false;
  std::minstd_rand random_{std::random_device{}()};
  std::thread watch_;  // not started for a job of one rank
};

}  // namespace reprise::detail
