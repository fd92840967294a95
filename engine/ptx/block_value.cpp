#include "ptx/block_value.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/aligned_up.hpp"

namespace reprise::detail {

namespace {

constexpr std::int64_t kLowest = Bounds::kLowest, kHighest = Bounds::kHighest;
using Steps = std::array<std::int64_t, 3>;
__extension__ using Wide = __int128;
constexpr Steps kNoSteps = {};

// Sums and products of bounds; without a bound on overflow.
std::int64_t sum_of_lows(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (a == kLowest || b == kLowest || __builtin_add_overflow(a, b, &sum)) return kLowest;
  return sum;
}
std::int64_t sum_of_highs(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (a == kHighest || b == kHighest || __builtin_add_overflow(a, b, &sum)) return kHighest;
  return sum;
}
Bounds sum(Bounds a, Bounds b) { return {sum_of_lows(a.low, b.low), sum_of_highs(a.high, b.high)}; }
Bounds negative(Bounds a) {
  return {a.high == kHighest  ? kLowest
          : a.high == kLowest ? kHighest
                              : -a.high,
          a.low == kLowest ? kHighest : -a.low};
}
Bounds hull(Bounds a, Bounds b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }
Bounds both(Bounds a, Bounds b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}
// Without bounds if any product has more than 64 bits.
Bounds product(Bounds a, Bounds b) {
  if (!a.is_bounded() || !b.is_bounded()) {
    const bool is_positive = a.low >= 0 && b.low >= 0;
    return {is_positive ? 0 : kLowest, kHighest};
  }
  Bounds result{kHighest, kLowest};
  for (const std::int64_t x : {a.low, a.high}) {
    for (const std::int64_t y : {b.low, b.high}) {
      const std::optional<std::int64_t> xy = product(x, y);
      if (!xy) return {};
      result = hull(result, {*xy, *xy});
    }
  }
  return result;
}

Bounds quotient(Bounds a, std::int64_t by) {
  return {a.low == kLowest ? kLowest : floor_divide(a.low, by),
          a.high == kHighest ? kHighest : floor_divide(a.high, by)};
}

BlockValue make(const Steps& step, Bounds rest, Bounds range) {
  BlockValue value{.step = step, .rest = rest, .range = range};
  if (step == kNoSteps) value.rest = value.range = both(rest, range);
  return value;
}
BlockValue mixed() { return BlockValue::of_kind(BlockValue::Kind::Mixed); }
bool is_any_address(const BlockValue& a, const BlockValue& b) {
  return a.is_address() || b.is_address();
}

std::optional<Steps> sum(const Steps& a, const Steps& b) {
  Steps result = {};
  for (std::size_t d = 0; d < 3; ++d)
    if (__builtin_add_overflow(a[d], b[d], &result[d])) return std::nullopt;
  return result;
}
std::optional<Steps> product(const Steps& a, std::int64_t factor) {
  Steps result = {};
  for (std::size_t d = 0; d < 3; ++d)
    if (__builtin_mul_overflow(a[d], factor, &result[d])) return std::nullopt;
  return result;
}
// Of a number.
BlockValue negative(const BlockValue& a) {
  const std::optional<Steps> step = product(a.step, -1);
  return step ? make(*step, negative(a.rest), negative(a.range))
              : BlockValue::within(negative(a.range));
}
// The sum of step[d] * b[d] for the blocks b of the grid.
Bounds sum_of_steps(const Steps& step, const GridBlocks& grid) {
  Bounds result{0, 0};
  for (std::size_t d = 0; d < 3; ++d)
    if (step[d] != 0)
      result = sum(result, product(Bounds{step[d], step[d]}, Bounds{0, std::int64_t{grid[d]} - 1}));
  return result;
}
std::int64_t floor_modulo(std::int64_t value, std::int64_t by) {
  const std::int64_t left = value % by;
  return left < 0 ? left + by : left;
}

// Steps as multiples of `by`, and the steps of the remainder.
struct DividedSteps {
  Steps quotient = {}, left = {};
};
DividedSteps divided(const Steps& step, std::int64_t by) {
  DividedSteps result;
  for (std::size_t d = 0; d < 3; ++d) {
    result.quotient[d] = floor_divide(step[d], by);
    result.left[d] = floor_modulo(step[d], by);
    if (result.left[d] <= by / 2) continue;
    ++result.quotient[d];  // the nearest multiple leaves less
    result.left[d] -= by;
  }
  return result;
}

// floor(a / by), for by > 0.
BlockValue floor_quotient(const BlockValue& a, std::int64_t by, const GridBlocks& grid) {
  const DividedSteps steps = divided(a.step, by);
  return make(steps.quotient, quotient(sum(a.rest, sum_of_steps(steps.left, grid)), by),
              quotient(a.range, by));
}
// a - by * floor(a / by), for by > 0.
BlockValue floor_remainder(const BlockValue& a, std::int64_t by, const GridBlocks& grid) {
  if (a.range.low >= 0 && a.range.high < by) return a;
  const auto is_in_one = [by](Bounds bounds) {
    return bounds.is_bounded() && floor_divide(bounds.low, by) == floor_divide(bounds.high, by);
  };
  const auto modulo = [by](Bounds bounds) {
    return Bounds{floor_modulo(bounds.low, by), floor_modulo(bounds.high, by)};
  };
  if (is_in_one(a.range)) return BlockValue::within(modulo(a.range));
  const DividedSteps steps = divided(a.step, by);
  const Bounds part = sum_of_steps(steps.left, grid), left = sum(a.rest, part);
  if (!is_in_one(left)) return BlockValue::within({0, by - 1});
  const Bounds range = modulo(left);
  return make(steps.left, {sum_of_lows(range.low, -part.low), sum_of_highs(range.high, -part.high)},
              range);
}

// floor(a * factor / 2^64), for a factor from 0 to 2^64.
BlockValue upper_half(const BlockValue& a, Wide factor, const GridBlocks& grid) {
  constexpr Wide kHalf = Wide{1} << 63, kLowBits = 2 * kHalf - 1;
  Steps step = {};
  Wide lowest = 0, highest = 0;  // of what the steps leave out, in units of 2^-64
  for (std::size_t d = 0; d < 3; ++d) {
    const Wide product = a.step[d] * factor, nearest = (product + kHalf) >> 64,
               left = (product - (nearest << 64)) * (Wide{grid[d]} - 1);
    step[d] = static_cast<std::int64_t>(nearest);
    (left < 0 ? lowest : highest) += left;
  }
  const auto bound = [factor](std::int64_t x, Wide left) {
    const Wide product = x * factor, sum = (product >> 64) + (((product & kLowBits) + left) >> 64);
    return static_cast<std::int64_t>(std::clamp<Wide>(sum, kLowest, kHighest));
  };
  const auto bounds = [&bound](Bounds of, Wide low, Wide high) {
    return Bounds{of.low == kLowest ? kLowest : bound(of.low, low),
                  of.high == kHighest ? kHighest : bound(of.high, high)};
  };
  return make(step, bounds(a.rest, lowest, highest), bounds(a.range, 0, 0));
}

}  // namespace

Bounds IntegerType::bounds() const noexcept {
  if (bits >= 64) return is_signed ? Bounds{} : Bounds{0, kHighest};
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return is_signed ? Bounds{-half, half - 1} : Bounds{0, 2 * half - 1};
}

bool narrow(BlockValue& value, const GridBlocks& grid) {
  const Bounds of_block = sum_of_steps(value.step, grid);
  value.range = both(value.range, sum(value.rest, of_block));
  value.rest = both(value.rest, sum(value.range, negative(of_block)));
  return !value.range.is_empty() && !value.rest.is_empty();
}

BlockValue as_type(const BlockValue& value, IntegerType type) {
  if (value.is_address()) return type.bits >= 64 ? value : mixed();
  const Bounds bounds = type.bounds();
  constexpr Bounds kNear{-(std::int64_t{1} << 62), std::int64_t{1} << 62};
  if (value.range.is_bounded() && value.range.is_inside(bounds)) return value;
  if (type.bits >= 64 || !value.range.is_inside(kNear)) return BlockValue::within(bounds);
  // The same numbers, less a multiple of two to the power of the bits.
  const std::int64_t period = std::int64_t{1} << type.bits,
                     turns = floor_divide(value.range.low - bounds.low, period) * period;
  const Bounds moved = sum(value.range, {-turns, -turns});
  if (!moved.is_inside(bounds)) return BlockValue::within(bounds);
  return make(value.step, sum(value.rest, {-turns, -turns}), moved);
}

BlockValue join(const BlockValue& a, const BlockValue& b) {
  if (a == b) return a;
  if (a.kind != b.kind || a.pointer != b.pointer) return mixed();
  BlockValue result = make(kNoSteps, {}, hull(a.range, b.range));
  if (a.step == b.step) result = make(a.step, hull(a.rest, b.rest), hull(a.range, b.range));
  result.kind = a.kind;
  result.pointer = a.pointer;
  return result;
}

BlockValue widen(const BlockValue& before, const BlockValue& value,
                 std::span<const std::int64_t> stops) {
  BlockValue result = join(before, value);
  // Far enough for what a comparison narrows again; without a bound if it grows further.
  constexpr std::int64_t kFar = std::int64_t{1} << 30, kVeryFar = std::int64_t{1} << 62;
  const auto further = [](std::int64_t distance) {
    return distance <= kFar ? kFar : distance <= kVeryFar ? kVeryFar : kHighest;
  };
  const auto grown = [&](Bounds from, Bounds to) {
    Bounds moved = to;
    if (to.high > from.high) moved.high = further(to.high);
    if (to.low < from.low) moved.low = to.low >= -kVeryFar ? -further(-to.low) : kLowest;
    for (const std::int64_t stop : stops) {
      if (to.high > from.high && stop >= to.high) moved.high = std::min(moved.high, stop);
      if (to.low < from.low && stop <= to.low) moved.low = std::max(moved.low, stop);
    }
    return moved;
  };
  result.range = grown(before.range, result.range);
  result.rest = result.step == before.step ? grown(before.rest, result.rest) : Bounds{};
  if (!result.depends_on_block()) result.rest = result.range;
  return result;
}

BlockValue add(const BlockValue& a, const BlockValue& b) {
  using Kind = BlockValue::Kind;
  Kind kind = Kind::Number;
  if (is_any_address(a, b)) {
    if (a.is_address() && b.is_address()) return mixed();
    kind = a.is_address() ? a.kind : b.kind;
    if (kind != Kind::Pointer) return BlockValue::of_kind(kind);
  }
  const std::optional<Steps> step = sum(a.step, b.step);
  BlockValue result = step ? make(*step, sum(a.rest, b.rest), sum(a.range, b.range))
                           : BlockValue::within(sum(a.range, b.range));
  result.kind = kind;
  result.pointer = a.is_address() ? a.pointer : b.pointer;
  return result;
}

BlockValue subtract(const BlockValue& a, const BlockValue& b) {
  using Kind = BlockValue::Kind;
  if (b.is(Kind::Pointer) && a.is(Kind::Pointer) && a.pointer == b.pointer) {
    BlockValue offset = a, other = b;
    offset.kind = other.kind = Kind::Number;
    offset.pointer = other.pointer = 0;
    return subtract(offset, other);
  }
  if (b.is_address()) return mixed();
  return add(a, negative(b));
}

BlockValue multiply(const BlockValue& a, const BlockValue& b) {
  if (is_any_address(a, b)) return mixed();
  if (a.range.is_one() && !b.range.is_one()) return multiply(b, a);
  const Bounds range = product(a.range, b.range);
  if (b.range.is_one()) {
    if (const std::optional<Steps> step = product(a.step, b.range.low))
      return make(*step, product(a.rest, b.range), range);
  }
  return BlockValue::within(range);
}

BlockValue multiply_high(const BlockValue& a, const BlockValue& b, IntegerType type,
                         const GridBlocks& grid) {
  const BlockValue of = as_type(a, type);
  if (is_any_address(a, b)) return mixed();
  if (type.bits < 63)
    return floor_quotient(multiply(of, as_type(b, type)), std::int64_t{1} << type.bits, grid);
  if (!b.range.is_one())
    return a.range.is_one() ? multiply_high(b, a, type, grid) : BlockValue::unknown();
  const Wide signed_factor = b.range.low,
             factor =
                 type.is_signed ? signed_factor : Wide{static_cast<std::uint64_t>(b.range.low)};
  return factor < 0 ? upper_half(negative(of), -factor, grid) : upper_half(of, factor, grid);
}

BlockValue divide(const BlockValue& a, const BlockValue& b, const GridBlocks& grid) {
  if (is_any_address(a, b)) return mixed();
  if (b.range.low <= 0) return BlockValue::unknown();
  const auto towards_zero = [](Bounds x, std::int64_t by) {
    return Bounds{x.low == kLowest ? kLowest : x.low / by,
                  x.high == kHighest ? kHighest : x.high / by};
  };
  if (b.range.is_one()) {
    BlockValue result = floor_quotient(a, b.range.low, grid);
    if (a.range.low >= 0) return result;
    // Negative numbers are rounded up.
    result.rest.high = sum_of_highs(result.rest.high, 1);
    return make(result.step, result.rest, towards_zero(a.range, b.range.low));
  }
  if (!a.range.is_bounded()) return BlockValue::unknown();
  return BlockValue::within(
      hull(towards_zero(a.range, b.range.low), towards_zero(a.range, b.range.high)));
}

BlockValue remainder(const BlockValue& a, const BlockValue& b, const GridBlocks& grid) {
  if (is_any_address(a, b)) return mixed();
  if (b.range.low <= 0) return BlockValue::unknown();
  if (a.range.low >= 0 && b.range.is_one()) return floor_remainder(a, b.range.low, grid);
  const std::int64_t most = b.range.high == kHighest ? kHighest : b.range.high - 1;
  return BlockValue::within({a.range.low >= 0 ? 0 : most == kHighest ? kLowest : -most, most});
}

BlockValue shift_left(const BlockValue& a, const BlockValue& count, IntegerType type) {
  if (is_any_address(a, count)) return mixed();
  if (!count.range.is_one() || count.range.low < 0) return BlockValue::unknown();
  if (count.range.low >= type.bits) return BlockValue::number(0);
  if (count.range.low >= 63) return BlockValue::unknown();
  return multiply(a, BlockValue::number(std::int64_t{1} << count.range.low));
}

BlockValue shift_right(const BlockValue& a, const BlockValue& count, const GridBlocks& grid) {
  if (is_any_address(a, count)) return mixed();
  if (count.range.is_one() && count.range.low >= 0 && count.range.low < 63)
    return floor_quotient(a, std::int64_t{1} << count.range.low, grid);
  return a.range.low >= 0 ? BlockValue::within({0, a.range.high}) : BlockValue::unknown();
}

BlockValue bitwise_and(const BlockValue& a, const BlockValue& b, IntegerType type,
                       const GridBlocks& grid) {
  if (is_any_address(a, b)) return mixed();
  if (a.range.is_one() && !b.range.is_one()) return bitwise_and(b, a, type, grid);
  if (b.range.is_one()) {
    // The bits of the type only: ~7 can be written as a negative number.
    const std::uint64_t all =
        type.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << type.bits) - 1;
    const std::uint64_t mask = static_cast<std::uint64_t>(b.range.low) & all, rest = ~mask & all;
    if (a.range.is_one()) {
      const std::uint64_t bits = static_cast<std::uint64_t>(a.range.low) & mask;
      return bits > static_cast<std::uint64_t>(kHighest)
                 ? BlockValue::unknown()
                 : BlockValue::number(static_cast<std::int64_t>(bits));
    }
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
    if (mask < kMost && std::has_single_bit(mask + 1))
      return floor_remainder(a, static_cast<std::int64_t>(mask + 1), grid);
    if (rest < kMost && std::has_single_bit(rest + 1)) {
      const auto unit = static_cast<std::int64_t>(rest + 1);
      return multiply(floor_quotient(a, unit, grid), BlockValue::number(unit));
    }
    if (mask < kMost) return BlockValue::within({0, static_cast<std::int64_t>(mask)});
    return BlockValue::unknown();
  }
  if (a.range.low < 0 && b.range.low < 0) return BlockValue::unknown();
  const std::int64_t high = a.range.low < 0   ? b.range.high
                            : b.range.low < 0 ? a.range.high
                                              : std::min(a.range.high, b.range.high);
  return BlockValue::within({0, high});
}

