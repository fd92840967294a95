#include "ptx/footprint_patterns.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace reprise::detail {

namespace {

using Instruction = FootprintInstruction;
using Op = Instruction::Op;
using Operand = FootprintOperand;
__extension__ using UnsignedWide = unsigned __int128;

// The content of a register: floor(of * factor / 2^shift).
struct Scaled {
  Operand of;
  IntegerType type;  // that `of` is read as
  UnsignedWide factor = 0;
  std::uint32_t shift = 0;
};
struct Quotient {
  Operand of, by;
  IntegerType type;
};

bool is_same(const Operand& a, const Operand& b) {
  if (a.is(Operand::Kind::Register)) return b.is(Operand::Kind::Register) && a.index == b.index;
  return a.is(Operand::Kind::Number) && b.is(Operand::Kind::Number) && a.number == b.number;
}
bool is_number(const Operand& operand, std::int64_t number) {
  return operand.is(Operand::Kind::Number) && operand.number == number;
}
UnsignedWide power_of_two(std::uint32_t exponent) { return UnsignedWide{1} << exponent; }

// The number d for which a product gives floor(x / d), or for signed numbers floor(x / d) + 1 where
// x is negative; less than half of 2^bits. `bits`: all numbers of as many bits are divided right.
// 0: there is none.
std::int64_t divisor_of(const Scaled& scaled, std::uint32_t bits) {
  constexpr std::uint32_t kMaxShift = 126;  // the products below have 128 bits
  if (scaled.factor == 0 || scaled.shift < bits || scaled.shift > kMaxShift) return 0;
  // x * factor / 2^shift is x / d and an error of x * excess / (d * 2^shift), less than 1 / d.
  const UnsignedWide unit = power_of_two(scaled.shift),
                     by = (unit + scaled.factor - 1) / scaled.factor,
                     excess = by * scaled.factor - unit;
  const UnsignedWide largest = power_of_two(scaled.type.is_signed ? bits - 1 : bits);
  if (excess > unit / largest || (scaled.type.is_signed && excess == 0)) return 0;
  return by < power_of_two(std::min(bits, 63u) - 1) ? static_cast<std::int64_t>(by) : 0;
}

// Follows registers back to the instructions that set them, as far as no branch leads in between.
class Patterns {
 public:
  Patterns(std::vector<Instruction>& instructions, const std::vector<bool>& is_target,
           std::uint32_t registers)
      : instructions_(instructions), is_target_(is_target), writer_(registers, kNone) {}

