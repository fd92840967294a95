#include "ptx/part_variables.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/aligned_up.hpp"
#include "base/text.hpp"
#include "ptx/part_registers.hpp"
#include "ptx/ptx_words.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {

namespace {

using Space = PtxVariable::Space;

// No number of 64 bits has more digits.
constexpr std::size_t kMaxDigits = 20;

// Calls `visit` with each division of a name into a name and the digits at its end, at most
// kMaxDigits + 1 of them.
template <class Visit>
void for_each_ptx_range(std::string_view name, const Visit& visit) {
  for (std::size_t at = name.size();
       at > 1 && is_ptx_digit(name[at - 1]) && name.size() - at <= kMaxDigits;) {
    --at;
    visit(name.substr(0, at), name.substr(at));
  }
}

void merge(PartVariables::Declaration& into, const PartVariables::Declaration& other) {
  into.is_register = into.is_register || other.is_register;
  into.is_narrow = into.is_narrow || other.is_narrow;
  into.is_other = into.is_other || other.is_other;
}

// Pragmas with an effect on the statements that follow only.
bool is_pragma_of_statements(std::string_view directive) {
  for (const std::string_view name : {"\"nounroll", "\"used_bytes_mask", "\"frequency"})
    if (directive.find(name) != directive.npos) return true;
  return false;
}

}  // namespace

PartVariables::PartVariables(const PtxModule& module, const PtxFunction& function,
                             const VariableAddress& address_of)
    : function_(function), address_of_(address_of) {
  if (function_.is_entry) {
    place_parameters();
  } else {
    declare_names(function_.parameters);
    declare_names(function_.results);
  }
  for (const PtxVariable& variable : module.variables())
    module_variables_.try_emplace(variable.name, &variable);
  for (const PtxStatement& statement : function_.statements) {
    if (statement.is(PtxStatement::Kind::Label)) names_[statement.text].is_other = true;
    if (statement.is(PtxStatement::Kind::Directive)) declare(statement.text);
  }
  check_names();
  if (function_.is_entry) place_module_shared();
}

// Keeps the first reason.
void PartVariables::exclude(std::string reason) {
  if (problem_.empty()) problem_ = std::move(reason);
}

void PartVariables::place_parameters() {
  for (const PtxVariable& parameter : function_.entry_parameters) {
    memory_.parameter_bytes = aligned_up(memory_.parameter_bytes, parameter.alignment);
    place(parameter.name, {Space::Param, "%rp_par", memory_.parameter_bytes});
    memory_.parameter_bytes += parameter.bytes;
  }
  memory_.has_inline_parameters = memory_.parameter_bytes <= SegmentRecord::kInlineBytes;
  if (!memory_.has_inline_parameters) return;
  for (auto& [name, location] : locations_)
    location = {Space::Param, "%rp_rec", offsetof(SegmentRecord, parameters) + location.offset};
}

void PartVariables::place(std::string_view name, VariableLocation location) {
  if (!locations_.try_emplace(name, location).second) exclude(concat("declares ", name, " twice"));
}

void PartVariables::declare(std::string_view directive) {
  const auto is = [&](std::string_view word) {
    return concat('.', first_ptx_word(directive.substr(1))) == word;
  };
  const bool is_shared = is(".shared") && function_.is_entry;
  const bool is_local = is(".local") && function_.is_entry;
  if (is_shared || is_local) {
    const std::optional<PtxVariable> variable = parse_ptx_variable(directive);
    if (!variable || variable->bytes == 0) return exclude(concat("declares ", directive));
    if (module_variables_.contains(variable->name))
      exclude(concat("declares ", variable->name, " twice"));
    if (is_shared) return place_shared(*variable);
    memory_.local_alignment = std::max(memory_.local_alignment, variable->alignment);
    memory_.local_bytes = aligned_up(memory_.local_bytes, variable->alignment);
    place(variable->name, {Space::Local, "rp_depot", memory_.local_bytes});
    memory_.local_bytes += variable->bytes;
  } else if (is(".reg") || is(".param") || is(".local")) {
    declare_names(directive);
  } else if (!is(".branchtargets") && !(is(".pragma") && is_pragma_of_statements(directive))) {
    exclude(concat("declares ", directive.substr(0, 80)));
  }
}

// Declares the names of registers, local variables of a function or parameters of calls.
void PartVariables::declare_names(std::string_view directive) {
  const bool is_register = has_ptx_modifier(directive, ".reg");
  Declaration declaration{.is_register = is_register, .is_other = !is_register};
  for (const std::string_view type : {".b32", ".u32", ".s32", ".f32"})
    if (is_register && has_ptx_modifier(directive, type)) declaration.is_narrow = true;
  for_each_ptx_word(directive, [&](std::string_view name) {
    if (is_register_of_parts(name)) exclude(concat("declares ", name));
    std::size_t at = static_cast<std::size_t>(name.data() - directive.data()) + name.size();
    while (at < directive.size() && is_ptx_space(directive[at])) ++at;
    if (at == directive.size() || directive[at] != '<') {
      return merge(names_[name], declaration);
    }
    const std::string_view extent = directive.substr(at + 1);
    const std::optional<std::uint64_t> count =
        parse_ptx_number(trim_ptx(extent.substr(0, extent.find('>'))));
    if (!count) exclude(concat("declares ", directive.substr(0, 80)));
    Range& range = ranges_[name];
    range.count = std::max(range.count, count.value_or(0));
    merge(range.declaration, declaration);
  });
}

