#include "ptx/persistent_part.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "ptx/divergence.hpp"
#include "ptx/part_opcodes.hpp"
#include "ptx/part_prologue.hpp"
#include "ptx/part_registers.hpp"
#include "ptx/part_variables.hpp"
#include "ptx/ptx_operands.hpp"
#include "ptx/ptx_words.hpp"

namespace reprise::detail {

namespace {

// Parts of a loop set its condition by another function.
constexpr std::string_view kSetCondition = "cudaGraphSetConditional";

// Why a function cannot be rewritten, before its variables and statements; empty: it can.
std::string find_exclusion(const PtxModule& module, const PtxFunction& function) {
  if (!function.problem.empty()) return function.problem;
  if (!module.has_64_bit_addresses()) return "uses .address_size 32";
  const std::string_view directive = find_excluded_directive(function.directives);
  return directive.empty() ? std::string() : concat("uses ", directive);
}

// The statements of a body, in order. The arguments outlive the object.
class BodyRewriter {
 public:
  BodyRewriter(const PersistentPart& part, const PtxFunction& function,
               const VariableAddress& address_of)
      : part_(part),
        function_(function),
        variables_(*part.module, function, address_of),
        problem_(variables_.problem()) {}

  // Sets all but the functions.
  void run_part(RewrittenPart& result) {
    needs_.has_full_warps = part_.has_full_warps;
    needs_.is_one_dimensional = part_.is_one_dimensional;
    const PartMemory& memory = variables_.memory();
    needs_.has_inline_parameters = memory.has_inline_parameters;
    if (problem_.empty()) {
      divergence_ = analyse_divergence(function_);
      if (!divergence_.problem.empty()) exclude(divergence_.problem);
      choose_barriers();
      rewrite_statements();
    }
    result.problem = std::move(problem_);
    if (!result.problem.empty()) return;
    set_text(result);
    result.facts = {.parameter_bytes = static_cast<std::uint32_t>(memory.parameter_bytes),
                    .has_inline_parameters = memory.has_inline_parameters,
                    .static_shared_bytes = static_cast<std::uint32_t>(memory.static_shared_bytes),
                    .uses_shared = memory.uses_shared,
                    .has_barriers = has_barriers_,
                    .ends_together = needs_.ends_together};
    result.local_bytes = static_cast<std::uint32_t>(memory.local_bytes);
    result.local_alignment = memory.local_alignment;
  }

  // Sets the body. Returns why there is none.
  std::string run_function(RewrittenFunction& result) {
    if (problem_.empty()) rewrite_statements();
    if (!problem_.empty()) return std::move(problem_);
    result.body = "{\n";
    for (const Line& line : lines_) result.body += concat(line.text, "\n");
    result.body += "}";
    return {};
  }

  [[nodiscard]] const std::vector<const PtxFunction*>& calls() const { return calls_; }

 private:
  using Kind = PtxStatement::Kind;
  using Space = PtxVariable::Space;

  struct Line {
    std::string text;
    bool is_pure = false;
  };

  [[nodiscard]] bool is_entry() const { return function_.is_entry; }
  // Keeps the first reason.
  void exclude(std::string reason) {
    if (problem_.empty()) problem_ = std::move(reason);
  }

  // Null: the name is not of a variable, or the function is excluded.
  const VariableLocation* find_variable(std::string_view name) {
    const PartVariables::Lookup found = variables_.find(name);
    if (!found.problem.empty()) exclude(found.problem);
    return found.location;
  }

  // In the text of the part. Empty if the function is excluded.
  std::string rewritten(std::string_view text) {
    RewrittenNames names = rewrite_names(text, function_, needs_);
    if (!names.problem.empty()) exclude(std::move(names.problem));
    return std::move(names.text);
  }

  void add(std::string text, bool is_pure = false) { lines_.push_back({std::move(text), is_pure}); }

  void choose_barriers() {
    bool is_any_divergent = false;
    for (std::size_t i = 0; i < function_.statements.size(); ++i) {
      if (!is_block_barrier(function_.statements[i].opcode)) continue;
      has_barriers_ = true;
      is_any_divergent = is_any_divergent || divergence_.is_divergent[i];
    }
    has_plain_barriers_ = has_barriers_ && !is_any_divergent && part_.has_full_warps;
    needs_.ends_together = has_barriers_ && !has_plain_barriers_;
  }

