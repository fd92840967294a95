// BlockValue: an integer or an address that the threads of a block hold, with its bounds as a
// function of the block's index. Operations of PTX on such values: each result covers whatever the
// operation gives for covered operands. Threads: values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace reprise::detail {

// Bounds are inclusive. The lowest and the highest number mean that there is no bound.
struct Bounds {
  static constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

  std::int64_t low = kLowest, high = kHighest;

  [[nodiscard]] bool is_bounded() const noexcept { return low != kLowest && high != kHighest; }
  [[nodiscard]] bool is_empty() const noexcept { return low > high; }
  [[nodiscard]] bool is_one() const noexcept { return low == high && is_bounded(); }
  [[nodiscard]] bool is_inside(Bounds other) const noexcept {
    return low >= other.low && high <= other.high;
  }
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

// An integer type of PTX; .b32 is unsigned.
struct IntegerType {
  std::uint32_t bits = 32;
  bool is_signed = false;

  [[nodiscard]] Bounds bounds() const noexcept;
};

// The blocks of a dispatch: gridDim.
using GridBlocks = std::array<std::uint32_t, 3>;

struct BlockValue {
  enum class Kind : std::uint8_t {
    Number,
    Pointer,    // a number of bytes after the address in a parameter
    Elsewhere,  // an address in shared, local or constant memory, or of a parameter
    Mixed       // computed from addresses in another way than by adding or subtracting numbers
  };

  Kind kind = Kind::Number;
  std::uint32_t pointer = 0;  // number of the parameter's address
  // A thread of block b holds the sum of step[d] * b[d] and a number in `rest`; the whole is in
  // `range`. Register contents are equal to it modulo two to the power of their bits.
  std::array<std::int64_t, 3> step = {};
  Bounds rest = {}, range = {};

  [[nodiscard]] static BlockValue number(std::int64_t value) noexcept {
    return within({value, value});
  }
  [[nodiscard]] static BlockValue within(Bounds bounds) noexcept {
    return {.rest = bounds, .range = bounds};
  }
  [[nodiscard]] static BlockValue unknown() noexcept { return {}; }
  [[nodiscard]] static BlockValue of_kind(Kind kind) noexcept { return {.kind = kind}; }

  [[nodiscard]] bool is(Kind which) const noexcept { return kind == which; }
  [[nodiscard]] bool is_address() const noexcept { return kind != Kind::Number; }
  [[nodiscard]] bool depends_on_block() const noexcept {
    return step != std::array<std::int64_t, 3>{};
  }
  friend bool operator==(const BlockValue&, const BlockValue&) = default;
};

// Narrows `rest` and `range` by each other. False: no block of the grid can hold such a value.
[[nodiscard]] bool narrow(BlockValue& value, const GridBlocks& grid);

// The number that an instruction of this type reads: signed or unsigned.
[[nodiscard]] BlockValue as_type(const BlockValue& value, IntegerType type);

[[nodiscard]] BlockValue join(const BlockValue& a, const BlockValue& b);
// Covers both, with bounds that differ from those of `before` moved so far that repeated calls end.
// They stop at `stops` first.
[[nodiscard]] BlockValue widen(const BlockValue& before, const BlockValue& value,
                               std::span<const std::int64_t> stops = {});

[[nodiscard]] BlockValue add(const BlockValue& a, const BlockValue& b);
[[nodiscard]] BlockValue subtract(const BlockValue& a, const BlockValue& b);
// Operands of the following are numbers as instructions read them; see as_type().
[[nodiscard]] BlockValue multiply(const BlockValue& a, const BlockValue& b);
// The product divided by two to the power of the type's bits, rounded down. Operands as registers
// hold them.
[[nodiscard]] BlockValue multiply_high(const BlockValue& a, const BlockValue& b, IntegerType type,
                                       const GridBlocks& grid);
// Rounds towards zero. Unknown unless the divisor is positive.
[[nodiscard]] BlockValue divide(const BlockValue& a, const BlockValue& b, const GridBlocks& grid);
[[nodiscard]] BlockValue remainder(const BlockValue& a, const BlockValue& b,
                                   const GridBlocks& grid);
[[nodiscard]] BlockValue shift_left(const BlockValue& a, const BlockValue& count, IntegerType type);
[[nodiscard]] BlockValue shift_right(const BlockValue& a, const BlockValue& count,
                                     const GridBlocks& grid);
[[nodiscard]] BlockValue bitwise_and(const BlockValue& a, const BlockValue& b, IntegerType type,
                                     const GridBlocks& grid);
[[nodiscard]] BlockValue bitwise_or(const BlockValue& a, const BlockValue& b);
[[nodiscard]] BlockValue bitwise_xor(const BlockValue& a, const BlockValue& b);
[[nodiscard]] BlockValue minimum(const BlockValue& a, const BlockValue& b, const GridBlocks& grid);
[[nodiscard]] BlockValue maximum(const BlockValue& a, const BlockValue& b, const GridBlocks& grid);

// Bounds of the sum of step[d] * b[d], for the blocks b that can hold `held`.
[[nodiscard]] Bounds part_of_blocks(const std::array<std::int64_t, 3>& step, const BlockValue& held,
                                    const GridBlocks& grid);
// Covers both, where the blocks that hold `a` have a sum of b.step[d] * b[d] in `part`. Keeps the
// steps of `b` if these bound the numbers of a block better.
[[nodiscard]] BlockValue join_in_part(const BlockValue& a, const BlockValue& b, Bounds part);

// a - b, as far as both depend on the block in the same way.
[[nodiscard]] Bounds difference(const BlockValue& a, const BlockValue& b);

}  // namespace reprise::detail
