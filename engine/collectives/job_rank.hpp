// JobRank: this rank of a job, with what all its communicators share: the order of the collectives
// of its device, the channel to the other ranks, and the launches that they compare. Threads: any;
// compare() on one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <reprise/collectives.hpp>

#include "collectives/rank_control.hpp"

namespace reprise::detail {

class CommunicatorCore;

// The buffer that every collective of a device reads and writes, which orders them.
class CollectiveOrder {
 public:
  explicit CollectiveOrder(const Device& device);
  // The one of the device, which exists while somebody holds it.
  [[nodiscard]] static std::shared_ptr<CollectiveOrder> of(const Device& device);
  [[nodiscard]] const BufferView& buffer() const noexcept { return buffer_; }

 private:
  std::shared_ptr<CapturePool> pool_;
  BufferView buffer_;
};

class JobRank final : public RankAgreement {
 public:
  // `control`: null if the ranks cannot talk to each other.
  JobRank(std::shared_ptr<CollectiveOrder> order, std::shared_ptr<RankControl> control)
      : order_(std::move(order)), control_(std::move(control)) {}

  [[nodiscard]] const std::shared_ptr<RankControl>& control() const noexcept { return control_; }
  [[nodiscard]] const BufferView& order() const noexcept { return order_->buffer(); }

  void compare(std::string_view graph, std::uint64_t hash,
               std::span<const Collective> collectives) override;
  void note_launch(std::uint64_t hash) noexcept override;

 private:
  static constexpr std::size_t kKeptLaunches = 64;
  // The launches of graphs with collectives of one communicator.
  struct Launches {
    std::uint64_t count = 0, hash = 0;
    std::uint64_t kept[kKeptLaunches] = {};  // hashes of graphs, by count modulo kKeptLaunches
  };
  struct KnownGraph {
    std::string label;
    // Communicators, and the hash of the graph's collectives in each.
    std::vector<std::pair<Launches*, std::uint64_t>> communicators;
  };
  [[nodiscard]] std::string launches_text(const Launches& launches) const;

  const std::shared_ptr<CollectiveOrder> order_;
  const std::shared_ptr<RankControl> control_;
  std::mutex mutex_;                                      // protects the members below; a leaf
  std::unordered_map<std::uint64_t, KnownGraph> graphs_;  // by the hash that launches note
  std::unordered_map<std::uint64_t, Launches> launches_;  // by communicator
};

}  // namespace reprise::detail