  void rewrite_statements() {
    for (std::size_t i = 0; i < function_.statements.size() && problem_.empty(); ++i) {
      const PtxStatement& statement = function_.statements[i];
      switch (statement.kind) {
        case Kind::Open: add("{"); break;
        case Kind::Close: add("}"); break;
        case Kind::Label: add(concat(rewritten(statement.text), ":")); break;
        case Kind::Directive:
          if (is_entry() &&
              (statement.text.starts_with(".shared") || statement.text.starts_with(".local")))
            break;
          add(concat(rewritten(statement.text), ";"), statement.text.starts_with(".reg"));
          break;
        case Kind::Instruction: rewrite_instruction(statement, i); break;
      }
    }
  }

  void rewrite_instruction(const PtxStatement& statement, std::size_t index) {
    const std::string_view opcode = statement.opcode;
    if (is_excluded_opcode(opcode)) return exclude(concat("uses ", opcode));
    if (part_.may_contract && may_be_contracted(opcode))
      return exclude(concat("uses ", opcode, ", which -fmad=true allows nvcc to contract"));
    if (is_ptx_opcode(opcode, "cp.async")) needs_.has_async_copies = true;
    guard_ = statement.guard.empty() ? std::string() : concat(rewritten(statement.guard), " ");
    std::vector<std::string> operands;
    for (const std::string_view operand : statement.operands)
      operands.push_back(rewritten(operand));
    if (!problem_.empty()) return;

    if (opcode == "ret" || opcode == "ret.uni" || opcode == "exit") {
      if (is_entry()) return add(concat(guard_, "bra $RP_RETURN;"));
      if (opcode == "exit") return exclude("uses exit");
      return add_instruction(opcode, operands, false);
    }
    if (is_ptx_opcode(opcode, "bra") || is_ptx_opcode(opcode, "brx"))
      return add_instruction(opcode, operands, false);
    if (is_ptx_opcode(opcode, "call")) return rewrite_call(statement, operands);
    const bool is_barrier = is_ptx_opcode(opcode, "bar") || is_ptx_opcode(opcode, "barrier");
    // Also asynchronous copies, for which the end of the part waits.
    if (!is_entry() && (is_barrier || is_ptx_opcode(opcode, "cp.async") || has_lane_mask(opcode)))
      return exclude(concat("uses ", opcode));
    if (is_barrier && !is_block_barrier(opcode) && !has_lane_mask(opcode))
      return exclude(concat("uses ", opcode));
    if (is_block_barrier(opcode)) return rewrite_barrier(statement, operands, index);
    if (has_lane_mask(opcode) && (divergence_.is_divergent[index] || !part_.has_full_warps)) {
      exclude_variables(statement);
      return rewrite_warp_instruction(opcode, operands, index);
    }
    rewrite_memory_instruction(statement, operands);
  }

  void exclude_variables(const PtxStatement& statement) {
    for (const std::string_view operand : statement.operands) exclude_variables(operand, statement);
  }
  void exclude_variables(std::string_view operand, const PtxStatement& statement) {
    for_each_ptx_word(operand, [&](std::string_view word) {
      if (find_variable(word) != nullptr) exclude(concat("uses ", word, " in ", statement.opcode));
    });
  }

  void rewrite_call(const PtxStatement& statement, std::vector<std::string> operands) {
    // call (result), name, (parameters); results and parameters are optional.
    std::size_t target = 0;
    while (target < statement.operands.size() && statement.operands[target].starts_with('('))
      ++target;
    const std::string_view name =
        target < statement.operands.size() ? statement.operands[target] : "";
    const PtxFunction* function = part_.module->find_function(name);
    if (function == nullptr || variables_.find_declaration(name).exists())
      return exclude("makes an indirect call");
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (i != target) exclude_variables(statement.operands[i], statement);
    const bool sets_condition = name == kSetCondition && !function->has_body;
    if (!sets_condition && std::find(calls_.begin(), calls_.end(), function) == calls_.end())
      calls_.push_back(function);
    operands[target] = sets_condition       ? "rp_set_condition"
                       : function->has_body ? concat(kModuleMark, name)
                                            : std::string(name);
    add_instruction(statement.opcode, operands, false);
  }

