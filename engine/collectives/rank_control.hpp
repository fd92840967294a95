// RankControl: small messages between the ranks of one job, beside the data of collectives.
// Threads: any; a blocked call does not keep others from returning.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/rank_agreement.hpp"

namespace reprise::detail {

class RankControl {
 public:
  virtual ~RankControl() = default;
  [[nodiscard]] virtual std::uint32_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;

  // Collective among `members`, ranks of the job in ascending order that contain this one: returns
  // the message of each member, in their order. Calls of one `group`, a number that the members
  // agree on, match in their order. Throws Error: RankLost with abort_reason() once the job
  // is aborted or a rank is lost, or with the names of the ranks that did not call within the
  // limit.
  [[nodiscard]] virtual std::vector<std::string> all_gather(std::uint64_t group,
                                                            std::span<const std::uint32_t> members,
                                                            std::string message) = 0;

  // This rank does not call all_gather of `group` any more.
  virtual void end_group(std::uint64_t group) noexcept = 0;

  // The latest report of each rank, which the others can read: see progress(). Does not block.
  // Throws Error (InvalidArgument) for more than max_report_bytes().
  virtual void report_progress(std::string report) = 0;
  [[nodiscard]] virtual std::size_t max_report_bytes() const noexcept = 0;
  struct Progress {
    std::string report;               // the latest; empty: none yet
    std::chrono::nanoseconds age{0};  // since the last sign of life of the rank
    bool is_connected = true;         // false: the rank ended its connection
    std::string name;                 // host and process: "node7, pid 4711"
  };
  // By rank.
  [[nodiscard]] virtual std::vector<Progress> progress() const = 0;

  // See RankAgreement, whose ranks are those of the launcher. With rank 0 only; none if the ranks
  // share a process.
  [[nodiscard]] virtual std::vector<RankAgreement::ClockExchange> take_clock_exchanges() {
    return {};
  }
  // Differs between jobs, and is the same on all ranks of one; 0: the ranks share a process.
  [[nodiscard]] virtual std::uint64_t job_id() const noexcept { return 0; }

  // Ends the job: every rank's calls throw `reason`, and its handlers run. Only the first reason
  // counts. Does not block, and never throws.
  virtual void abort(std::string reason) noexcept = 0;
  // Empty: the job is not aborted.
  [[nodiscard]] virtual std::string abort_reason() const = 0;
  // `handler` runs once, on a thread of this object, when the job is aborted or a rank is lost; at
  // once if that has happened. The result removes it: after its destruction the handler does not
  // run.
  [[nodiscard]] virtual std::shared_ptr<const void> on_abort(
      std::function<void(const std::string& reason)> handler) = 0;
};

}  // namespace reprise::detail
