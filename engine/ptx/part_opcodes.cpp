#include "ptx/part_opcodes.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "ptx/ptx_words.hpp"

namespace reprise::detail {

namespace {

// clang-format off
constexpr std::array<std::string_view, 41> kExcludedOpcodes = {
    // Textures and surfaces.
    "tex", "tld4", "txq", "suq", "suld", "sust", "sured", "istypep",
    // Clusters and grids.
    "barrier.cluster", "mapa", "getctarank", "griddepcontrol", "clusterlaunchcontrol", "multimem",
    // Barriers at which not all arriving threads wait.
    "bar.arrive", "bar.cta.arrive", "barrier.arrive", "barrier.cta.arrive",
    // Asynchronous units and their proxies.
    "cp.async.bulk", "cp.reduce", "cp.async.mbarrier", "st.async", "red.async", "st.bulk", "wgmma",
    "tcgen05", "tensormap", "prefetch.tensormap", "fence.proxy.tensormap", "mbarrier.complete_tx",
    // Constants and parameters, which are in another state space, and cached loads.
    "isspacep.const", "isspacep.param", "prefetch.const", "prefetch.param", "prefetchu", "ldu",
    // Registers, the stack and the debugger.
    "setmaxnreg", "alloca", "stacksave", "stackrestore", "brkpt"};
// clang-format on
constexpr std::array<std::string_view, 4> kExcludedDirectives = {
    ".reqnctapercluster", ".explicitcluster", ".maxclusterrank", ".blocksareclusters"};
constexpr std::array<std::string_view, 4> kSystemFunctions = {"vprintf", "__assertfail", "malloc",
                                                              "free"};
constexpr std::array<std::string_view, 17> kPureOpcodes = {
    "mov", "cvta", "cvt", "add", "sub",  "mul",  "mad", "shl", "shr",
    "and", "or",   "xor", "not", "setp", "selp", "min", "max"};

template <std::size_t Count>
bool starts_with_opcode(std::string_view opcode,
                        const std::array<std::string_view, Count>& opcodes) {
  return std::any_of(opcodes.begin(), opcodes.end(),
                     [&](std::string_view prefix) { return is_ptx_opcode(opcode, prefix); });
}
std::string replace_once(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string_view::npos) return std::string(text);
  return concat(text.substr(0, at), to, text.substr(at + from.size()));
}

}  // namespace

bool is_excluded_opcode(std::string_view opcode) {
  return starts_with_opcode(opcode, kExcludedOpcodes) || has_ptx_modifier(opcode, "::cluster");
}

std::string_view find_excluded_directive(std::string_view directives) {
  for (const std::string_view directive : kExcludedDirectives)
    if (directives.find(directive) != std::string_view::npos) return directive;
  return {};
}

bool is_system_function(std::string_view name) {
  return std::find(kSystemFunctions.begin(), kSystemFunctions.end(), name) !=
         kSystemFunctions.end();
}

bool is_pure_opcode(std::string_view opcode) { return starts_with_opcode(opcode, kPureOpcodes); }

bool is_block_barrier(std::string_view opcode) {
  for (const std::string_view name : {"bar", "bar.cta", "barrier", "barrier.cta"})
    for (const std::string_view kind : {".sync", ".red"})
      if (is_ptx_opcode(opcode, concat(name, kind))) return true;
  return false;
}

bool has_lane_mask(std::string_view opcode) {
  if (is_ptx_opcode(opcode, "match")) return has_ptx_modifier(opcode, ".sync");
  for (const std::string_view name :
       {"shfl.sync", "vote.sync", "redux.sync", "bar.warp.sync", "elect.sync"})
    if (is_ptx_opcode(opcode, name)) return true;
  return false;
}

bool may_be_contracted(std::string_view opcode) {
  constexpr std::array<std::string_view, 3> kOpcodes = {"add", "sub", "mul"};
  if (!starts_with_opcode(opcode, kOpcodes)) return false;
  const std::string_view type = opcode.substr(opcode.rfind('.') + 1);
  if (!type.starts_with('f') && !type.starts_with("bf")) return false;
  for (const std::string_view mode : {".rn", ".rz", ".rm", ".rp"})
    if (has_ptx_modifier(opcode, mode)) return false;
  return true;
}

std::string with_rounding_mode(std::string_view opcode) {
  return replace_once(opcode, ".", ".rn.");
}

std::string with_plain_space(std::string_view opcode) {
  if (is_ptx_opcode(opcode, "ld.global") && has_ptx_modifier(opcode, ".nc"))
    return replace_once(opcode, ".nc", "");
  for (const std::string_view name : {"ld.const", "cvta.const", "cvta.to.const"})
    if (is_ptx_opcode(opcode, name)) return replace_once(opcode, ".const", ".global");
  return std::string(opcode);
}

std::string with_parameter_space(std::string_view opcode, std::string_view space) {
  return replace_once(replace_once(opcode, ".param::entry", ".param"), ".param", space);
}

}  // namespace reprise::detail