  void rewrite_barrier(const PtxStatement& statement, const std::vector<std::string>& operands,
                       std::size_t index) {
    const bool is_reduction = has_ptx_modifier(statement.opcode, ".red");
    const std::size_t id = is_reduction ? 1 : 0;
    if (operands.size() <= id) return exclude(concat("uses ", statement.text));
    if (operands[id] == "0" && operands.size() == (is_reduction ? 3 : 1)) {
      needs_.counts_threads = true;
      if (has_plain_barriers_) {
        const std::string_view separator = is_reduction ? ", " : "";
        return add(concat(guard_, statement.opcode, " ", is_reduction ? operands[0] : "", separator,
                          "1, %rp_count", separator, is_reduction ? operands[2] : "", ";"));
      }
      if (is_reduction)
        return exclude(
            concat(statement.opcode, divergence_.is_divergent[index] ? " in divergent flow"
                                     : part_.has_full_warps ? " beside a barrier in divergent flow"
                                                            : " with partial warps"));
      return add(
          concat("{ .param .b32 rp_a; .param .b32 rp_b; .param .b32 rp_c; st.param.b32 [rp_a], 0; "
                 "st.param.b32 [rp_b], %rp_count; ",
                 guard_, "call (rp_c), rp_barrier, (rp_a, rp_b); }"));
    }
    // Another barrier of hardware, for some of the warps. The persistent kernel uses 0 and 1.
    const std::optional<std::uint64_t> number = parse_ptx_number(operands[id]);
    if (!number || *number < 2 || *number > 15 || operands.size() != (is_reduction ? 4 : 2))
      return exclude(concat("uses ", statement.text));
    if (divergence_.is_divergent[index])
      return exclude(concat(statement.text, " in divergent flow"));
    if (!part_.has_full_warps) return exclude(concat(statement.text, " with partial warps"));
    rewrite_memory_instruction(statement, operands);
  }

  // Lanes of the mask may have returned or never existed: they cannot execute the instruction.
  void rewrite_warp_instruction(std::string_view opcode, std::vector<std::string> operands,
                                std::size_t index) {
    if (operands.empty()) return exclude(concat("uses ", opcode));
    needs_.emulates_masks = true;
    const std::string mask = std::exchange(operands.back(), "%rp_m");
    std::string joined;
    for (const std::string& operand : operands) {
      if (!joined.empty()) joined += ", ";
      joined += operand;
    }
    add("{ .reg .b32 %rp_m, %rp_n; .reg .pred %rp_q;");
    if (!guard_.empty()) add(concat(inverted_guard(guard_), " bra $RP_END", index, ";"));
    add(concat("activemask.b32 %rp_n; mov.b32 %rp_m, ", mask, ";"));
    if (!part_.has_full_warps) add("and.b32 %rp_m, %rp_m, %rp_present;");
    add(
        concat("not.b32 %rp_n, %rp_n; and.b32 %rp_n, %rp_n, %rp_m; setp.ne.u32 %rp_q, %rp_n, 0;\n"
               "@!%rp_q bra $RP_DO",
               index,
               "; { .param .b32 rp_a; .param .b32 rp_b; .param .b32 rp_c; st.param.b32 [rp_a], "
               "%rp_warp; st.param.b32 [rp_b], %rp_m; call (rp_c), rp_arrive, (rp_a, rp_b); "
               "ld.param.b32 %rp_m, [rp_c]; }"));
    add(concat("$RP_DO", index, ": ", opcode, " ", joined, ";"));
    add(concat("@!%rp_q bra $RP_END", index,
               "; { .param .b32 rp_a; .param .b32 rp_b; st.param.b32 [rp_a], %rp_warp; "
               "st.param.b32 [rp_b], %rp_m; call rp_leave, (rp_a, rp_b); }"));
    add(concat("$RP_END", index, ": }"));
  }

