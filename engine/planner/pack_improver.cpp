#include "planner/pack_improver.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "planner/greedy_pack.hpp"
#include "planner/pack_search.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kShortSearch = 1000;  // steps
constexpr double kMaxDescentCost = 3e8;       // items times cliques visited by one descent
// The pack_order() and how far items move in it, as a part of its length. Orders by lifetime and by
// the fullest clique succeed most often.
struct Strategy {
  std::uint32_t order = 0;
  double perturbation = 0;
};
constexpr Strategy kStrategies[] = {{2, 0},   {4, 0},   {2, 0.2}, {1, 0.05}, {2, 0.05}, {3, 0.2},
                                    {2, 0.1}, {4, 0.1}, {2, 0.4}, {1, 0.2},  {2, 0.02}, {0, 0.1}};

// The Luby sequence of restart lengths: 1, 1, 2, 1, 1, 2, 4, 1, ... (Luby, Sinclair, Zuckerman,
// 1993).
std::uint64_t restart_length(std::uint64_t attempt) {
  for (std::uint64_t i = attempt + 1;;) {
    const unsigned bits = static_cast<unsigned>(std::bit_width(i));
    if (i + 1 == std::uint64_t{1} << bits) return std::uint64_t{1} << (bits - 1);
    i -= (std::uint64_t{1} << (bits - 1)) - 1;
  }
}

double descent_cost(const PackProblem& problem) {
  double cliques = 0;
  for (const IndexRange& range : problem.ranges) cliques += range.end - range.begin;
  return cliques * static_cast<double>(problem.size());
}

}  // namespace

PackImprover::PackImprover(const PackProblem& problem, Packing first, std::uint64_t target,
                           std::uint64_t capacity_goal)
    : problem_(problem),
      best_(std::move(first)),
      target_(target),
      capacity_goal_(capacity_goal),
      can_search_(descent_cost(problem) <= kMaxDescentCost) {
  for (std::uint32_t index = 0; index < kPackOrders; ++index)
    orders_.push_back(pack_order(problem, index));
}

void PackImprover::attempt(const std::function<bool()>& stop, std::uint64_t max_steps) {
  const std::uint32_t attempt = attempts_++;
  // Two consecutive attempts use one strategy: one for each capacity that search() selects.
  const std::uint32_t iteration = attempt / 2;
  Strategy strategy = kStrategies[iteration % std::size(kStrategies)];
  if (iteration >= std::size(kStrategies) && strategy.perturbation == 0)
    strategy.perturbation = 0.15;
  if (can_search_) {
    const std::uint64_t steps = kShortSearch * (iteration < 2 ? 8 : restart_length(iteration / 2));
    return search(perturbed(orders_[strategy.order], strategy.perturbation),
                  std::min(steps, max_steps), stop);
  }
  pack(pack_order_.empty() || attempt < orders_.size() ? orders_[attempt % orders_.size()]
                                                       : perturbed(pack_order_, 0.02));
}

// Searches alternate between the target and an intermediate capacity.
void PackImprover::search(const Order& order, std::uint64_t steps,
                          const std::function<bool()>& stop) {
  const bool is_intermediate = attempts_ % 2 == 0;
  const std::uint64_t capacity =
      std::max(is_intermediate ? intermediate_capacity() : target_, infeasible_ + 1);
  SearchResult result = search_packing(
      problem_, {.capacity = capacity, .order = order, .max_steps = steps, .stop = stop});
  switch (result.outcome) {
    case SearchOutcome::Found: best_ = std::move(result.packing); break;
    case SearchOutcome::Infeasible: infeasible_ = capacity; break;
    case SearchOutcome::BudgetExhausted: break;
  }
  if (is_intermediate)
    stride_ = result.outcome == SearchOutcome::Found ? std::min(1.0, 2 * stride_)
                                                     : std::max(1.0 / 64, 0.8 * stride_);
}

std::uint64_t PackImprover::intermediate_capacity() const {
  if (target_ < capacity_goal_ && capacity_goal_ < best_.peak_bytes) return capacity_goal_;
  const double gap = static_cast<double>(best_.peak_bytes - target_);
  return best_.peak_bytes - std::max<std::uint64_t>(1, static_cast<std::uint64_t>(gap * stride_));
}

void PackImprover::pack(Order order) {
  Packing packing = GreedyPacker(problem_).pack(order, FitRule::FirstFit);
  if (packing.peak_bytes <= pack_peak_) {
    pack_peak_ = packing.peak_bytes;
    pack_order_ = std::move(order);
  }
  if (packing.peak_bytes < best_.peak_bytes) best_ = std::move(packing);
}

// Moves each item backwards by a random distance of up to `part` of the order's length.
PackImprover::Order PackImprover::perturbed(const Order& order, double part) {
  if (part == 0) return order;
  std::vector<double> position(problem_.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    position[order[i]] =
        static_cast<double>(i) + part * static_cast<double>(order.size()) * random();
  Order result = order;
  std::stable_sort(result.begin(), result.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return position[a] < position[b]; });
  return result;
}

double PackImprover::random() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }

}  // namespace reprise::detail
