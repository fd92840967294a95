// PortfolioSearch: a packing that gets lower by two searches of the same problem: a PackImprover's
// attempts on the caller's thread, and ejections beside them, on a thread of their own where there
// is a second core, else in turns. Knows no clock. Threads: one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "planner/ejection_thread.hpp"
#include "planner/pack_improver.hpp"

namespace reprise::detail {

class PortfolioSearch {
 public:
  // `target`: what is low enough; `wish`: a height to reach before others, 0 for none. `problem`
  // and `improver`, which is of it, outlive this.
  PortfolioSearch(const PackProblem& problem, PackImprover& improver, std::uint64_t target,
                  std::uint64_t wish = 0);
  PortfolioSearch(const PortfolioSearch&) = delete;
  PortfolioSearch& operator=(const PortfolioSearch&) = delete;

  // One attempt of the improver's, and what ejections found meanwhile; ends early once `stop` says
  // so.
  void attempt(const std::function<bool()>& stop);

 private:
  const PackProblem& problem_;
  PackImprover& improver_;
  std::uint64_t target_ = 0;
  std::uint64_t turns_ = 0;
  std::unique_ptr<EjectionThread> ejections_;  // empty: there is one core alone
};

}  // namespace reprise::detail
