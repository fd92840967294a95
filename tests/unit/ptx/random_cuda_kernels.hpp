// RandomCudaKernel: a kernel in CUDA C++ for the tests of footprints, which depends only on its
// seed and on the compiler of the test. Its source can be compiled as it is, and with -DCHECKED,
// which compares each access with bounds (Checks). In every launch, all accesses are within
// kMarginBytes of the address in a parameter. Threads: values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::test {

constexpr std::uint32_t kCudaPointers = 3;
constexpr std::int64_t kMarginBytes = 16 << 20;

// Compiled for the host and, as text, for the device.
#define REPRISE_SHARED_SOURCE(...) __VA_ARGS__ constexpr const char* kChecksSource = #__VA_ARGS__;
REPRISE_SHARED_SOURCE(
    struct CheckedRange { long long step[3], begin, end, lowest, highest; };
    // The footprint of one launch, and the accesses outside of it.
    struct Checks {
      CheckedRange ranges[3][16];
      int counts[3];                  // of ranges, by pointer; -1: any byte
      int has_compared;               // whether an access was compared with ranges
      unsigned long long violations;  // accesses outside of the ranges
      unsigned long long far_away;    // more than `margin` bytes from the parameter; not executed
      long long margin;
      int pointer, bytes;  // of the first such access, like the members below
      unsigned block[3];
      long long offset;
    };)
#undef REPRISE_SHARED_SOURCE

// Each load is followed by SINK: the compiler can neither leave it out nor make it depend on more
// conditions than the source does.
constexpr std::string_view kCudaPrelude = R"(
#ifdef CHECKED
__device__ void describe(Checks* checks, int pointer, long long offset, int bytes) {
  checks->pointer = pointer;
  checks->bytes = bytes;
  checks->block[0] = blockIdx.x;
  checks->block[1] = blockIdx.y;
  checks->block[2] = blockIdx.z;
  checks->offset = offset;
}
// Whether the kernel can execute the access. Inlined, because NVRTC 13.0 makes kernels that call it
// lose the values of registers.
__device__ __forceinline__ bool check(Checks* checks, int pointer, long long offset, int bytes) {
  if (offset < -checks->margin || offset + bytes > checks->margin) {
    if (atomicAdd(&checks->far_away, 1ull) == 0) describe(checks, pointer, offset, bytes);
    return false;
  }
  const int count = checks->counts[pointer];
  if (count < 0) return true;
  checks->has_compared = 1;
  bool is_inside = true;
  for (long long byte = offset; byte < offset + bytes; ++byte) {
    bool is_found = false;
    for (int i = 0; i < count; ++i) {
      const CheckedRange& range = checks->ranges[pointer][i];
      const long long start =
          range.step[0] * blockIdx.x + range.step[1] * blockIdx.y + range.step[2] * blockIdx.z;
      is_found = is_found || (byte >= range.begin + start && byte < range.end + start &&
                              byte >= range.lowest && byte < range.highest);
    }
    is_inside = is_inside && is_found;
  }
  if (!is_inside && atomicAdd(&checks->violations, 1ull) == 0)
    describe(checks, pointer, offset, bytes);
  return true;
}
template <class T> __device__ T& checked(Checks* checks, int pointer, const void* base, T& element) {
  const long long offset = reinterpret_cast<const char*>(&element) - static_cast<const char*>(base);
  return check(checks, pointer, offset, sizeof(T)) ? element
                                                   : *static_cast<T*>(const_cast<void*>(base));
}
#define A(n, element) checked(checks, n, p##n, element)
#define CHECKS , Checks* checks
#else
#define A(n, element) (element)
#define CHECKS
#endif
#define SINK(x) asm volatile("" :: "r"(x))
__device__ unsigned bits(unsigned x) { return x; }
__device__ unsigned bits(int x) { return x; }
__device__ unsigned bits(short x) { return x; }
__device__ unsigned bits(unsigned char x) { return x; }
__device__ unsigned bits(unsigned long long x) { return unsigned(x) ^ unsigned(x >> 32); }
__device__ unsigned bits(float x) { return __float_as_uint(x); }
__device__ unsigned bits(double x) { return __double2loint(x) ^ __double2hiint(x); }
)";