  // All other instructions: those that read parameters or name variables change.
  void rewrite_memory_instruction(const PtxStatement& statement,
                                  std::vector<std::string> operands) {
    const std::string_view opcode = statement.opcode;
    std::string changed =
        may_be_contracted(opcode) ? with_rounding_mode(opcode) : with_plain_space(opcode);
    if (has_ptx_modifier(changed, ".nc")) return exclude(concat("uses ", opcode));
    const std::string_view space = needs_.has_inline_parameters ? ".shared" : ".global";
    const bool reads_parameter = is_entry() && is_ptx_opcode(opcode, "ld.param");
    if (is_entry() &&
        (is_ptx_opcode(opcode, "cvta.param") || is_ptx_opcode(opcode, "cvta.to.param")))
      changed = with_parameter_space(changed, space);
    bool is_record = false;
    std::string before;  // what computes addresses
    for (std::size_t i = 0; i < operands.size(); ++i) {
      std::string& operand = operands[i];
      const std::string_view address = without_brackets(statement.operands[i]);
      const std::optional<NameWithOffset> name =
          parse_name_with_offset(address.empty() ? statement.operands[i] : address);
      if (name && !address.empty()) {
        const PartVariables::Declaration declared = variables_.find_declaration(name->name);
        const bool is_register =
            declared.is_register || (!declared.is_other && name->name.starts_with('%'));
        // Else it is the result of a call.
        if (reads_parameter && is_register) {
          if (declared.is_other) return exclude(concat("uses ", name->name, " in ", opcode));
          changed = with_parameter_space(changed, space);
        }
        if (declared.is_narrow && changed != opcode && has_ptx_modifier(changed, ".global"))
          return exclude(concat("uses a 32-bit address in ", opcode));
        if (is_register) continue;
      }
      if (name) {
        const VariableLocation* variable = find_variable(name->name);
        if (!problem_.empty()) return;
        if (variable == nullptr) continue;
        if (address.empty()) return add_address(changed, operands, i, *variable, name->offset);
        if (variable->space == Space::Param) {
          if (!reads_parameter) return exclude(concat("uses ", name->name, " in ", opcode));
          changed = with_parameter_space(changed, space);
          is_record = true;
        }
        if (variable->space == Space::Global) {  // which no instruction can contain
          const std::string at = concat("%rp_s", i);
          before += concat(".reg .b64 ", at, "; mov.u64 ", at, ", ",
                           variable->offset + static_cast<std::uint64_t>(name->offset), "; ");
          operand = concat("[", at, "]");
          continue;
        }
        operand =
            concat("[", variable->base, signed_offset(offset_in(*variable, name->offset)), "]");
        if (variable->space == Space::Shared && !has_ptx_modifier(opcode, ".shared"))
          return exclude(concat("uses ", name->name, " in ", opcode));
      } else {
        exclude_variables(statement.operands[i], statement);
      }
    }
    if (!problem_.empty()) return;
    if (!before.empty()) {
      add(concat("{ ", before));
      add_instruction(changed, operands, false);
      return add("}");
    }
    add_instruction(changed, operands, guard_.empty() && (is_record || is_pure_opcode(opcode)));
  }

  void add_instruction(std::string_view opcode, const std::vector<std::string>& operands,
                       bool is_pure) {
    std::string text = concat(guard_, opcode);
    for (std::size_t i = 0; i < operands.size(); ++i)
      text += concat(i == 0 ? " " : ", ", operands[i]);
    for (const std::string_view clock : {"%clock", "%globaltimer"})
      if (text.find(clock) != std::string::npos) is_pure = false;
    add(concat(text, ";"), is_pure);
  }

  // From the variable's base.
  static std::int64_t offset_in(const VariableLocation& variable, std::int64_t offset) {
    return static_cast<std::int64_t>(variable.offset + static_cast<std::uint64_t>(offset));
  }

  // mov or cvta of a variable's address, which is not a constant: operand `i` of an instruction.
  void add_address(const std::string& opcode, std::vector<std::string> operands, std::size_t i,
                   const VariableLocation& variable, std::int64_t offset) {
    const bool is_mov = is_ptx_opcode(opcode, "mov"), is_cvta = is_ptx_opcode(opcode, "cvta");
    const bool is_wide = opcode.ends_with("64"), is_pure = guard_.empty();
    const bool is_global = variable.space == Space::Global;
    if (operands.size() != 2 || i != 1 || !(is_mov || is_cvta) || opcode.starts_with("cvta.to") ||
        !(is_wide || (opcode.ends_with("32") && !is_global)) ||
        first_ptx_word(operands[0]) != operands[0])
      return exclude(concat("uses ", operands[i], " in ", opcode));
    const std::int64_t own = offset_in(variable, offset);
    if (is_global) {  // generic addresses are the same
      operands[1] = std::to_string(static_cast<std::uint64_t>(own));
      return add_instruction("mov.u64", operands, is_pure);
    }
    if (variable.space == Space::Local) {
      operands[1] = concat(variable.base, signed_offset(own));
      return add_instruction(opcode, operands, is_pure);
    }
    const std::string base(variable.base), at = std::to_string(own);
    if (variable.space == Space::Shared && is_mov && !is_wide)
      return add_instruction("add.s32", {operands[0], base, at}, is_pure);
    if (variable.space == Space::Param && !is_wide)
      return exclude(concat("uses ", operands[1], " in ", opcode));
    if (variable.space == Space::Shared || needs_.has_inline_parameters)
      return add_wide_address(opcode, operands[0], base, at);
    add_instruction("add.s64", {operands[0], base, at}, is_pure);
    if (is_cvta) add_instruction(opcode, {operands[0], operands[0]}, is_pure);
  }

