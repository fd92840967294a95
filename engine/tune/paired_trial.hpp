// PairedTrial: measures candidates in turns, so that slow changes of the machine affect all of them
// alike. Knows no graph. Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/paired_ratios.hpp"

namespace reprise::detail {

class PairedTrial {
 public:
  struct Desc {
    std::uint32_t rounds = 21;
    std::function<bool()> is_over = {};  // no further measurement starts then
    // The time of one replay of a candidate, in ns.
    std::function<double(std::uint32_t candidate)> measure;
  };
  // Candidate 0 is the baseline.
  struct Candidate {
    std::vector<double> times = {};  // ns
    std::string reason = {};         // why it was dropped; empty: it was not
    [[nodiscard]] bool is_in() const noexcept { return reason.empty(); }
  };
  static constexpr std::uint32_t kMinRounds = 9;  // for a result

  explicit PairedTrial(std::uint32_t count) : candidates_(count) {}
  void drop(std::uint32_t candidate, std::string reason) {
    candidates_[candidate].reason = std::move(reason);
  }
  // Runs all rounds or until is_over(). Drops candidates as soon as they are significantly
  // slower than the baseline.
  void run(const Desc& desc);

  [[nodiscard]] const std::vector<Candidate>& candidates() const noexcept { return candidates_; }
  [[nodiscard]] RatioInterval ratio(std::uint32_t candidate) const;
  // The fastest candidate that is significantly faster than the baseline; 0 if none is.
  [[nodiscard]] std::uint32_t winner() const;

 private:
  std::vector<Candidate> candidates_;
};

}  // namespace reprise::detail
