// FootprintProgram: the instructions of a kernel that determine which memory it accesses, decoded.
// Threads: immutable after construction.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/block_value.hpp"
#include "ptx/ptx_module.hpp"

namespace reprise::detail {

struct FootprintOperand {
  // Symbol: the address of a variable that is not in global memory.
  enum class Kind : std::uint8_t { None, Register, Predicate, Number, Special, Symbol, Other };
  enum class Special : std::uint8_t { Thread, Block, BlockExtent, GridExtent, Lane };

  Kind kind = Kind::None;
  std::uint32_t index = 0;  // of a register or a predicate; the dimension of a special register
  Special special = Special::Thread;
  std::int64_t number = 0;  // itself, or what is added to a register

  [[nodiscard]] bool is(Kind which) const noexcept { return kind == which; }
};

struct FootprintInstruction {
  enum class Op : std::uint8_t {
    Move,
    Convert,
    Add,
    Subtract,
    Multiply,
    MultiplyHigh,
    MultiplyAdd,
    Divide,
    Remainder,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    Not,
    Negate,
    ShiftLeft,
    ShiftRight,
    Select,
    Compare,
    PredicateAnd,
    PredicateOr,
    PredicateNot,
    PredicateMove,
    LoadParameter,
    Load,    // results that are not known
    Access,  // of global or generic memory; results are not known
    Branch,
    Return,
    Unknown  // results that are not known, and an address if an operand is one
  };
  enum class Comparison : std::uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

  Op op = Op::Unknown;
  IntegerType type;         // of the operands
  IntegerType result_type;  // Convert
  bool is_wide = false;     // a product has twice the bits
  Comparison comparison = Comparison::Equal;
  std::vector<std::uint32_t> results;     // registers
  std::vector<std::uint32_t> predicates;  // that it sets; of Compare the second one is the inverse
  // Access: the address, then what is stored. Select: the numbers, the predicate, then for each of
  // the numbers the register that it is computed from by adding one, if it is known.
  std::vector<FootprintOperand> operands;
  std::int64_t offset = 0;             // of an address
  std::uint32_t bytes = 0;             // Access
  bool reads = false, writes = false;  // Access
  std::uint32_t target = 0;            // Branch: an instruction
  std::uint32_t guard = kNoGuard;      // a predicate
  bool is_guard_inverted = false;

  static constexpr std::uint32_t kNoGuard = 0xffffffffu;
};

class FootprintProgram {
 public:
  FootprintProgram(const PtxModule& module, const PtxFunction& entry);

  // Why no footprint can be derived; empty: one can, as far as the instructions show.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const std::vector<FootprintInstruction>& instructions() const noexcept {
    return instructions_;
  }
  // By instruction: whether a branch leads to it, and whether one from behind does.
  [[nodiscard]] const std::vector<bool>& is_target() const noexcept { return is_target_; }
  [[nodiscard]] const std::vector<bool>& is_loop_start() const noexcept { return is_loop_start_; }
  [[nodiscard]] std::uint32_t registers() const noexcept { return registers_; }
  [[nodiscard]] std::uint32_t predicates() const noexcept { return predicates_; }

 private:
  using Instruction = FootprintInstruction;
  using Operand = FootprintOperand;
  struct Register {
    enum class Kind : std::uint8_t { Integer, Predicate, Float } kind = Kind::Integer;
    std::uint32_t index = 0;
    std::uint32_t bits = 0;  // 0: not declared
  };

  void exclude(std::string reason) {
    if (problem_.empty()) problem_ = std::move(reason);
  }
  void declare_symbols(const PtxModule& module);
  void declare_registers(std::string_view directive);
  void decode(const PtxStatement& statement);
  void decode_memory(const PtxStatement& statement, Instruction& made);
  void decode_address(std::string_view operand, Instruction& made);
  void add_results(std::string_view operand, Instruction& made);
  // Registers of inline assembly need no percent sign.
  [[nodiscard]] bool is_register(std::string_view name) const;
  // False for a register of floating-point numbers.
  bool find_register(std::string_view name, Register& found);
  [[nodiscard]] Operand operand_of(std::string_view text);
  void link_branches();
  void keep_what_matters();
  void mark_targets();

  const PtxFunction& entry_;
  std::string problem_;
  std::vector<Instruction> instructions_;
  std::vector<bool> is_target_, is_loop_start_;
  std::uint32_t registers_ = 0, predicates_ = 0;
  struct Declaration {
    Register::Kind kind = Register::Kind::Integer;
    std::uint32_t scope = 0, bits = 0;
  };
  std::uint32_t scopes_ = 0;
  std::vector<std::uint32_t> open_scopes_;
  std::unordered_map<std::string_view, Declaration> declarations_;
  std::unordered_map<std::string_view, Register> known_registers_;
  std::unordered_map<std::string_view, std::uint64_t> parameters_;  // offsets
  std::unordered_map<std::string_view, PtxVariable::Space> symbols_;
  std::unordered_map<std::string_view, std::uint32_t> labels_;
  std::vector<std::string_view> branch_labels_;  // by instruction; empty: no branch
};

}  // namespace reprise::detail