// The parameters of each kernel, before `checks`.
struct CudaArguments {
  std::array<std::uint64_t, kCudaPointers> addresses = {};
  std::int32_t n = 1, m = 1;
  std::uint32_t u = 1;
  std::uint64_t w = 1;
  std::int32_t k = 1;
};
struct CudaLaunch {
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  CudaArguments arguments = {};
  bool is_k_unknown = false;
};

class RandomCudaKernel {
 public:
  explicit RandomCudaKernel(std::uint64_t seed) : random_(seed), name_("k" + std::to_string(seed)) {
    write();
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& source() const { return text_; }
  // Whether some index of this pointer is computed from a value in memory.
  [[nodiscard]] bool is_gathered(std::size_t pointer) const { return is_gathered_[pointer]; }

  // The next random launch.
  [[nodiscard]] CudaLaunch launch(const std::array<std::uint64_t, kCudaPointers>& addresses) {
    CudaLaunch made{.arguments = {.addresses = addresses}};
    for (std::size_t d = 0; d < 3; ++d) {
      made.grid[d] = static_cast<std::uint32_t>(one_to(max_grid_[d]));
      made.block[d] = static_cast<std::uint32_t>(one_to(max_block_[d]));
      if (made.block[d] > 8 && one_in(2)) made.block[d] = made.block[d] / 8 * 8;
    }
    CudaArguments& of = made.arguments;
    of.n = static_cast<std::int32_t>(one_to(one_in(2) ? kMaxN : kMaxN / 8));
    of.m = static_cast<std::int32_t>(one_to(kMaxM));
    of.u = static_cast<std::uint32_t>(one_to(kMaxU));
    of.w = static_cast<std::uint64_t>(one_to(kMaxW));
    of.k = static_cast<std::int32_t>(one_to(2 * kMaxK + 1) - 1 - kMaxK);
    made.is_k_unknown = one_in(4);
    return made;
  }

 private:
  using Number = std::int64_t;
  static constexpr Number kMaxN = 4'000, kMaxM = 64, kMaxU = 300, kMaxW = 1'000, kMaxK = 50;
  static constexpr Number kMaxIndex = 1 << 18, kMaxTrips = 4'096;

  enum class Type : std::uint8_t { Int, Unsigned, Long, Size };
  // Its value is in [low, high] in each thread of each launch, without undefined behaviour.
  struct Expression {
    std::string text;
    Type type = Type::Int;
    Number low = 0, high = 0;
    bool is_gathered = false;  // computed from a value in memory
    bool can_change = false;   // a variable, to any value between its bounds
  };
  struct Pointer {
    std::string name;
    std::size_t number = 0;
    bool is_gathered = false;
  };

  // --- random numbers and text ---

  Number below(Number end) {
    return static_cast<Number>(random_() % static_cast<std::uint64_t>(end));
  }
  Number one_to(Number last) { return 1 + below(last); }
  bool one_in(Number n) { return below(n) == 0; }
  template <class T>
  T pick(std::initializer_list<T> of) {
    return *(of.begin() + below(static_cast<Number>(of.size())));
  }
  std::string pick_text(std::initializer_list<const char*> of) { return pick(of); }
  std::string new_name(const char* prefix) { return prefix + std::to_string(names_++); }
  void line(const std::string& text) { text_ += std::string(2 * depth_ + 2, ' ') + text + "\n"; }
  static std::string text_of(Type type) {
    constexpr std::array<const char*, 4> kNames = {"int", "unsigned", "long long", "size_t"};
    return kNames[static_cast<std::size_t>(type)];
  }
  static bool is_unsigned(Type type) { return type == Type::Unsigned || type == Type::Size; }
  static bool fits(Type type, Number low, Number high) {
    switch (type) {
      case Type::Int: return low >= -(Number{1} << 31) && high < Number{1} << 31;
      case Type::Unsigned: return low >= 0 && high < Number{1} << 32;
      case Type::Long: return low >= -(Number{1} << 40) && high <= Number{1} << 40;
      case Type::Size: break;
    }
    return low >= 0 && high <= Number{1} << 40;
  }

  // --- expressions ---

  static Expression constant(Number value) {
    return {value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value), Type::Int, value,
            value};
  }
  Expression argument() { return argument("nmuwk"[below(5)]); }
  static Expression argument(char name) {
    switch (name) {
      case 'n': return {"n", Type::Int, 1, kMaxN};
      case 'm': return {"m", Type::Int, 1, kMaxM};
      case 'u': return {"u", Type::Unsigned, 1, kMaxU};
      case 'w': return {"w", Type::Size, 1, kMaxW};
      default: return {"k", Type::Int, -kMaxK, kMaxK};
    }
  }
  Expression coordinate() {
    const std::size_t d = one_in(2) ? 0 : static_cast<std::size_t>(below(3));
    const std::string dimension = {'.', "xyz"[d]};
    switch (below(6)) {
      case 0: return {"gridDim" + dimension, Type::Unsigned, 1, max_grid_[d]};
      case 1: return {"blockDim" + dimension, Type::Unsigned, 1, max_block_[d]};
      case 2:
      case 3: return {"blockIdx" + dimension, Type::Unsigned, 0, max_grid_[d] - 1};
      default: return {"threadIdx" + dimension, Type::Unsigned, 0, max_block_[d] - 1};
    }
  }
  Expression variable() {
    if (variables_.empty()) return coordinate();
    const auto count = static_cast<Number>(variables_.size());
    const Number back = one_in(2) ? below(std::min<Number>(count, 3)) : below(count);
    return variables_[static_cast<std::size_t>(count - 1 - back)];
  }
  Expression leaf() {
    const Number what = below(20);
    if (what < 11) return variable();
    if (what < 14) return argument();
    if (what < 16) return coordinate();
    return constant(one_in(4) ? below(200) - 20 : below(10));
  }
  static Expression cast(const Expression& of, const std::string& to, Type type, Number low,
                         Number high) {
    return {"(" + to + ")(" + of.text + ")", type, low, high, of.is_gathered};
  }
  // Nothing if the result can be outside of its type, or the operation has no such operands.
  // `is_wild`: unsigned results wrap, and their bounds mean nothing.
  std::optional<Expression> combine(const std::string& op, const Expression& a, const Expression& b,
                                    bool is_wild = false) {
    Expression made{"(" + a.text + " " + op + " " + b.text + ")", std::max(a.type, b.type), 0, 0,
                    a.is_gathered || b.is_gathered};
    const bool is_negative = a.low < 0 || b.low < 0;
    if (op == "+") {
      made.low = a.low + b.low;
      made.high = a.high + b.high;
    } else if (op == "-") {
      made.low = a.low - b.high;
      made.high = a.high - b.low;
    } else if (op == "*") {
      if (std::max({-a.low, a.high, -b.low, b.high}) >= Number{1} << 31) return std::nullopt;
      const auto products =
          std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
      made.low = products.first;
      made.high = products.second;
    } else if (op == "<<" || op == ">>") {
      if (b.low != b.high || b.low < 0 || b.low > 12 || (a.low < 0 && op == "<<"))
        return std::nullopt;
      made.type = a.type;
      made.low = op == "<<" ? a.low * (Number{1} << b.low) : a.low >> b.low;
      made.high = op == "<<" ? a.high * (Number{1} << b.low) : a.high >> b.low;
    } else if (is_negative && is_unsigned(made.type)) {
      return std::nullopt;
    } else if (op == "/") {
      if (b.low < 1) return std::nullopt;
      made.low = a.low / (a.low < 0 ? b.low : b.high);
      made.high = a.high / (a.high < 0 ? b.high : b.low);
    } else if (op == "%") {
      if (b.low < 1) return std::nullopt;
      made.low = a.low < 0 ? std::max(a.low, 1 - b.high) : 0;
      made.high = a.high < 0 ? 0 : std::min(a.high, b.high - 1);
    } else if (op == "&" && b.low >= 0) {
      made.high = a.low < 0 ? b.high : std::min(a.high, b.high);
    } else if (op == "|" || op == "^") {
      if (is_negative) return std::nullopt;
      for (made.high = 1; made.high <= std::max(a.high, b.high);) made.high *= 2;
      --made.high;
    } else if (op == "min" || op == "max") {
      const bool is_min = op == "min";
      made.low = is_min ? std::min(a.low, b.low) : std::max(a.low, b.low);
      made.high = is_min ? std::min(a.high, b.high) : std::max(a.high, b.high);
      const std::string type = text_of(made.type);
      made.text = made.type < Type::Long && one_in(2)
                      ? op + "((" + type + ")(" + a.text + "), (" + type + ")(" + b.text + "))"
                      : "(" + a.text + (is_min ? " < " : " > ") + b.text + " ? " + a.text + " : " +
                            b.text + ")";
    } else {
      return std::nullopt;
    }
    if (fits(made.type, made.low, made.high)) return made;
    if (!is_wild || !is_unsigned(made.type)) return std::nullopt;
    made.low = 0;
    made.high = made.type == Type::Size ? Number{1} << 40 : (Number{1} << 32) - 1;
    return made;
  }
  Expression either(const std::optional<Expression>& made, const Expression& otherwise) {
    return made && made->text.size() < 160 ? *made : otherwise;
  }
  Expression expression(int depth, bool is_wild = false) {
    if (depth == 0 || one_in(5)) return leaf();
    const Expression a = expression(depth - 1, is_wild);
    const auto with = [&](const std::string& op, const Expression& b) {
      return either(combine(op, a, b, is_wild), a);
    };
    switch (below(13)) {
      case 0:
      case 1: return with("+", expression(depth - 1, is_wild));
      case 2: return with("-", one_in(2) ? constant(one_to(9)) : expression(depth - 1, is_wild));
      case 3:
      case 4: return with("*", one_in(2) ? constant(one_to(40)) : leaf());
      case 5: return with("/", one_in(3) ? argument() : constant(one_to(40)));
      case 6: return with("%", one_in(2) ? argument() : constant(one_to(70)));
      case 7: return with(pick_text({"<<", ">>"}), constant(below(6)));
      case 8: return with("&", constant(pick<Number>({1, 3, 7, 15, 31, 255, 1023, 6, 28, 240})));
      case 9: return with(pick_text({"|", "^"}), one_in(2) ? constant(below(40)) : leaf());
      case 10: return with(pick_text({"min", "max"}), leaf());
      case 11: {
        const Expression b = leaf();
        const bool is_choice = one_in(2), is_gathered = a.is_gathered || b.is_gathered;
        Expression made{"(int)((unsigned)(" + a.text + ") - (unsigned)(" + b.text + "))", Type::Int,
                        a.low - b.high, a.high - b.low, is_gathered};
        if (is_choice)
          made = {"(" + condition(0) + " ? " + a.text + " : " + b.text + ")",
                  std::max(a.type, b.type), std::min(a.low, b.low), std::max(a.high, b.high),
                  is_gathered};
        return fits(made.type, made.low, made.high) ? either(made, a) : a;
      }
      default: break;
    }
    if (one_in(5)) return cast(a, "unsigned char", Type::Int, 0, 255);
    if (one_in(5)) return cast(a, "short", Type::Int, -32'768, 32'767);
    const Type type = pick({Type::Int, Type::Unsigned, Type::Long, Type::Size});
    if (!fits(type, a.low, a.high)) return a;
    return cast(a, text_of(type), type, a.low, a.high);
  }
  std::string condition(int depth) {
    if (depth > 0 && one_in(3))
      return "(" + condition(depth - 1) + pick_text({" && ", " || "}) + condition(depth - 1) + ")";
    const Expression a = one_in(2) ? variable() : expression(depth, true);
    const std::string by = pick_text({" < ", " < ", " < ", " <= ", " > ", " >= ", " == ", " != "});
    switch (below(9)) {
      case 0: return "threadIdx.x == " + std::to_string(below(3));
      case 1: return "(" + a.text + " & " + std::to_string(one_to(7)) + ") == 0";
      case 2: return "!(" + a.text + by + leaf().text + ")";
      case 3: return a.text + by + expression(depth, true).text;
      case 4: return a.text + by + constant(below(300)).text;
      default: return a.text + by + argument().text;
    }
  }
  // An index of an element, with its bounds.
  Expression index() {
    Expression made = variable();
    switch (below(8)) {
      case 0:
      case 1: break;
      case 2: made = either(combine("+", made, constant(below(12) - 4)), made); break;
      case 3:
      case 4: {
        Expression row =
            either(combine("*", made, one_in(2) ? constant(one_to(64)) : argument()), made);
        if (one_in(3) && fits(Type::Size, row.low, row.high))
          row = cast(row, "size_t", Type::Size, row.low, row.high);
        made = either(combine("+", row, one_in(3) ? coordinate() : variable()), row);
        break;
      }
      default: made = expression(3);
    }
    if (made.low >= -kMaxIndex && made.high <= kMaxIndex) return made;
    if (made.type == Type::Int && one_in(3)) {
      made.text = pick_text({"min(max(", "max(min("}) + made.text;
      made.text += made.text.starts_with("min") ? ", 0), n - 1)" : ", n - 1), 0)";
      made.low = 0;
      made.high = kMaxN - 1;
      return made;
    }
    if (made.low < 0) made = cast(made, "unsigned", Type::Unsigned, 0, (Number{1} << 32) - 1);
    const bool has_mask = one_in(2);
    return *combine(has_mask ? "&" : "%", made,
                    has_mask    ? constant(pick<Number>({63, 255, 4095}))
                    : one_in(2) ? argument('m')
                                : constant(100 + below(900)));
  }

