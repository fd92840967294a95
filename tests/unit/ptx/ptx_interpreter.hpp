// An interpreter of integer PTX for the tests of footprints: records the accesses of a thread.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/block_value.hpp"
#include "ptx/ptx_module.hpp"
#include "ptx/ptx_operands.hpp"
#include "ptx/ptx_words.hpp"

namespace reprise::test {

// Two addresses, then six numbers of four bytes.
constexpr std::uint32_t kPointers = 2, kParameterBytes = 40;

struct PtxAccess {
  int pointer = -1;
  std::int64_t offset = 0;
  std::uint32_t bytes = 0;
};

// Executes the statements of an entry, one thread at a time. Memory has arbitrary contents.
class PtxInterpreter {
 public:
  using Extent = std::array<std::uint32_t, 3>;

  PtxInterpreter(const detail::PtxFunction& entry, Extent grid, Extent block,
                 const std::array<std::byte, kParameterBytes>& parameters)
      : grid_(grid), extent_(block), parameters_(parameters) {
    std::map<std::string_view, std::size_t> labels;
    for (const detail::PtxStatement& statement : entry.statements) {
      if (statement.is(detail::PtxStatement::Kind::Label)) labels[statement.text] = steps_.size();
      if (statement.is(detail::PtxStatement::Kind::Instruction))
        steps_.push_back(decoded(statement));
    }
    for (Step& step : steps_)
      if (step.name == "bra") step.target = labels.at(step.statement->operands[0]);
  }

  // The accesses of one thread, as far as a bounded number of steps shows.
  void run(Extent block, Extent thread, std::vector<PtxAccess>& accesses) {
    block_ = block;
    thread_ = thread;
    registers_.assign(names_.size(), {});
    std::size_t at = 0;
    for (int i = 0; i < 3'000 && at < steps_.size(); ++i) {
      const Step& step = steps_[at++];
      if (step.guard && (registers_[*step.guard].bits != 0) == step.is_inverted) continue;
      if (step.name == "ret") return;
      if (step.name == "bra") {
        at = step.target;
      } else {
        execute(step, accesses);
      }
    }
  }

 private:
  struct Content {
    std::uint64_t bits = 0;
    int pointer = -1;  // the parameter that an address comes from
  };
  struct Argument {
    enum class Kind : std::uint8_t { Number, Register, Special } kind = Kind::Number;
    std::size_t index = 0;
    std::uint64_t number = 0;
    std::string_view name = {};
  };
  struct Step {
    const detail::PtxStatement* statement = nullptr;
    std::string_view name = {}, comparison = {};
    std::optional<std::size_t> guard = {};
    bool is_inverted = false, is_wide = false;
    detail::IntegerType type = {}, result_type = {};
    std::vector<Argument> arguments = {};
    std::int64_t offset = 0;
    std::size_t target = 0;
  };

  std::size_t index_of(std::string_view name) {
    return names_.try_emplace(name, names_.size()).first->second;
  }
  static detail::IntegerType type_of(std::string_view name) {
    if (name == "pred") return {.bits = 1};
    return {.bits = static_cast<std::uint32_t>(*detail::parse_ptx_number(name.substr(1))),
            .is_signed = name[0] == 's'};
  }
  Argument argument_of(std::string_view text) {
    if (text.find('.') != text.npos)
      return {.kind = Argument::Kind::Special,
              .index = text.back() - std::size_t{'x'},
              .name = text.substr(0, text.find('.'))};
    if (text.starts_with('%')) return {.kind = Argument::Kind::Register, .index = index_of(text)};
    const bool is_negative = text.starts_with('-');
    const std::uint64_t number = *detail::parse_ptx_number(text.substr(is_negative ? 1 : 0));
    return {.number = is_negative ? 0 - number : number};
  }
  Step decoded(const detail::PtxStatement& statement) {
    Step step{.statement = &statement};
    if (const std::string_view guard = statement.guard; !guard.empty()) {
      step.is_inverted = guard[1] == '!';
      step.guard = index_of(guard.substr(guard.find('%')));
    }
    std::vector<std::string_view> words;
    for (std::string_view rest = statement.opcode; !rest.empty();) {
      const std::size_t dot = std::min(rest.find('.'), rest.size());
      words.push_back(rest.substr(0, dot));
      rest.remove_prefix(std::min(dot + 1, rest.size()));
    }
    step.name = words[0];
    if (step.name == "bra" || step.name == "ret") return step;
    step.type = type_of(words.back());
    step.is_wide = detail::has_ptx_modifier(statement.opcode, ".wide");
    if (step.name == "cvt") step.result_type = type_of(words[words.size() - 2]);
    if (step.name == "setp") step.comparison = words[1];
    for (const std::string_view operand : statement.operands) {
      const std::string_view address = detail::without_brackets(operand);
      if (address.empty()) {
        step.arguments.push_back(argument_of(operand));
      } else {
        const auto parsed = detail::parse_name_with_offset(address);
        step.offset = parsed->offset;
        if (parsed->name.starts_with('%')) {
          step.arguments.push_back(argument_of(parsed->name));
        } else {  // parameters of eight bytes each, or of four after the pointers
          const std::uint64_t n =
              *detail::parse_ptx_number(parsed->name.substr(parsed->name.rfind('_') + 1));
          step.offset += static_cast<std::int64_t>(n < kPointers ? 8 * n : 8 + 4 * n);
        }
      }
    }
    return step;
  }

