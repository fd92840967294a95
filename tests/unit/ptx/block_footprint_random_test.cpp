// Runs random kernels with an interpreter of PTX, and looks each access up in the footprint.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/block_footprint.hpp"
#include "ptx/ptx_operands.hpp"
#include "ptx/ptx_words.hpp"
#include "unit/ptx/ptx_kernels.hpp"

using namespace reprise::detail;
using namespace reprise::test;

namespace {

constexpr std::uint32_t kPointers = 2, kParameterBytes = 40;
constexpr std::uint32_t kUnknownParameter = 28;  // its offset

struct Access {
  int pointer = -1;
  std::int64_t offset = 0;
  std::uint32_t bytes = 0;
};

// Executes the statements of an entry, one thread at a time. Memory has arbitrary contents.
class Interpreter {
 public:
  using Extent = std::array<std::uint32_t, 3>;

  Interpreter(const PtxFunction& entry, Extent grid, Extent block,
              const std::array<std::byte, kParameterBytes>& parameters)
      : grid_(grid), extent_(block), parameters_(parameters) {
    std::map<std::string_view, std::size_t> labels;
    for (const PtxStatement& statement : entry.statements) {
      if (statement.is(PtxStatement::Kind::Label)) labels[statement.text] = steps_.size();
      if (statement.is(PtxStatement::Kind::Instruction)) steps_.push_back(decoded(statement));
    }
    for (Step& step : steps_)
      if (step.name == "bra") step.target = labels.at(step.statement->operands[0]);
  }

  // The accesses of one thread, as far as a bounded number of steps shows.
  void run(Extent block, Extent thread, std::vector<Access>& accesses) {
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
    std::string_view name;
  };
  struct Step {
    const PtxStatement* statement = nullptr;
    std::string_view name, comparison;
    std::optional<std::size_t> guard;
    bool is_inverted = false, is_wide = false;
    IntegerType type, result_type;
    std::vector<Argument> arguments;
    std::int64_t offset = 0;
    std::size_t target = 0;
  };

