#include "planner/portfolio_search.hpp"

#include <thread>

#include "planner/ejection_descent.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kEjectionBudget = 500'000;  // step budget of one turn on a single core

}  // namespace

PortfolioSearch::PortfolioSearch(const PackProblem& problem, PackImprover& improver,
                                 std::uint64_t target, std::uint64_t capacity_goal)
    : problem_(problem), improver_(improver), target_(target) {
  if (std::thread::hardware_concurrency() > 1) {
    ejections_ = std::make_unique<EjectionThread>(problem, improver.best(), target, capacity_goal);
  }
}

void PortfolioSearch::attempt(const std::function<bool()>& stop) {
  improver_.attempt([&] { return stop() || (ejections_ && ejections_->is_at_target()); });
  if (ejections_) {
    improver_.offer(ejections_->exchange(improver_.best()));
  } else if (!stop()) {
    improver_.offer(descend_by_ejections(
        problem_, improver_.best(),
        {.target = target_, .step_budget = kEjectionBudget, .seed = ++attempts_}));
  }
}

}  // namespace reprise::detail