  [[nodiscard]] Content value_of(const Argument& argument) const {
    if (argument.kind == Argument::Kind::Number) return {argument.number};
    if (argument.kind == Argument::Kind::Register) return registers_[argument.index];
    const Extent& of = argument.name == "%tid"     ? thread_
                       : argument.name == "%ctaid" ? block_
                       : argument.name == "%ntid"  ? extent_
                                                   : grid_;
    return {of[argument.index]};
  }
  static std::uint64_t cut(std::uint64_t bits, std::uint32_t count) {
    return count >= 64 ? bits : bits & ((std::uint64_t{1} << count) - 1);
  }
  // Sign- or zero-extended to 64 bits.
  static std::uint64_t extended(std::uint64_t bits, detail::IntegerType type) {
    bits = cut(bits, type.bits);
    if (type.is_signed && type.bits < 64 && (bits >> (type.bits - 1) & 1) != 0)
      bits |= ~std::uint64_t{0} << type.bits;
    return bits;
  }
  static bool is_less(std::uint64_t a, std::uint64_t b, bool is_signed) {
    return is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  }

  void execute(const Step& step, std::vector<PtxAccess>& accesses) {
    const std::string_view name = step.name;
    const bool is_signed = step.type.is_signed;
    std::array<Content, 4> raw = {};
    for (std::size_t i = 0; i < step.arguments.size(); ++i) raw[i] = value_of(step.arguments[i]);
    const auto operand = [&](std::size_t i) { return extended(raw[i].bits, step.type); };
    const std::uint64_t a = operand(1), b = operand(2);
    const std::uint32_t count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(cut(raw[2].bits, 32), step.type.bits));
    Content result;
    std::uint32_t bits = step.type.bits * (step.is_wide ? 2 : 1);
    if (name == "ld" && step.arguments.size() == 1) {
      std::memcpy(&result.bits, parameters_.data() + step.offset, step.type.bits / 8);
      if (step.offset < 8 * kPointers) result.pointer = static_cast<int>(step.offset / 8);
    } else if (name == "ld" || name == "st") {
      const Content& at = raw[name == "ld" ? 1 : 0];
      const std::uint64_t address = at.bits + static_cast<std::uint64_t>(step.offset);
      std::uint64_t base = 0;
      if (at.pointer >= 0) std::memcpy(&base, parameters_.data() + 8 * at.pointer, 8);
      accesses.push_back({at.pointer, static_cast<std::int64_t>(address - base), bits / 8});
      if (name == "st") return;
      result.bits = (address * 0x9e37'79b9'7f4a'7c15u) >> (address % 3 == 0 ? 60 : 20);
    } else if (name == "mov" || name == "cvta") {
      result = raw[1];
    } else if (name == "cvt") {
      result.bits = a;
      bits = step.result_type.bits;
    } else if (name == "add" || name == "sub") {
      result.bits = name == "add" ? a + b : a - b;
      result.pointer = std::max(raw[1].pointer, raw[2].pointer);
    } else if (name == "mul" || name == "mad") {
      result.bits = a * b;
      if (name == "mad") result.bits += raw[3].bits;
    } else if (name == "div" || name == "rem") {
      const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
      const bool is_quotient = name == "div";
      if (b == 0) {
        result.bits = ~std::uint64_t{0};
      } else if (is_signed && y == -1) {
        result.bits = is_quotient ? 0 - a : 0;
      } else if (is_signed) {
        result.bits = static_cast<std::uint64_t>(is_quotient ? x / y : x % y);
      } else {
        result.bits = is_quotient ? a / b : a % b;
      }
    } else if (name == "min" || name == "max") {
      result.bits = is_less(a, b, is_signed) == (name == "min") ? a : b;
    } else if (name == "shl") {
      result.bits = count >= 64 ? 0 : a << count;
    } else if (name == "shr") {
      const std::uint32_t by = std::min(count, 63u);
      result.bits = is_signed     ? static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> by)
                    : count >= 64 ? 0
                                  : a >> by;
    } else if (name == "and") {
      result.bits = a & b;
    } else if (name == "or") {
      result.bits = a | b;
    } else if (name == "xor") {
      result.bits = a ^ b;
    } else if (name == "not") {
      result.bits = ~a;
    } else if (name == "neg") {
      result.bits = 0 - a;
    } else if (name == "selp") {
      result = raw[raw[3].bits != 0 ? 1 : 2];
    } else if (name == "setp") {
      const bool is_less_than = is_less(a, b, is_signed), is_equal = a == b;
      const std::string_view by = step.comparison;
      result.bits = by == "eq"   ? is_equal
                    : by == "ne" ? !is_equal
                    : by == "lt" ? is_less_than
                    : by == "ge" ? !is_less_than
                    : by == "le" ? is_less_than || is_equal
                                 : !is_less_than && !is_equal;
      bits = 1;
    } else {
      FAIL("the interpreter does not know " << step.statement->text);
    }
    result.bits = cut(result.bits, bits);
    registers_[step.arguments[0].index] = result;
  }

  Extent grid_, extent_, block_ = {}, thread_ = {};
  std::array<std::byte, kParameterBytes> parameters_;
  std::map<std::string_view, std::size_t> names_;
  std::vector<Step> steps_;
  std::vector<Content> registers_;
};

}  // namespace reprise::test
