#include "ptx/part_variables.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "ptx/ptx_words.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {

namespace {

using Space = PtxVariable::Space;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

PartVariables::PartVariables(const PtxModule& module, const PtxFunction& function,
                             const VariableAddress& address_of)
    : function_(function), address_of_(address_of) {
  if (function_.is_entry) {
    place_parameters();
  } else {
    for_each_ptx_word(function_.parameters, [&](std::string_view name) { names_.insert(name); });
    for_each_ptx_word(function_.results, [&](std::string_view name) { names_.insert(name); });
  }
  for (const PtxVariable& variable : module.variables())
    module_variables_.try_emplace(variable.name, &variable);
  for (const PtxStatement& statement : function_.statements) {
    if (statement.is(PtxStatement::Kind::Label)) names_.insert(statement.text);
    if (statement.is(PtxStatement::Kind::Directive)) declare(statement.text);
  }
  if (function_.is_entry) place_module_shared();
}

// Keeps the first reason.
void PartVariables::exclude(std::string reason) {
  if (problem_.empty()) problem_ = std::move(reason);
}

void PartVariables::place_parameters() {
  for (const PtxVariable& parameter : function_.entry_parameters) {
    memory_.parameter_bytes = round_up(memory_.parameter_bytes, parameter.alignment);
    locations_[parameter.name] = {Space::Param, "%rp_par", memory_.parameter_bytes};
    memory_.parameter_bytes += parameter.bytes;
  }
  memory_.has_inline_parameters = memory_.parameter_bytes <= SegmentRecord::kInlineBytes;
  if (!memory_.has_inline_parameters) return;
  for (auto& [name, location] : locations_)
    location = {Space::Param, "%rp_rec", offsetof(SegmentRecord, parameters) + location.offset};
}

void PartVariables::declare(std::string_view directive) {
  const bool is_shared = directive.starts_with(".shared");
  const bool is_local = directive.starts_with(".local") && function_.is_entry;
  if (directive.starts_with(".global") || directive.starts_with(".const") ||
      (is_shared && !function_.is_entry)) {
    exclude(concat("declares ", directive.substr(0, 80)));
  } else if (is_shared || is_local) {
    const std::optional<PtxVariable> variable = parse_ptx_variable(directive);
    if (!variable || variable->bytes == 0) return exclude(concat("declares ", directive));
    if (is_shared) return place_shared(*variable);
    memory_.local_alignment = std::max(memory_.local_alignment, variable->alignment);
    memory_.local_bytes = round_up(memory_.local_bytes, variable->alignment);
    locations_[variable->name] = {Space::Local, "rp_depot", memory_.local_bytes};
    memory_.local_bytes += variable->bytes;
  } else {
    for_each_ptx_word(directive, [&](std::string_view name) { names_.insert(name); });
  }
}

void PartVariables::place_shared(const PtxVariable& variable) {
  if (variable.alignment > kSharedAlignment)
    exclude(concat("aligns ", variable.name, " to ", variable.alignment, " bytes"));
  memory_.uses_shared = true;
  memory_.static_shared_bytes = round_up(memory_.static_shared_bytes, variable.alignment);
  locations_[variable.name] = end_of_shared();
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
            locations_.contains(name) || names_.contains(name))
          return;
        if (found->second->bytes != 0) return place_shared(*found->second);
        if (found->second->alignment > kSharedAlignment)
          exclude(concat("aligns ", name, " to ", found->second->alignment, " bytes"));
        dynamic_alignment = std::max<std::uint64_t>(dynamic_alignment, found->second->alignment);
        dynamic.push_back(name);
      });
  memory_.static_shared_bytes = round_up(memory_.static_shared_bytes, dynamic_alignment);
  for (const std::string_view name : dynamic) {
    memory_.uses_shared = true;
    locations_[name] = end_of_shared();
  }
  constexpr std::uint64_t kMaxBytes = 1u << 20;
  if (memory_.static_shared_bytes > kMaxBytes || memory_.local_bytes > kMaxBytes ||
      memory_.parameter_bytes > kMaxBytes)
    exclude("declares more memory than a block has");
}

PartVariables::Lookup PartVariables::find(std::string_view name) {
  if (const auto found = locations_.find(name); found != locations_.end())
    return {.location = &found->second};
  if (name.starts_with('%') || names_.contains(name)) return {};
  const auto found = module_variables_.find(name);
  if (found == module_variables_.end()) {
    if (name == "WARP_SZ" || name == "_") return {};
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
