// RankTable: what the hub and the ranks know of all ranks of a job, and the frames that copy it
// from the hub to the others. Knows no sockets. Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/control/control_frame.hpp"
#include "collectives/rank_control.hpp"

namespace reprise::detail {

class RankTable {
 public:
  RankTable(std::uint32_t size, std::uint32_t own_rank, std::string own_name);

  // A rank without a name has not connected yet.
  void set_name(std::uint32_t rank, std::string name);
  void set_report(std::uint32_t rank, std::string report);
  void set_disconnected(std::uint32_t rank);
  void set_left(std::uint32_t rank);  // also disconnected
  void set_heard(std::uint32_t rank);

  [[nodiscard]] bool has_name(std::uint32_t rank) const { return !rows_[rank].name.empty(); }
  [[nodiscard]] bool has_left(std::uint32_t rank) const { return rows_[rank].has_left; }
  [[nodiscard]] const std::string& name(std::uint32_t rank) const { return rows_[rank].name; }
  [[nodiscard]] const std::string& own_report() const { return rows_[own_rank_].report; }
  [[nodiscard]] bool is_full() const noexcept { return named_ == rows_.size(); }
  [[nodiscard]] std::string missing() const;                     // "ranks 2, 3": without a name
  [[nodiscard]] std::string describe(std::uint32_t rank) const;  // "rank 3 (node7, pid 4711)"
  [[nodiscard]] std::vector<RankControl::Progress> progress() const;

  // A frame with the age of all ranks, and with everything of those that changed after `version`.
  [[nodiscard]] Frame changes_since(std::uint64_t version) const;
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  // Applies the body of such a frame. Throws MalformedFrame.
  void apply(std::string_view body);

 private:
  using Clock = std::chrono::steady_clock;
  struct Row {
    std::string name, report;
    bool is_connected = true, has_left = false;
    Clock::time_point heard = Clock::now();
    std::uint64_t version = 0;  // of the latest change
  };
  Row& change(std::uint32_t rank);

  const std::uint32_t own_rank_;
  std::vector<Row> rows_;
  std::size_t named_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace reprise::detail
