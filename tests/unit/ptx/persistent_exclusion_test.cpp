// Kernels that cannot be parts of a persistent kernel, and the reasons.
#include "ptx/persistent_kernel.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>

#include "unit/ptx/ptx_kernels.hpp"

using namespace reprise::detail;
using namespace reprise::test;

namespace {

// The reason for which a kernel with this body and full warps is excluded.
std::string exclusion_of(std::string_view body, std::string_view before = "",
                         std::string_view directives = "", bool has_full_warps = true) {
  const PtxModule module(ptx_module_text(std::string(before) + ".entry k(.param .u64 p) " +
                                         std::string(directives) + "{" + std::string(body) + "}"));
  return exclusion_of_part({.module = &module, .entry = "k", .has_full_warps = has_full_warps});
}

}  // namespace

TEST_CASE("persistent kernel: what cannot be a part is named as in the PTX") {
  CHECK(exclusion_of("ret;") == "");
  CHECK(exclusion_of("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}]; ret;") ==
        "uses tex.2d.v4.f32.f32");
  CHECK(exclusion_of("mov.u32 %r1, %cluster_ctarank; ret;") == "uses %cluster_ctarank");
  CHECK(exclusion_of("mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid; ret;") == "reads %tid as a vector");
  CHECK(exclusion_of("cp.async.bulk.shared::cluster.global [%r1], [%rd1], 16; ret;") ==
        "uses cp.async.bulk.shared::cluster.global");
  CHECK(exclusion_of("ld.shared::cluster.u32 %r1, [%r2]; ret;") == "uses ld.shared::cluster.u32");
  CHECK(exclusion_of("griddepcontrol.wait; ret;") == "uses griddepcontrol.wait");
  CHECK(exclusion_of("ret;", "", ".explicitcluster") == "uses .explicitcluster");
  CHECK(exclusion_of("bar.sync %r1; ret;") == "uses bar.sync %r1");
  CHECK(exclusion_of("bar.sync 1, 64; ret;") == "uses bar.sync 1, 64");
  CHECK(exclusion_of("bar.sync 2, 64; ret;") == "");
  CHECK(exclusion_of("bar.cta.arrive 2, 64; ret;") == "uses bar.cta.arrive");
  CHECK(exclusion_of("bar.unknown.sync 0; ret;") == "uses bar.unknown.sync");
  CHECK(exclusion_of("call %rd1, (), proto; ret;") == "makes an indirect call");
  CHECK(exclusion_of("mov.u64 %rd1, q; ret;") == "refers to q");
  CHECK(exclusion_of("st.global.u64 [p], %rd1; ret;") == "uses p in st.global.u64");
  CHECK(exclusion_of(".shared .align 1024 .b8 s[8]; ret;") == "aligns s to 1024 bytes");
  CHECK(exclusion_of("add.s32 %r1, %r1 ret").starts_with("unreadable statement: add.s32"));
  const PtxModule module(ptx_module_text(".entry k(.param .texref t) { ret; }"));
  CHECK(exclusion_of_part({.module = &module, .entry = "k"}) ==
        "unreadable parameter: .param .texref t");
  CHECK(exclusion_of_part({.module = &module, .entry = "l"}) == "no entry l");
}

TEST_CASE("persistent kernel: barriers other than bar.sync 0 have to be in uniform flow") {
  const std::string is_first = "mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0; ";
  CHECK(exclusion_of(is_first + "@%p1 bar.sync 0; ret;") == "");
  CHECK(exclusion_of(is_first + "@%p1 bar.cta.red.or.pred %p2, 0, %p3; ret;") ==
        "bar.cta.red.or.pred in divergent flow");
  CHECK(exclusion_of(is_first + "@%p1 bra A; bar.red.popc.u32 %r1, 0, %p2; A: ret;") ==
        "bar.red.popc.u32 in divergent flow");
  CHECK(exclusion_of(is_first + "@%p1 bra A; bar.sync 2, 64; A: ret;") ==
        "bar.sync 2, 64 in divergent flow");
  CHECK(exclusion_of("bar.red.popc.u32 %r1, 0, %p2; ret;") == "");
  CHECK(exclusion_of("bar.red.popc.u32 %r1, 0, %p2; ret;", "", "", false) ==
        "bar.red.popc.u32 with partial warps");
}

