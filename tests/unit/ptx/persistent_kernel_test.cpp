#include "ptx/persistent_kernel.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ptx_words.hpp"
#include "support/contains.hpp"
#include "unit/ptx/ptx_kernels.hpp"
#include "unit/ptx/ptxas.hpp"

using namespace reprise::detail;
using namespace reprise::test;

namespace {

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// All kernels of a module that can be parts, with blocks of any shape or of full warps.
std::vector<PersistentPart> ptx_parts(const PtxModule& module, bool has_full_warps,
                                      bool is_one_dimensional) {
  std::vector<PersistentPart> parts;
  for (const PtxFunction& function : module.functions()) {
    const PersistentPart part{.module = &module,
                              .entry = std::string(function.name),
                              .has_full_warps = has_full_warps,
                              .is_one_dimensional = is_one_dimensional};
    if (function.is_entry && exclusion_of_part(part).empty()) parts.push_back(part);
  }
  return parts;
}

}  // namespace

TEST_CASE("persistent kernel: names of kernels never meet generated names") {
  // Each register, label, parameter and function gets a name that starts like a generated one.
  const auto renamed = [](std::string_view text, std::string_view stem) {
    std::string result;
    while (!text.empty()) {
      const std::string_view word = first_ptx_word(text);
      const bool is_register = word.starts_with('%') && !word.starts_with("%rp_") &&
                               !word.starts_with("%laneid") && !word.ends_with("tid") &&
                               !word.ends_with("ctaid") && word != "%dynamic_smem_size";
      const bool is_label = word.starts_with('$') && !word.starts_with("$RP_");
      if (is_register) {
        result.append("%rp").append(stem).append(word.substr(1));
      } else if (is_label) {
        result.append("$RP").append(stem).append(word.substr(1));
      } else if (word == "param0" || word == "retval0") {
        result.append("rp").append(stem).append(word);
      } else if (word.empty()) {
        result += text.front();
      } else {
        result += word;
      }
      text.remove_prefix(std::max<std::size_t>(1, word.size()));
    }
    return result;
  };
  const auto parts_text = [](const PtxModule& module) {
    const std::vector<PersistentPart> parts = ptx_parts(module, true, false);
    const std::string text = make_kernel(parts, {.pasted = 0}).text;
    const std::size_t first = text.find(".func rp_part0");
    return text.substr(first, text.find(".visible .entry") - first);
  };
  const std::string text = ptx_module_text(kPtxKernels);
  const PtxModule plain(text), once(renamed(text, "_")), twice(renamed(text, "uu_"));
  REQUIRE(count_of(parts_text(plain), ".func rp_part") == 10);
  CHECK(parts_text(once) == renamed(parts_text(plain), "u_"));
  CHECK(parts_text(twice) == renamed(parts_text(plain), "uuu_"));

  const PtxModule module(ptx_module_text(
      ".func (.param .b32 rp_a) rp_barrier(.param .b32 rp_base) { st.param.b32 [rp_a], 1; ret; }"
      ".entry k() { .shared .b32 rp_depot; { .reg .b32 %rp_base; $RP_RETURN: mov.u32 %rp_base, 64;"
      "st.shared.u32 [rp_depot+4], %rp_base; @!%rp_p bra $RP_RETURN; }"
      "{ .param .b32 rp_a; .param .b32 rp_b; call (rp_a), rp_barrier, (rp_b); }"
      ".pragma \"nounroll rp_a\"; ret; }"));
  const std::vector<PersistentPart> parts{{.module = &module, .entry = "k"}};
  REQUIRE(exclusion_of_part(parts[0]).empty());
  const std::string kernel = make_kernel(parts).text;
  for (const std::string_view line :
       {".reg .b32 %rpu_base;", "$RPu_RETURN:", "mov.u32 %rpu_base, 64;",
        "st.shared.u32 [%rp_base+12804], %rpu_base;", "@!%rpu_p bra $RPu_RETURN;",
        "call (rpu_a), rp_m0_rp_barrier, (rpu_b);", ".pragma \"nounroll rp_a\";",
        ".func (.param .b32 rpu_a) rp_m0_rp_barrier(.param .b32 rpu_base)"}) {
    CAPTURE(line);
    CHECK(contains(kernel, line));
  }
}

