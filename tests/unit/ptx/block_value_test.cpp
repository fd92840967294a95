#include "ptx/block_value.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>

using namespace reprise::detail;

namespace {

__extension__ using Wide = __int128;
using Coordinates = std::array<std::uint32_t, 3>;

std::int64_t from_bits(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }

// The content of a register as an instruction of this type reads it.
Wide read(std::uint64_t content, IntegerType type) {
  if (type.bits < 64) content &= (std::uint64_t{1} << type.bits) - 1;
  const Wide value = static_cast<Wide>(content);
  const bool is_negative = type.is_signed && (content >> (type.bits - 1) & 1) != 0;
  return is_negative ? value - (Wide{1} << type.bits) : value;
}

// Of the product.
Wide upper_half(Wide a, Wide b, IntegerType type) {
  __extension__ using Unsigned = unsigned __int128;
  if (type.is_signed) return (a * b) >> type.bits;
  return static_cast<Wide>((static_cast<Unsigned>(a) * static_cast<Unsigned>(b)) >> type.bits);
}

// The numbers of block `at` that a value covers.
struct Interval {
  Wide low = 0, high = 0;
};
Interval interval_of(const BlockValue& value, const Coordinates& at) {
  constexpr Wide kInfinite = Wide{1} << 120;
  const auto low = [](std::int64_t bound) { return bound == Bounds::kLowest ? -kInfinite : bound; };
  const auto high = [](std::int64_t bound) {
    return bound == Bounds::kHighest ? kInfinite : bound;
  };
  Wide start = 0;
  for (std::size_t d = 0; d < 3; ++d) start += Wide{value.step[d]} * at[d];
  return {std::max(low(value.range.low), start + low(value.rest.low)),
          std::min(high(value.range.high), start + high(value.rest.high))};
}
bool covers(const BlockValue& value, const Coordinates& at, Wide number) {
  const Interval interval = interval_of(value, at);
  return interval.low <= number && number <= interval.high;
}
// Whether a register of `bits` bits with this content can be that of a covered number.
bool covers_content(const BlockValue& value, const Coordinates& at, Wide content,
                    std::uint32_t bits) {
  const Interval interval = interval_of(value, at);
  const Wide period = Wide{1} << bits;
  Wide further = (content - interval.low) % period;
  if (further < 0) further += period;
  return interval.low + further <= interval.high;
}

struct Member {
  BlockValue value;
  Wide number = 0;  // that the thread holds
  [[nodiscard]] std::uint64_t content() const { return static_cast<std::uint64_t>(number); }
};

class Source {
 public:
  explicit Source(std::uint64_t seed) : random_(seed) {
    for (std::size_t d = 0; d < 3; ++d) {
      grid[d] = static_cast<std::uint32_t>(one_in(2) ? 1 : 1 + below(one_in(8) ? 1u << 31 : 300));
      block[d] = static_cast<std::uint32_t>(one_in(4) ? grid[d] - 1 : below(grid[d]));
    }
  }

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  // Of any magnitude, often close to a power of two.
  std::int64_t number(std::uint32_t bits) {
    std::uint64_t value = random_() >> (63 - below(bits));
    if (one_in(3)) value = (std::uint64_t{1} << below(bits)) + below(3) - 1;
    return from_bits(one_in(3) ? 0 - value : value);
  }
  IntegerType type() {
    constexpr std::array<std::uint32_t, 5> kBits = {16, 32, 32, 64, 64};
    return {.bits = kBits[below(kBits.size())], .is_signed = one_in(2)};
  }
  Member member(const std::array<std::int64_t, 3>& step) {
    const std::uint32_t bits = one_in(3) ? 64 : one_in(2) ? 32 : 12;
    if (one_in(3)) {
      const std::int64_t fixed = number(bits);
      return {BlockValue::number(fixed), fixed};
    }
    const std::int64_t rest = number(bits);
    Member made{.value = {.step = step, .rest = around(rest), .range = {}}, .number = rest};
    for (std::size_t d = 0; d < 3; ++d) made.number += Wide{step[d]} * block[d];
    const bool is_near = made.number > Bounds::kLowest && made.number < Bounds::kHighest;
    if (is_near && !one_in(4)) made.value.range = around(static_cast<std::int64_t>(made.number));
    if (!made.value.depends_on_block()) made.value.range = made.value.rest;
    return made;
  }
  std::array<std::int64_t, 3> step() {
    std::array<std::int64_t, 3> step = {};
    for (std::int64_t& s : step)
      if (one_in(2)) s = number(one_in(20) ? 63 : 12);
    return step;
  }

