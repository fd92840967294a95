// TuningRanks: the ranks that the collectives of a graph connect, which tune it together: they
// measure the same candidates at the same time, and take the decisions of the first of them. A
// graph without collectives has one rank, which decides alone. Threads: one at a time; all
// functions but has_collectives() are collective calls, which throw RankLost.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <reprise/error.hpp>

#include "plan/collectives.hpp"

namespace reprise::detail {

class TuningRanks {
 public:
  // Throws Unsupported if they are those of several jobs.
  TuningRanks(LaunchedCollectives collectives, std::string graph);

  [[nodiscard]] bool has_collectives() const noexcept { return !collectives_.ranks.empty(); }

  // The value that the first rank passes.
  [[nodiscard]] bool first(bool own) const;
  // The max value of all ranks; none may be negative.
  [[nodiscard]] double largest(double own) const;
  // Whether every rank passes true.
  [[nodiscard]] bool all(bool own) const;
  // The texts that every rank passes, in the order of the first rank.
  [[nodiscard]] std::vector<std::string> common(const std::vector<std::string>& own) const;
  // Throws RankMismatch if the texts of two ranks differ.
  void require_equal(const std::string& own) const;
  // Calls make(). Returns why it failed on a rank; empty: it succeeded on all. Errors for which
  // is_expected() returns false are rethrown, and throw RankLost on the other ranks.
  [[nodiscard]] std::string attempt(const std::function<void()>& make,
                                    bool (*is_expected)(const Error&)) const;

 private:
  // The message of each rank, by rank.
  [[nodiscard]] std::vector<RankAgreement::Message> exchange(std::string own) const;

  const LaunchedCollectives collectives_;
  const std::string graph_;
};

}  // namespace reprise::detail