TEST_CASE("persistent kernel: offsets and extents are numbers of any base") {
  const auto lines = [](const std::string& body) {
    const PtxModule module(
        ptx_module_text(".entry k(.param .u64 p, .param .u32 n) { .shared .align 4 .b8 a[4]; "
                        ".shared .align 020 .b8 s[0x40]; .shared .b8 e[1]; " +
                        body + " ret; }"));
    const std::vector<PersistentPart> parts{{.module = &module, .entry = "k"}};
    CHECK(exclusion_of_part(parts[0]) == "");
    return make_kernel(parts).text;
  };
  for (const std::string offset : {"010", "8", "0x8", "0b1000U", "12-04", "-010+0x10"})
    CHECK(contains(lines("ld.param.u32 %r1, [p+" + offset + "];"),
                   "ld.shared.u32 %r1, [%rp_rec+104];"));
  const std::string text = lines("st.shared.b8 [s+077], %h1; st.shared.b8 [e], %h1;");
  CHECK(contains(text, "[%rp_base+" + std::to_string(12'800 + 16 + 63) + "]"));
  CHECK(contains(text, "[%rp_base+" + std::to_string(12'800 + 16 + 64) + "]"));
}

TEST_CASE("persistent kernel: arithmetic without a rounding mode gets one, so none is contracted") {
  const auto rewritten = [](const std::string& opcode) {
    const PtxModule module(ptx_module_text(".entry k() { " + opcode + " %u, %v, %w; ret; }"));
    const std::vector<PersistentPart> parts{{.module = &module, .entry = "k"}};
    const std::string text = make_kernel(parts).text;
    const std::size_t end = text.find(" %u, %v, %w;");
    REQUIRE(end != std::string::npos);
    return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end) - 1);
  };
  for (const std::string operation : {"add", "sub", "mul"}) {
    for (const std::string type :
         {".f16", ".ftz.f16", ".sat.f16x2", ".ftz.sat.f16x2", ".bf16", ".bf16x2", ".f32",
          ".ftz.sat.f32", ".f32x2", ".ftz.f32x2", ".sat.f32.f16", ".f32.bf16", ".f64"}) {
      CHECK(rewritten(operation + type) == operation + ".rn" + type);
      for (const std::string mode : {".rn", ".rz", ".rm", ".rp"})
        CHECK(rewritten(operation + mode + type) == operation + mode + type);
    }
  }
  for (const std::string opcode :
       {"add.s32", "add.sat.s32", "add.cc.u32", "addc.u32", "add.u16x2", "sub.u64", "mul.lo.s32",
        "mul.wide.u16", "mul24.lo.u32", "min.f32", "max.ftz.f16x2", "fma.rn.f32", "div.full.f32",
        "div.approx.ftz.f32", "atom.add.f32", "copysign.f32"})
    CHECK(rewritten(opcode) == opcode);
}

TEST_CASE("persistent kernel: a part sets the condition of a loop in memory") {
  const PtxModule module(ptx_module_text(
      ".extern .func cudaGraphSetConditional(.param .b64 a, .param .b32 b);\n"
      ".entry k(.param .u64 p) { .reg .b64 %rd1; .reg .b32 %r1; .param .b64 param0; "
      ".param .b32 param1; ld.param.u64 %rd1, [p]; mov.u32 %r1, 1; st.param.b64 [param0], %rd1; "
      "st.param.b32 [param1], %r1; call.uni cudaGraphSetConditional, (param0, param1); ret; }"));
  const std::vector<PersistentPart> parts{{.module = &module, .entry = "k"}};
  REQUIRE(exclusion_of_part(parts[0]).empty());
  const std::string text = make_kernel(parts).text;
  CHECK(contains(text, "call.uni rp_set_condition, (param0, param1);"));
  CHECK(count_of(text, "cudaGraphSetConditional") == 0);
}

TEST_CASE("persistent kernel: the text has one entry and nothing that only an entry has") {
  const PtxModule module(ptx_module_text(kPtxKernels));
  for (const bool has_full_warps : {false, true}) {
    const std::vector<PersistentPart> parts = ptx_parts(module, has_full_warps, has_full_warps);
    REQUIRE(parts.size() == (has_full_warps ? 10 : 9));  // counted needs full warps
    for (const std::uint32_t pasted : {0u, 3u, 100u}) {
      const PersistentKernel kernel = make_kernel(parts, {.pasted = pasted});
      CHECK(kernel.parts.size() == parts.size());
      CHECK(kernel.text.starts_with(".version 9.0\n.target sm_90\n"));
      CHECK(count_of(kernel.text, ".entry ") == 1);
      CHECK(count_of(kernel.text, ".entry reprise_segment(") == 1);
      CHECK(count_of(kernel.text, "%tid") == 1);
      CHECK(count_of(kernel.text, "%ntid") == 0);
      CHECK(count_of(kernel.text, "%ctaid") == 1);
      CHECK(count_of(kernel.text, "%dynamic_smem_size") == 0);
      CHECK(count_of(kernel.text, "ld.global.nc") == 0);
      CHECK(count_of(kernel.text, "ld.const") == 0);
      CHECK(count_of(kernel.text, "exit;") == 0);
      CHECK(count_of(kernel.text, "%globaltimer") == 0);
      // One for each function, with those that are parts, and one of the entry.
      CHECK(count_of(kernel.text, "\nret;\n") ==
            4 + 1 + (parts.size() - std::min<std::size_t>(pasted, parts.size())) + 1);
      CHECK(count_of(kernel.text, "bra $RP_RETURN;") >= parts.size());
      CHECK(count_of(kernel.text, "rp_m0_twice") == 3);  // declared, defined and called
    }
  }
}

TEST_CASE("persistent kernel: a part's description follows from its text") {
  const PtxModule module(ptx_module_text(kPtxKernels));
  const std::vector<PersistentPart> parts = ptx_parts(module, true, true);
  const PersistentKernel kernel = make_kernel(parts);
  const auto part = [&](std::string_view name) {
    const auto found =
        std::find_if(parts.begin(), parts.end(),
                     [&](const PersistentPart& candidate) { return candidate.entry == name; });
    REQUIRE(found != parts.end());
    return kernel.parts[static_cast<std::size_t>(found - parts.begin())];
  };
  CHECK(kernel.shared_base == 12'800);
  CHECK(part("reverse").static_shared_bytes == 256);
  CHECK(part("reverse").uses_shared);
  CHECK(part("reverse").has_barriers);
  CHECK_FALSE(part("reverse").ends_together);
  CHECK(part("early").parameter_bytes == 12);
  CHECK(part("early").has_inline_parameters);
  CHECK(part("early").ends_together);
  CHECK_FALSE(part("shuffled").uses_shared);
  CHECK_FALSE(part("shuffled").has_barriers);
  CHECK(part("large").parameter_bytes == 204);
  CHECK_FALSE(part("large").has_inline_parameters);
  CHECK(part("dynamic_shared").static_shared_bytes == 32);  // rounded up: dynamic memory follows
  CHECK(contains(kernel.text, "add.s32 %r4, %rp_base, 12832;"));
  CHECK(contains(kernel.text, "st.shared.u32 [%rp_base+12816], %r2;"));
  CHECK(contains(kernel.text, "ld.global.L1::no_allocate.u32 %r2, [%rd6];"));
  CHECK(contains(kernel.text, "mov.u64 %rd3, " + std::to_string(kPtxAddress + 4) + ";"));
  CHECK(contains(kernel.text, "mov.u64 %rp_s1, " + std::to_string(kPtxAddress + 5 + 4) +
                                  "; \nld.global.f32 %f1, [%rp_s1];"));
}

TEST_CASE("persistent kernel: each spelling of a barrier is one of the part's threads") {
  for (const std::string opcode :
       {"bar.sync", "bar.cta.sync", "barrier.sync", "barrier.sync.aligned", "barrier.cta.sync"}) {
    const PtxModule module(ptx_module_text(".entry k() { " + opcode + " 0; ret; }"));
    const std::vector<PersistentPart> parts{
        {.module = &module, .entry = "k", .has_full_warps = true}};
    CHECK(contains(make_kernel(parts).text, "\n" + opcode + " 1, %rp_count;\n"));
  }
}

TEST_CASE("persistent kernel: barriers and masks depend on flow and on the shape of blocks") {
  const PtxModule module(ptx_module_text(kPtxKernels));
  const auto text_of = [&](const std::string& entry, bool has_full_warps) {
    const std::vector<PersistentPart> parts{
        {.module = &module, .entry = entry, .has_full_warps = has_full_warps}};
    const std::string text = make_kernel(parts, {.pasted = 0}).text;
    const std::size_t first = text.find(".func rp_part0");
    return text.substr(first, text.find("\n}\n", first) - first);
  };
  CHECK(contains(text_of("reverse", true), "bar.sync 1, %rp_count;"));
  CHECK(count_of(text_of("reverse", true), "rp_barrier") == 0);
  CHECK(count_of(text_of("reverse", false), "rp_barrier") == 2);
  CHECK(count_of(text_of("early", true), "rp_barrier") == 2);
  CHECK(count_of(text_of("counted", true), "bar.red.popc.u32 %r3, 1, %rp_count, %p1;") == 1);
  CHECK(count_of(text_of("shuffled", true), "rp_arrive") == 1);
  CHECK(count_of(text_of("shuffled", true), "%rp_present,") == 1);  // only declared
  CHECK(count_of(text_of("shuffled", false), "and.b32 %rp_m, %rp_m, %rp_present;") == 1);
}

TEST_CASE("persistent kernel: parameters and coordinates precede the barrier between parts") {
  const PtxModule module(ptx_module_text(kPtxKernels));
  const std::vector<PersistentPart> parts{
      {.module = &module, .entry = "reverse", .has_full_warps = true, .is_one_dimensional = true}};
  const std::string text = make_kernel(parts, {.pasted = 1}).text;
  const std::size_t part = text.find("$RP_PART0:"),
                    barrier = text.find("@%rp_sync bar.sync 0;", part);
  const std::size_t parameter = text.find("ld.shared.u64 %rd1, [%rp_rec+96];", part);
  REQUIRE(barrier != std::string::npos);
  CHECK(parameter < barrier);
  CHECK(text.find("add.s64 %rd4, %rd2, %rd3;", part) < barrier);
  CHECK(text.find("ld.global.f32 %f1, [%rd4];", part) > barrier);
}

TEST_CASE("persistent kernel: an index after the last part does nothing") {
  const PtxModule module(ptx_module_text(".entry k() { ret; }"));
  for (const std::size_t count : {0u, 1u, 3u, 4u, 1'023u, 1'024u}) {
    CAPTURE(count);
    const std::vector<PersistentPart> parts(count, {.module = &module, .entry = "k"});
    const std::string text = make_kernel(parts).text;
    CHECK(count_of(text, "$RP_NOOP:") == (count < 1'024 ? 1 : 0));
    CHECK(count_of(text, ".branchtargets") == (count > 3 ? 1 : 0));
    CHECK(count_of(text, ", $RP_NOOP;") == (count > 3 && count < 1'024 ? 1 : 0));
  }
}

TEST_CASE("persistent kernel: the highest version and target of the modules apply") {
  const PtxModule old(".version 7.8\n.target sm_80\n.address_size 64\n.entry k() { ret; }");
  const PtxModule recent(
      ".version 8.10\n.target sm_90a, debug\n.address_size 64\n.entry k() { ret; }");
  const std::vector<PersistentPart> parts{{.module = &recent, .entry = "k"},
                                          {.module = &old, .entry = "k"}};
  CHECK(make_kernel(parts).text.starts_with(".version 8.10\n.target sm_90a\n"));
}

TEST_CASE("persistent kernel: ptxas accepts it") {
  const Ptxas ptxas;
  if (!ptxas.exists()) {
    MESSAGE("skipped: there is no ptxas");
    return;
  }
  constexpr std::string_view kArithmetic =
      ".entry arithmetic() { .reg .b16 %h<3>; .reg .b32 %r<3>; .reg .f32 %f<3>; .reg .f64 %d<3>; "
      "add.f16 %h1, %h1, %h2; sub.ftz.sat.f16 %h1, %h1, %h2; mul.bf16 %h1, %h1, %h2; "
      "add.bf16x2 %r1, %r1, %r2; sub.f16x2 %r1, %r1, %r2; mul.ftz.sat.f16x2 %r1, %r1, %r2; "
      "add.ftz.sat.f32 %f1, %f1, %f2; mul.f32 %f1, %f1, %f2; sub.f64 %d1, %d1, %d2; ret; }";
  const PtxModule module(ptx_module_text(kPtxKernels)),
      other(ptx_module_text(std::string(kPtxKernels).append(kArithmetic)));
  using Variant = PersistentKernelDesc::Variant;
  for (const Variant variant : {Variant::Plain, Variant::Timed, Variant::Marked, Variant::Loop}) {
    for (const std::uint32_t pasted : {0u, 3u, 100u}) {
      CAPTURE(static_cast<int>(variant));
      CAPTURE(pasted);
      std::vector<PersistentPart> parts = ptx_parts(module, true, true);
      for (const PersistentPart& part : ptx_parts(other, true, false)) parts.push_back(part);
      for (const PersistentPart& part : ptx_parts(module, false, false)) parts.push_back(part);
      const PersistentKernel kernel = make_kernel(parts, {.pasted = pasted, .variant = variant});
      // It waits, runs and has ended.
      CHECK(count_of(kernel.text, "[%rp_mark], {") == (variant == Variant::Marked ? 3 : 0));
      CHECK(contains(kernel.text, "mul.rn.ftz.sat.f16x2 %r1, %r1, %r2;"));
      const bool is_accepted = ptxas.accepts(kernel.text);
      CAPTURE(ptxas.messages());
      CHECK(is_accepted);
    }
  }
}

TEST_CASE("persistent kernel: a register is an address of a parameter whatever its name is") {
  const PtxModule module(
      ptx_module_text(".entry k(.param .u64 p) { .reg .b64 q; .param .b64 %call; mov.b64 q, p; "
                      "ld.param.u64 %rd1, [q]; ld.param.u64 %rd2, [%call]; ret; }"));
  const std::vector<PersistentPart> parts{{.module = &module, .entry = "k"}};
  REQUIRE(exclusion_of_part(parts[0]).empty());
  const std::string text = make_kernel(parts).text;
  CHECK(contains(text, "ld.shared.u64 %rd1, [q];"));
  CHECK(contains(text, "ld.param.u64 %rd2, [%call];"));
}

TEST_CASE("persistent kernel: an address of a parameter is one of the record") {
  const PtxModule module(ptx_module_text(
      ".entry k(.param .u64 p) { .reg .b64 %rd<4>; mov.b64 %rd1, p; "
      "cvta.param::entry.u64 %rd2, %rd1; ld.u64 %rd3, [%rd2]; st.global.u64 [%rd3], %rd3; ret; }"));
  const std::vector<PersistentPart> parts{{.module = &module, .entry = "k"}};
  REQUIRE(exclusion_of_part(parts[0]).empty());
  const std::string text = make_kernel(parts).text;
  CHECK(contains(text, "cvta.shared.u64 %rd2, %rd1;"));
  CHECK_FALSE(contains(text, "::entry"));
}