  Coordinates grid = {}, block = {};

 private:
  Bounds around(std::int64_t number) {
    Bounds bounds;
    const auto distance = [&] {
      return one_in(3) ? 0 : from_bits(below(std::uint64_t{1} << below(one_in(4) ? 63 : 10)));
    };
    if (one_in(8) || __builtin_sub_overflow(number, distance(), &bounds.low))
      bounds.low = Bounds::kLowest;
    if (one_in(8) || __builtin_add_overflow(number, distance(), &bounds.high))
      bounds.high = Bounds::kHighest;
    return bounds;
  }

  std::mt19937_64 random_;
};

// Checks each operation with one pair of operands. Empty, or which one leaves out its result.
std::string fault_of(std::uint64_t seed) {
  Source source(seed);
  const auto step = source.step();
  const Member a = source.member(step), b = source.member(source.one_in(2) ? step : source.step());
  const IntegerType type = source.type(), as_signed{type.bits, true};
  const Coordinates& at = source.block;
  std::string fault;
  const auto expect = [&](const char* name, bool is_covered) {
    if (!is_covered && fault.empty()) fault = name;
  };
  const auto expect_content = [&](const char* name, const BlockValue& result, Wide content,
                                  std::uint32_t bits) {
    expect(name, covers_content(result, at, content, bits));
    BlockValue narrowed = result;
    expect("narrow", narrow(narrowed, source.grid) && covers_content(narrowed, at, content, bits));
  };
  const BlockValue x = as_type(a.value, type), y = as_type(b.value, type);
  const BlockValue xs = as_type(a.value, as_signed), ys = as_type(b.value, as_signed);
  const Wide p = read(a.content(), type), q = read(b.content(), type);
  expect("operand", covers(a.value, at, a.number) && covers(b.value, at, b.number));
  expect("as_type", covers(x, at, p) && covers(y, at, q));
  for (const Member& member : {a, b}) {
    BlockValue narrowed = member.value;
    expect("narrow", narrow(narrowed, source.grid) && covers(narrowed, at, member.number));
    const BlockValue joined = join(a.value, b.value), widened = widen(a.value, b.value);
    expect("join", covers(joined, at, member.number));
    expect("widen", covers(widened, at, member.number));
  }
  const auto is_in = [](Bounds bounds, Wide number) {
    return (bounds.low == Bounds::kLowest || bounds.low <= number) &&
           (bounds.high == Bounds::kHighest || bounds.high >= number);
  };
  // Another number of the thread bounds the part of `b` that depends on the block.
  const std::int64_t factor = source.number(4);
  std::array<std::int64_t, 3> other_step = b.value.step;
  Wide part = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    part += Wide{b.value.step[i]} * at[i];
    if (factor != 0 && b.value.step[i] % factor == 0) other_step[i] /= factor;
  }
  const BlockValue held = source.member(other_step).value;
  const Bounds of_blocks = part_of_blocks(b.value.step, held, source.grid);
  const BlockValue joined = join_in_part(a.value, b.value, of_blocks);
  expect("part of blocks", is_in(of_blocks, part));
  expect("join in part", covers(joined, at, a.number) && covers(joined, at, b.number));
  const Bounds between = difference(a.value, b.value), of_type = difference(x, y);
  expect("difference", is_in(between, a.number - b.number) && is_in(of_type, p - q));