TEST_CASE("persistent kernel: a function may not depend on the thread or synchronise") {
  const std::string call = "call f, (); ret;";
  const auto calling = [&](const std::string& body) {
    return exclusion_of(call, ".func f() {" + body + "}");
  };
  CHECK(calling("ret;") == "");
  CHECK(calling("mov.u32 %r1, %tid.x; ret;") == "function f reads %tid");
  CHECK(calling("bar.sync 0; ret;") == "function f uses bar.sync");
  CHECK(calling("shfl.sync.idx.b32 %r1, %r1, 0, 31, -1; ret;") ==
        "function f uses shfl.sync.idx.b32");
  CHECK(calling("exit;") == "function f uses exit");
  CHECK(calling("mov.u32 %r1, %gridid; ret;") == "function f uses %gridid");
  CHECK(exclusion_of(call,
                     ".func g() { mov.u32 %r1, %ntid.x; ret; } .func f() { call g, (); ret; }") ==
        "function g reads %ntid");
  CHECK(exclusion_of(call, ".extern .func f();") == "function f has no definition");
  CHECK(calling("cp.async.wait_all; ret;") == "function f uses cp.async.wait_all");
  CHECK(exclusion_of(".param .b64 a; .param .b64 b; call vprintf, (a, b); ret;",
                     ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);") == "");
  CHECK(exclusion_of("call %f, (); ret;", ".func %f() { ret; }") ==
        "function %f has a name that starts with %, which a prefix cannot precede");
  // A register or a parameter of a call hides a function.
  CHECK(exclusion_of("{ .reg .b64 f; P: .branchtargets P; call f, (), P; } ret;",
                     ".func f() { ret; }") == "makes an indirect call");
}

TEST_CASE("persistent kernel: a name that means a variable means nothing else in the kernel") {
  constexpr std::string_view kVariable = ".global .b32 g[4]; .const .b32 c;";
  CHECK(exclusion_of("{ .reg .b64 p; mov.u64 p, 5; mov.u64 %rd1, p; } ret;") == "declares p twice");
  CHECK(exclusion_of("{ .reg .pred q, p; } ret;") == "declares p twice");
  CHECK(exclusion_of("{ p: } ret;") == "declares p twice");
  CHECK(exclusion_of("{ .shared .b32 s; } { .shared .b32 s[2]; } ret;") == "declares s twice");
  CHECK(exclusion_of("{ .shared .b32 s; } mov.u32 %r1, s; ret;", ".shared .b32 s[4];") ==
        "declares s twice");
  CHECK(exclusion_of(".local .b32 s1; { .reg .b32 s<2>; } ret;") == "declares s1 twice");
  CHECK(exclusion_of(".local .b32 s1; { .reg .b32 s<1>; } ret;") == "");
  CHECK(exclusion_of(".local .b32 s8; { .reg .b32 s<010>; } ret;") == "");
  CHECK(exclusion_of(".local .b32 s7; { .reg .b32 s<010>; } ret;") == "declares s7 twice");
  CHECK(exclusion_of("{ .reg .b64 g; } mov.u64 %rd1, g; ret;", kVariable) == "declares g twice");
  CHECK(exclusion_of("{ .reg .b64 g; } ret;", kVariable) == "");
  CHECK(exclusion_of("{ .reg .b32 c<2>; mov.u32 c1, 5; } ld.const.u32 %r1, [c]; ret;", kVariable) ==
        "");
  CHECK(exclusion_of("{ .reg .b32 s; } mov.u32 %r1, s; ret;", ".shared .b32 s;") ==
        "declares s twice");
}

TEST_CASE("persistent kernel: what a part cannot declare or name is refused") {
  CHECK(exclusion_of("{ .reg .v4 .b32 %tid; mov.u32 %r1, %tid.x; } ret;") == "declares %tid");
  CHECK(exclusion_of("{ .reg .b32 %laneid; } ret;") == "declares %laneid");
  CHECK(exclusion_of("{ .reg .b32 %globaltimer_lo, %r; } ret;") == "declares %globaltimer_lo");
  CHECK(exclusion_of(".reg .b32 %r<x>; ret;") == "declares .reg .b32 %r<x>");
  CHECK(exclusion_of(".align 8 .shared .b32 s; ret;") == "declares .align 8 .shared .b32 s");
  CHECK(exclusion_of(".global .b32 s; ret;") == "declares .global .b32 s");
  CHECK(exclusion_of(".pragma \"enable_smem_spilling\"; ret;") ==
        "declares .pragma \"enable_smem_spilling\"");
  CHECK(exclusion_of("mov.u32 %r1, s; ret;", ".extern .shared .b32 s;") ==
        "uses s, which its module only declares");
  // Two names of one register, for the analysis of divergence.
  CHECK(exclusion_of(".reg .b32 %r<9>; mov.u32 %r07, %tid.x; ret;") == "uses %r07");
  CHECK(exclusion_of(".reg .pred %p<9>; @!%p01 ret; ret;") == "uses %p01");
  CHECK(exclusion_of(".reg .b32 %r07, %r<2>0; mov.u32 %r10, 1; ret;") == "");
  // ptxas accepts 32-bit addresses of constants, but none of global memory.
  CHECK(exclusion_of(".reg .b32 %r<4>; ld.const.u32 %r1, [%r2+4]; ret;") ==
        "uses a 32-bit address in ld.const.u32");
  CHECK(exclusion_of(".reg .b64 %r<4>; ld.const.u32 %r1, [%r2+4]; ret;") == "");
  CHECK(exclusion_of("{ .reg .b64 q; } { .param .b64 q; ld.param.u64 %rd1, [q]; } ret;") ==
        "uses q in ld.param.u64");
  CHECK(exclusion_of("mov.u16 %h1, s; ret;", ".shared .b32 s;") == "uses s in mov.u16");
  CHECK(exclusion_of("mov.b64 {%r1, %r2}, s; ret;", ".shared .b32 s;") == "uses s in mov.b64");
  CHECK(exclusion_of("shfl.sync.idx.b32 %r1, s, 0, 31, -1; ret;", ".shared .b32 s;", "", false) ==
        "uses s in shfl.sync.idx.b32");
  CHECK(exclusion_of("call f, (s); ret;", ".shared .b32 s; .func f(.reg .b32 a) { ret; }") ==
        "uses s in call");
}

TEST_CASE("persistent kernel: a kernel that its compiler may contract is no part") {
  const std::string before = ".func f() { sub.f64 %d1, %d1, %d2; ret; }";
  const auto exclusion = [&](std::string_view body, bool may_contract) {
    const PtxModule module(
        ptx_module_text(before + ".entry k(.param .u64 p) {" + std::string(body) + "}"));
    return exclusion_of_part({.module = &module, .entry = "k", .may_contract = may_contract});
  };
  CHECK(exclusion("mul.f16x2 %r1, %r2, %r3; ret;", false) == "");
  CHECK(exclusion("mul.f16x2 %r1, %r2, %r3; ret;", true) ==
        "uses mul.f16x2, which -fmad=true allows nvcc to contract");
  CHECK(exclusion("call f, (); ret;", false) == "");
  CHECK(exclusion("call f, (); ret;", true) ==
        "function f uses sub.f64, which -fmad=true allows nvcc to contract");
  CHECK(exclusion("add.rn.f32 %f1, %f2, %f3; fma.rn.f32 %f1, %f1, %f2, %f3; ret;", true) == "");
  CHECK(exclusion("add.s32 %r1, %r2, %r3; ret;", true) == "");
}

TEST_CASE("persistent kernel: a kernel with a variable that its image does not have is no part") {
  const PtxModule module(
      ptx_module_text(".global .align 4 .b8 kept[16]; .global .align 4 .b8 gone[16]; .const .align "
                      "4 .b8 fixed[4];\n"
                      ".func f() { ld.const.f32 %f1, [fixed]; ret; }\n"
                      ".entry a() { mov.u64 %rd1, kept; ret; }\n"
                      ".entry b() { mov.u64 %rd1, kept; mov.u64 %rd1, gone; ret; }\n"
                      ".entry c() { ld.global.u32 %r1, [gone+4]; ret; }\n"
                      ".entry d() { call f, (); ret; }"));
  const VariableAddress address_of = [](std::string_view variable) -> std::optional<std::uint64_t> {
    if (variable != "kept") return std::nullopt;
    return kPtxAddress;
  };
  const auto exclusion = [&](const std::string& entry) {
    return rewrite_part({.module = &module, .entry = entry}, address_of).problem;
  };
  CHECK(exclusion("a") == "");
  CHECK(exclusion("b") == "uses gone, which its image does not have");
  CHECK(exclusion("c") == "uses gone, which its image does not have");
  CHECK(exclusion("d") == "function f uses fixed, which its image does not have");
}

TEST_CASE("persistent kernel: what is no number is no offset") {
  for (const std::string offset : {"08", "0x", "1u", "18446744073709551617", "4294967296", "4*2"})
    CHECK(exclusion_of("ld.param.u32 %r1, [p+" + offset + "]; ret;") == "uses p in ld.param.u32");
}