  void find() {
    for (std::uint32_t i = 0; i < instructions_.size(); ++i) {
      if (is_target_[i]) start_ = i;
      Instruction& one = instructions_[i];
      if (one.op == Op::Select) {
        const Operand bases[] = {base_of(one.operands[0]), base_of(one.operands[1])};
        one.operands.insert(one.operands.end(), std::begin(bases), std::end(bases));
      }
      for (const std::uint32_t index : one.results) writer_[index] = i;
      if (one.results.size() == 1) find_division(i);
    }
    for (auto& [at, made] : divisions_) instructions_[at] = std::move(made);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  // The instruction that certainly computed the content of a register, from registers that still
  // hold what they held there; null: not known.
  [[nodiscard]] const Instruction* writer_of(const Operand& operand) const {
    if (!operand.is(Operand::Kind::Register)) return nullptr;
    const std::uint32_t at = writer_[operand.index];
    if (at == kNone || at < start_) return nullptr;
    const Instruction& writer = instructions_[at];
    if (writer.guard != Instruction::kNoGuard || writer.results.size() != 1) return nullptr;
    for (const Operand& read : writer.operands)
      if (read.is(Operand::Kind::Register) && writer_[read.index] != kNone &&
          writer_[read.index] >= at)
        return nullptr;
    return &writer;
  }
  // The same, for an instruction of this kind on integers of `bits` bits.
  [[nodiscard]] const Instruction* writer_of(const Operand& operand, Op op,
                                             std::uint32_t bits) const {
    const Instruction* const writer = writer_of(operand);
    return writer != nullptr && writer->op == op && writer->type.bits == bits ? writer : nullptr;
  }

  // For a register plus a number: both, in one operand.
  [[nodiscard]] Operand base_of(const Operand& operand) const {
    const Instruction* const writer = writer_of(operand);
    if (writer == nullptr || (writer->op != Op::Add && writer->op != Op::Subtract)) return {};
    Operand base = writer->operands[0];
    const Operand& added = writer->operands[1];
    if (!base.is(Operand::Kind::Register) || !added.is(Operand::Kind::Number) ||
        added.number == Bounds::kLowest)
      return {};
    base.number = writer->op == Op::Add ? added.number : -added.number;
    return base;
  }

  // --- divisions ---

  // A shift to the right by a number of bits.
  [[nodiscard]] const Instruction* shift_of(const Operand& operand, IntegerType type) const {
    const Instruction* const writer = writer_of(operand, Op::ShiftRight, type.bits);
    return writer != nullptr && writer->type.is_signed == type.is_signed &&
                   writer->operands[1].is(Operand::Kind::Number) &&
                   writer->operands[1].number >= 0 && writer->operands[1].number < type.bits
               ? writer
               : nullptr;
  }
  // A register times a number, of which the upper half remains.
  [[nodiscard]] std::optional<Scaled> product_of(const Operand& operand) const {
    const auto scaled = [](const Instruction& product,
                           std::uint32_t shift) -> std::optional<Scaled> {
      const Operand &of = product.operands[0], &by = product.operands[1];
      if (!of.is(Operand::Kind::Register) || !by.is(Operand::Kind::Number)) return std::nullopt;
      const UnsignedWide factor =
          static_cast<std::uint64_t>(by.number) & (power_of_two(product.type.bits) - 1);
      return Scaled{of, product.type, factor, shift};
    };
    const Instruction* const writer = writer_of(operand);
    if (writer == nullptr) return std::nullopt;
    if (writer->op == Op::MultiplyHigh) return scaled(*writer, writer->type.bits);
    // cvt.u32.u64 of shr.u64 of mul.wide.u32
    if (writer->op != Op::Convert || writer->type.bits != 64 || writer->result_type.bits != 32)
      return std::nullopt;
    const Instruction* const shift = shift_of(writer->operands[0], {.bits = 64});
    if (shift == nullptr || shift->operands[1].number < 32) return std::nullopt;
    const Instruction* const product = writer_of(shift->operands[0], Op::Multiply, 32);
    if (product == nullptr || !product->is_wide || product->type.is_signed) return std::nullopt;
    return scaled(*product, static_cast<std::uint32_t>(shift->operands[1].number));
  }
  // A product by a number of one bit more than the type.
  [[nodiscard]] std::optional<Scaled> corrected_of(const Operand& operand) const {
    const Instruction* const sum = writer_of(operand);
    if (sum == nullptr || sum->op != Op::Add) return std::nullopt;
    for (const std::size_t i : {0, 1}) {
      const Operand &product = sum->operands[i], &other = sum->operands[1 - i];
      std::optional<Scaled> scaled = product_of(product);
      if (!scaled || scaled->shift != scaled->type.bits || sum->type.bits != scaled->type.bits)
        continue;
      const UnsignedWide half = power_of_two(scaled->type.bits - 1);
      if (scaled->type.is_signed) {
        // The product by a negative number, plus the register: that of the number without a sign.
        if (scaled->factor >= half && is_same(other, scaled->of)) return scaled;
        continue;
      }
      // The mean of the register and the product, which is not greater.
      const Instruction* const shift = shift_of(other, scaled->type);
      if (shift == nullptr || !is_number(shift->operands[1], 1)) continue;
      const Instruction* const left =
          writer_of(shift->operands[0], Op::Subtract, scaled->type.bits);
      if (left == nullptr || !is_same(left->operands[0], scaled->of) ||
          !is_same(left->operands[1], product))
        continue;
      scaled->factor += 2 * half;
      scaled->shift += 1;
      return scaled;
    }
    return std::nullopt;
  }
  // One of these, of positive numbers only or with a positive factor.
  [[nodiscard]] std::optional<Scaled> multiple_of(const Operand& operand) const {
    if (std::optional<Scaled> corrected = corrected_of(operand)) return corrected;
    std::optional<Scaled> product = product_of(operand);
    if (product && product->type.is_signed &&
        product->factor >= power_of_two(product->type.bits - 1))
      return std::nullopt;
    return product;
  }
  // The same, shifted to the right or not.
  [[nodiscard]] std::optional<Scaled> scaled_of(const Operand& operand) const {
    if (std::optional<Scaled> multiple = multiple_of(operand)) return multiple;
    const Instruction* const writer = writer_of(operand);
    if (writer == nullptr || writer->op != Op::ShiftRight) return std::nullopt;
    std::optional<Scaled> multiple = multiple_of(writer->operands[0]);
    if (!multiple || shift_of(operand, multiple->type) == nullptr) return std::nullopt;
    multiple->shift += static_cast<std::uint32_t>(writer->operands[1].number);
    return multiple;
  }

  // What has to be added to a number before it is shifted to the right, to round towards zero:
  // 2^shift - 1 if it is negative.
  [[nodiscard]] bool is_rounding(const Operand& operand, const Operand& of, std::uint32_t bits,
                                 std::int64_t shift) const {
    const Instruction* const last = shift_of(operand, {.bits = bits});
    if (last == nullptr || shift == 0 || !is_number(last->operands[1], bits - shift)) return false;
    if (shift == 1 && is_same(last->operands[0], of)) return true;
    const Instruction* const sign = shift_of(last->operands[0], {.bits = bits, .is_signed = true});
    return sign != nullptr && is_number(sign->operands[1], bits - 1) &&
           is_same(sign->operands[0], of);
  }
  // A register plus that, for a shift by `shift` bits: the register.
  [[nodiscard]] std::optional<Operand> rounded(const Operand& operand, std::uint32_t bits,
                                               std::int64_t shift) const {
    const Instruction* const sum = writer_of(operand, Op::Add, bits);
    if (sum == nullptr) return std::nullopt;
    for (const std::size_t i : {0, 1})
      if (sum->operands[i].is(Operand::Kind::Register) &&
          is_rounding(sum->operands[1 - i], sum->operands[i], bits, shift))
        return sum->operands[i];
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Quotient> quotient_of(const Operand& operand) const {
    const Instruction* const writer = writer_of(operand);
    if (writer == nullptr) return std::nullopt;
    const auto number = [](std::int64_t of) {
      return Operand{.kind = Operand::Kind::Number, .number = of};
    };
    if (writer->op == Op::Divide)
      return Quotient{writer->operands[0], writer->operands[1], writer->type};
    if (writer->op == Op::Add) {
      // A signed quotient is rounded down, so one is added to a negative one.
      for (const std::size_t i : {0, 1}) {
        const std::optional<Scaled> scaled = scaled_of(writer->operands[i]);
        if (!scaled || !scaled->type.is_signed || writer->type.bits != scaled->type.bits) continue;
        const std::uint32_t bits = scaled->type.bits;
        const Instruction* const sign = shift_of(writer->operands[1 - i], {.bits = bits});
        if (sign == nullptr || !is_number(sign->operands[1], bits - 1)) continue;
        const std::optional<Scaled> signed_one = multiple_of(sign->operands[0]);
        const std::int64_t by = divisor_of(*scaled, bits);
        if (by != 0 && signed_one && signed_one->type.is_signed && signed_one->type.bits == bits &&
            is_same(signed_one->of, scaled->of))
          return Quotient{scaled->of, number(by), scaled->type};
      }
    }
    if (const std::optional<Scaled> scaled = scaled_of(operand);
        scaled && !scaled->type.is_signed) {
      // floor(floor(x / 2^n) / d) is floor(x / (d 2^n)).
      const Instruction* const before = shift_of(scaled->of, scaled->type);
      const std::int64_t shift = before == nullptr ? 0 : before->operands[1].number;
      const std::int64_t by =
          divisor_of(*scaled, scaled->type.bits - static_cast<std::uint32_t>(shift));
      if (by != 0)
        return Quotient{before == nullptr ? scaled->of : before->operands[0], number(by << shift),
                        scaled->type};
    }
    if (writer->op == Op::ShiftRight && writer->type.is_signed) {
      const Instruction* const shift = shift_of(operand, writer->type);
      if (shift == nullptr || shift->operands[1].number >= 62) return std::nullopt;
      const std::int64_t count = shift->operands[1].number;
      if (const auto of = rounded(shift->operands[0], writer->type.bits, count))
        return Quotient{*of, number(std::int64_t{1} << count), writer->type};
    }
    return std::nullopt;
  }
  // For x - x / d * d.
  [[nodiscard]] std::optional<Quotient> remainder_of(const Instruction& one) const {
    const Operand &of = one.operands[0], &multiple = one.operands[1];
    const std::uint32_t bits = one.type.bits;
    if (const Instruction* const product = writer_of(multiple, Op::Multiply, bits);
        product != nullptr && !product->is_wide) {
      for (const std::size_t i : {0, 1}) {
        const std::optional<Quotient> quotient = quotient_of(product->operands[i]);
        if (quotient && quotient->type.bits == bits && is_same(quotient->of, of) &&
            is_same(quotient->by, product->operands[1 - i]))
          return quotient;
      }
    }
    const Instruction* const mask = writer_of(multiple, Op::And, bits);
    if (mask == nullptr || !mask->operands[1].is(Operand::Kind::Number)) return std::nullopt;
    for (std::int64_t shift = 1; shift < std::min<std::int64_t>(bits, 62); ++shift) {
      if (mask->operands[1].number != -(std::int64_t{1} << shift)) continue;
      const auto rounded_one = rounded(mask->operands[0], bits, shift);
      if (rounded_one && is_same(*rounded_one, of))
        return Quotient{of,
                        {.kind = Operand::Kind::Number, .number = std::int64_t{1} << shift},
                        {.bits = bits, .is_signed = true}};
    }
    return std::nullopt;
  }
  // Of the last instruction that was read.
  void find_division(std::uint32_t at) {
    const Operand result{.kind = Operand::Kind::Register, .index = instructions_[at].results[0]};
    const Instruction* const one = writer_of(result);
    if (one == nullptr || one->op == Op::Divide) return;
    const bool is_remainder = one->op == Op::Subtract;
    const std::optional<Quotient> quotient =
        is_remainder ? remainder_of(*one) : quotient_of(result);
    if (!quotient) return;
    Instruction made = *one;
    made.op = is_remainder ? Op::Remainder : Op::Divide;
    made.type = quotient->type;
    made.operands = {quotient->of, quotient->by};
    divisions_.emplace_back(at, std::move(made));
  }

  std::vector<Instruction>& instructions_;
  const std::vector<bool>& is_target_;
  std::vector<std::pair<std::uint32_t, Instruction>> divisions_;
  std::vector<std::uint32_t> writer_;  // by register: the last instruction that may have set it
  std::uint32_t start_ = 0;            // of the instructions that run together
};

}  // namespace

void find_patterns(std::vector<Instruction>& instructions, const std::vector<bool>& is_target,
                   std::uint32_t registers) {
  Patterns(instructions, is_target, registers).find();
}

}  // namespace reprise::detail
