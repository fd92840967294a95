// Runs random kernels with an interpreter of PTX, and looks each access up in the footprint.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/block_footprint.hpp"
#include "unit/ptx/ptx_interpreter.hpp"
#include "unit/ptx/ptx_kernels.hpp"

using namespace reprise::detail;
using namespace reprise::test;

namespace {

// Two addresses, then six numbers of four bytes.
constexpr std::uint32_t kPointers = 2, kParameterBytes = 40;
constexpr std::uint32_t kUnknownParameter = 28;  // its offset

// Writes kernels of integer instructions, accesses, branches and loops.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
  bool one_in(std::size_t n) { return below(n) == 0; }

  std::string kernel() {
    start();
    statements(6 + below(20), 0);
    return text_ + "ret; }\n";
  }
  // Few instructions, and accesses at clamped and divided indices.
  std::string kernel_of_patterns() {
    start();
    emit("setp.ge.s32 %p3, %r3, " + pick({"%r6", "%r7", "%r8"}));
    if (one_in(2)) emit("@%p3 ret");
    for (std::size_t i = 0; i < 1 + below(2); ++i) {
      if (one_in(2)) compute();
      if (one_in(4)) compare();
      if (one_in(6)) emit("ld.global.u32 %r3, [%a0]");
      skipped_ = one_in(6) ? label() : "";
      if (!skipped_.empty()) emit("@" + numbered("%p", 3) + " bra " + skipped_);
      const std::string index = one_in(2) ? clamp() : divide();
      end_skipped();
      if (index.starts_with("%rd")) {
        emit("shl.b64 %rd4, " + index + ", 2");
      } else {
        emit((one_in(2) ? "mul.wide.u32 %rd4, " : "mul.wide.s32 %rd4, ") + index + ", 4");
      }
      emit("add.s64 %a4, %a0, %rd4");
      emit("st.global.u32 [%a4], %r0");
    }
    return text_ + "ret; }\n";
  }
  // Accesses at elements of matrices, by blocks of two dimensions.
  std::string kernel_of_matrices() {
    start();
    emit("mov.u32 %c10, %ntid.y");
    emit("mad.lo.s32 %c11, %r4, %c10, %r5");
    emit("mov.u32 %c12, " + pick({"%r3", "%r3", "%r0"}));
    if (one_in(4)) compute();
    const std::string width = pick({"%r6", "%r6", "64", "%r8"}), height = pick({"%r7", "%r8"});
    for (std::size_t i = 0; i < 1 + below(3); ++i) {
      if (one_in(3)) emit("add.s32 %c11, %c11, " + pick({"1", "%c10", "-1"}));
      if (one_in(3)) emit(pick({"min", "max"}) + ".s32 %c12, %c12, " + pick({"0", "9", "%r6"}));
      if (one_in(4)) return text_ + matrix_access(width) + "ret; }\n";
      emit("setp.ge.s32 %p1, %c12, " + width);
      emit("setp.ge." + pick({"s", "u"}) + "32 %p2, %c11, " + height);
      emit(pick({"or", "or", "and"}) + ".pred %p3, %p1, %p2");
      if (one_in(3)) {
        emit("@%p3 ret");
        text_ += matrix_access(width);
      } else {
        const std::string end = label();
        emit("@%p3 bra " + end);
        text_ += matrix_access(width);
        if (one_in(3)) loop();
        text_ += end + ":\n";
      }
    }
    return text_ + "ret; }\n";
  }