  // --- accesses ---

  // An element such as p1[index], in the macro that checks it.
  std::string element(bool is_written, std::size_t& number) {
    Pointer of;
    do {
      number = static_cast<std::size_t>(below(kCudaPointers));
      of = {"p" + std::to_string(number), number};
      if (!pointers_.empty() && one_in(3))
        of = pointers_[static_cast<std::size_t>(below(static_cast<Number>(pointers_.size())))];
      number = of.number;
    } while (is_written && is_const_[number]);
    const Expression at = index();
    is_gathered_[number] = is_gathered_[number] || of.is_gathered || at.is_gathered;
    const bool is_sum = one_in(6);
    return "A(" + std::to_string(number) + ", " + (is_sum ? "*(" : "") + of.name +
           (is_sum ? " + " : "[") + at.text + (is_sum ? "))" : "])");
  }
  void load() {
    std::size_t number = 0;
    line("acc += bits(" + element(false, number) + "); SINK(acc);");
  }
  void load_variable() {
    std::size_t number = 0;
    declare_unknown("bits(" + element(false, number) + ")");
  }
  void store() {
    std::size_t number = 0;
    const std::string to = element(true, number);
    line(to + " = (" + types_[number] + ")(acc);");
  }
  void atomic() {
    std::size_t number = 0;
    const std::string to = element(true, number), type = types_[number];
    if (type == "short" || type == "unsigned char") return line(to + " = 1;");
    const bool has_max = type != "float" && type != "double" && one_in(3);
    const std::string call =
        (has_max ? "atomicMax(&" : "atomicAdd(&") + to + ", (" + type + ")(3))";
    line(one_in(2) ? call + ";" : "acc += bits(" + call + "); SINK(acc);");
  }
  void vector() {
    const auto number = static_cast<std::size_t>(below(kCudaPointers));
    const std::string type = types_[number], n = std::to_string(number);
    const int count = type == "double" || type == "unsigned long long" ? 2 : pick({2, 4});
    const std::string name = (type == "unsigned long long" ? "ulonglong"
                              : type == "unsigned char"    ? "uchar"
                                                           : type) +
                             std::to_string(count);
    const Expression at = index();
    is_gathered_[number] = is_gathered_[number] || at.is_gathered;
    const std::string of = "A(" + n + ", reinterpret_cast<" + (is_const_[number] ? "const " : "") +
                           name + "*>(p" + n + ")[" + at.text + "])";
    if (!is_const_[number] && one_in(2)) {
      std::string value;
      for (int i = 0; i < count; ++i)
        value += (i == 0 ? "(" : ", (") + type + ")(acc + " + std::to_string(i) + ")";
      return line(of + " = " + name + "{" + value + "};");
    }
    const std::string v = new_name("v");
    line("const " + name + " " + v + " = " + of + ";");
    line("acc += bits(" + v + ".x) + bits(" + v + ".y)" +
         (count == 4 ? " + bits(" + v + ".z) + bits(" + v + ".w)" : "") + "; SINK(acc);");
  }
  void access() {
    switch (below(12)) {
      case 0: return vector();
      case 1: return atomic();
      case 2: return load_variable();
      case 3:
      case 4:
      case 5:
      case 6: return store();
      default: return load();
    }
  }

