// Fuzzes the reading of PTX: arbitrary text is parsed, its footprint derived, and it is rewritten
// to a persistent kernel, or refused with a reason, in bounded time. A rewritten module can be read
// again, has one entry and known labels, and its parts read no register that only an entry has.
// Besides bytes, lines and names change (ptx_mutations.hpp). ctest runs it for half a minute
// (fuzz.ptx). To run it longer:
//   bin/reprise_fuzz_ptx -max_total_time=3600 -fork=2 FOLDER tests/fuzz/corpus/ptx
// FOLDER receives new inputs. Crashing inputs are written to crash-*; run them again with
// "bin/reprise_fuzz_ptx crash-*".
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "fuzz/ptx_mutations.hpp"
#include "ptx/block_footprint.hpp"
#include "ptx/divergence.hpp"
#include "ptx/persistent_kernel.hpp"

using namespace reprise::detail;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

constexpr std::size_t kMaxBytes = 65'536;
constexpr std::size_t kMaxEntries = 8;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

double cpu_seconds() {
  timespec time{};
  require(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "a clock");
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// An image lacks some variables.
std::optional<std::uint64_t> address_of(std::string_view variable) {
  if (variable.size() % 8 == 7) return std::nullopt;
  return 0x7f00'1234'5600 + variable.size();
}

bool reads_coordinates(const PtxFunction& function) {
  bool is_found = false;
  for (const PtxStatement& statement : function.statements)
    for (const std::string_view operand : statement.operands)
      for_each_ptx_word(operand, [&](std::string_view name) {
        for (const std::string_view other : {"%tid", "%ntid", "%ctaid", "%nctaid"})
          is_found = is_found || name == other;
      });
  return is_found;
}

void check_kernel(const PersistentKernelDesc& desc) {
  const PersistentKernel kernel = make_persistent_kernel(desc);
  require(kernel.parts.size() == desc.parts.size(), "each part is described");
  const PtxModule module(kernel.text);
  require(module.problem().empty(), "the text can be read");
  std::size_t entries = 0;
  for (const PtxFunction& function : module.functions()) {
    require(function.problem.empty(), "functions can be read");
    entries += function.is_entry ? 1 : 0;
    const bool is_part = function.name.starts_with("rp_part");
    require(!is_part || !reads_coordinates(function), "parts do not read coordinates");
    if (!is_part && !function.is_entry) continue;
    const std::string problem = analyse_divergence(function).problem;
    require(problem.empty() || problem.starts_with("has too many"), "labels are known");
  }
  require(entries == 1 && module.find_entry(PersistentKernel::kEntry) != nullptr, "one entry");
}

// Two parameters are addresses, whether or not the entry takes them so.
void derive(const PtxModule& module, const PtxFunction& entry, std::uint32_t choice) {
  const std::array<std::byte, 64> parameters = {std::byte{3}, std::byte{40}};
  const std::array<std::uint32_t, 2> pointers = {0, 8};
  const FootprintLaunch::Range unknown{24, 4};
  const Footprint footprint = derive_footprint(FootprintProgram(module, entry),
                                               {.grid = {1 + choice % 100, 1 + choice % 3, 1},
                                                .block = {32 * (1 + choice % 8), 1, 1},
                                                .parameters = parameters,
                                                .pointers = pointers,
                                                .unknown = {&unknown, 1}});
  require(footprint.pointers.size() == (footprint.problem.empty() ? pointers.size() : 0),
          "each address has a footprint, or there is a reason");
}

void rewrite(const std::string& text, std::uint32_t choice) {
  const PtxModule module(text);
  std::size_t entries = 0;
  for (const PtxFunction& function : module.functions()) {
    if (!function.is_entry || !function.has_body || ++entries > kMaxEntries) continue;
    derive(module, function, choice);
    if (function.problem.empty())
      require(analyse_divergence(function).is_divergent.size() == function.statements.size(),
              "each statement is divergent or not");
    for (const bool has_full_warps : {false, true}) {
      const PersistentPart part{.module = &module,
                                .entry = std::string(function.name),
                                .has_full_warps = has_full_warps,
                                .is_one_dimensional = choice / 4 % 2 == 1,
                                .may_contract = choice % 16 == 15};
      const RewrittenPart rewritten = rewrite_part(part, address_of);
      const RewrittenPart* const parts[] = {&rewritten};
      if (rewritten.problem.empty())
        check_kernel({.parts = parts,
                      .pasted = choice / 8 % 2,
                      .variant = static_cast<PersistentKernelDesc::Variant>(choice % 4)});
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const double start = cpu_seconds();
  rewrite(std::string(reinterpret_cast<const char*>(data), size), static_cast<std::uint32_t>(size));
  require(size > kMaxBytes || cpu_seconds() - start < 30, "64 KiB take seconds");
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  std::mt19937_64 random(seed);
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (std::uint64_t changes = 1 + random() % 4; changes != 0; --changes)
    text = reprise::test::mutate_ptx(text, max_size, random);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