 private:
  std::string matrix_access(const std::string& width) {
    const std::string times = pick({"4", "4", "12", "8"});
    return "mad.lo.s32 %c13, %c11, " + width + ", %c12;\n" + "mul.wide.s32 %rd4, %c13, " + times +
           ";\nadd.s64 %a4, %a0, %rd4;\nst.global.u32 [%a4" + pick({"", "+4", "+-4"}) + "], %r0;\n";
  }
  void start() {
    text_ =
        ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u32 k_param_2,\n"
        ".param .u32 k_param_3, .param .u32 k_param_4, .param .u32 k_param_5,\n"
        ".param .u32 k_param_6, .param .u32 k_param_7)\n"
        "{ .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>, %c<19>; .reg .b64 %rd<19>, "
        "%a<9>;\n";
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
    // Instructions that set these may be skipped.
    for (int i = 10; i < 18; ++i) {
      emit("mov.u32 %c" + std::to_string(i) + ", " + operand());
      emit("mov.u64 %rd" + std::to_string(i) + ", " + operand(64));
    }
    emit("mov.u32 %c6, %r3");
    emit("mov.u64 %rd5, %rd0");
  }
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
    switch (below(11)) {
      case 10: return line("mul.hi" + sign + n, operand(bits) + ", " + operand(bits));
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
        if (one_in(2)) {
          emit("mul.wide.u32 " + a + ", " + r + ", " + pick({"-1431655765", "613566757", "65537"}));
          return emit("shr.u64 " + a + ", " + a + ", " + std::to_string(28 + below(12)));
        }
        return emit(pick({"mul.wide.u32 ", "mul.wide.s32 "}) + a + ", " + r + ", " + operand());
      default:
        return emit("mul.wide.s16 " + result() + ", " + numbered("%rs", 2) + ", " + operand(16));
    }
  }
  // A branch leads here.
  void end_skipped() {
    if (!skipped_.empty()) text_ += skipped_ + ":\n";
    skipped_.clear();
  }
  // An index that is clamped, in the ways that compilers do it. Gives its register.
  std::string clamp() {
    const bool is_wide = one_in(3);
    const int bits = is_wide ? 64 : 32;
    const std::string n = std::to_string(bits), to = result(bits), sign = one_in(2) ? ".s" : ".u",
                      index = is_wide     ? numbered("%rd", 3)
                              : one_in(2) ? "%r3"
                                          : numbered("%r", 9),
                      moved = is_wide ? "%rd5" : "%c6", by = pick({"1", "-1", "2", "-3", "0"});
    const std::string limit = one_in(2) || is_wide ? number() : pick({"%r6", "%r8", "%r7"});
    emit("add.s" + n + " " + moved + ", " + index + ", " + by);
    if (one_in(4)) end_skipped();
    if (one_in(3)) {
      emit(pick({"min", "max"}) + sign + n + " " + to + ", " + moved + ", " + limit);
      return to;
    }
    if (one_in(4)) emit("setp.lt.s32 %p3, %r3, %r6");
    if (one_in(8)) emit(guard() + "add.s" + n + " " + index + ", " + index + ", 1");
    const std::string p = numbered("%p", 3);
    emit("setp." + pick({"lt", "le", "gt", "ge", "eq", "ne"}) + sign + n + " " + p + ", " +
         (one_in(2) ? index : moved) + ", " + limit);
    if (one_in(4)) emit(pick({"and", "or"}) + ".pred " + p + ", " + p + ", " + numbered("%p", 4));
    if (one_in(8)) emit(guard() + "add.s" + n + " " + moved + ", " + moved + ", 1");
    const std::string other = one_in(2) ? limit : number();
    emit("selp.b" + n + " " + to + ", " +
         (one_in(2) ? moved + ", " + other : other + ", " + moved) + ", " + p);
    return to;
  }
  // What compilers emit for a division by a constant and for its remainder, sometimes with other
  // numbers, or with a register that changes in between. Gives the result's register.
  std::string divide() {
    struct Division {
      const char* factor;
      int shift, by;
      bool is_corrected = false;
      int before = 0;
    };
    constexpr std::array<Division, 6> kUnsigned = {{{"-1431655765", 1, 3},
                                                    {"-858993459", 3, 10},
                                                    {"-1431655765", 5, 48},
                                                    {"613566757", 2, 7, true},
                                                    {"613566757", 0, 28, false, 2},
                                                    {"274877907", 6, 1'000}}};
    constexpr std::array<Division, 5> kSigned = {{{"1431655766", 0, 3},
                                                  {"715827883", 3, 48},
                                                  {"-1840700269", 2, 7, true},
                                                  {"274877907", 6, 1'000},
                                                  {"1717986919", 2, 10}}};
    constexpr std::array<Division, 5> kWide = {{{"-6148914691236517205", 1, 3},
                                                {"-6148914691236517205", 5, 48},
                                                {"2635249153387078803", 2, 7, true},
                                                {"5270498306774157605", 1, 28, false, 2},
                                                {"2361183241434822607", 7, 1'000}}};
    const int bits = one_in(3) ? 64 : 32;
    const bool is_signed = bits == 32 && one_in(2);
    const std::string n = std::to_string(bits), t = bits == 64 ? "%rd" : "%c",
                      of = bits == 64  ? numbered("%rd", 3)
                           : one_in(2) ? "%r3"
                                       : numbered("%r", 9),
                      product = t + "11", quotient = t + "12", sign = is_signed ? ".s" : ".u";
    const auto maybe_change = [&](const std::string& what) {
      if (one_in(4)) end_skipped();
      if (one_in(20)) emit(guard() + "add.s" + n + " " + what + ", " + what + ", 1");
      if (one_in(40)) emit("ld.global.b" + n + " " + what + ", [%a0]");
    };
    const auto put = [&](const std::string& line) {
      emit((one_in(30) ? guard() : std::string()) + line);
    };
    const auto other = [&](const std::string& name) {
      return !one_in(30) ? name : bits == 64 ? numbered("%rd", 3) : numbered("%r", 9);
    };
    Division by = bits == 64  ? kWide[below(kWide.size())]
                  : is_signed ? kSigned[below(kSigned.size())]
                              : kUnsigned[below(kUnsigned.size())];
    if (one_in(8)) by.shift += one_in(2) ? 1 : -1;
    if (by.shift < 0) by.shift = 0;
    const std::string factor = one_in(8) ? number() : by.factor;
    std::string from = of;
    if (is_signed && one_in(3)) {  // by a power of two
      const std::size_t shift = 1 + below(8);
      const std::string to = result();
      put("shr.s32 %c10, " + of + ", 31");
      put("shr.u32 %c11, %c10, " + std::to_string(one_in(4) ? 24 + below(8) : 32 - shift));
      put("add.s32 %c12, " + other(of) + ", %c11");
      maybe_change(of);
      if (one_in(2)) {
        put("shr.s32 " + to + ", %c12, " + std::to_string(shift));
      } else {
        put("and.b32 %c13, %c12, " + std::to_string(-(1 << shift)));
        put("sub.s32 " + to + ", " + other(of) + ", %c13");
      }
      return to;
    }
    if (by.before != 0) {
      from = t + "14";
      put("shr.u" + n + " " + from + ", " + of + ", " + std::to_string(by.before));
    }
    const bool is_product = bits == 32 && !is_signed && one_in(2);
    if (is_product) {
      put("mul.wide.u32 %rd10, " + from + ", " + factor);
      put("shr.u64 %rd11, %rd10, " + std::to_string(32 + (by.is_corrected ? 0 : by.shift)));
      put("cvt.u32.u64 " + (by.is_corrected ? product : quotient) + ", %rd11");
    } else {
      put("mul.hi" + sign + n + " " + product + ", " + from + ", " + factor);
    }
    maybe_change(of);
    const std::string mean = by.is_corrected ? t + "15" : product;
    if (by.is_corrected && is_signed) {
      put("add.s32 %c15, " + (one_in(2) ? product + ", " + other(of) : other(of) + ", " + product));
    } else if (by.is_corrected) {
      put("sub.s" + n + " " + t + "16, " + other(of) + ", " + other(product));
      put("shr.u" + n + " " + t + "17, " + t + "16, 1");
      put("add.s" + n + " " + mean + ", " +
          (one_in(2) ? t + "17, " + product : product + ", " + t + "17"));
    }
    maybe_change(mean);
    if (is_signed) {
      put("shr.u32 %c16, " + (one_in(8) ? product : other(mean)) + ", 31");
      put("shr.s32 %c17, " + mean + ", " + std::to_string(by.shift));
      maybe_change("%c17");
      put("add.s32 " + quotient + ", %c17, %c16");
    } else if (!is_product || by.is_corrected) {
      put("shr.u" + n + " " + quotient + ", " + mean + ", " + std::to_string(by.shift));
    }
    if (one_in(3)) return quotient;
    const int times = one_in(8) ? by.by + 1 : by.by;
    maybe_change(of);
    put("mul.lo.s" + n + " " + t + "13, " + quotient + ", " + std::to_string(times));
    const std::string to = result(bits);
    put("sub.s" + n + " " + to + ", " + other(of) + ", " + t + "13");
    return to;
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
      const std::size_t what = below(23);
      if (what >= 20) {
        static_cast<void>(what == 22 ? divide() : clamp());
        if (one_in(2)) access();
      } else if (what < 9) {
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
  std::string text_, skipped_;
  std::size_t labels_ = 0, depth_ = 0;
};

struct Counts {
  std::size_t bounded = 0, bounded_rows = 0, accessed = 0;
};
// Of `threads` threads of a kernel, in blocks of at most `rows` rows.
void check_kernel(Generator& generator, const std::string& text, int threads, std::size_t rows,
                  Counts& counts) {
  CAPTURE(text);
  const auto extent = [&](std::size_t end) {
    return static_cast<std::uint32_t>(1 + generator.below(end));
  };
  const PtxInterpreter::Extent grid = {extent(40), extent(4), 1},
                               block = {extent(128 / rows), extent(rows), 1};
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
  if (!footprint.problem.empty()) return;
  for (const PointerFootprint& pointer : footprint.pointers)
    counts.bounded += !pointer.is_unbounded;
  for (const PointerFootprint& pointer : footprint.rows[0])
    counts.bounded_rows += !pointer.is_unbounded;
  PtxInterpreter interpreter(*entry, grid, block, parameters, pointers);
  std::vector<PtxAccess> accesses;
  for (int i = 0; i < threads; ++i) {
    const auto in = [&](const PtxInterpreter::Extent& of, std::size_t d) {
      const std::size_t any = generator.below(of[d]);
      return static_cast<std::uint32_t>(i == 0 ? 0 : i == 1 ? of[d] - 1 : any);
    };
    const PtxInterpreter::Extent at = {in(grid, 0), in(grid, 1), 0};
    accesses.clear();
    const PtxInterpreter::Extent thread = {in(block, 0), in(block, 1), 0};
    interpreter.run(at, thread, accesses);
    counts.accessed += accesses.size();
    for (const PtxAccess& access : accesses) {
      if (contains(footprint, grid, at, thread, access)) continue;
      CAPTURE(at[0]);
      CAPTURE(at[1]);
      CAPTURE(thread[1]);
      CAPTURE(access.pointer);
      FAIL("outside of the footprint: " << access.offset);
    }
  }
}

// Of kernels that `write` makes from the seeds 0 to `seeds` - 1.
Counts check_kernels(std::uint64_t seeds, std::string (Generator::*write)(), int threads,
                     std::size_t rows) {
  Counts counts;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    Generator generator(seed);
    const std::string text = ptx_module_text((generator.*write)());
    check_kernel(generator, text, threads, rows, counts);
  }
  return counts;
}

}  // namespace

TEST_CASE("footprint: contains every access of 3,000 random kernels") {
  const Counts counts = check_kernels(3'000, &Generator::kernel, 6, 2);
  CHECK(counts.bounded > 2'000);  // of 6,000
  CHECK(counts.accessed > 500'000);
}

TEST_CASE("footprint: contains every access of 6,000 random indices") {
  const Counts counts = check_kernels(6'000, &Generator::kernel_of_patterns, 20, 2);
  CHECK(counts.bounded > 10'000);  // of 12,000
  CHECK(counts.accessed > 100'000);
}

TEST_CASE("footprint: contains every access of 4,000 random kernels of matrices") {
  const Counts counts = check_kernels(4'000, &Generator::kernel_of_matrices, 20, 8);
  CHECK(counts.bounded_rows > 5'000);  // of 8,000
  CHECK(counts.accessed > 20'000);
}