  // A 64-bit address in shared memory.
  void add_wide_address(std::string_view opcode, std::string_view result, std::string_view base,
                        std::string_view offset) {
    add(concat("{ .reg .b32 %rp_x; add.s32 %rp_x, ", base, ", ", offset, "; ", guard_,
               "cvt.u64.u32 ", result, ", %rp_x; ",
               is_ptx_opcode(opcode, "cvta")
                   ? concat(guard_, "cvta.shared.u64 ", result, ", ", result, "; ")
                   : std::string(),
               "}"));
  }

  void set_text(RewrittenPart& result) const {
    result.start = part_prologue(needs_);
    std::size_t line = 0;
    for (; line < lines_.size() && lines_[line].is_pure; ++line)
      result.start += concat(lines_[line].text, "\n");
    result.start += "@%rp_sync bar.sync 0;\n";
    result.text = part_start(needs_);
    for (; line < lines_.size(); ++line) result.text += concat(lines_[line].text, "\n");
    result.text += part_epilogue(needs_);
  }

  const PersistentPart& part_;
  const PtxFunction& function_;
  PartVariables variables_;
  std::string problem_;
  DivergenceAnalysis divergence_;
  bool has_barriers_ = false;
  bool has_plain_barriers_ = false;  // of the hardware: no thread misses one
  PartNeeds needs_;
  std::vector<Line> lines_;
  std::string guard_;  // of the instruction that is rewritten, with a space
  std::vector<const PtxFunction*> calls_;
};

// Sets all but `function`, which is set. Returns why the function cannot be rewritten, and adds
// what it calls.
std::string rewrite_function(const PersistentPart& part, const VariableAddress& address_of,
                             RewrittenFunction& result, std::vector<const PtxFunction*>& calls) {
  const PtxFunction& function = *result.function;
  const bool is_system = !function.has_body && is_system_function(function.name);
  PartNeeds needs;
  const RewrittenNames results = rewrite_names(function.results, function, needs);
  const RewrittenNames parameters = rewrite_names(function.parameters, function, needs);
  result.declaration = is_system ? ".extern .func " : ".func ";
  if (!trim_ptx(function.results).empty()) result.declaration += concat("(", results.text, ") ");
  if (!is_system) result.declaration += kModuleMark;
  result.declaration += concat(function.name, "(", parameters.text, ") ", function.directives);
  std::string problem = concat(results.problem, parameters.problem);
  if (is_system) return problem;
  if (problem.empty())
    problem = function.has_body ? find_exclusion(*part.module, function) : "has no definition";
  if (problem.empty() && function.name.starts_with('%'))
    problem = "has a name that starts with %, which a prefix cannot precede";
  if (problem.empty()) {
    BodyRewriter body(part, function, address_of);
    problem = body.run_function(result);
    calls.insert(calls.end(), body.calls().begin(), body.calls().end());
  }
  return problem.empty() ? problem : concat("function ", function.name, " ", problem);
}

}  // namespace

RewrittenPart rewrite_part(const PersistentPart& part, const VariableAddress& address_of) {
  RewrittenPart result{.of = part, .problem = part.module->problem()};
  if (!result.problem.empty()) return result;
  const PtxFunction* const entry = part.module->find_entry(part.entry);
  result.problem =
      entry == nullptr ? concat("no entry ", part.entry) : find_exclusion(*part.module, *entry);
  if (!result.problem.empty()) return result;
  BodyRewriter body(part, *entry, address_of);
  body.run_part(result);
  std::vector<const PtxFunction*> calls = body.calls();
  for (std::size_t i = 0; i < calls.size() && result.problem.empty(); ++i) {
    if (std::find(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(i), calls[i]) !=
        calls.begin() + static_cast<std::ptrdiff_t>(i))
      continue;
    result.functions.push_back({.function = calls[i], .declaration = {}, .body = {}});
    result.problem = rewrite_function(part, address_of, result.functions.back(), calls);
  }
  return result;
}

}  // namespace reprise::detail
