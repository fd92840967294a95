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
constexpr double kLongestDive = 3e8;          // items times sections walked, for one packing
// Which order, and how far items move in it: those that sections fill with long-lived ones first
// are right most often.
struct Way {
  std::uint32_t order = 0;
  double disturbance = 0;
};
constexpr Way kWays[] = {{2, 0},   {4, 0},   {2, 0.2}, {1, 0.05}, {2, 0.05}, {3, 0.2},
                         {2, 0.1}, {4, 0.1}, {2, 0.4}, {1, 0.2},  {2, 0.02}, {0, 0.1}};

// 1, 1, 2, 1, 1, 2, 4, 1, ...: long attempts are as rare as they are long (Luby, Sinclair,
// Zuckerman).
std::uint64_t restart_length(std::uint64_t attempt) {
  for (std::uint64_t i = attempt + 1;;) {
    const unsigned bits = static_cast<unsigned>(std::bit_width(i));
    if (i + 1 == std::uint64_t{1} << bits) return std::uint64_t{1} << (bits - 1);
    i -= (std::uint64_t{1} << (bits - 1)) - 1;
  }
}

double dive_cost(const PackProblem& problem) {
  double sections = 0;
  for (const IndexRange& range : problem.ranges) sections += range.end - range.begin;
  return sections * static_cast<double>(problem.size());
}

}  // namespace

PackImprover::PackImprover(const PackProblem& problem, Packing first, std::uint64_t target,
                           std::uint64_t wish)
    : problem_(problem),
      best_(std::move(first)),
      target_(target),
      wish_(wish),
      can_search_(dive_cost(problem) <= kLongestDive) {
  for (std::uint32_t number = 0; number < kPackOrders; ++number)
    orders_.push_back(pack_order(problem, number));
}

void PackImprover::attempt(const std::function<bool()>& stop, std::uint64_t most_steps) {
  const std::uint32_t attempt = attempts_++;
  // Twice each: once for each height.
  const std::uint32_t turn = attempt / 2;
  Way way = kWays[turn % std::size(kWays)];
  if (turn >= std::size(kWays) && way.disturbance == 0) way.disturbance = 0.15;
  if (can_search_) {
    const std::uint64_t steps = kShortSearch * (turn < 2 ? 8 : restart_length(turn / 2));
    return search(disturbed(orders_[way.order], way.disturbance), std::min(steps, most_steps),
                  stop);
  }
  pack(pack_order_.empty() || attempt < orders_.size() ? orders_[attempt % orders_.size()]
                                                       : disturbed(pack_order_, 0.02));
}

// Every other search asks for the target itself, the others for a part of the way.
void PackImprover::search(const Order& order, std::uint64_t steps,
                          const std::function<bool()>& stop) {
  const bool is_modest = attempts_ % 2 == 0;
  const std::uint64_t height = std::max(is_modest ? modest_height() : target_, impossible_ + 1);
  SearchResult result = search_packing(
      problem_, {.height = height, .order = order, .max_steps = steps, .stop = stop});
  switch (result.outcome) {
    case SearchOutcome::Found: best_ = std::move(result.packing); break;
    case SearchOutcome::Impossible: impossible_ = height; break;
    case SearchOutcome::BudgetExhausted: break;
  }
  if (is_modest)
    stride_ = result.outcome == SearchOutcome::Found ? std::min(1.0, 2 * stride_)
                                                     : std::max(1.0 / 64, 0.8 * stride_);
}

std::uint64_t PackImprover::modest_height() const {
  if (target_ < wish_ && wish_ < best_.height) return wish_;
  const double above = static_cast<double>(best_.height - target_);
  return best_.height - std::max<std::uint64_t>(1, static_cast<std::uint64_t>(above * stride_));
}

void PackImprover::pack(Order order) {
  Packing packing = GreedyPacker(problem_).pack(order, GapRule::Lowest);
  if (packing.height <= pack_height_) {
    pack_height_ = packing.height;
    pack_order_ = std::move(order);
  }
  if (packing.height < best_.height) best_ = std::move(packing);
}

// Each item moves by up to `part` of the whole length.
PackImprover::Order PackImprover::disturbed(const Order& order, double part) {
  if (part == 0) return order;
  std::vector<double> place(problem_.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    place[order[i]] = static_cast<double>(i) + part * static_cast<double>(order.size()) * random();
  Order result = order;
  std::stable_sort(result.begin(), result.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return place[a] < place[b]; });
  return result;
}

double PackImprover::random() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }

}  // namespace reprise::detail
