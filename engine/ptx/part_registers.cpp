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

constexpr std::string_view kDynamicSize = "%dynamic_smem_size";

bool is_coordinate(std::string_view name) {
  return std::find(kCoordinateRegisters.begin(), kCoordinateRegisters.end(), name) !=
         kCoordinateRegisters.end();
}
bool is_excluded(std::string_view name) {
  return std::any_of(kExcludedRegisters.begin(), kExcludedRegisters.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// rp_, %rp_ and $RP_ with any number of u before the underscore get one more.
std::string own_name(std::string_view word) {
  std::size_t at = word.starts_with('%') || word.starts_with('$') ? 1 : 0;
  if (!word.substr(at).starts_with("rp") && !word.substr(at).starts_with("RP"))
    return std::string(word);
  at += 2;
  const std::size_t end = word.find_first_not_of('u', at);
  if (end == word.npos || word[end] != '_') return std::string(word);
  return concat(word.substr(0, at), 'u', word.substr(at));
}

}  // namespace

bool is_register_of_parts(std::string_view name) {
  return is_coordinate(name) || name == kDynamicSize || name == "%laneid" ||
         name == "%globaltimer_lo";
}

RewrittenNames rewrite_names(std::string_view text, const PtxFunction& function, PartNeeds& needs) {
  std::string result;
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = is_quoted ? "" : first_ptx_word(text.substr(at));
    if (word.empty()) {
      if (text[at] == '"') is_quoted = !is_quoted;
      result += text[at++];
      continue;
    }
    at += word.size();
    const bool has_component = is_coordinate(word), is_size = word == kDynamicSize;
    if (is_excluded(word)) return {.problem = concat("uses ", word)};
    if (!function.is_entry && (has_component || is_size))
      return {.problem = concat("reads ", word)};
    if (has_component) {
      const std::string_view component = text.substr(at, 2);
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
      result += own_name(word);
    }
  }
  return {.text = std::move(result)};
}

}  // namespace reprise::detail