// For numbers that are not negative: max(a, b) <= a | b <= a + b, and |a - b| <= a ^ b <= a + b.
BlockValue bitwise_or(const BlockValue& a, const BlockValue& b) {
  if (is_any_address(a, b)) return mixed();
  if (a.range.low < 0 || b.range.low < 0) return BlockValue::unknown();
  if (b.depends_on_block() && !a.depends_on_block()) return bitwise_or(b, a);
  return make(a.step, sum(a.rest, {0, b.range.high}),
              {std::max(a.range.low, b.range.low), sum_of_highs(a.range.high, b.range.high)});
}

BlockValue bitwise_xor(const BlockValue& a, const BlockValue& b) {
  if (is_any_address(a, b)) return mixed();
  if (a.range.low < 0 || b.range.low < 0) return BlockValue::unknown();
  if (b.depends_on_block() && !a.depends_on_block()) return bitwise_xor(b, a);
  return make(a.step, sum(a.rest, hull(b.range, negative(b.range))),
              {0, sum_of_highs(a.range.high, b.range.high)});
}

BlockValue minimum(const BlockValue& a, const BlockValue& b, const GridBlocks& grid) {
  if (is_any_address(a, b)) return mixed();
  const auto least = [](Bounds x, Bounds y) {
    return Bounds{std::min(x.low, y.low), std::min(x.high, y.high)};
  };
  const Bounds range = least(a.range, b.range);
  if (a.step == b.step) return make(a.step, least(a.rest, b.rest), range);
  // Less the part that depends on the block: min((b + 1) * chunk, n) is at most (b + 1) * chunk.
  const BlockValue &of = a.depends_on_block() ? a : b, &other = a.depends_on_block() ? b : a;
  const Bounds part = part_of_blocks(of.step, of, grid);
  return make(of.step, least(of.rest, sum(other.range, negative(part))), range);
}

