// Where ptxas accepts a module and the rewriter a kernel of it, ptxas accepts the persistent
// kernel: for the corpus of the fuzzer and for changes of it, which depend only on the seed.
// REPRISE_MUTATED_PTX=FIRST:COUNT runs other seeds, each with every file.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/ptx_mutations.hpp"
#include "ptx/persistent_kernel.hpp"
#include "support/paths.hpp"
#include "unit/ptx/ptx_kernels.hpp"
#include "unit/ptx/ptxas.hpp"

using namespace reprise::detail;
using namespace reprise::test;

namespace {

struct CorpusFile {
  std::string name, text;
};

std::vector<CorpusFile> read_ptx_corpus() {
  std::vector<CorpusFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(test_file("fuzz/corpus/ptx"))) {
    std::ifstream in(entry.path(), std::ios::binary);
    files.push_back({entry.path().filename().string(), {std::istreambuf_iterator<char>(in), {}}});
  }
  std::sort(files.begin(), files.end(),
            [](const CorpusFile& a, const CorpusFile& b) { return a.name < b.name; });
  return files;
}

struct PtxasCounts {
  std::size_t accepted = 0, rewritten = 0;
};

// All kernels of the module that can be parts, with blocks of full warps and of any shape.
void check_with_ptxas(const Ptxas& ptxas, const std::string& text, PtxasCounts& counts) {
  const PtxModule module(text);
  const auto address_of = [](std::string_view) { return std::optional<std::uint64_t>(4096); };
  std::vector<PersistentPart> parts;
  for (const PtxFunction& function : module.functions())
    for (const bool has_full_warps : {false, true}) {
      const PersistentPart part{.module = &module,
                                .entry = std::string(function.name),
                                .has_full_warps = has_full_warps,
                                .is_one_dimensional = has_full_warps};
      if (function.is_entry && rewrite_part(part, address_of).problem.empty())
        parts.push_back(part);
    }
  if (parts.empty() || !ptxas.accepts(text)) return;
  ++counts.accepted;
  const PersistentKernel kernel =
      make_kernel(parts,
                  {.pasted = static_cast<std::uint32_t>(text.size() % 2),
                   .variant = static_cast<PersistentKernelDesc::Variant>(text.size() % 4)},
                  address_of);
  const bool is_accepted = ptxas.accepts(kernel.text);
  CAPTURE(text);
  CAPTURE(kernel.text);
  CAPTURE(ptxas.messages());
  CHECK(is_accepted);
  ++counts.rewritten;
}

}  // namespace

TEST_CASE("ptxas: it accepts the persistent kernels of the fuzzer's corpus") {
  const Ptxas ptxas;
  if (!ptxas.exists()) {
    MESSAGE("skipped: there is no ptxas");
    return;
  }
  for (const CorpusFile& file : read_ptx_corpus()) {
    CAPTURE(file.name);
    PtxasCounts counts;
    check_with_ptxas(ptxas, file.text, counts);
    CHECK(counts.rewritten == 1);
  }
}

TEST_CASE("ptxas: it accepts the persistent kernels of changed modules that it accepts") {
  const Ptxas ptxas;
  if (!ptxas.exists()) {
    MESSAGE("skipped: there is no ptxas");
    return;
  }
  unsigned long first = 1, count = 3;
  const char* const asked = std::getenv("REPRISE_MUTATED_PTX");
  if (asked != nullptr) REQUIRE(std::sscanf(asked, "%lu:%lu", &first, &count) == 2);
  const std::vector<CorpusFile> files = read_ptx_corpus();
  REQUIRE_FALSE(files.empty());
  PtxasCounts counts;
  for (unsigned long seed = first; seed < first + count; ++seed) {
    for (const CorpusFile& file : files) {
      CAPTURE(seed);
      CAPTURE(file.name);
      std::mt19937_64 random(seed);
      std::string text = file.text;
      for (std::uint64_t changes = 1 + random() % 4; changes != 0; --changes)
        text = mutate_ptx(text, 16'384, random);
      check_with_ptxas(ptxas, text, counts);
    }
  }
  if (asked != nullptr) MESSAGE(counts.accepted, " modules of ", count * files.size());
  CHECK(counts.rewritten > 0);
}
