// PtxModule: the parsed text of a PTX module, as far as a rewriter of kernels needs it. Threads:
// immutable after construction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::detail {

struct PtxStatement {
  enum class Kind : std::uint8_t { Open, Close, Label, Directive, Instruction };

  Kind kind = Kind::Open;
  std::string_view text;  // a label's name; a directive or an instruction, without the semicolon
  // Empty unless the statement is an instruction.
  std::string_view guard = {};  // @%p1, @!%p1 or empty
  std::string_view opcode = {};
  std::vector<std::string_view> operands = {};  // {%r1, %r2} and (param0, param1) are one each

  [[nodiscard]] bool is(Kind which) const noexcept { return kind == which; }
};

// A variable or a parameter.
struct PtxVariable {
  enum class Space : std::uint8_t { Global, Const, Shared, Local, Param, Other };

  Space space = Space::Other;
  std::string_view name;
  std::uint32_t alignment = 1;
  std::uint64_t bytes = 0;  // 0: of unknown extent, such as dynamic shared memory
  bool is_extern = false;
};
// A declaration of one variable, without the semicolon.
[[nodiscard]] std::optional<PtxVariable> parse_ptx_variable(std::string_view declaration);

struct PtxFunction {
  std::string_view name;
  std::string_view results, parameters;       // between the parentheses
  std::vector<PtxVariable> entry_parameters;  // of an entry
  std::string_view directives;  // between the parameters and the body, such as .maxntid
  std::vector<PtxStatement> statements;
  bool is_entry = false;
  bool has_body = false;
  std::string problem;  // why it could not be parsed; empty: it was
};

class PtxModule {
 public:
  // Whatever the text is: a module or a function that cannot be parsed has a problem.
  explicit PtxModule(std::string text);
  PtxModule(const PtxModule&) = delete;
  PtxModule& operator=(const PtxModule&) = delete;

  // Why the functions and the variables may be incomplete; empty: they are not.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  // ".version 9.0" and ".target sm_90"; empty if the module has none.
  [[nodiscard]] std::string_view version() const noexcept { return version_; }
  [[nodiscard]] std::string_view target() const noexcept { return target_; }
  [[nodiscard]] bool has_64_bit_addresses() const noexcept { return has_64_bit_addresses_; }

  // Entries and other functions. One that is declared and defined occurs twice.
  [[nodiscard]] const std::vector<PtxFunction>& functions() const noexcept { return functions_; }
  [[nodiscard]] const std::vector<PtxVariable>& variables() const noexcept { return variables_; }
  [[nodiscard]] const PtxFunction* find_entry(std::string_view name) const noexcept;
  // Its definition if the module has one, else a declaration.
  [[nodiscard]] const PtxFunction* find_function(std::string_view name) const noexcept;

 private:
  void parse();
  // Nothing is read after the start of `rest`.
  void fail(std::string_view rest);

  std::string text_;  // without comments; the other members refer to it
  std::string problem_;
  std::string_view version_, target_;
  bool has_64_bit_addresses_ = false;
  std::vector<PtxFunction> functions_;
  std::vector<PtxVariable> variables_;
};

}  // namespace reprise::detail
