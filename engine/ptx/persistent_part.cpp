#include "ptx/persistent_part.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"
#include "ptx/divergence.hpp"
#include "ptx/ptx_words.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {

namespace {

// Instructions whose effect or scope is another one in a part, or that use units and proxies for
// which the end of a kernel is a fence.
constexpr std::array<std::string_view, 40> kExcludedOpcodes = {"tex",
                                                               "tld4",
                                                               "txq",
                                                               "suq",
                                                               "suld",
                                                               "sust",
                                                               "sured",
                                                               "istypep",
                                                               "setmaxnreg",
                                                               "barrier.cluster",
                                                               "mapa",
                                                               "getctarank",
                                                               "griddepcontrol",
                                                               "bar.arrive",
                                                               "barrier.arrive",
                                                               "barrier.cta.arrive",
                                                               "ldu",
                                                               "multimem",
                                                               "tcgen05",
                                                               "brkpt",
                                                               "clusterlaunchcontrol",
                                                               "cp.async.bulk",
                                                               "cp.reduce",
                                                               "cp.async.mbarrier",
                                                               "tensormap",
                                                               "wgmma",
                                                               "st.async",
                                                               "red.async",
                                                               "st.bulk",
                                                               "alloca",
                                                               "stacksave",
                                                               "stackrestore",
                                                               "isspacep.const",
                                                               "isspacep.param",
                                                               "prefetchu",
                                                               "prefetch.const",
                                                               "prefetch.param",
                                                               "prefetch.tensormap",
                                                               "fence.proxy.tensormap",
                                                               "mbarrier.complete_tx"};
constexpr std::array<std::string_view, 9> kExcludedRegisters = {
    "%cluster",       "%nclusterid",      "%is_explicit_cluster",
    "%envreg",        "%gridid",          "%current_graph_exec",
    "%reserved_smem", "%total_smem_size", "%aggr_smem_size"};
constexpr std::array<std::string_view, 4> kExcludedDirectives = {
    ".reqnctapercluster", ".explicitcluster", ".maxclusterrank", ".blocksareclusters"};
// Functions that the driver defines.
constexpr std::array<std::string_view, 4> kSystemFunctions = {"vprintf", "__assertfail", "malloc",
                                                              "free"};
constexpr std::array<std::string_view, 4> kCoordinates = {"%tid", "%ntid", "%ctaid", "%nctaid"};
// Instructions without effects, which may precede the barrier between two parts.
constexpr std::array<std::string_view, 17> kPureOpcodes = {
    "mov", "cvta", "cvt", "add", "sub",  "mul",  "mad", "shl", "shr",
    "and", "or",   "xor", "not", "setp", "selp", "min", "max"};

template <std::size_t Count>
bool starts_with_opcode(std::string_view opcode,
                        const std::array<std::string_view, Count>& opcodes) {
  return std::any_of(opcodes.begin(), opcodes.end(),
                     [&](std::string_view prefix) { return is_ptx_opcode(opcode, prefix); });
}

bool is_block_barrier(std::string_view opcode) {
  for (const std::string_view name : {"bar", "barrier", "barrier.cta"})
    for (const std::string_view kind : {".sync", ".red"})
      if (is_ptx_opcode(opcode, concat(name, kind))) return true;
  return false;
}
// Whether the last operand is a mask of lanes.
bool has_lane_mask(std::string_view opcode) {
  if (is_ptx_opcode(opcode, "match")) return has_ptx_modifier(opcode, ".sync");
  for (const std::string_view name :
       {"shfl.sync", "vote.sync", "redux.sync", "bar.warp.sync", "elect.sync"})
    if (is_ptx_opcode(opcode, name)) return true;
  return false;
}

std::string replace_once(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string_view::npos) return std::string(text);
  return concat(text.substr(0, at), to, text.substr(at + from.size()));
}

std::string_view without_brackets(std::string_view operand) {
  if (operand.size() < 2 || operand.front() != '[' || operand.back() != ']') return {};
  return trim_ptx(operand.substr(1, operand.size() - 2));
}

