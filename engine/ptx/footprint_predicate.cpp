#include "ptx/footprint_predicate.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace reprise::detail {

PtxComparison inverse(PtxComparison comparison) {
  switch (comparison) {
    case PtxComparison::Equal: return PtxComparison::NotEqual;
    case PtxComparison::NotEqual: return PtxComparison::Equal;
    case PtxComparison::Less: return PtxComparison::GreaterEqual;
    case PtxComparison::LessEqual: return PtxComparison::Greater;
    case PtxComparison::Greater: return PtxComparison::LessEqual;
    case PtxComparison::GreaterEqual: return PtxComparison::Less;
  }
  return comparison;
}
PtxComparison swapped(PtxComparison comparison) {
  switch (comparison) {
    case PtxComparison::Less: return PtxComparison::Greater;
    case PtxComparison::LessEqual: return PtxComparison::GreaterEqual;
    case PtxComparison::Greater: return PtxComparison::Less;
    case PtxComparison::GreaterEqual: return PtxComparison::LessEqual;
    default: return comparison;
  }
}

bool always_holds(PtxComparison comparison, Bounds difference) {
  switch (comparison) {
    case PtxComparison::Equal: return difference == Bounds{0, 0};
    case PtxComparison::NotEqual: return difference.high < 0 || difference.low > 0;
    case PtxComparison::Less: return difference.high < 0;
    case PtxComparison::LessEqual: return difference.high <= 0;
    case PtxComparison::Greater: return difference.low > 0;
    case PtxComparison::GreaterEqual: return difference.low >= 0;
  }
  return false;
}

Bounds allowed(PtxComparison comparison, Bounds x, Bounds y) {
  const auto below = [](std::int64_t of) {
    return of == Bounds::kLowest || of == Bounds::kHighest ? of : of - 1;
  };
  const auto above = [](std::int64_t of) {
    return of == Bounds::kLowest || of == Bounds::kHighest ? of : of + 1;
  };
  switch (comparison) {
    case PtxComparison::Equal: return y;
    case PtxComparison::NotEqual:
      if (!y.is_one()) return {};
      return {x.low == y.low ? above(y.low) : Bounds::kLowest,
              x.high == y.low ? below(y.low) : Bounds::kHighest};
    case PtxComparison::Less: return {Bounds::kLowest, below(y.high)};
    case PtxComparison::LessEqual: return {Bounds::kLowest, y.high};
    case PtxComparison::Greater: return {above(y.low), Bounds::kHighest};
    case PtxComparison::GreaterEqual: return {y.low, Bounds::kHighest};
  }
  return {};
}

BlockPredicate inverse(BlockPredicate predicate) {
  using Truth = BlockPredicate::Truth;
  std::swap(predicate.constraints[0], predicate.constraints[1]);
  if (predicate.truth != Truth::Unknown)
    predicate.truth = predicate.truth == Truth::True ? Truth::False : Truth::True;
  return predicate;
}

BlockPredicate both(const BlockPredicate& a, const BlockPredicate& b) {
  constexpr std::size_t kMaxConstraints = 16;
  if (!a.may_be(true) || !b.may_be(true)) return {.truth = BlockPredicate::Truth::False};
  if (!a.may_be(false)) return b;
  if (!b.may_be(false)) return a;
  BlockPredicate result;
  std::vector<RegisterConstraint>& all = result.constraints[1];
  all = a.constraints[1];
  for (const RegisterConstraint& one : b.constraints[1])
    if (all.size() < kMaxConstraints && std::find(all.begin(), all.end(), one) == all.end())
      all.push_back(one);
  return result;
}

}  // namespace reprise::detail