BlockValue maximum(const BlockValue& a, const BlockValue& b, const GridBlocks& grid) {
  if (is_any_address(a, b)) return mixed();
  return negative(minimum(negative(a), negative(b), grid));
}

Bounds part_of_blocks(const Steps& step, const BlockValue& held, const GridBlocks& grid) {
  const Bounds of_grid = sum_of_steps(step, grid);
  // A number is the sum of the part and one in `rest`.
  std::int64_t factor = 0;
  for (std::size_t d = 0; d < 3 && factor == 0; ++d)
    if (held.step[d] != 0 && step[d] != kLowest) factor = step[d] / held.step[d];
  if (factor == 0 || product(held.step, factor) != step) return of_grid;
  return both(of_grid, product(sum(held.range, negative(held.rest)), Bounds{factor, factor}));
}

BlockValue join_in_part(const BlockValue& a, const BlockValue& b, Bounds part) {
  const BlockValue joined = join(a, b);
  if (joined.step == b.step || joined.kind != b.kind || part.is_empty()) return joined;
  BlockValue moved = a;
  moved.step = b.step;
  moved.rest = sum(a.range, negative(part));
  moved = join(moved, b);
  const auto extent = [](Bounds bounds) {
    std::int64_t distance = 0;
    const bool is_known =
        bounds.is_bounded() && !__builtin_sub_overflow(bounds.high, bounds.low, &distance);
    return is_known ? distance : kHighest;
  };
  return extent(moved.rest) < extent(joined.range) ? moved : joined;
}

Bounds difference(const BlockValue& a, const BlockValue& b) {
  const Bounds range = sum(a.range, negative(b.range));
  return a.step == b.step ? both(range, sum(a.rest, negative(b.rest))) : range;
}

}  // namespace reprise::detail