// name, name+4 or name+0+4
struct NameWithOffset {
  std::string_view name;
  std::int64_t offset = 0;
};
std::optional<NameWithOffset> parse_name_with_offset(std::string_view text) {
  NameWithOffset result{.name = first_ptx_word(text)};
  if (result.name.empty() || is_ptx_digit(result.name.front())) return std::nullopt;
  text.remove_prefix(result.name.size());
  while (!(text = trim_ptx(text)).empty()) {
    std::int64_t sign = 0;
    while (!text.empty() && (text.front() == '+' || text.front() == '-')) {
      sign = (sign == 0 ? 1 : sign) * (text.front() == '-' ? -1 : 1);
      text = trim_ptx(text.substr(1));
    }
    const std::string_view digits = first_ptx_word(text);
    const std::optional<std::uint64_t> number = parse_ptx_number(digits);
    if (sign == 0 || !number) return std::nullopt;
    result.offset += sign * static_cast<std::int64_t>(*number);
    text.remove_prefix(digits.size());
  }
  return result;
}

std::string signed_offset(std::int64_t offset) {
  return offset == 0 ? std::string() : offset < 0 ? std::to_string(offset) : concat("+", offset);
}

std::string inverted_guard(std::string_view guard) {
  std::string_view name = guard;
  while (!name.empty() && !is_ptx_word(name.front())) name.remove_prefix(1);
  return concat(guard.find('!') == guard.npos ? "@!" : "@", name);
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

class BodyRewriter {
 public:
  // `part` is null for a function that is not an entry.
  BodyRewriter(const PtxModule& module, const PtxFunction& function, const PersistentPart* part,
               const RewriteOptions& options)
      : module_(module), function_(function), part_(part), options_(options) {}

  RewrittenPart run_part() {
    RewrittenPart result;
    if (prepare()) {
      divergence_ = analyse_divergence(function_);
      if (!divergence_.problem.empty()) exclude(divergence_.problem);
      choose_barriers();
      rewrite_statements();
    }
    result.problem = std::move(problem_);
    if (!result.problem.empty()) return result;
    result.text = part_text();
    result.part.parameter_bytes = static_cast<std::uint32_t>(parameter_bytes_);
    result.part.has_inline_parameters = has_inline_parameters_;
    result.part.static_shared_bytes = static_cast<std::uint32_t>(static_shared_bytes_);
    result.part.uses_shared = uses_shared_;
    result.part.has_barriers = has_barriers_;
    result.part.ends_together = ends_together();
    result.local_bytes = static_cast<std::uint32_t>(local_bytes_);
    result.local_alignment = local_alignment_;
    result.functions = std::move(calls_);
    return result;
  }

  RewrittenFunction run_function() {
    RewrittenFunction result;
    result.declaration = ".func ";
    if (!trim_ptx(function_.results).empty())
      result.declaration += concat("(", function_.results, ") ");
    const bool is_system = std::find(kSystemFunctions.begin(), kSystemFunctions.end(),
                                     function_.name) != kSystemFunctions.end();
    if (!function_.has_body && is_system) {
      result.declaration = concat(".extern ", result.declaration, function_.name, "(",
                                  function_.parameters, ") ", function_.directives);
      return result;
    }
    result.declaration += concat(options_.function_prefix, function_.name, "(",
                                 function_.parameters, ") ", function_.directives);
    if (!function_.has_body) {
      exclude("has no definition");
    } else if (prepare()) {
      rewrite_statements();
    }
    result.problem = std::move(problem_);
    if (!result.problem.empty()) return result;
    result.body = "{\n";
    for (const Line& line : lines_) result.body += concat(line.text, "\n");
    result.body += "}";
    result.functions = std::move(calls_);
    return result;
  }

 private:
  using Kind = PtxStatement::Kind;
  using Space = PtxVariable::Space;

  struct Symbol {
    enum class Kind : std::uint8_t { Shared, Address, Local, Parameter };
    Kind kind = Kind::Shared;
    std::uint64_t offset = 0;  // or the address
  };
  struct Line {
    std::string text;
    bool is_pure = false;
  };

  [[nodiscard]] bool is_entry() const { return part_ != nullptr; }
  // Keeps the first reason.
  void exclude(std::string_view reason) {
    if (!problem_.empty()) return;
    problem_ = is_entry() ? std::string(reason) : concat("function ", function_.name, " ", reason);
  }

  // --- names ---

  // Collects what the body can refer to. False: the function is excluded.
  bool prepare() {
    if (!function_.problem.empty()) {
      exclude(function_.problem);
    } else if (!module_.has_64_bit_addresses()) {
      exclude("uses .address_size 32");
    }
    for (const std::string_view directive : kExcludedDirectives)
      if (function_.directives.find(directive) != std::string_view::npos)
        exclude(concat("uses ", directive));
    if (!problem_.empty()) return false;
    if (is_entry()) {
      place_parameters();
    } else {
      for_each_ptx_word(function_.parameters, [&](std::string_view name) { names_.insert(name); });
      for_each_ptx_word(function_.results, [&](std::string_view name) { names_.insert(name); });
    }
    for (const PtxVariable& variable : module_.variables())
      module_variables_.try_emplace(variable.name, &variable);
    for (const PtxStatement& statement : function_.statements) {
      if (statement.is(Kind::Label)) names_.insert(statement.text);
      if (statement.is(Kind::Directive)) declare(statement.text);
    }
    if (is_entry()) place_module_shared();
    return problem_.empty();
  }

  void place_parameters() {
    for (const PtxVariable& parameter : function_.entry_parameters) {
      parameter_bytes_ = round_up(parameter_bytes_, parameter.alignment);
      symbols_[parameter.name] = {Symbol::Kind::Parameter, parameter_bytes_};
      parameter_bytes_ += parameter.bytes;
    }
    has_inline_parameters_ = parameter_bytes_ <= SegmentRecord::kInlineBytes;
  }

  void declare(std::string_view directive) {
    const bool is_shared = directive.starts_with(".shared");
    const bool is_local = directive.starts_with(".local") && is_entry();
    if (directive.starts_with(".global") || directive.starts_with(".const") ||
        (is_shared && !is_entry())) {
      exclude(concat("declares ", directive.substr(0, 80)));
    } else if (is_shared || is_local) {
      const std::optional<PtxVariable> variable = parse_ptx_variable(directive);
      if (!variable || variable->bytes == 0) return exclude(concat("declares ", directive));
      if (is_shared) return place_shared(*variable);
      local_alignment_ = std::max(local_alignment_, variable->alignment);
      local_bytes_ = round_up(local_bytes_, variable->alignment);
      symbols_[variable->name] = {Symbol::Kind::Local, local_bytes_};
      local_bytes_ += variable->bytes;
    } else {
      for_each_ptx_word(directive, [&](std::string_view name) { names_.insert(name); });
    }
  }

  void place_shared(const PtxVariable& variable) {
    if (variable.alignment > kSharedAlignment)
      exclude(concat("aligns ", variable.name, " to ", variable.alignment, " bytes"));
    uses_shared_ = true;
    static_shared_bytes_ = round_up(static_shared_bytes_, variable.alignment);
    symbols_[variable.name] = {Symbol::Kind::Shared, static_shared_bytes_};
    static_shared_bytes_ += variable.bytes;
  }

  // The symbol of a name; null if it is a register or the like. Resolves variables of the module.
  const Symbol* find_symbol(std::string_view name) {
    if (const auto found = symbols_.find(name); found != symbols_.end()) return &found->second;
    if (name.starts_with('%') || names_.contains(name)) return nullptr;
    const auto found = module_variables_.find(name);
    if (found == module_variables_.end()) {
      if (name != "WARP_SZ" && name != "_") exclude(concat("refers to ", name));
      return nullptr;
    }
    const PtxVariable& variable = *found->second;
    if (variable.space == Space::Global || variable.space == Space::Const) {
      symbols_[variable.name] = {Symbol::Kind::Address, options_.address_of(variable.name)};
    } else {
      exclude(concat("uses ", name));
      return nullptr;
    }
    return &symbols_[variable.name];
  }

  // The static variables of the module that the body names, then all dynamic ones at one offset.
  void place_module_shared() {
    std::vector<std::string_view> dynamic;
    std::uint64_t dynamic_alignment = 16;
    for (const PtxStatement& statement : function_.statements)
      for (const std::string_view operand : statement.operands)
        for_each_ptx_word(operand, [&](std::string_view name) {
          const auto found = module_variables_.find(name);
          if (found == module_variables_.end() || found->second->space != Space::Shared ||
              symbols_.contains(name) || names_.contains(name))
            return;
          if (found->second->bytes != 0) return place_shared(*found->second);
          if (found->second->alignment > kSharedAlignment)
            exclude(concat("aligns ", name, " to ", found->second->alignment, " bytes"));
          dynamic_alignment = std::max<std::uint64_t>(dynamic_alignment, found->second->alignment);
          dynamic.push_back(name);
        });
    static_shared_bytes_ = round_up(static_shared_bytes_, dynamic_alignment);
    for (const std::string_view name : dynamic) {
      uses_shared_ = true;
      symbols_[name] = {Symbol::Kind::Shared, static_shared_bytes_};
    }
    constexpr std::uint64_t kMaxBytes = 1u << 20;
    if (static_shared_bytes_ > kMaxBytes || local_bytes_ > kMaxBytes ||
        parameter_bytes_ > kMaxBytes)
      exclude("declares more memory than a block has");
  }

  // --- statements ---

  void add(std::string text, bool is_pure = false) { lines_.push_back({std::move(text), is_pure}); }

  void choose_barriers() {
    bool is_any_divergent = false;
    for (std::size_t i = 0; i < function_.statements.size(); ++i) {
      if (!is_block_barrier(function_.statements[i].opcode)) continue;
      has_barriers_ = true;
      is_any_divergent = is_any_divergent || divergence_.is_divergent[i];
    }
    has_plain_barriers_ = has_barriers_ && !is_any_divergent && part_->has_full_warps;
  }
  [[nodiscard]] bool ends_together() const { return has_barriers_ && !has_plain_barriers_; }

  void rewrite_statements() {
    for (std::size_t i = 0; i < function_.statements.size() && problem_.empty(); ++i) {
      const PtxStatement& statement = function_.statements[i];
      switch (statement.kind) {
        case Kind::Open: add("{"); break;
        case Kind::Close: add("}"); break;
        case Kind::Label: add(concat(statement.text, ":")); break;
        case Kind::Directive:
          if (is_entry() &&
              (statement.text.starts_with(".shared") || statement.text.starts_with(".local")))
            break;
          add(concat(statement.text, ";"), statement.text.starts_with(".reg"));
          break;
        case Kind::Instruction: rewrite_instruction(statement, i); break;
      }
    }
  }

  void rewrite_instruction(const PtxStatement& statement, std::size_t index) {
    const std::string_view opcode = statement.opcode;
    if (starts_with_opcode(opcode, kExcludedOpcodes) || has_ptx_modifier(opcode, "::cluster"))
      return exclude(concat("uses ", opcode));
    guard_ = statement.guard.empty() ? std::string() : concat(statement.guard, " ");
    std::vector<std::string> operands;
    for (const std::string_view operand : statement.operands)
      operands.push_back(rewrite_registers(operand));
    if (!problem_.empty()) return;

    if (opcode == "ret" || opcode == "ret.uni" || opcode == "exit") {
      if (is_entry()) return add(concat(guard_, "bra $RP_RETURN;"));
      if (opcode == "exit") return exclude("uses exit");
      return add(concat(statement.text, ";"));
    }
    if (is_ptx_opcode(opcode, "bra") || is_ptx_opcode(opcode, "brx"))
      return add(concat(statement.text, ";"));
    if (is_ptx_opcode(opcode, "call")) return rewrite_call(statement);
    if (!is_entry() &&
        (is_ptx_opcode(opcode, "bar") || is_ptx_opcode(opcode, "barrier") || has_lane_mask(opcode)))
      return exclude(concat("uses ", opcode));
    if (is_block_barrier(opcode)) return rewrite_barrier(statement, operands, index);
    if (has_lane_mask(opcode) && (divergence_.is_divergent[index] || !part_->has_full_warps))
      return rewrite_warp_instruction(opcode, statement.guard, operands, index);
    rewrite_memory_instruction(opcode, operands);
  }

  // Replaces special registers.
  std::string rewrite_registers(std::string_view operand) {
    std::string result;
    for (std::size_t at = 0; at < operand.size();) {
      std::string_view word = first_ptx_word(operand.substr(at));
      if (word.empty()) {
        result += operand[at++];
        continue;
      }
      at += word.size();
      if (!word.starts_with('%')) {
        result += word;
        continue;
      }
      for (const std::string_view excluded : kExcludedRegisters)
        if (word.starts_with(excluded)) exclude(concat("uses ", word));
      const bool is_coordinate =
          std::find(kCoordinates.begin(), kCoordinates.end(), word) != kCoordinates.end();
      if (!is_entry() && (is_coordinate || word == "%dynamic_smem_size"))
        exclude(concat("reads ", word));
      if (is_coordinate) {
        const std::string_view component = operand.substr(at, 2);
        if (component != ".x" && component != ".y" && component != ".z") {
          exclude(concat("reads ", word, " as a vector"));
          return result;
        }
        at += 2;
        const std::string name = concat(word.substr(1), component[1]);
        needs_.insert(name);
        result += concat("%rp_", name);
      } else if (word == "%dynamic_smem_size") {
        needs_.insert("dynamic");
        result += "%rp_dynamic";
      } else {
        result += word;
      }
    }
    return result;
  }

  void rewrite_call(const PtxStatement& statement) {
    // call (result), name, (parameters); results and parameters are optional.
    std::size_t target = 0;
    while (target < statement.operands.size() && statement.operands[target].starts_with('('))
      ++target;
    const std::string_view name =
        target < statement.operands.size() ? statement.operands[target] : "";
    const PtxFunction* function = module_.find_function(name);
    if (function == nullptr) return exclude("makes an indirect call");
    if (std::find(calls_.begin(), calls_.end(), function) == calls_.end())
      calls_.push_back(function);
    std::string text = concat(guard_, statement.opcode, " ");
    for (std::size_t i = 0; i < statement.operands.size(); ++i)
      text += concat(i == 0 ? "" : ", ",
                     i == target && function->has_body ? options_.function_prefix : std::string(),
                     statement.operands[i]);
    add(concat(text, ";"));
  }

  void rewrite_barrier(const PtxStatement& statement, const std::vector<std::string>& operands,
                       std::size_t index) {
    const bool is_reduction = has_ptx_modifier(statement.opcode, ".red");
    const std::size_t id = is_reduction ? 1 : 0;
    if (operands.size() <= id) return exclude(concat("uses ", statement.text));
    if (operands[id] == "0" && operands.size() == (is_reduction ? 3 : 1)) {
      needs_.insert("count");
      if (has_plain_barriers_) {
        const std::string_view separator = is_reduction ? ", " : "";
        return add(concat(guard_, statement.opcode, " ", is_reduction ? operands[0] : "", separator,
                          "1, %rp_count", separator, is_reduction ? operands[2] : "", ";"));
      }
      if (is_reduction)
        return exclude(
            concat(statement.opcode, divergence_.is_divergent[index] ? " in divergent flow"
                                     : part_->has_full_warps ? " beside a barrier in divergent flow"
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
    if (!part_->has_full_warps) return exclude(concat(statement.text, " with partial warps"));
    rewrite_memory_instruction(statement.opcode, operands);
  }

  // Lanes of the mask may have returned or never existed: they cannot execute the instruction.
  void rewrite_warp_instruction(std::string_view opcode, std::string_view guard,
                                std::vector<std::string> operands, std::size_t index) {
    if (operands.empty()) return exclude(concat("uses ", opcode));
    emulates_masks_ = true;
    needs_.insert("warp");
    const std::string mask = std::exchange(operands.back(), "%rp_m");
    std::string joined;
    for (const std::string& operand : operands) {
      if (!joined.empty()) joined += ", ";
      joined += operand;
    }
    add("{ .reg .b32 %rp_m, %rp_n; .reg .pred %rp_q;");
    if (!guard.empty()) add(concat(inverted_guard(guard), " bra $RP_END", index, ";"));
    add(concat("activemask.b32 %rp_n; mov.b32 %rp_m, ", mask, ";"));
    if (!part_->has_full_warps) {
      needs_.insert("present");
      add("and.b32 %rp_m, %rp_m, %rp_present;");
    }
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
  void rewrite_memory_instruction(std::string_view opcode, std::vector<std::string> operands) {
    std::string changed(opcode);
    if (is_ptx_opcode(opcode, "ld.global") && has_ptx_modifier(opcode, ".nc"))
      changed = replace_once(changed, ".nc", "");
    if (has_ptx_modifier(changed, ".nc")) return exclude(concat("uses ", opcode));
    if (is_ptx_opcode(opcode, "ld.const")) changed = replace_once(changed, ".const", ".global");
    if (is_ptx_opcode(opcode, "cvta.const") || is_ptx_opcode(opcode, "cvta.to.const"))
      changed = replace_once(changed, ".const", ".global");
    const std::string_view space = has_inline_parameters_ ? ".shared" : ".global";
    const bool reads_parameter = is_entry() && is_ptx_opcode(opcode, "ld.param");
    if (is_entry() &&
        (is_ptx_opcode(opcode, "cvta.param") || is_ptx_opcode(opcode, "cvta.to.param")))
      changed = replace_once(changed, ".param", space);
    bool is_record = false;
    std::string before;  // what computes addresses
    for (std::size_t i = 0; i < operands.size(); ++i) {
      std::string& operand = operands[i];
      const std::string_view address = without_brackets(operand);
      const std::optional<NameWithOffset> name =
          parse_name_with_offset(address.empty() ? std::string_view(operand) : address);
      if (reads_parameter && i == 1 && name && name->name.starts_with('%')) {
        changed = parameter_load(changed, space);  // its address is in a register
      } else if (name) {
        const Symbol* symbol = find_symbol(name->name);
        if (!problem_.empty()) return;
        if (symbol == nullptr) continue;
        if (address.empty()) return add_address(changed, operands, i, *symbol, name->offset);
        if (symbol->kind == Symbol::Kind::Parameter) {
          if (!reads_parameter) return exclude(concat("uses ", name->name, " in ", opcode));
          changed = parameter_load(changed, space);
          is_record = true;
        }
        if (symbol->kind == Symbol::Kind::Address) {  // which no instruction can contain
          const std::string at = concat("%rp_s", i);
          before += concat(".reg .b64 ", at, "; mov.u64 ", at, ", ",
                           symbol->offset + static_cast<std::uint64_t>(name->offset), "; ");
          operand = concat("[", at, "]");
          continue;
        }
        operand = symbol_address(*symbol, name->offset);
        if (symbol->kind == Symbol::Kind::Shared && !has_ptx_modifier(opcode, ".shared"))
          return exclude(concat("uses ", name->name, " in ", opcode));
      } else {
        for_each_ptx_word(operand, [&](std::string_view word) {
          if (find_symbol(word) != nullptr) exclude(concat("uses ", word, " in ", opcode));
        });
      }
    }
    if (!problem_.empty()) return;
    if (!before.empty()) {
      add(concat("{ ", before));
      add_instruction(changed, operands, false);
      return add("}");
    }
    add_instruction(changed, operands,
                    guard_.empty() && (is_record || starts_with_opcode(opcode, kPureOpcodes)));
  }

  static std::int64_t shared_offset(const Symbol& symbol) {
    return static_cast<std::int64_t>(kSharedBase + symbol.offset);
  }

  static std::string parameter_load(std::string_view opcode, std::string_view space) {
    return replace_once(replace_once(opcode, ".param::entry", ".param"), ".param", space);
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

  // The operand by which an instruction accesses the memory of a symbol.
  std::string symbol_address(const Symbol& symbol, std::int64_t offset) const {
    switch (symbol.kind) {
      case Symbol::Kind::Shared:
        return concat("[%rp_base", signed_offset(shared_offset(symbol) + offset), "]");
      case Symbol::Kind::Local:
        return concat("[rp_depot", signed_offset(static_cast<std::int64_t>(symbol.offset) + offset),
                      "]");
      case Symbol::Kind::Address:
      case Symbol::Kind::Parameter: break;
    }
    offset += static_cast<std::int64_t>(symbol.offset);
    return has_inline_parameters_
               ? concat("[%rp_rec", signed_offset(kParametersOffset + offset), "]")
               : concat("[%rp_par", signed_offset(offset), "]");
  }

  // mov or cvta of a symbol's address, which is not a constant: operand `i` of an instruction.
  void add_address(const std::string& opcode, std::vector<std::string> operands, std::size_t i,
                   const Symbol& symbol, std::int64_t offset) {
    const bool is_mov = is_ptx_opcode(opcode, "mov"), is_cvta = is_ptx_opcode(opcode, "cvta");
    if (operands.size() != 2 || i != 1 || !(is_mov || is_cvta) || opcode.starts_with("cvta.to"))
      return exclude(concat("uses ", operands[i], " in ", opcode));
    const bool is_wide = opcode.ends_with("64");
    const auto own = static_cast<std::int64_t>(symbol.offset) + offset;
    switch (symbol.kind) {
      case Symbol::Kind::Address:  // generic addresses are the same
        operands[1] = std::to_string(symbol.offset + static_cast<std::uint64_t>(offset));
        return add_instruction(is_wide ? "mov.u64" : "mov.u32", operands, guard_.empty());
      case Symbol::Kind::Local:
        operands[1] = concat("rp_depot", signed_offset(own));
        return add_instruction(opcode, operands, guard_.empty());
      case Symbol::Kind::Shared: {
        const std::string at = std::to_string(shared_offset(symbol) + offset);
        if (is_mov && !is_wide)
          return add_instruction("add.s32", {operands[0], "%rp_base", at}, guard_.empty());
        return add_wide_address(opcode, operands[0], "%rp_base", at);
      }
      case Symbol::Kind::Parameter: break;
    }
    if (!is_wide) return exclude(concat("uses ", operands[1], " in ", opcode));
    if (has_inline_parameters_)
      return add_wide_address(opcode, operands[0], "%rp_rec",
                              std::to_string(kParametersOffset + own));
    add_instruction("add.s64", {operands[0], "%rp_par", std::to_string(own)}, guard_.empty());
    if (is_cvta) add_instruction(opcode, {operands[0], operands[0]}, guard_.empty());
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

  // --- the text around the statements ---

  [[nodiscard]] bool needs(std::string_view name) const {
    return needs_.contains(std::string(name));
  }

  [[nodiscard]] std::string prologue() const {
    std::string text =
        ".reg .b32 %rp_threads, %rp_count, %rp_present, %rp_warp, %rp_dynamic, %rp_row, %rp_plane";
    for (const std::string_view name : kCoordinates)
      for (const char component : {'x', 'y', 'z'})
        text += concat(", %rp_", name.substr(1), component);
    text += ";\n.reg .b64 %rp_par; .reg .pred %rp_p;\n";
    if (!part_->has_full_warps || needs("count"))
      text += concat("ld.shared.u32 %rp_threads, [%rp_rec]; shr.u32 %rp_threads, %rp_threads, ",
                     SegmentRecord::kThreadsShift,
                     "; and.b32 %rp_threads, %rp_threads, 1023; "
                     "add.u32 %rp_threads, %rp_threads, 1;\n");
    if (needs("count"))
      text += "add.u32 %rp_count, %rp_threads, 31; and.b32 %rp_count, %rp_count, -32;\n";
    if (needs("present"))  // the lanes of this warp that are threads of the block
      text +=
          "and.b32 %rp_present, %rp_thread, -32; sub.s32 %rp_present, %rp_threads, %rp_present; "
          "min.s32 %rp_present, %rp_present, 32; sub.s32 %rp_present, 32, %rp_present; "
          "shr.u32 %rp_present, -1, %rp_present;\n";
    if (needs("warp"))
      text +=
          "shr.u32 %rp_warp, %rp_thread, 5; shl.b32 %rp_warp, %rp_warp, 3; "
          "add.u32 %rp_warp, %rp_warp, %rp_base;\n";
    const auto load = [&](std::string_view name, std::size_t offset) {
      for (std::size_t i = 0; i < 3; ++i)
        if (const std::string component = concat(name, "xyz"[i]); needs(component))
          text += concat("ld.shared.u32 %rp_", component, ", [%rp_rec+", offset + 4 * i, "];\n");
    };
    load("ctaid", offsetof(SegmentRecord, block));
    load("ntid", offsetof(SegmentRecord, block_dim));
    load("nctaid", offsetof(SegmentRecord, grid_dim));
    if (needs("dynamic"))
      text += concat("ld.shared.u32 %rp_dynamic, [%rp_rec+",
                     offsetof(SegmentRecord, dynamic_shared_bytes), "];\n");
    const bool needs_row = needs("tidy") || needs("tidz");
    if (part_->is_one_dimensional) {
      if (needs("tidx")) text += "mov.u32 %rp_tidx, %rp_thread;\n";
      if (needs("tidy")) text += "mov.u32 %rp_tidy, 0;\n";
      if (needs("tidz")) text += "mov.u32 %rp_tidz, 0;\n";
    } else if (needs("tidx") || needs_row) {
      text += divide("%rp_thread", "%rp_tidx", "%rp_row", offsetof(SegmentRecord, divide_x),
                     offsetof(SegmentRecord, block_dim));
      if (needs_row)
        text += concat(divide("%rp_row", "%rp_tidy", "%rp_plane", offsetof(SegmentRecord, divide_y),
                              offsetof(SegmentRecord, block_dim) + 4),
                       "mov.u32 %rp_tidz, %rp_plane;\n");
    }
    if (!has_inline_parameters_)
      text += concat("ld.shared.u64 %rp_par, [%rp_rec+", kParametersOffset, "];\n");
    return text;
  }

  // By a multiplication: exact for dividends and divisors up to 1,024.
  static std::string divide(std::string_view dividend, std::string_view remainder,
                            std::string_view quotient, std::size_t factor, std::size_t divisor) {
    return concat("{ .reg .b32 %rp_m, %rp_d; ld.shared.u32 %rp_m, [%rp_rec+", factor,
                  "]; ld.shared.u32 %rp_d, [%rp_rec+", divisor, "]; mul.lo.u32 ", quotient, ", ",
                  dividend, ", %rp_m; shr.u32 ", quotient, ", ", quotient,
                  ", 22; mul.lo.u32 %rp_d, %rp_d, ", quotient, "; sub.u32 ", remainder, ", ",
                  dividend, ", %rp_d; }\n");
  }

  // After the instructions that need not wait for the barrier that precedes the part.
  [[nodiscard]] std::string start() const {
    std::string text = "@%rp_sync bar.sync 0;\n";
    if (options_.is_timed) text += kPersistentStartTime;
    if (!part_->has_full_warps)
      text += "setp.ge.u32 %rp_p, %rp_thread, %rp_threads; @%rp_p bra $RP_RETURN;\n";
    return text;
  }

  [[nodiscard]] bool uses_async_copies() const {
    return std::any_of(
        function_.statements.begin(), function_.statements.end(),
        [](const PtxStatement& statement) { return is_ptx_opcode(statement.opcode, "cp.async"); });
  }

  // Returned lanes are no longer waited for, and all leave together.
  [[nodiscard]] std::string epilogue() const {
    std::string text = "$RP_RETURN:\n";
    if (uses_async_copies()) text += "cp.async.wait_all;\n";
    if (emulates_masks_)
      text +=
          "{ .reg .b32 %rp_x, %rp_y; mov.u32 %rp_y, %laneid; mov.u32 %rp_x, 1; "
          "shl.b32 %rp_x, %rp_x, %rp_y; membar.cta; red.shared.or.b32 [%rp_warp], %rp_x; }\n";
    if (ends_together())
      text +=
          "$RP_AGAIN: { .reg .b32 %rp_x; .reg .pred %rp_q; .param .b32 rp_a; .param .b32 rp_b; "
          ".param .b32 rp_c; st.param.b32 [rp_a], 1; st.param.b32 [rp_b], %rp_count; "
          "call (rp_c), rp_barrier, (rp_a, rp_b); ld.param.b32 %rp_x, [rp_c]; "
          "setp.eq.u32 %rp_q, %rp_x, 0; @%rp_q bra $RP_AGAIN; }\n";
    if (emulates_masks_) text += "bar.warp.sync -1; st.volatile.shared.u32 [%rp_warp], 0;\n";
    text += "bar.warp.sync -1;\n";
    return text;
  }

  [[nodiscard]] std::string part_text() const {
    std::string text = prologue();
    std::size_t line = 0;
    for (; line < lines_.size() && lines_[line].is_pure; ++line)
      text += concat(lines_[line].text, "\n");
    text += start();
    for (; line < lines_.size(); ++line) text += concat(lines_[line].text, "\n");
    return text + epilogue();
  }

  static constexpr std::int64_t kParametersOffset = offsetof(SegmentRecord, parameters);

  const PtxModule& module_;
  const PtxFunction& function_;
  const PersistentPart* part_ = nullptr;
  const RewriteOptions& options_;
  std::string problem_;
  DivergenceAnalysis divergence_;
  std::unordered_map<std::string_view, const PtxVariable*> module_variables_;
  std::unordered_map<std::string_view, Symbol> symbols_;
  std::unordered_set<std::string_view> names_;  // labels, registers and parameters of calls
  std::uint64_t parameter_bytes_ = 0;
  bool has_inline_parameters_ = true;
  std::uint64_t static_shared_bytes_ = 0;
  bool uses_shared_ = false;
  std::uint64_t local_bytes_ = 0;
  std::uint32_t local_alignment_ = 16;
  bool has_barriers_ = false;
  bool has_plain_barriers_ = false;  // of the hardware: no thread misses one
  bool emulates_masks_ = false;
  std::unordered_set<std::string> needs_;  // values that the prologue computes
  std::vector<Line> lines_;
  std::string guard_;  // of the instruction that is rewritten, with a space
  std::vector<const PtxFunction*> calls_;
};

}  // namespace

RewrittenPart rewrite_part(const PersistentPart& part, const RewriteOptions& options) {
  const PtxFunction* entry = part.module->find_entry(part.entry);
  if (entry == nullptr) return {.problem = concat("no entry ", part.entry)};
  return BodyRewriter(*part.module, *entry, &part, options).run_part();
}

RewrittenFunction rewrite_function(const PtxModule& module, const PtxFunction& function,
                                   const RewriteOptions& options) {
  return BodyRewriter(module, function, nullptr, options).run_function();
}

}  // namespace reprise::detail
