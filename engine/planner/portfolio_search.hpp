// PortfolioSearch: two searches that lower the peak of the same packing: the attempts of a
// PackImprover on the caller's thread, and ejections. Ejections run on their own thread, or in
// turns with the attempts on a machine with one core. Knows no clock. Threads: one owner at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "planner/ejection_thread.hpp"
#include "planner/pack_improver.hpp"

namespace reprise::detail {

class PortfolioSearch {
 public:
  // `target` (bytes) ends the search; `capacity_goal` (bytes, 0: none) is tried first. `problem`
  // and `improver`, which works on `problem`, outlive this object.
  PortfolioSearch(const PackProblem& problem, PackImprover& improver, std::uint64_t target,
                  std::uint64_t capacity_goal = 0);
  PortfolioSearch(const PortfolioSearch&) = delete;
  PortfolioSearch& operator=(const PortfolioSearch&) = delete;

  // Makes one attempt of the improver and collects the best packing of the ejections. Returns early
  // once `stop` returns true.
  void attempt(const std::function<bool()>& stop);

 private:
  const PackProblem& problem_;
  PackImprover& improver_;
  std::uint64_t target_ = 0;
  std::uint64_t attempts_ = 0;
  std::unique_ptr<EjectionThread> ejections_;  // null on a machine with one core
};

}  // namespace reprise::detail
