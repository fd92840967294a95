#include "ptx/divergence.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "unit/ptx/ptx_kernels.hpp"

using namespace reprise::detail;
using namespace reprise::test;

namespace {

// Whether the first instruction `opcode` of an entry with this body is in divergent flow. Its
// parameter n is in %r1, the thread in %r2, the block in %r3.
bool is_in_divergent_flow(std::string_view opcode, std::string_view body) {
  const PtxModule module(
      ptx_module_text(".entry k(.param .u32 n) { ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
                      "mov.u32 %r3, %ctaid.x;\n" +
                      std::string(body) + "}"));
  const PtxFunction* entry = module.find_entry("k");
  REQUIRE(entry != nullptr);
  REQUIRE(entry->problem == "");
  const DivergenceAnalysis analysis = analyse_divergence(*entry);
  REQUIRE(analysis.problem == "");
  for (std::size_t i = 0; i < entry->statements.size(); ++i)
    if (entry->statements[i].opcode == opcode) return analysis.is_divergent[i];
  FAIL("no such instruction");
  return false;
}
bool is_barrier_divergent(std::string_view body) { return is_in_divergent_flow("bar.sync", body); }

}  // namespace

TEST_CASE("divergence: a loop whose count is a parameter or a block's is uniform") {
  for (const std::string bound : {"%r1", "%r3", "7"}) {
    CAPTURE(bound);
    CHECK_FALSE(
        is_barrier_divergent("mov.u32 %r4, 0; $A: bar.sync 0; add.s32 %r4, %r4, 1;"
                             "setp.lt.s32 %p1, %r4, " +
                             bound + "; @%p1 bra $A; ret;"));
  }
  CHECK(
      is_barrier_divergent("mov.u32 %r4, 0; $A: bar.sync 0; add.s32 %r4, %r4, 1;"
                           "setp.lt.s32 %p1, %r4, %r2; @%p1 bra $A; ret;"));
}

TEST_CASE("divergence: a barrier under a condition on the thread is divergent, one after it not") {
  CHECK(is_barrier_divergent("setp.eq.u32 %p1, %r2, 0; @%p1 bra $A; bar.sync 0; $A: ret;"));
  CHECK(is_barrier_divergent("setp.eq.u32 %p1, %r2, 0; @%p1 bar.sync 0; ret;"));
  CHECK_FALSE(is_barrier_divergent(
      "setp.eq.u32 %p1, %r2, 0; @%p1 bra $A; st.global.u32 [%rd1], 0; $A: bar.sync 0; ret;"));
  CHECK_FALSE(is_barrier_divergent("setp.eq.u32 %p1, %r1, 0; @%p1 bra $A; bar.sync 0; $A: ret;"));
}

TEST_CASE("divergence: everything after an early return of some threads is divergent") {
  CHECK(is_barrier_divergent("setp.eq.u32 %p1, %r2, 0; @%p1 bra $A; bar.sync 0; bra $A; $A: ret;"));
  CHECK(is_barrier_divergent("setp.eq.u32 %p1, %r2, 0; @%p1 ret; bar.sync 0; ret;"));
  CHECK(is_barrier_divergent("setp.eq.u32 %p1, %r2, 0; @%p1 exit; bar.sync 0; ret;"));
  CHECK_FALSE(is_barrier_divergent("setp.eq.u32 %p1, %r3, 0; @%p1 ret; bar.sync 0; ret;"));
}