  const std::uint64_t c = a.content(), d = b.content();
  expect_content("add", add(a.value, b.value), static_cast<Wide>(c + d), type.bits);
  expect_content("subtract", subtract(a.value, b.value), static_cast<Wide>(c - d), type.bits);
  expect_content("multiply", multiply(a.value, b.value), static_cast<Wide>(c * d), type.bits);
  if (type.bits < 64) expect_content("multiply wide", multiply(x, y), p * q, 2 * type.bits);
  expect_content("multiply high", multiply_high(a.value, b.value, type, source.grid),
                 upper_half(p, q, type), type.bits);
  if (q != 0) {
    expect_content("divide", divide(x, y, source.grid), p / q, type.bits);
    expect_content("remainder", remainder(x, y, source.grid), p % q, type.bits);
  }
  expect_content("and", bitwise_and(xs, ys, type, source.grid), static_cast<Wide>(c & d),
                 type.bits);
  expect_content("or", bitwise_or(xs, ys), static_cast<Wide>(c | d), type.bits);
  expect_content("xor", bitwise_xor(xs, ys), static_cast<Wide>(c ^ d), type.bits);
  expect_content("minimum", minimum(x, y, source.grid), std::min(p, q), type.bits);
  expect_content("maximum", maximum(x, y, source.grid), std::max(p, q), type.bits);

  const std::int64_t few = from_bits(source.below(70));
  const bool is_few = source.one_in(2);
  const BlockValue count = is_few ? BlockValue::number(few) : as_type(b.value, {});
  const Wide by = std::min<Wide>(is_few ? few : read(d, {}), type.bits);
  expect_content("shift left", shift_left(a.value, count, type),
                 by >= type.bits ? 0 : static_cast<Wide>(c << static_cast<int>(by)), type.bits);
  expect_content("shift right", shift_right(x, count, source.grid), p >> by, type.bits);
  return fault;
}

constexpr Coordinates kGrid = {64, 4, 1};

BlockValue block_index(std::size_t dimension) {
  BlockValue value = BlockValue::within({0, std::int64_t{kGrid[dimension]} - 1});
  value.step[dimension] = 1;
  value.rest = {0, 0};
  return value;
}
BlockValue number(std::int64_t value) { return BlockValue::number(value); }
// blockIdx.x * 256 + threadIdx.x
BlockValue element() {
  return add(multiply(block_index(0), number(256)), BlockValue::within({0, 255}));
}
BlockValue with_step(std::int64_t step, Bounds rest, Bounds range) {
  return {.step = {step, 0, 0}, .rest = rest, .range = range};
}
BlockValue narrowed(BlockValue value) {
  REQUIRE(narrow(value, kGrid));
  return value;
}

}  // namespace

TEST_CASE("block value: each operation covers the results of 60,000 random operands") {
  for (std::uint64_t seed = 0; seed < 60'000; ++seed) {
    const std::string fault = fault_of(seed);
    if (fault.empty()) continue;
    CAPTURE(seed);
    FAIL_CHECK(fault);
  }
}

TEST_CASE("block value: repeated widening ends") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    Source source(seed);
    BlockValue value = source.member(source.step()).value;
    int changes = 0;
    for (int i = 0; i < 200; ++i) {
      const BlockValue next = widen(value, source.member(source.step()).value);
      changes += next == value ? 0 : 1;
      value = next;
    }
    CHECK(changes <= 16);
  }
}