  // --- statements ---

  void declare(const std::string& name, const Expression& value, bool can_change = false) {
    line((can_change ? "" : "const ") + text_of(value.type) + " " + name + " = " + value.text +
         ";");
    Expression made = value;
    made.text = name;
    if (can_change) {
      made.low -= is_unsigned(made.type) || made.low < -1'000 ? 0 : 4;
      made.high += made.high > 10'000 ? 0 : 64;
    }
    made.can_change = can_change;
    variables_.push_back(made);
  }
  void declare_unknown(const std::string& value) {
    const std::string name = new_name("v");
    line("const int " + name + " = int(" + value + "); SINK(" + name + ");");
    variables_.push_back({name, Type::Int, -(Number{1} << 31), (Number{1} << 31) - 1, true});
  }
  void assign() {
    for (const Expression& of : variables_) {
      if (!of.can_change || one_in(2)) continue;
      const Expression value = expression(2);
      if (value.low < of.low || value.high > of.high || value.is_gathered) continue;
      return line(of.text + " = " + value.text + ";");
    }
    load();
  }
  void declare_pointer() {
    const Expression at = index();
    const auto number = static_cast<std::size_t>(below(kCudaPointers));
    const std::string name = new_name("q");
    line((is_const_[number] ? "const " : "") + types_[number] + "* const " + name + " = p" +
         std::to_string(number) + " + " + at.text + ";");
    pointers_.push_back({name, number, at.is_gathered});
  }
  // The statements of a body, whose variables end with it.
  template <class Body>
  void scope(const Body& body) {
    const auto variables = static_cast<std::ptrdiff_t>(variables_.size()),
               pointers = static_cast<std::ptrdiff_t>(pointers_.size());
    ++depth_;
    body();
    --depth_;
    variables_.erase(variables_.begin() + variables, variables_.end());
    pointers_.erase(pointers_.begin() + pointers, pointers_.end());
    line("}");
  }
  void branch() {
    line("if (" + condition(2) + ") {");
    scope([&] { statements(one_to(3)); });
    if (!one_in(3)) return;
    line("else {");
    scope([&] { statements(one_to(2)); });
  }
  Expression small(Number most) {  // from 0 to `most`
    for (int i = 0; i < 4; ++i) {
      const Expression made = one_in(2) ? variable() : one_in(2) ? coordinate() : expression(2);
      if (made.low >= 0 && made.high <= most) return made;
    }
    return constant(below(std::min<Number>(most, 9)));
  }
  Expression bound(const Expression& start) {
    switch (below(6)) {
      case 0: return constant(one_in(4) ? 60 + below(40) : one_to(20));
      case 1:
      case 2: return argument(one_in(2) ? 'm' : 'u');
      case 3: return argument('n');
      case 4: {
        const Expression end = either(combine("+", start, small(40)), constant(5));
        return one_in(2) ? either(combine("min", end, argument('n')), end) : end;
      }
      default: return small(200);
    }
  }
  void loop() {
    const std::string j = new_name("j");
    Expression start = one_in(2) ? constant(below(4)) : small(kMaxN);
    Expression end = bound(start), step = constant(one_in(2) ? 1 : one_to(32));
    Type type = pick({Type::Int, Type::Int, Type::Unsigned, Type::Size});
    enum Kind : std::uint8_t { Down, DownToZero, Doubling, Halving, While, Do, For };
    const auto kind = static_cast<Kind>(std::min<Number>(below(10), For));
    if (one_in(3)) step = {"blockDim.x", Type::Unsigned, 1, max_block_[0]};
    if (one_in(6))
      step = {"blockDim.x * gridDim.x", Type::Unsigned, 1, max_block_[0] * max_grid_[0]};
    if (kind == DownToZero || (kind == Down && step.low != step.high)) step = constant(1);
    Number trips = std::max<Number>(end.high, 0) / step.low + 2;
    if (trips * trips_ > kMaxTrips || end.low < 0) {
      start = constant(0);
      end = constant(one_to(6));
      step = constant(1);
      trips = 7;
    }
    const bool has_header = kind != While && kind != Do;
    const std::string name = text_of(type) + " " + j + " = ", by = j + " += " + step.text,
                      test = j + " < " + end.text;
    std::string head;
    Number low = 0, high = std::max<Number>(end.high - 1, 1);
    switch (kind) {
      case Down:
        type = Type::Int;
        head =
            "int " + j + " = int(" + end.text + ") - 1; " + j + " >= 0; " + j + " -= " + step.text;
        break;
      case DownToZero: head = name + end.text + "; " + j + "-- > 0;"; break;
      case Doubling:
        low = 1;
        head = name + "1; " + test + "; " + j + " *= 2";
        break;
      case Halving:
        low = 1;
        high = std::max<Number>(end.high, 1);
        head = name + end.text + "; " + j + " > 0; " + j + " /= 2";
        break;
      case While:
      case Do:
      case For:
        low = start.low;
        high = std::max(end.high - 1, kind == Do ? start.high : start.low);
        head =
            name + start.text + "; " + (one_in(6) ? j + " + 1 <= " + end.text : test) + "; " + by;
    }
    // A pointer or a number that moves with each iteration.
    const bool moves_pointer = one_in(4), moves_number = !moves_pointer && one_in(4);
    const std::string walk = new_name("s");
    const auto number = static_cast<std::size_t>(below(kCudaPointers));
    Expression moved = index(), walk_step = one_in(2) ? constant(one_to(9)) : argument();
    const Number all_trips = trips * trips_;
    if (std::max(walk_step.high, -walk_step.low) * all_trips > kMaxIndex)
      walk_step = constant(one_to(2));
    if (moves_pointer)
      line((is_const_[number] ? "const " : "") + types_[number] + "* " + walk + " = p" +
           std::to_string(number) + " + " + moved.text + ";");
    if (moves_number) line("int " + walk + " = int(" + moved.text + ");");
    if (!has_header) line(name + start.text + ";");
    line(kind == While ? "while (" + test + ") {" : kind == Do ? "do {" : "for (" + head + ") {");
    scope([&] {
      const Number outer = trips_;
      trips_ = all_trips;
      variables_.push_back({j, type, low, high});
      if (moves_pointer) {
        pointers_.push_back({walk, number, moved.is_gathered});
        is_gathered_[number] = is_gathered_[number] || moved.is_gathered;
        const std::string n = std::to_string(number);
        line("acc += bits(A(" + n + ", *" + walk + ")); SINK(acc);");
      }
      if (moves_number)
        variables_.push_back(
            {walk, Type::Int, moved.low + std::min<Number>(walk_step.low, 0) * all_trips,
             moved.high + std::max<Number>(walk_step.high, 0) * all_trips, moved.is_gathered});
      statements(one_to(3));
      // A do or while statement has to reach its step.
      if (has_header && one_in(8))
        line("if (" + condition(1) + ") " + pick_text({"break;", "continue;"}));
      if (one_in(3)) access();
      if (moves_pointer || moves_number) line(walk + " += " + walk_step.text + ";");
      trips_ = outer;
      if (!has_header) line(by + ";");
    });
    if (kind == Do) line("while (" + test + ");");
  }
  void shared() {
    line("s[(threadIdx.y * blockDim.x + threadIdx.x) & 255] = acc;");
    line("__syncthreads();");
    if (one_in(2)) {
      line("for (unsigned h = blockDim.x / 2; h > 0; h /= 2) {");
      line("  if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];");
      line("  __syncthreads();");
      line("}");
    }
    declare_unknown("s[(threadIdx.x + " + std::to_string(below(9)) + ") & 255]");
    line("__syncthreads();");
  }
  void statements(Number count) {
    for (; count > 0; --count) {
      const Number what = below(20);
      if (what < 4) {
        declare(new_name("v"), expression(3), one_in(4));
      } else if (what < 5) {
        assign();
      } else if (what < 6) {
        declare_pointer();
      } else if (what < 9 && depth_ < 3) {
        branch();
      } else if (what < 12 && depth_ < 3) {
        loop();
      } else if (what < 13 && one_in(3)) {
        line("if (" + condition(1) + ") return;");
      } else if (what < 14 && depth_ == 0) {
        shared();
      } else if (what < 15 && one_in(2)) {
        line("a[" + index().text + " & 7] = acc;");
        line("acc += a[" + index().text + " & 7]; SINK(acc);");
      } else {
        access();
      }
    }
  }

