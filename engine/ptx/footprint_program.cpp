#include "ptx/footprint_program.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "ptx/footprint_patterns.hpp"
#include "ptx/ptx_operands.hpp"
#include "ptx/ptx_words.hpp"

namespace reprise::detail {

namespace {

using Op = FootprintInstruction::Op;
using OperandKind = FootprintOperand::Kind;

// The modifier behind the last dot.
std::string_view type_of(std::string_view opcode) {
  return opcode.substr(std::min(opcode.rfind('.') + 1, opcode.size()));
}
// The bits of a type such as u32, b128 or f16x2; 0: none.
std::uint32_t bits_of(std::string_view type) {
  while (!type.empty() && !is_ptx_digit(type.front())) type.remove_prefix(1);
  const std::size_t times = type.find('x');
  const std::optional<std::uint64_t> bits = parse_ptx_number(type.substr(0, times));
  return bits && *bits <= 256 ? static_cast<std::uint32_t>(*bits * (times == type.npos ? 1 : 2))
                              : 0;
}
bool is_integer(std::string_view type) {
  return !type.empty() && std::string_view("subs").find(type.front()) != std::string_view::npos &&
         type.size() > 1 && is_ptx_digit(type[1]) && type.find('x') == type.npos;
}
IntegerType integer_type(std::string_view type) {
  return {.bits = std::max(bits_of(type), 8u), .is_signed = type.starts_with('s')};
}
std::uint32_t vector_of(std::string_view opcode) {
  return has_ptx_modifier(opcode, ".v8")   ? 8
         : has_ptx_modifier(opcode, ".v4") ? 4
         : has_ptx_modifier(opcode, ".v2") ? 2
                                           : 1;
}
// Calls `visit` with each name in an operand such as {%r1, %r2} or %p1|%p2.
template <class Visit>
void for_each_name(std::string_view operand, const Visit& visit) {
  while (!operand.empty()) {
    const std::string_view word = first_ptx_word(operand);
    if (word.empty()) {
      operand.remove_prefix(1);
      continue;
    }
    visit(word);
    operand.remove_prefix(word.size());
  }
}

// %r for %r12.
std::string_view without_number(std::string_view name) {
  while (!name.empty() && is_ptx_digit(name.back())) name.remove_suffix(1);
  return name;
}

bool is_one_of(std::string_view opcode, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return is_ptx_opcode(opcode, name); });
}

std::optional<Op> integer_op(std::string_view opcode) {
  constexpr std::array<std::pair<std::string_view, Op>, 15> kOps = {{{"add", Op::Add},
                                                                     {"sub", Op::Subtract},
                                                                     {"mul", Op::Multiply},
                                                                     {"mad", Op::MultiplyAdd},
                                                                     {"div", Op::Divide},
                                                                     {"rem", Op::Remainder},
                                                                     {"min", Op::Minimum},
                                                                     {"max", Op::Maximum},
                                                                     {"and", Op::And},
                                                                     {"or", Op::Or},
                                                                     {"xor", Op::Xor},
                                                                     {"not", Op::Not},
                                                                     {"neg", Op::Negate},
                                                                     {"shl", Op::ShiftLeft},
                                                                     {"shr", Op::ShiftRight}}};
  for (const auto& [name, op] : kOps) {
    if (!is_ptx_opcode(opcode, name)) continue;
    if (op == Op::Multiply && has_ptx_modifier(opcode, ".hi")) return Op::MultiplyHigh;
    // Saturation, carries, and sums with upper halves.
    const bool is_product = op == Op::Multiply || op == Op::MultiplyAdd;
    if (has_ptx_modifier(opcode, ".sat") || has_ptx_modifier(opcode, ".cc") ||
        has_ptx_modifier(opcode, ".relu") ||
        (is_product && !has_ptx_modifier(opcode, ".lo") && !has_ptx_modifier(opcode, ".wide")))
      return std::nullopt;
    return op;
  }
  return std::nullopt;
}

std::optional<FootprintInstruction::Comparison> comparison_of(std::string_view opcode) {
  using Result = FootprintInstruction::Comparison;
  constexpr std::array<std::pair<std::string_view, Result>, 10> kNames = {
      {{".eq", Result::Equal},
       {".ne", Result::NotEqual},
       {".lt", Result::Less},
       {".lo", Result::Less},
       {".le", Result::LessEqual},
       {".ls", Result::LessEqual},
       {".gt", Result::Greater},
       {".hi", Result::Greater},
       {".ge", Result::GreaterEqual},
       {".hs", Result::GreaterEqual}}};
  for (const auto& [name, comparison] : kNames)
    if (has_ptx_modifier(opcode, name)) return comparison;
  return std::nullopt;
}

}  // namespace