  std::size_t index_of(std::string_view name) {
    return names_.try_emplace(name, names_.size()).first->second;
  }
  static IntegerType type_of(std::string_view name) {
    if (name == "pred") return {.bits = 1};
    return {.bits = static_cast<std::uint32_t>(*parse_ptx_number(name.substr(1))),
            .is_signed = name[0] == 's'};
  }
  Argument argument_of(std::string_view text) {
    if (text.find('.') != text.npos)
      return {.kind = Argument::Kind::Special,
              .index = text.back() - std::size_t{'x'},
              .name = text.substr(0, text.find('.'))};
    if (text.starts_with('%')) return {.kind = Argument::Kind::Register, .index = index_of(text)};
    const bool is_negative = text.starts_with('-');
    const std::uint64_t number = *parse_ptx_number(text.substr(is_negative ? 1 : 0));
    return {.number = is_negative ? 0 - number : number};
  }
  Step decoded(const PtxStatement& statement) {
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
    step.is_wide = has_ptx_modifier(statement.opcode, ".wide");
    if (step.name == "cvt") step.result_type = type_of(words[words.size() - 2]);
    if (step.name == "setp") step.comparison = words[1];
    for (const std::string_view operand : statement.operands) {
      const std::string_view address = without_brackets(operand);
      if (address.empty()) {
        step.arguments.push_back(argument_of(operand));
      } else {
        const auto parsed = parse_name_with_offset(address);
        step.offset = parsed->offset;
        if (parsed->name.starts_with('%')) {
          step.arguments.push_back(argument_of(parsed->name));
        } else {  // parameters of eight bytes each, or of four after the pointers
          const std::uint64_t n =
              *parse_ptx_number(parsed->name.substr(parsed->name.rfind('_') + 1));
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
  static std::uint64_t extended(std::uint64_t bits, IntegerType type) {
    bits = cut(bits, type.bits);
    if (type.is_signed && type.bits < 64 && (bits >> (type.bits - 1) & 1) != 0)
      bits |= ~std::uint64_t{0} << type.bits;
    return bits;
  }
  static bool is_less(std::uint64_t a, std::uint64_t b, bool is_signed) {
    return is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  }

  void execute(const Step& step, std::vector<Access>& accesses) {
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

// Writes kernels of integer instructions, accesses, branches and loops.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
  bool one_in(std::size_t n) { return below(n) == 0; }

  std::string kernel() {
    text_ =
        ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u32 k_param_2,\n"
        ".param .u32 k_param_3, .param .u32 k_param_4, .param .u32 k_param_5,\n"
        ".param .u32 k_param_6, .param .u32 k_param_7)\n"
        "{ .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>, %c<9>; .reg .b64 %rd<9>, %a<9>;\n";
    for (const char* line : {"mov.u32 %r0, %tid.x",           "mov.u32 %r1, %ctaid.x",
                             "mov.u32 %r2, %ntid.x",          "mad.lo.s32 %r3, %r1, %r2, %r0",
                             "mov.u32 %r4, %ctaid.y",         "mov.u32 %r5, %tid.y",
                             "ld.param.u32 %r6, [k_param_2]", "ld.param.u32 %r7, [k_param_5]",
                             "ld.param.u32 %r8, [k_param_3]", "ld.param.u64 %a0, [k_param_0]",
                             "ld.param.u64 %a1, [k_param_1]", "cvta.to.global.u64 %a2, %a0",
                             "cvta.to.global.u64 %a3, %a1",   "cvt.u16.u32 %rs0, %r0",
                             "cvt.s16.s32 %rs1, %r3",         "cvt.u64.u32 %rd0, %r3",
                             "cvt.s64.s32 %rd1, %r6",         "mov.u64 %rd2, %rd0",
                             "setp.lt.s32 %p0, %r3, %r6",     "setp.gt.u32 %p1, %r0, 2",
                             "setp.ne.s32 %p2, %r7, 3"})
      emit(line);
    statements(6 + below(20), 0);
    return text_ + "ret; }\n";
  }

 private:
  void emit(const std::string& line) { text_ += line + ";\n"; }
  std::string pick(std::initializer_list<const char*> of) {
    return *(of.begin() + below(of.size()));
  }
  std::string numbered(const char* name, std::size_t end) {
    return name + std::to_string(below(end));
  }
  std::string number() {
    if (one_in(3))
      return pick({"-1", "-4", "255", "-256", "0xffffff00", "7", "0", "64", "100", "31"});
    return std::to_string(one_in(8) ? below(std::size_t{1} << 33)
                                    : 1 + below(one_in(2) ? 16 : 300));
  }
  // Of 32 bits, or of `bits`.
  std::string operand(int bits = 32) {
    if (one_in(3)) return bits == 16 ? std::to_string(below(300)) : number();
    if (bits == 16) return numbered("%rs", 2);
    if (bits == 64) return numbered("%rd", 3);
    return depth_ > 0 && one_in(3) ? "%c" + std::to_string(below(depth_)) : numbered("%r", 9);
  }
  // A result: %r0 to %r3 and the block's stay in place for a while.
  std::string result(int bits = 32) {
    if (bits == 16) return numbered("%rs", 2);
    if (bits == 64) return numbered("%rd", 3);
    return one_in(6) ? numbered("%r", 9) : "%r" + std::to_string(5 + below(4));
  }
  std::string guard() {
    return one_in(4) ? std::string(one_in(2) ? "@" : "@!") + numbered("%p", 4) + " " : "";
  }
  std::string label() { return "$L" + std::to_string(labels_++); }

  void compute() {
    const int bits = one_in(4) ? 64 : one_in(8) ? 16 : 32;
    const std::string n = std::to_string(bits), sign = one_in(2) ? ".s" : ".u";
    const std::string out = guard() + "%", to = result(bits);
    const auto line = [&](const std::string& opcode, const std::string& rest) {
      emit(out.substr(0, out.size() - 1) + opcode + " " + to + ", " + rest);
    };
    switch (below(10)) {
      case 0:
      case 1: return line(pick({"add", "sub"}) + sign + n, operand(bits) + ", " + operand(bits));
      case 2: return line("mul.lo" + sign + n, operand(bits) + ", " + operand(bits));
      case 3:
        return line("mad.lo" + sign + n,
                    operand(bits) + ", " + operand(bits) + ", " + operand(bits));
      case 4: return line(pick({"min", "max"}) + sign + n, operand(bits) + ", " + operand(bits));
      case 5:
        return line(
            pick({"div", "rem"}) + sign + n,
            operand(bits) + ", " + (one_in(4) ? operand(bits) : pick({"1", "3", "8", "64"})));
      case 6:
        return line(pick({"and", "or", "xor"}) + ".b" + n, operand(bits) + ", " + operand(bits));
      case 7: {
        const std::string by = one_in(8) ? operand() : std::to_string(below(one_in(6) ? 70 : 9));
        return one_in(2) ? line("shl.b" + n, operand(bits) + ", " + by)
                         : line("shr" + sign + n, operand(bits) + ", " + by);
      }
      case 8:
        if (one_in(3)) return line(one_in(2) ? "not.b" + n : "neg.s" + n, result(bits));
        return line("selp.b" + n, operand(bits) + ", " + operand(bits) + ", " + numbered("%p", 4));
      default: convert();
    }
  }
  void convert() {
    const std::string a = numbered("%rd", 3), r = numbered("%r", 9);
    switch (below(7)) {
      case 0: return emit("cvt.u64.u32 " + a + ", " + r);
      case 1: return emit("cvt.s64.s32 " + a + ", " + r);
      case 2: return emit("cvt.u32.u64 " + result() + ", " + a);
      case 3:
        return emit(pick({"cvt.u32.u16 ", "cvt.s32.s16 ", "cvt.s32.s8 "}) + result() + ", " +
                    numbered("%rs", 2));
      case 4:
        return emit(pick({"cvt.u16.u32 ", "cvt.s16.s32 ", "cvt.u8.u32 "}) + numbered("%rs", 2) +
                    ", " + r);
      case 5:
        return emit(pick({"mul.wide.u32 ", "mul.wide.s32 "}) + a + ", " + r + ", " + operand());
      default:
        return emit("mul.wide.s16 " + result() + ", " + numbered("%rs", 2) + ", " + operand(16));
    }
  }
  void compare() {
    const std::string to = numbered("%p", 4), p = numbered("%p", 3), q = numbered("%p", 3);
    if (one_in(4)) return emit(pick({"and", "or"}) + ".pred " + to + ", " + p + ", " + q);
    if (one_in(8)) return emit("not.pred " + to + ", " + p);
    const std::string by = pick({"lt", "le", "gt", "ge", "eq", "ne"});
    const int bits = one_in(5) ? 64 : 32;
    emit(guard() + "setp." + by + (one_in(2) ? ".s" : ".u") + std::to_string(bits) + " " + to +
         ", " + (bits == 64 ? numbered("%rd", 3) : numbered("%r", 9)) + ", " + operand(bits));
  }
  void access() {
    std::string index = one_in(2) ? "%r3" : operand();
    if (index[0] != '%') index = "%r0";
    if (one_in(4)) {
      emit("and.b32 %c7, " + index + ", " + pick({"31", "63", "255", "-4"}));
      index = "%c7";
    }
    const std::string base = pick({"%a0", "%a1", "%a2", "%a3"}),
                      type = pick({"u32", "s32", "b64", "u8"});
    switch (below(4)) {
      case 0:
        emit("cvt.u64.u32 %rd4, " + index);
        emit("shl.b64 %rd4, %rd4, 2");
        break;
      case 1: emit("mul.wide.u32 %rd4, " + index + ", 4"); break;
      case 2: emit("mul.wide.s32 %rd4, " + index + ", 4"); break;
      default: emit("mov.u64 %rd4, " + numbered("%rd", 3));
    }
    emit(one_in(6) ? "sub.s64 %a4, " + base + ", %rd4" : "add.s64 %a4, " + base + ", %rd4");
    const std::string at = "[%a4" + pick({"", "+4", "+-8", "+128"}) + "]", by = guard();
    const bool is_load = one_in(2);
    if (!is_load)
      return emit(by + "st.global." + type + " " + at + ", " + (type == "b64" ? "%rd0" : "%r0"));
    emit(by + "ld.global." + type + " " + (type == "b64" ? result(64) : result()) + ", " + at);
  }
  void loop() {
    const std::string counter = "%c" + std::to_string(depth_), again = label(), end = label();
    const std::string start = pick({"0", "%r0", "%r3", "1"}), step = pick({"1", "3", "%r2", "16"}),
                      limit = pick({"5", "90", "%r6", "%r8", "%r7", "%r3"}), p = numbered("%p", 4);
    emit("mov.u32 " + counter + ", " + start);
    const bool moves_address = one_in(4);
    if (moves_address) emit("mov.u64 %a" + std::to_string(5 + depth_) + ", %a2");
    const bool is_first = one_in(2);
    text_ += again + ":\n";
    if (is_first) {
      emit("setp.ge.s32 " + p + ", " + counter + ", " + limit);
      emit("@" + p + " bra " + end);
    }
    ++depth_;
    statements(1 + below(5), depth_);
    --depth_;
    if (moves_address) {
      const std::string address = "%a" + std::to_string(5 + depth_);
      emit("st.global.u32 [" + address + "+4], %r0");
      emit("add.s64 " + address + ", " + address + ", " + pick({"4", "16", "-8"}));
    }
    emit("add.s32 " + counter + ", " + counter + ", " + step);
    if (is_first) {
      emit("bra " + again);
    } else {
      emit("setp." + pick({"lt", "le", "ne"}) + ".s32 " + p + ", " + counter + ", " + limit);
      emit("@" + p + " bra " + again);
    }
    text_ += end + ":\n";
  }
  void statements(std::size_t count, std::size_t depth) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t what = below(20);
      if (what < 9) {
        compute();
      } else if (what < 12) {
        compare();
      } else if (what < 16) {
        access();
      } else if (what < 17 && depth < 3) {
        const std::string other = label(), end = label();
        emit((one_in(2) ? "@!" : "@") + numbered("%p", 4) + " bra " + other);
        statements(1 + below(4), depth + 1);
        const bool has_else = one_in(2);
        if (has_else) emit("bra " + end);
        text_ += other + ":\n";
        if (has_else) statements(1 + below(4), depth + 1);
        text_ += end + ":\n";
      } else if (what < 18 && depth_ < 2) {
        loop();
      } else if (what == 19 && one_in(4)) {
        emit("@" + numbered("%p", 4) + " ret");
      } else {
        emit("setp.lt.s32 %p3, %r3, %r6");
      }
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  std::size_t labels_ = 0, depth_ = 0;
};

bool contains(const PointerFootprint& pointer, const Interpreter::Extent& block,
              const Access& access) {
  return pointer.is_unbounded ||
         std::any_of(pointer.bytes.begin(), pointer.bytes.end(), [&](const BlockBytes& bytes) {
           std::int64_t start = 0;
           for (std::size_t d = 0; d < 3; ++d) start += bytes.step[d] * block[d];
           const std::int64_t end = access.offset + access.bytes;
           return access.offset >= bytes.begin + start && end <= bytes.end + start &&
                  access.offset >= bytes.lowest && end <= bytes.highest;
         });
}

}  // namespace

TEST_CASE("footprint: contains every access of 3,000 random kernels") {
  std::size_t bounded = 0, accessed = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    CAPTURE(seed);
    Generator generator(seed);
    const std::string text = ptx_module_text(generator.kernel());
    CAPTURE(text);
    const auto extent = [&](std::size_t end) {
      return static_cast<std::uint32_t>(1 + generator.below(end));
    };
    const Interpreter::Extent grid = {extent(40), extent(4), 1}, block = {extent(64), extent(2), 1};
    std::array<std::byte, kParameterBytes> parameters = {};
    const std::array<std::uint64_t, kPointers> addresses = {0x7f00'0000'0000, 0x7f10'0000'0100};
    std::memcpy(parameters.data(), addresses.data(), sizeof(addresses));
    for (std::uint32_t at = 8 * kPointers; at < kParameterBytes; at += 4) {
      const std::uint32_t value = extent(at == 20 ? 8 : 3'000);
      std::memcpy(parameters.data() + at, &value, sizeof(value));
    }
    const PtxModule module(text);
    const PtxFunction* entry = module.find_entry("k");
    REQUIRE(entry != nullptr);
    const FootprintProgram program(module, *entry);
    const std::array<std::uint32_t, kPointers> pointers = {0, 8};
    const FootprintLaunch::Range unknown{kUnknownParameter, 4};
    const Footprint footprint = derive_footprint(program, {.grid = grid,
                                                           .block = block,
                                                           .parameters = parameters,
                                                           .pointers = pointers,
                                                           .unknown = {&unknown, 1}});
    CHECK(footprint.problem == "");
    if (!footprint.problem.empty()) continue;
    for (const PointerFootprint& pointer : footprint.pointers) bounded += !pointer.is_unbounded;
    Interpreter interpreter(*entry, grid, block, parameters);
    std::vector<Access> accesses;
    for (int i = 0; i < 6; ++i) {
      const auto in = [&](const Interpreter::Extent& of, std::size_t d) {
        const std::size_t any = generator.below(of[d]);
        return static_cast<std::uint32_t>(i == 0 ? 0 : i == 1 ? of[d] - 1 : any);
      };
      const Interpreter::Extent at = {in(grid, 0), in(grid, 1), 0};
      accesses.clear();
      interpreter.run(at, {in(block, 0), in(block, 1), 0}, accesses);
      accessed += accesses.size();
      for (const Access& access : accesses) {
        if (access.pointer >= 0 &&
            contains(footprint.pointers[static_cast<std::size_t>(access.pointer)], at, access))
          continue;
        CAPTURE(at[0]);
        CAPTURE(at[1]);
        CAPTURE(access.pointer);
        FAIL("outside of the footprint: " << access.offset);
      }
    }
  }
  MESSAGE(bounded << " of 6,000 bounded, " << accessed << " accesses");
  CHECK(bounded > 2'000);
}
