// PairedTrial: measures executables in turns, so that whatever changes meanwhile changes for all of
// them alike. Knows no graph. Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/paired_ratios.hpp"

namespace reprise::detail {

class PairedTrial {
 public:
  using Clock = std::chrono::steady_clock;
  struct Desc {
    std::uint32_t rounds = 21;
    Clock::time_point until = Clock::time_point::max();
    // The time of one replay of a contestant (ns).
    std::function<double(std::uint32_t contestant)> measure;
  };
  // Candidate 0 is what the others are compared with.
  struct Candidate {
    std::vector<double> times = {};
    std::string reason = {};  // why it is out; empty: it is not
    [[nodiscard]] bool is_in() const noexcept { return reason.empty(); }
  };
  static constexpr std::uint32_t kLeastRounds = 9;  // to say anything

  explicit PairedTrial(std::uint32_t candidates) : contestants_(candidates) {}
  void drop(std::uint32_t contestant, std::string reason) {
    contestants_[contestant].reason = std::move(reason);
  }
  // Until all rounds are done or the time is up; candidates that are slower beyond doubt leave
  // early.
  void run(const Desc& desc);

  [[nodiscard]] const std::vector<Candidate>& candidates() const noexcept { return contestants_; }
  [[nodiscard]] RatioInterval ratio(std::uint32_t contestant) const;
  // The fastest of those that are faster than contestant 0 beyond doubt; 0 where there is none.
  [[nodiscard]] std::uint32_t winner() const;

 private:
  std::vector<Candidate> contestants_;
};

}  // namespace reprise::detail