TEST_CASE("block value: the index of an element keeps its step") {
  const IntegerType u32{}, s32{32, true};
  const BlockValue i = element();
  CHECK(i == with_step(256, {0, 255}, {0, 16'383}));
  CHECK(as_type(i, u32) == i);
  CHECK(as_type(i, s32) == i);
  CHECK(multiply(i, number(4)) == with_step(1'024, {0, 1'020}, {0, 65'532}));
  CHECK(multiply(number(4), i) == multiply(i, number(4)));
  CHECK(shift_left(i, number(2), u32) == multiply(i, number(4)));
  CHECK(subtract(i, number(1)) == with_step(256, {-1, 254}, {-1, 16'382}));
  const BlockValue start = shift_left(block_index(0), number(8), u32);
  CHECK(narrowed(bitwise_or(start, BlockValue::within({0, 255}))) == i);
  CHECK(bitwise_or(BlockValue::within({0, 255}), start) ==
        bitwise_or(start, BlockValue::within({0, 255})));
  CHECK(subtract(i, start) == BlockValue::within({0, 255}));
}

TEST_CASE("block value: division and remainder by a divisor of the step are exact") {
  const IntegerType u32{};
  const BlockValue i = element();
  CHECK(divide(i, number(64), kGrid) == with_step(4, {0, 3}, {0, 255}));
  CHECK(shift_right(i, number(6), kGrid) == divide(i, number(64), kGrid));
  CHECK(divide(i, number(256), kGrid) == block_index(0));
  CHECK(remainder(i, number(256), kGrid) == BlockValue::within({0, 255}));
  CHECK(remainder(add(i, number(512)), number(512), kGrid) == BlockValue::within({0, 511}));
  CHECK(bitwise_and(i, number(255), u32, kGrid) == BlockValue::within({0, 255}));
  CHECK(bitwise_and(i, number(63), u32, kGrid) == BlockValue::within({0, 63}));
  CHECK(bitwise_and(i, number(-256), u32, kGrid) == with_step(256, {0, 0}, {0, 16'128}));
  CHECK(bitwise_and(i, number(0xffff'ff00), u32, kGrid) ==
        bitwise_and(i, number(-256), u32, kGrid));
  CHECK(bitwise_and(i, number(-8), {64, true}, kGrid) == with_step(256, {0, 248}, {0, 16'376}));
  CHECK(remainder(i, number(1 << 20), kGrid) == i);
  CHECK(remainder(i, number(7), kGrid) == BlockValue::within({0, 6}));
}

TEST_CASE("block value: division by another number leaves a part that grows with the grid") {
  // 2.56 blocks: three, less 44 hundredths for each block.
  CHECK(divide(element(), number(100), kGrid) == with_step(3, {-28, 2}, {0, 163}));
  CHECK(divide(subtract(element(), number(7)), number(64), kGrid) ==
        with_step(4, {-1, 4}, {0, 255}));
  CHECK(divide(multiply(element(), number(-1)), number(64), kGrid) ==
        with_step(-4, {-4, 1}, {-255, 0}));
  // 257 b + [0, 3] modulo 256.
  const BlockValue i = add(multiply(block_index(0), number(257)), BlockValue::within({0, 3}));
  CHECK(remainder(i, number(256), kGrid) == with_step(1, {0, 3}, {0, 66}));
}

TEST_CASE("block value: a quotient by the upper half of a product is exact") {
  const BlockValue i = add(multiply(block_index(0), number(192)), BlockValue::within({0, 191}));
  const IntegerType u32{}, s32{32, true}, u64{64, false}, s64{64, true};
  // By 2/3, then by two; by 1/3; both with 32 and 64 bits.
  const BlockValue two_thirds = with_step(128, {0, 127}, {0, 8'191}),
                   third = with_step(64, {0, 63}, {0, 4'095});
  CHECK(multiply_high(i, number(0xaaaa'aaab), u32, kGrid) == two_thirds);
  CHECK(multiply_high(number(-1431655765), i, u32, kGrid) == two_thirds);
  CHECK(multiply_high(i, number(1431655766), s32, kGrid) == third);
  CHECK(multiply_high(i, number(-6148914691236517205), u64, kGrid) == two_thirds);
  CHECK(multiply_high(number(6148914691236517206), i, s64, kGrid) == third);
  CHECK(multiply_high(i, number(-6148914691236517206), s64, kGrid) ==
        with_step(-64, {-64, 0}, {-4'096, 0}));
  CHECK(shift_right(multiply(i, number(0xaaaa'aaab)), number(33), kGrid) == third);
  CHECK(multiply_high(i, BlockValue::within({0, 3}), u64, kGrid) == BlockValue::unknown());
}

TEST_CASE("block value: minimum and maximum keep the bounds that depend on the block") {
  const BlockValue end = multiply(add(block_index(0), number(1)), number(256));
  const BlockValue limited = narrowed(minimum(end, number(10'000), kGrid));
  CHECK(limited.step == end.step);
  CHECK(limited.rest == Bounds{10'000 - 63 * 256, 256});
  CHECK(limited.range == Bounds{256, 10'000});
  CHECK(minimum(number(10'000), end, kGrid) == minimum(end, number(10'000), kGrid));
  CHECK(minimum(element(), end, kGrid) == element());
  const BlockValue raised = narrowed(maximum(element(), number(100), kGrid));
  CHECK(raised == with_step(256, {0, 255}, {100, 16'383}));
}

TEST_CASE("block value: clamped neighbours stay near their block") {
  const BlockValue before = subtract(element(), number(1)), after = add(element(), number(1));
  CHECK(maximum(before, number(0), kGrid) == with_step(256, {-1, 254}, {0, 16'382}));
  CHECK(minimum(after, number(16'383), kGrid) == with_step(256, {1, 256}, {1, 16'383}));
  // All blocks begin before the end of the numbers.
  CHECK(minimum(after, number(16'200), kGrid) == with_step(256, {1, 256}, {1, 16'200}));
  CHECK(minimum(after, BlockValue::within({16'200, 16'300}), kGrid) ==
        with_step(256, {1, 256}, {1, 16'300}));
  // The last block begins 28 numbers behind the end.
  CHECK(minimum(after, number(16'101), kGrid) == with_step(256, {-27, 256}, {1, 16'101}));
  // Only blocks that begin before 1,000 hold this number.
  BlockValue guarded = element();
  guarded.range.high = 999;
  CHECK(minimum(guarded, number(900), kGrid).rest == Bounds{-99, 255});
}

TEST_CASE("block value: a limit in the place of an index keeps the steps") {
  // Held by blocks that have an index of at least 16,200.
  BlockValue held = element();
  held.range.low = 16'200;
  const Bounds part = part_of_blocks({256, 0, 0}, held, kGrid);
  CHECK(part == Bounds{16'200 - 255, 63 * 256});
  CHECK(part_of_blocks({1'024, 0, 0}, held, kGrid) == Bounds{4 * part.low, 4 * part.high});
  CHECK(part_of_blocks({-512, 0, 0}, held, kGrid) == Bounds{-2 * part.high, -2 * part.low});
  CHECK(part_of_blocks({256, 1, 0}, held, kGrid) == Bounds{0, 63 * 256 + 3});
  CHECK(join_in_part(number(16'200), element(), part) == with_step(256, {0, 255}, {0, 16'383}));
  CHECK(join_in_part(number(16'400), element(), part) == with_step(256, {0, 455}, {0, 16'400}));
  // Without such a part the steps bound nothing.
  const Bounds any = part_of_blocks({256, 0, 0}, {}, kGrid);
  CHECK(any == Bounds{0, 63 * 256});
  CHECK(join_in_part(number(0), element(), any) == BlockValue::within({0, 16'383}));
}

TEST_CASE("block value: a number is read with the sign of the type") {
  CHECK(as_type(number(-1), {}) == number(0xffff'ffff));
  CHECK(as_type(number(0xffff'ffff), {32, true}) == number(-1));
  CHECK(as_type(number(-1), {64, false}) == BlockValue::within({0, Bounds::kHighest}));
  CHECK(as_type(BlockValue::within({-1, 1}), {}) == BlockValue::within({0, 0xffff'ffff}));
  const BlockValue below = subtract(element(), number(std::int64_t{1} << 32));
  CHECK(as_type(below, {}) == element());
}

TEST_CASE("block value: offsets are added to addresses, and other operations mix them") {
  using Kind = BlockValue::Kind;
  BlockValue address = number(0);
  address.kind = Kind::Pointer;
  address.pointer = 1;
  const BlockValue moved = add(multiply(element(), number(4)), address);
  CHECK(moved.is(Kind::Pointer));
  CHECK(moved.pointer == 1);
  CHECK(moved.step[0] == 1'024);
  CHECK(subtract(moved, address) == multiply(element(), number(4)));
  BlockValue other = address;
  other.pointer = 0;
  for (const BlockValue& value :
       {add(address, other), subtract(address, other), subtract(number(0), address),
        multiply(address, number(1)), join(address, other), join(address, number(0)),
        as_type(address, {}), bitwise_and(address, number(-16), {64, false}, kGrid)})
    CHECK(value.is(Kind::Mixed));
  const BlockValue aside = BlockValue::of_kind(Kind::Elsewhere);
  CHECK(add(aside, element()).is(Kind::Elsewhere));
  CHECK(add(aside, address).is(Kind::Mixed));
}

TEST_CASE("block value: narrowing by the grid finds what no block holds") {
  BlockValue value = with_step(256, {0, Bounds::kHighest}, {Bounds::kLowest, 300});
  REQUIRE(narrow(value, kGrid));
  CHECK(value == with_step(256, {0, 300}, {0, 300}));
  value.range.low = 17'000;
  CHECK_FALSE(narrow(value, kGrid));
}
