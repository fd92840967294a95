#include "ptx/part_registers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "ptx/ptx_words.hpp"

namespace reprise::detail {

namespace {

// Prefixes of registers whose value is another one in a part.
constexpr std::array<std::string_view, 9> kExcludedRegisters = {
    "%cluster",       "%nclusterid",      "%is_explicit_cluster",
    "%envreg",        "%gridid",          "%current_graph_exec",
    "%reserved_smem", "%total_smem_size", "%aggr_smem_size"};
constexpr std::array<std::string_view, 4> kCoordinateRegisters = {"%tid", "%ntid", "%ctaid",
                                                                  "%nctaid"};

bool is_coordinate(std::string_view name) {
  return std::find(kCoordinateRegisters.begin(), kCoordinateRegisters.end(), name) !=
         kCoordinateRegisters.end();
}
bool is_excluded(std::string_view name) {
  return std::any_of(kExcludedRegisters.begin(), kExcludedRegisters.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

ReplacedRegisters replace_registers(std::string_view operand, const PtxFunction& function,
                                    PartNeeds& needs) {
  std::string result;
  for (std::size_t at = 0; at < operand.size();) {
    const std::string_view word = first_ptx_word(operand.substr(at));
    if (word.empty()) {
      result += operand[at++];
      continue;
    }
    at += word.size();
    const bool has_component = is_coordinate(word), is_size = word == "%dynamic_smem_size";
    if (is_excluded(word)) return {.problem = concat("uses ", word)};
    if (!function.is_entry && (has_component || is_size))
      return {.problem = concat("reads ", word)};
    if (has_component) {
      const std::string_view component = operand.substr(at, 2);
      if (component != ".x" && component != ".y" && component != ".z")
        return {.problem = concat("reads ", word, " as a vector")};
      at += component.size();
      const std::string name = concat(word.substr(1), component[1]);
      needs.registers.insert(name);
      result += concat("%rp_", name);
    } else if (is_size) {
      needs.reads_dynamic_size = true;
      result += "%rp_dynamic";
    } else {
      result += word;
    }
  }
  return {.operand = std::move(result)};
}

}  // namespace reprise::detail