TEST_CASE("divergence: what memory, atomics and functions return is divergent") {
  for (const std::string source :
       {"ld.global.u32 %r4, [%rd1];", "atom.global.add.u32 %r4, [%rd1], 1;",
        "ld.shared.u32 %r4, [s];", "ld.param.u32 %r4, [retval0+0];", "mov.u32 %r4, %laneid;",
        "shfl.sync.idx.b32 %r4|%p2, %r1, 0, 31, -1;", "mad.lo.s32 %r4, %r3, %r1, %r2;",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r1;",
        "add.cc.u32 %r5, %r2, %r1; addc.u32 %r4, 0, 0;",
        "mad.lo.cc.u32 %r5, %r2, 9, %r1; addc.cc.u32 %r6, 0, 0; madc.hi.u32 %r4, %r1, 1, 0;"}) {
    CAPTURE(source);
    CHECK(is_barrier_divergent(source +
                               "setp.eq.u32 %p1, %r4, 0; @%p1 bra $A; bar.sync 0; $A: ret;"));
  }
  // All threads get the same result of a reduction of the block, and the same parameters.
  for (const std::string source :
       {"bar.red.popc.u32 %r4, 0, %p3;", "bar.cta.red.popc.u32 %r4, 0, %p3;",
        "add.cc.u32 %r5, %r3, %r1; addc.u32 %r4, %r5, 0;",
        "mov.b64 %rd2, n; ld.param.u32 %r4, [%rd2];", "mad.lo.s32 %r4, %r3, %ntid.x, %r1;"}) {
    CAPTURE(source);
    CHECK_FALSE(is_barrier_divergent(source +
                                     "setp.eq.u32 %p1, %r4, 0; @%p1 bra $A; bar.sync 0; $A: ret;"));
  }
}

TEST_CASE("divergence: a value of a divergent branch makes later branches divergent") {
  CHECK(
      is_barrier_divergent("mov.u32 %r4, 0; setp.eq.u32 %p1, %r2, 0; @%p1 bra $A;"
                           "mov.u32 %r4, 1; $A: setp.eq.u32 %p2, %r4, 0; @%p2 bra $B;"
                           "bar.sync 0; $B: ret;"));
  // Registers of inline assembly need no percent sign.
  CHECK(
      is_barrier_divergent("{ .reg .pred p; setp.eq.u32 p, %r2, 0; @p bra $A; bar.sync 0; }"
                           "$A: ret;"));
}

TEST_CASE("divergence: labels belong to their scopes, and jump tables are followed") {
  CHECK_FALSE(
      is_barrier_divergent("{ setp.eq.u32 %p1, %r2, 0; @%p1 bra W; st.global.u32 [%rd1], 0;"
                           "W: } bar.sync 0; { W: bra V; V: } ret;"));
  const std::string table = "T: .branchtargets $A, $B; brx.idx %r4, T; $A: bar.sync 0; $B: ret;";
  CHECK(is_barrier_divergent("and.b32 %r4, %r2, 1;" + table));
  CHECK_FALSE(is_barrier_divergent("and.b32 %r4, %r3, 1;" + table));
}

TEST_CASE("divergence: a loop without an end joins nowhere") {
  CHECK(
      is_barrier_divergent("setp.eq.u32 %p1, %r2, 0; @%p1 bra $A; ret;"
                           "$A: bar.sync 0; bra $A;"));
  const PtxModule module(ptx_module_text(".entry k() { bra $NOWHERE; }"));
  CHECK(analyse_divergence(*module.find_entry("k")).problem == "unknown label $NOWHERE");
}

TEST_CASE("divergence: 3,000 blocks take a moment") {
  std::string body;
  for (int i = 0; i < 3'000; ++i) {
    const std::string label = "$L" + std::to_string(i);
    body += "setp.eq.u32 %p1, %r2, " + std::to_string(i) + "; @%p1 bra " + label +
            "; add.s32 %r5, %r5, 1; " + label + ":\n";
  }
  CHECK_FALSE(is_barrier_divergent(body + "bar.sync 0; ret;"));
  CHECK(is_in_divergent_flow("add.s32", body + "bar.sync 0; ret;"));
}

TEST_CASE("divergence: a kernel with too many branches ends the analysis") {
  // Each branch adds 8,000 edges to the graph of blocks.
  std::string labels, tables, targets = "T: .branchtargets L0";
  for (int i = 0; i < 8'000; ++i) labels += "L" + std::to_string(i) + ": ";
  for (int i = 1; i < 8'000; ++i) targets += ",L" + std::to_string(i);
  for (int i = 0; i < 3'000; ++i) tables += "@%p1 brx.idx %r1, T; ";
  const PtxModule module(ptx_module_text(".entry k() { " + targets + "; " + tables + labels + "}"));
  REQUIRE(module.find_entry("k")->problem == "");
  const DivergenceAnalysis analysis = analyse_divergence(*module.find_entry("k"));
  CHECK(analysis.problem == "has too many branches to analyse");
  CHECK(analysis.is_divergent ==
        std::vector<bool>(module.find_entry("k")->statements.size(), true));
}