PartVariables::Declaration PartVariables::find_declaration(std::string_view name) const {
  Declaration result;
  if (const auto found = names_.find(name); found != names_.end()) result = found->second;
  for_each_ptx_range(name, [&](std::string_view base, std::string_view digits) {
    const auto range = ranges_.find(base);
    std::uint64_t number = 0;
    if (range != ranges_.end() &&
        std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc())
      if (number < range->second.count) merge(result, range->second.declaration);
  });
  return result;
}

// After all declarations of the body.
void PartVariables::check_names() {
  for (const auto& [name, location] : locations_)
    if (find_declaration(name).exists()) exclude(concat("declares ", name, " twice"));
  // %r01 is %r1, which the analysis of divergence does not know.
  const auto check_digits = [&](std::string_view name) {
    for_each_ptx_range(name, [&](std::string_view base, std::string_view digits) {
      const bool has_zeros = digits.size() > 1 && digits.front() == '0';
      if (digits.size() > kMaxDigits || (has_zeros && ranges_.contains(base)))
        exclude(concat("uses ", name));
    });
  };
  for (const PtxStatement& statement : function_.statements) {
    for_each_ptx_word(statement.guard, check_digits);
    for (const std::string_view operand : statement.operands)
      for_each_ptx_word(operand, check_digits);
  }
}

void PartVariables::place_shared(const PtxVariable& variable) {
  if (variable.alignment > kSharedAlignment)
    exclude(concat("aligns ", variable.name, " to ", variable.alignment, " bytes"));
  memory_.uses_shared = true;
  memory_.static_shared_bytes = aligned_up(memory_.static_shared_bytes, variable.alignment);
  place(variable.name, end_of_shared());
  memory_.static_shared_bytes += variable.bytes;
}

VariableLocation PartVariables::end_of_shared() const {
  return {Space::Shared, "%rp_base", kSharedBase + memory_.static_shared_bytes};
}

// The static variables of the module that the body names, then all dynamic ones at one offset.
void PartVariables::place_module_shared() {
  std::vector<std::string_view> dynamic;
  std::uint64_t dynamic_alignment = 16;
  for (const PtxStatement& statement : function_.statements)
    for (const std::string_view operand : statement.operands)
      for_each_ptx_word(operand, [&](std::string_view name) {
        const auto found = module_variables_.find(name);
        if (found == module_variables_.end() || found->second->space != Space::Shared ||
            locations_.contains(name) || find_declaration(name).exists())
          return;
        if (found->second->bytes != 0 && !found->second->is_extern)
          return place_shared(*found->second);
        if (found->second->bytes != 0 || !found->second->is_extern)
          exclude(concat("uses ", name, ", which its module only declares"));
        if (found->second->alignment > kSharedAlignment)
          exclude(concat("aligns ", name, " to ", found->second->alignment, " bytes"));
        dynamic_alignment = std::max<std::uint64_t>(dynamic_alignment, found->second->alignment);
        dynamic.push_back(name);
      });
  memory_.static_shared_bytes = aligned_up(memory_.static_shared_bytes, dynamic_alignment);
  for (const std::string_view name : dynamic) {
    memory_.uses_shared = true;
    locations_.try_emplace(name, end_of_shared());
  }
  constexpr std::uint64_t kMaxBytes = 1u << 20;
  if (memory_.static_shared_bytes > kMaxBytes || memory_.local_bytes > kMaxBytes ||
      memory_.parameter_bytes > kMaxBytes)
    exclude("declares more memory than a block has");
}

PartVariables::Lookup PartVariables::find(std::string_view name) {
  if (const auto found = locations_.find(name); found != locations_.end())
    return {.location = &found->second};
  const auto found = module_variables_.find(name);
  const bool is_variable = found != module_variables_.end();
  if (find_declaration(name).exists()) {
    if (is_variable) return {.problem = concat("declares ", name, " twice")};
    return {};
  }
  if (!is_variable) {
    if (name.starts_with('%') || name == "WARP_SZ" || name == "_") return {};
    return {.problem = concat("refers to ", name)};
  }
  const PtxVariable& variable = *found->second;
  if (variable.space != Space::Global && variable.space != Space::Const)
    return {.problem = concat("uses ", name)};
  const std::optional<std::uint64_t> address = address_of_(variable.name);
  if (!address) return {.problem = concat("uses ", name, ", which its image does not have")};
  VariableLocation& location = locations_[variable.name];
  location = {.space = Space::Global, .offset = *address};
  return {.location = &location};
}

}  // namespace reprise::detail
