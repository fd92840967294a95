#include "ptx/footprint_patterns.hpp"

#include <iterator>

namespace reprise::detail {

namespace {

using Instruction = FootprintInstruction;
using Op = Instruction::Op;
using Operand = FootprintOperand;

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
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  // The instruction that certainly computed the content of a register; null: not known.
  [[nodiscard]] const Instruction* writer_of(const Operand& operand) const {
    if (!operand.is(Operand::Kind::Register)) return nullptr;
    const std::uint32_t at = writer_[operand.index];
    if (at == kNone || at < start_) return nullptr;
    const Instruction& writer = instructions_[at];
    return writer.guard == Instruction::kNoGuard && writer.results.size() == 1 ? &writer : nullptr;
  }
  // Whether an operand of `writer` still holds what it held there.
  [[nodiscard]] bool is_unchanged(const Operand& operand, const Instruction& writer) const {
    if (!operand.is(Operand::Kind::Register)) return operand.is(Operand::Kind::Number);
    const std::uint32_t at = writer_[operand.index];
    return at == kNone || &instructions_[at] < &writer;
  }

  // For a register plus a number: both, in one operand.
  [[nodiscard]] Operand base_of(const Operand& operand) const {
    const Instruction* const writer = writer_of(operand);
    if (writer == nullptr || (writer->op != Op::Add && writer->op != Op::Subtract)) return {};
    Operand base = writer->operands[0];
    const Operand& added = writer->operands[1];
    if (!base.is(Operand::Kind::Register) || !added.is(Operand::Kind::Number) ||
        added.number == Bounds::kLowest || !is_unchanged(base, *writer))
      return {};
    base.number = writer->op == Op::Add ? added.number : -added.number;
    return base;
  }

  std::vector<Instruction>& instructions_;
  const std::vector<bool>& is_target_;
  std::vector<std::uint32_t> writer_;  // by register: the last instruction that may have set it
  std::uint32_t start_ = 0;            // of the instructions that run together
};

}  // namespace

void find_patterns(std::vector<Instruction>& instructions, const std::vector<bool>& is_target,
                   std::uint32_t registers) {
  Patterns(instructions, is_target, registers).find();
}

}  // namespace reprise::detail