  void declare_coordinates() {
    const Type as = pick({Type::Int, Type::Int, Type::Unsigned, Type::Size, Type::Long});
    const auto along = [&](std::size_t d) -> Expression {
      const std::string x = {'.', "xyz"[d]};
      const std::string block =
          as == Type::Size && one_in(2) ? "size_t(blockIdx" + x + ")" : "blockIdx" + x;
      return {block + " * blockDim" + x + " + threadIdx" + x, as, 0,
              max_grid_[d] * max_block_[d] - 1};
    };
    const Number blocks = max_grid_[0] * max_grid_[1];
    declare("i", along(0));
    if (max_grid_[1] > 1) declare("y", along(1));
    if (one_in(4)) declare("t", {"threadIdx.x", Type::Int, 0, max_block_[0] - 1});
    if (one_in(4)) declare("b", {"blockIdx.x", Type::Int, 0, max_grid_[0] - 1});
    if (one_in(6)) declare("r", {"blockIdx.y * gridDim.x + blockIdx.x", Type::Int, 0, blocks - 1});
  }
  void write() {
    if (!one_in(3)) {
      max_grid_ = {64, 1, 1};
      max_block_ = {64, 1, 1};
    } else if (!one_in(6)) {
      max_grid_ = {16, 8, 1};
      max_block_ = {16, 8, 1};
    } else {
      max_grid_ = {8, 4, 3};
      max_block_ = {8, 4, 2};
    }
    std::string parameters;
    for (std::size_t i = 0; i < kCudaPointers; ++i) {
      types_[i] = pick_text({"float", "float", "int", "int", "unsigned char", "double", "short",
                             "unsigned long long"});
      is_const_[i] = i > 0 && one_in(4);
      parameters += (is_const_[i] ? "const " : "") + types_[i] + "* " +
                    (is_const_[i] && one_in(2) ? "__restrict__ " : "") + "p" + std::to_string(i) +
                    ", ";
    }
    text_ = "extern \"C\" __global__ void " +
            std::string(one_in(2) ? "__launch_bounds__(512) " : "") + name_ + "(" + parameters +
            "int n, int m, unsigned u, size_t w, int k CHECKS) {\n";
    line("__shared__ unsigned s[384]; unsigned a[8] = {}; unsigned acc = 0; (void)s; (void)a;");
    declare_coordinates();
    if (one_in(2)) line("if (i >= " + argument().text + ") return;");
    statements(3 + below(8));
    access();
    store();
    text_ += "}\n";
  }

  std::mt19937_64 random_;
  std::string name_, text_;
  std::array<std::string, kCudaPointers> types_;
  std::array<bool, kCudaPointers> is_const_ = {}, is_gathered_ = {};
  std::array<Number, 3> max_grid_ = {}, max_block_ = {};
  std::vector<Expression> variables_;
  std::vector<Pointer> pointers_;
  Number trips_ = 1;  // of the loops around, at most
  std::size_t depth_ = 0;
  int names_ = 0;
};

}  // namespace reprise::test
