// An interpreter of integer PTX for the tests of footprints: records the accesses of a thread. The
// results of floating-point instructions are arbitrary, those of conversions from integers
// excepted: the compiler uses their signs.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/block_footprint.hpp"
#include "ptx/block_value.hpp"
#include "ptx/ptx_module.hpp"
#include "ptx/ptx_operands.hpp"
#include "ptx/ptx_words.hpp"

namespace reprise::test {

struct PtxAccess {
  int pointer = -1;
  std::int64_t offset = 0;
  std::uint32_t bytes = 0;
};

// Executes the statements of an entry, one thread at a time. Memory has arbitrary contents.
class PtxInterpreter {
 public:
  using Extent = std::array<std::uint32_t, 3>;

  // `pointers`: the offsets of addresses in the parameters.
  PtxInterpreter(const detail::PtxFunction& entry, Extent grid, Extent block,
                 std::span<const std::byte> parameters, std::span<const std::uint32_t> pointers)
      : grid_(grid),
        extent_(block),
        parameters_(parameters.begin(), parameters.end()),
        pointers_(pointers.begin(), pointers.end()) {
    std::uint64_t end = 0;
    for (const detail::PtxVariable& parameter : entry.entry_parameters) {
      end = (end + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
      offsets_[parameter.name] = static_cast<std::int64_t>(end);
      end += parameter.bytes;
    }
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
  void run(Extent block, Extent thread, std::vector<PtxAccess>& accesses, int max_steps = 3'000) {
    block_ = block;
    thread_ = thread;
    registers_.assign(names_.size(), {});
    std::size_t at = 0;
    for (int i = 0; i < max_steps && at < steps_.size(); ++i) {
      const Step& step = steps_[at++];
      if (step.guard && (registers_[*step.guard].bits != 0) == step.is_inverted) continue;
      if (step.name == "ret" || step.name == "exit") return;
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
    bool is_inverted = false, is_wide = false, is_high = false, is_left = false;
    bool is_float = false, is_from_float = false, is_parameter = false,
         is_aside = false;                            // not in global memory
    std::size_t results = 1, sources = 1;             // of a vector
    detail::IntegerType type = {}, result_type = {};  // dp2a, dp4a: of the second and first operand
    std::vector<Argument> arguments = {};
    std::int64_t offset = 0;
    std::size_t target = 0;
  };

  std::size_t index_of(std::string_view name) {
    return names_.try_emplace(name, names_.size()).first->second;
  }
  static detail::IntegerType type_of(const std::string_view text) {
    std::string_view name = text;
    if (name == "pred") return {.bits = 1};
    while (!name.empty() && !detail::is_ptx_digit(name.front())) name.remove_prefix(1);
    const auto bits = detail::parse_ptx_number(name);
    REQUIRE_MESSAGE(bits.has_value(), "the interpreter does not know ", std::string(text));
    return {.bits = static_cast<std::uint32_t>(*bits), .is_signed = text[0] == 's'};
  }
  Argument argument_of(std::string_view text) {
    if (text.find('.') != text.npos)
      return {.kind = Argument::Kind::Special,
              .index = text.back() - std::size_t{'x'},
              .name = text.substr(0, text.find('.'))};
    if (text.starts_with('%')) return {.kind = Argument::Kind::Register, .index = index_of(text)};
    if (text.starts_with("0f") || text.starts_with("0d")) return {.number = 0x3f80'0000};
    const bool is_negative = text.starts_with('-');
    const auto number = detail::parse_ptx_number(text.substr(is_negative ? 1 : 0));
    if (!number) return {.number = kVariable};  // the address of a variable, or _
    return {.number = is_negative ? 0 - *number : *number};
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
    if (step.name == "bra" || step.name == "ret" || step.name == "exit") return step;
    if (step.name == "bar" || step.name == "barrier") {
      step.name = "bar";
      return step;
    }
    const auto has = [&](std::string_view modifier) {
      return detail::has_ptx_modifier(statement.opcode, modifier);
    };
    const auto is_float = [](std::string_view type) {
      return type.starts_with('f') || type.starts_with("bf");
    };
    step.type = type_of(words.back());
    step.is_wide = has(".wide");
    step.is_high = has(".hi");
    step.is_left = has(".l");
    step.is_float = is_float(words.back());
    step.is_parameter = has(".param");
    step.is_aside = has(".shared") || has(".local") || has(".const");
    if (step.name == "cvt") {
      step.result_type = type_of(words[words.size() - 2]);
      step.is_from_float = step.is_float;
      step.is_float = step.is_float || is_float(words[words.size() - 2]);
    }
    if (step.name == "dp2a" || step.name == "dp4a")
      step.result_type = type_of(words[words.size() - 2]);
    if (step.name == "setp") step.comparison = words[1];
    for (std::size_t i = 0; i < statement.operands.size(); ++i) {
      const std::string_view operand = statement.operands[i],
                             address = detail::without_brackets(operand);
      if (!address.empty()) {
        const auto parsed = detail::parse_name_with_offset(address);
        step.offset = parsed->offset;
        if (step.is_parameter) {
          step.offset += offsets_.at(parsed->name);
        } else {
          step.arguments.push_back(argument_of(parsed->name));
        }
      } else if (operand.starts_with('{')) {
        std::string_view rest = operand.substr(1, operand.size() - 2);
        const std::size_t before = step.arguments.size();
        while (!rest.empty()) {
          const std::size_t end = std::min(rest.find(','), rest.size());
          step.arguments.push_back(argument_of(detail::trim_ptx(rest.substr(0, end))));
          rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        if (i == 0) step.results = step.arguments.size();
        if (i == 1) step.sources = step.arguments.size() - before;
      } else {
        step.arguments.push_back(argument_of(operand));
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
    if (name == "bar") return;
    const bool is_signed = step.type.is_signed;
    std::array<Content, 8> raw = {};
    for (std::size_t i = 0; i < step.arguments.size(); ++i) raw.at(i) = value_of(step.arguments[i]);
    const auto operand = [&](std::size_t i) { return extended(raw[i].bits, step.type); };
    const std::uint64_t a = operand(1), b = operand(2);
    const std::uint32_t count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(cut(raw[2].bits, 32), step.type.bits));
    const auto arbitrary = [](std::uint64_t of) {
      return (of * 0x9e37'79b9'7f4a'7c15u) >> (of % 3 == 0 ? 60 : 20);
    };
    const auto set = [&](std::size_t i, const Content& value) {
      if (step.arguments[i].kind == Argument::Kind::Register)
        registers_[step.arguments[i].index] = value;
    };
    Content result;
    std::uint32_t bits = step.type.bits * (step.is_wide ? 2 : 1);
    if (step.is_parameter) {
      std::memcpy(&result.bits, parameters_.data() + step.offset, step.type.bits / 8);
      result.bits = extended(result.bits, step.type);
      const auto pointer = std::find(pointers_.begin(), pointers_.end(), step.offset);
      if (pointer != pointers_.end())
        result.pointer = static_cast<int>(pointer - pointers_.begin());
      return set(0, result);
    }
    if (name == "ld" || name == "st" || name == "atom" || name == "red") {
      const bool has_result = name == "ld" || name == "atom";
      const Content& at = raw[has_result ? step.results : 0];
      const std::uint64_t address = at.bits + static_cast<std::uint64_t>(step.offset);
      std::uint64_t base = 0;
      if (at.pointer >= 0)
        std::memcpy(&base, parameters_.data() + pointers_[static_cast<std::size_t>(at.pointer)], 8);
      const std::size_t vector = std::max(step.results, step.sources);
      if (!step.is_aside)
        accesses.push_back({at.pointer, static_cast<std::int64_t>(address - base),
                            bits / 8 * static_cast<std::uint32_t>(vector)});
      for (std::size_t i = 0; has_result && i < step.results; ++i)
        set(i, {extended(arbitrary(address + i), step.type)});
      return;
    }
    if (name == "mov" && step.results > 1) {
      for (std::size_t i = 0; i < step.results; ++i) {
        const auto each = static_cast<std::uint32_t>(step.type.bits / step.results);
        set(i, {cut(raw[step.results].bits >> (each * i), each)});
      }
      return;
    }
    if (name == "mov" && step.sources > 1) {
      for (std::size_t i = 0; i < step.sources; ++i) {
        const auto each = static_cast<std::uint32_t>(step.type.bits / step.sources);
        result.bits |= cut(raw[1 + i].bits, each) << (each * i);
      }
    } else if (name == "cvt" && step.is_float && !step.is_from_float) {
      const auto number = static_cast<std::int64_t>(a);
      result.bits = step.result_type.bits == 64
                        ? std::bit_cast<std::uint64_t>(is_signed ? static_cast<double>(number)
                                                                 : static_cast<double>(a))
                        : std::bit_cast<std::uint32_t>(is_signed ? static_cast<float>(number)
                                                                 : static_cast<float>(a));
      bits = 64;
    } else if (step.is_float && name != "mov" && name != "selp") {
      for (std::size_t i = 1; i < step.arguments.size(); ++i)
        result.bits = arbitrary(result.bits + raw[i].bits + 1);
      if (name == "setp") bits = 1;
      if (name == "cvt") result.bits = extended(result.bits, step.result_type), bits = 64;
    } else if (name == "mov" || name == "cvta") {
      result = raw[1];
    } else if (name == "cvt") {
      result.bits = extended(a, step.result_type);
      bits = 64;
    } else if (name == "add" || name == "sub") {
      result.bits = name == "add" ? a + b : a - b;
      result.pointer = std::max(raw[1].pointer, raw[2].pointer);
    } else if (name == "mul" || name == "mad") {
      result.bits = step.is_high ? high_product(a, b, step.type) : a * b;
      if (name == "mad") {
        result.bits += raw[3].bits;
        result.pointer = raw[3].pointer;
      }
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
    } else if (name == "shf") {
      const std::uint64_t both = cut(raw[2].bits, 32) << 32 | cut(raw[1].bits, 32);
      const std::uint32_t by = raw[3].bits & 31;
      result.bits = step.is_left ? both << by >> 32 : both >> by;
    } else if (name == "bfe") {
      const std::uint32_t from = raw[2].bits & 255, length = raw[3].bits & 255;
      REQUIRE((length > 0 && from + length <= step.type.bits));
      result.bits = extended(a >> from, {length, is_signed});
    } else if (name == "bfi") {
      const std::uint32_t to = raw[3].bits & 255, length = raw[4].bits & 255;
      REQUIRE(to + length <= step.type.bits);
      const std::uint64_t mask = cut(~std::uint64_t{0}, length) << to;
      result.bits = (b & ~mask) | (a << to & mask);
    } else if (name == "prmt") {
      const std::uint64_t both = cut(raw[2].bits, 32) << 32 | cut(raw[1].bits, 32);
      for (std::uint32_t i = 0; i < 4; ++i) {
        const std::uint64_t by = raw[3].bits >> (4 * i) & 15;
        std::uint64_t byte = both >> (8 * (by & 7)) & 255;
        if ((by & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
        result.bits |= byte << (8 * i);
      }
    } else if (name == "dp2a" || name == "dp4a") {
      // Bytes of the second operand times those of the first one, or its halves.
      const std::uint32_t lanes = name == "dp4a" ? 4 : 2, from = lanes == 2 && step.is_high ? 2 : 0;
      result.bits = raw[3].bits;
      for (std::uint32_t i = 0; i < lanes; ++i)
        result.bits += extended(raw[1].bits >> (32 / lanes * i),
                                {.bits = 32 / lanes, .is_signed = step.result_type.is_signed}) *
                       extended(raw[2].bits >> (8 * (from + i)), {8, is_signed});
    } else if (name == "clz") {
      result.bits = static_cast<std::uint64_t>(std::countl_zero(a)) - (64 - step.type.bits);
    } else if (name == "popc") {
      result.bits = static_cast<std::uint64_t>(std::popcount(a));
    } else if (name == "abs") {
      result.bits = is_less(a, 0, true) ? 0 - a : a;
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
      result.bits = by == "eq"                 ? is_equal
                    : by == "ne"               ? !is_equal
                    : by == "lt" || by == "lo" ? is_less_than
                    : by == "ge" || by == "hs" ? !is_less_than
                    : by == "le" || by == "ls" ? is_less_than || is_equal
                                               : !is_less_than && !is_equal;
      bits = 1;
    } else {
      FAIL("the interpreter does not know " << step.statement->text);
    }
    result.bits = cut(result.bits, bits);
    set(0, result);
  }
  static std::uint64_t high_product(std::uint64_t a, std::uint64_t b, detail::IntegerType type) {
    __extension__ using Signed = __int128;
    __extension__ using Unsigned = unsigned __int128;
    if (!type.is_signed) return static_cast<std::uint64_t>(Unsigned{a} * b >> type.bits);
    const Signed product = Signed{static_cast<std::int64_t>(a)} * static_cast<std::int64_t>(b);
    return static_cast<std::uint64_t>(product >> type.bits);
  }

  static constexpr std::uint64_t kVariable = 1 << 20;

  Extent grid_, extent_, block_ = {}, thread_ = {};
  std::vector<std::byte> parameters_;
  std::vector<std::uint32_t> pointers_;
  std::unordered_map<std::string_view, std::int64_t> offsets_;  // of parameters
  std::unordered_map<std::string_view, std::size_t> names_;
  std::vector<Step> steps_;
  std::vector<Content> registers_;
};

// Whether the footprint of a block contains an access.
inline bool contains(const detail::PointerFootprint& pointer, const PtxInterpreter::Extent& block,
                     const PtxAccess& access) {
  return pointer.is_unbounded ||
         std::any_of(pointer.bytes.begin(), pointer.bytes.end(),
                     [&](const detail::BlockBytes& bytes) {
                       std::int64_t start = 0;
                       for (std::size_t d = 0; d < 3; ++d) start += bytes.step[d] * block[d];
                       const std::int64_t end = access.offset + access.bytes;
                       return access.offset >= bytes.begin + start && end <= bytes.end + start &&
                              access.offset >= bytes.lowest && end <= bytes.highest;
                     });
}
// Whether that of a thread's block and that of its row of threads do.
inline bool contains(const detail::Footprint& footprint, const PtxInterpreter::Extent& grid,
                     const PtxInterpreter::Extent& block, const PtxInterpreter::Extent& thread,
                     const PtxAccess& access) {
  if (access.pointer < 0) return false;
  const auto pointer = static_cast<std::size_t>(access.pointer);
  const auto& rows = footprint.rows[block[0] + 1 == grid[0] ? 1 : 0];
  return contains(footprint.pointers[pointer], block, access) &&
         (rows.empty() || contains(rows[pointer], {block[0], block[1], thread[1]}, access));
}

}  // namespace reprise::test