FootprintProgram::FootprintProgram(const PtxModule& module, const PtxFunction& entry)
    : entry_(entry), problem_(entry.problem) {
  declare_symbols(module);
  for (const PtxStatement& statement : entry.statements) {
    if (!problem_.empty()) return;
    switch (statement.kind) {
      case PtxStatement::Kind::Open: open_scopes_.push_back(++scopes_); break;
      case PtxStatement::Kind::Close:
        if (!open_scopes_.empty()) open_scopes_.pop_back();
        break;
      case PtxStatement::Kind::Label:
        if (!labels_.try_emplace(statement.text, static_cast<std::uint32_t>(instructions_.size()))
                 .second)
          exclude(concat("declares ", statement.text, " twice"));
        break;
      case PtxStatement::Kind::Directive: declare_registers(statement.text); break;
      case PtxStatement::Kind::Instruction: decode(statement); break;
    }
  }
  if (problem_.empty()) link_branches();
  if (!problem_.empty()) return;
  mark_targets();
  find_patterns(instructions_, is_target_, registers_);
  keep_what_matters();
  mark_targets();
}

void FootprintProgram::declare_symbols(const PtxModule& module) {
  for (const PtxVariable& variable : module.variables()) symbols_[variable.name] = variable.space;
  std::uint64_t end = 0;
  for (const PtxVariable& parameter : entry_.entry_parameters) {
    end = (end + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    parameters_[parameter.name] = end;
    symbols_[parameter.name] = PtxVariable::Space::Param;
    end += parameter.bytes;
  }
}

// .reg .b32 %r<5>; .shared .align 4 .b8 name[64]. Scopes are not told apart: one that hides a
// register of another that is open is refused.
void FootprintProgram::declare_registers(std::string_view directive) {
  if (!directive.starts_with(".reg")) {
    if (const auto variable = parse_ptx_variable(directive))
      symbols_[variable->name] = variable->space;
    return;
  }
  std::string_view rest = trim_ptx(directive.substr(4));
  if (!rest.starts_with('.')) return exclude(concat("declares ", directive));
  const std::size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
  const std::string_view type = rest.substr(1, end - 1);
  const Register::Kind kind = type == "pred" ? Register::Kind::Predicate
                              : type.starts_with('f') || type.starts_with("bf")
                                  ? Register::Kind::Float
                                  : Register::Kind::Integer;
  const std::uint32_t bits = bits_of(type);
  for (rest = trim_ptx(rest.substr(end)); !rest.empty();) {
    const std::string_view name = first_ptx_word(rest);
    if (name.empty()) return exclude(concat("declares ", directive));
    rest = trim_ptx(rest.substr(name.size()));
    if (rest.starts_with('<')) {
      const std::size_t close = rest.find('>');
      if (close == rest.npos) return exclude(concat("declares ", directive));
      rest = trim_ptx(rest.substr(close + 1));
    }
    const std::uint32_t scope = open_scopes_.empty() ? 0 : open_scopes_.back();
    // %r<5> and %r1 can be the same as well.
    for (const auto& [other, known] : declarations_) {
      if (other != name && other != without_number(name) && without_number(other) != name) continue;
      const bool is_open = known.scope == 0 || std::find(open_scopes_.begin(), open_scopes_.end(),
                                                         known.scope) != open_scopes_.end();
      if (is_open || known.kind != kind || known.bits != bits)
        return exclude(concat("declares ", name, " twice"));
    }
    declarations_[name] = {kind, scope, bits};
    if (rest.starts_with(',')) rest = trim_ptx(rest.substr(1));
  }
}

bool FootprintProgram::is_register(std::string_view name) const {
  return name.starts_with('%') || declarations_.contains(name) ||
         declarations_.contains(without_number(name));
}

bool FootprintProgram::find_register(std::string_view name, Register& found) {
  const auto known = known_registers_.find(name);
  if (known == known_registers_.end()) {
    Register made;
    auto declared = declarations_.find(name);
    if (declared == declarations_.end()) {
      declared = declarations_.find(without_number(name));
    }
    if (declared != declarations_.end()) {
      made.kind = declared->second.kind;
      made.bits = declared->second.bits;
    }
    made.index = made.kind == Register::Kind::Predicate ? predicates_++
                 : made.kind == Register::Kind::Integer ? registers_++
                                                        : 0;
    found = made;
    known_registers_.emplace(name, made);
  } else {
    found = known->second;
  }
  return found.kind != Register::Kind::Float;
}

FootprintOperand FootprintProgram::operand_of(std::string_view text) {
  using Special = Operand::Special;
  bool is_negative = false;
  std::string_view digits = text;
  if (digits.starts_with('-')) {
    is_negative = true;
    digits = trim_ptx(digits.substr(1));
  }
  if (const auto number = parse_ptx_number(digits)) {
    const std::uint64_t bits = is_negative ? 0 - *number : *number;
    return {.kind = OperandKind::Number, .number = static_cast<std::int64_t>(bits)};
  }
  if (!is_register(text)) {
    const auto symbol = symbols_.find(first_ptx_word(text));
    // The address of a variable in global memory is not that of a buffer.
    if (symbol == symbols_.end() || symbol->second == PtxVariable::Space::Global)
      return {.kind = OperandKind::Other};
    return {.kind = OperandKind::Symbol};
  }
  constexpr std::array<std::pair<std::string_view, Special>, 4> kCoordinates = {
      {{"%tid", Special::Thread},
       {"%ctaid", Special::Block},
       {"%ntid", Special::BlockExtent},
       {"%nctaid", Special::GridExtent}}};
  for (const auto& [name, special] : kCoordinates) {
    if (text.size() != name.size() + 2 || !text.starts_with(name) || text[name.size()] != '.')
      continue;
    const std::size_t dimension = std::string_view("xyz").find(text.back());
    if (dimension > 2) break;
    return {.kind = OperandKind::Special,
            .index = static_cast<std::uint32_t>(dimension),
            .special = special};
  }
  if (text == "%laneid") return {.kind = OperandKind::Special, .special = Special::Lane};
  if (text.find('.') != text.npos || first_ptx_word(text) != text)
    return {.kind = OperandKind::Other};
  Register found;
  if (!find_register(text, found)) return {.kind = OperandKind::Other};
  return {.kind = found.kind == Register::Kind::Predicate ? OperandKind::Predicate
                                                          : OperandKind::Register,
          .index = found.index};
}

void FootprintProgram::add_results(std::string_view operand, Instruction& made) {
  if (operand.starts_with('[')) return;
  for_each_name(operand, [&](std::string_view name) {
    Register found;
    if (!is_register(name) || !find_register(name, found)) return;
    (found.kind == Register::Kind::Predicate ? made.predicates : made.results)
        .push_back(found.index);
  });
}

void FootprintProgram::decode(const PtxStatement& statement) {
  const std::string_view opcode = statement.opcode;
  const std::vector<std::string_view>& operands = statement.operands;
  Instruction made;
  branch_labels_.resize(instructions_.size() + 1);
  if (!statement.guard.empty()) {
    Register found;
    made.is_guard_inverted = statement.guard.find('!') != std::string_view::npos;
    std::string_view name = statement.guard;
    while (!name.empty() && !is_ptx_word(name.front())) name.remove_prefix(1);
    if (!find_register(name, found) || found.kind != Register::Kind::Predicate)
      return exclude(concat("has the guard ", statement.guard));
    made.guard = found.index;
  }
  if (is_ptx_opcode(opcode, "bra") && operands.size() == 1) {
    made.op = Op::Branch;
    branch_labels_.back() = operands[0];
  } else if (is_one_of(opcode, {"ret", "exit", "trap"})) {
    made.op = Op::Return;
  } else if (is_one_of(opcode, {"brx", "call"})) {
    return exclude(is_ptx_opcode(opcode, "brx") ? "has a table of branches" : "calls a function");
  } else if (const bool has_address =
                 std::any_of(operands.begin(), operands.end(),
                             [](std::string_view operand) { return operand.starts_with('['); });
             has_address) {
    decode_memory(statement, made);
  } else if (!operands.empty()) {
    add_results(operands[0], made);
    const std::string_view type = type_of(opcode);
    made.type = integer_type(type);
    const auto takes = [&](std::size_t count) {
      return operands.size() == count + 1 && made.results.size() + made.predicates.size() == 1;
    };
    const bool is_packed =
        operands.size() > 1 && (operands[0].starts_with('{') || operands[1].starts_with('{'));
    const std::optional<Op> integer = integer_op(opcode);
    const bool is_predicate = type == "pred";
    if (is_ptx_opcode(opcode, "mov") && takes(1) && !is_packed) {
      made.op = is_predicate ? Op::PredicateMove : Op::Move;
    } else if (is_ptx_opcode(opcode, "mov") && made.results.empty() && bits_of(type) == 64) {
      // A double can hold an address: as if it were stored.
      made.op = Op::Load;
      made.writes = true;
      made.operands.push_back({});
    } else if (is_ptx_opcode(opcode, "cvta") && takes(1)) {
      made.op = Op::Move;
      made.type = {.bits = 64};
    } else if (is_ptx_opcode(opcode, "cvt") && takes(1) && is_integer(type) &&
               !has_ptx_modifier(opcode, ".sat")) {
      // cvt.u64.u32: the type of the operand is the last one.
      const std::string_view before = type_of(opcode.substr(0, opcode.rfind('.')));
      made.result_type = integer_type(before);
      // A wider register gets the result with its sign.
      Register result;
      const bool fits = !find_register(operands[0], result) || made.result_type.bits < 32 ||
                        result.bits <= made.result_type.bits;
      made.op = is_integer(before) && fits ? Op::Convert : Op::Unknown;
    } else if (is_predicate && takes(2) && is_one_of(opcode, {"and", "or"})) {
      made.op = is_ptx_opcode(opcode, "and") ? Op::PredicateAnd : Op::PredicateOr;
    } else if (is_predicate && takes(1) && is_ptx_opcode(opcode, "not")) {
      made.op = Op::PredicateNot;
    } else if (is_ptx_opcode(opcode, "setp") && operands.size() == 3 && is_integer(type) &&
               !operands[0].starts_with('_')) {
      if (const auto comparison = comparison_of(opcode)) {
        made.op = Op::Compare;
        made.comparison = *comparison;
      }
    } else if (is_ptx_opcode(opcode, "selp") && takes(3)) {
      made.op = Op::Select;
    } else if (integer && is_integer(type) && !is_predicate &&
               takes(*integer == Op::MultiplyAdd                     ? 3
                     : *integer == Op::Not || *integer == Op::Negate ? 1
                                                                     : 2)) {
      made.op = *integer;
      made.is_wide = has_ptx_modifier(opcode, ".wide");
    }
    for (std::size_t i = 1; i < operands.size(); ++i) {
      if (operands[i].starts_with('{')) {
        for_each_name(operands[i],
                      [&](std::string_view name) { made.operands.push_back(operand_of(name)); });
      } else {
        made.operands.push_back(operand_of(operands[i]));
      }
    }
  }
  instructions_.push_back(std::move(made));
}

void FootprintProgram::decode_address(std::string_view operand, Instruction& made) {
  const auto address = parse_name_with_offset(without_brackets(operand));
  made.operands.push_back(address ? operand_of(address->name)
                                  : Operand{.kind = OperandKind::Other});
  made.offset = address ? address->offset : 0;
}

void FootprintProgram::decode_memory(const PtxStatement& statement, Instruction& made) {
  const std::string_view opcode = statement.opcode;
  const std::vector<std::string_view>& operands = statement.operands;
  const bool is_load = is_ptx_opcode(opcode, "ld"), is_store = is_ptx_opcode(opcode, "st"),
             is_red = is_ptx_opcode(opcode, "red"), is_atom = is_ptx_opcode(opcode, "atom");
  const auto is_in = [&](std::string_view space) {
    return opcode.find(concat('.', space)) != std::string_view::npos;
  };
  const bool is_aside = is_in("shared") || is_in("local") || is_in("const") || is_in("param");
  made.type = integer_type(type_of(opcode));
  if (is_ptx_opcode(opcode, "ld.param") && operands.size() == 2) {
    made.op = Op::LoadParameter;
    add_results(operands[0], made);
    const auto place = parse_name_with_offset(without_brackets(operands[1]));
    const auto found = place ? parameters_.find(place->name) : parameters_.end();
    // By a register: the parameters can be any.
    if (found == parameters_.end()) made.op = Op::Load;
    if (found != parameters_.end())
      made.offset = static_cast<std::int64_t>(found->second) + place->offset;
    return;
  }
  if (is_one_of(opcode, {"prefetch", "prefetchu", "applypriority"})) {
    made.op = Op::Unknown;
    return;
  }
  if (is_ptx_opcode(opcode, "cp.async") && is_in("shared") && operands.size() >= 3 &&
      !has_ptx_modifier(opcode, ".bulk") && !has_ptx_modifier(opcode, ".mbarrier")) {
    const auto bytes = parse_ptx_number(operands[2]);
    if (!bytes || *bytes > 16) return exclude(concat("uses ", opcode));
    made.op = Op::Access;
    made.reads = true;
    made.bytes = static_cast<std::uint32_t>(*bytes);
    decode_address(operands[1], made);
    return;
  }
  if (!is_load && !is_store && !is_red && !is_atom) {
    // Bulk copies name global memory as well.
    if (!is_in("shared") || is_in("global")) return exclude(concat("uses ", opcode));
    add_results(operands[0], made);
    made.op = Op::Load;
    return;
  }
  if (is_load || is_atom) add_results(operands[0], made);
  const std::size_t address = is_load || is_atom ? 1 : 0;
  if (operands.size() <= address || !operands[address].starts_with('['))
    return exclude(concat("uses ", opcode));
  made.op = is_aside ? Op::Load : Op::Access;
  made.reads = !is_store;
  made.writes = !is_load;
  made.bytes = bits_of(type_of(opcode)) / 8 * vector_of(opcode);
  if (!is_aside && made.bytes == 0) return exclude(concat("uses ", opcode));
  decode_address(operands[address], made);
  for (std::size_t i = address + 1; i < operands.size(); ++i)
    for_each_name(operands[i], [&](std::string_view name) {
      if (is_register(name)) made.operands.push_back(operand_of(name));
    });
}

void FootprintProgram::link_branches() {
  branch_labels_.resize(instructions_.size());
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    if (instructions_[i].op != Op::Branch) continue;
    const auto label = labels_.find(branch_labels_[i]);
    if (label == labels_.end()) return exclude(concat("branches to ", branch_labels_[i]));
    instructions_[i].target = label->second;
  }
}

// Removes instructions that determine neither an address nor a branch. What is stored stays, as it
// may be an address.
void FootprintProgram::keep_what_matters() {
  std::vector<bool> needs_register(registers_), needs_predicate(predicates_),
      is_kept(instructions_.size());
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = instructions_.size(); i-- > 0;) {
      const Instruction& one = instructions_[i];
      const auto is_needed = [](const std::vector<bool>& needs,
                                const std::vector<std::uint32_t>& of) {
        return std::any_of(of.begin(), of.end(), [&](std::uint32_t index) { return needs[index]; });
      };
      if (is_kept[i] ||
          !(one.op == Op::Branch || one.op == Op::Return || one.op == Op::Access ||
            (one.op == Op::Load && one.writes) || is_needed(needs_register, one.results) ||
            is_needed(needs_predicate, one.predicates)))
        continue;
      is_kept[i] = has_changed = true;
      if (one.guard != Instruction::kNoGuard) needs_predicate[one.guard] = true;
      for (const Operand& operand : one.operands) {
        if (operand.is(OperandKind::Register)) needs_register[operand.index] = true;
        if (operand.is(OperandKind::Predicate)) needs_predicate[operand.index] = true;
      }
    }
  }
  std::vector<std::uint32_t> moved(instructions_.size() + 1);
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    moved[i] = kept;
    if (is_kept[i]) instructions_[kept++] = instructions_[i];
  }
  moved[instructions_.size()] = kept;
  instructions_.resize(kept);
  for (Instruction& one : instructions_)
    if (one.op == Op::Branch) one.target = moved[one.target];
}

void FootprintProgram::mark_targets() {
  is_target_.assign(instructions_.size() + 1, false);
  is_loop_start_.assign(instructions_.size() + 1, false);
  for (std::uint32_t i = 0; i < instructions_.size(); ++i) {
    if (instructions_[i].op != Op::Branch) continue;
    is_target_[instructions_[i].target] = true;
    if (instructions_[i].target <= i) is_loop_start_[instructions_[i].target] = true;
  }
}

}  // namespace reprise::detail
