#include "ptx/footprint_program.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "unit/ptx/footprint_arguments.hpp"

using namespace reprise::detail;
using namespace reprise::test;

namespace {

std::string problem_of(std::string_view body, std::string_view before = "") {
  const Footprint footprint = FootprintArguments().pointer().pointer().number(8).footprint(
      with_element(body), {4, 1, 1}, kThreads, before);
  CHECK(footprint.pointers.empty() == !footprint.problem.empty());
  return footprint.problem;
}

}  // namespace

TEST_CASE("footprint: a predicate says nothing of a register that is set after it") {
  // Not before iteration 80, which is taken together with others.
  const Footprint footprint = FootprintArguments().pointer().footprint(with_element(R"(
	ld.global.u32 	%r5, [%rd1];
	and.b32 	%r5, %r5, 255;
	setp.lt.u32 	%p1, %r5, 8;
	mov.u32 	%r6, 0;
$L__BB0_1:
	selp.b32 	%r7, %r5, 0, %p1;
	mul.wide.u32 	%rd2, %r7, 4;
	add.s64 	%rd3, %rd1, %rd2;
	st.global.u32 	[%rd3], %r6;
	setp.ne.s32 	%p2, %r6, 80;
	@%p2 bra 	$L__BB0_3;
	ld.global.u32 	%r5, [%rd1+4];
	and.b32 	%r5, %r5, 255;
$L__BB0_3:
	add.s32 	%r6, %r6, 1;
	setp.lt.s32 	%p3, %r6, 100;
	@%p3 bra 	$L__BB0_1;
	ret;)"),
                                                                       {4, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(span_of(footprint.pointers[0], 0) == ByteSpan{0, 1'024});
}

TEST_CASE("footprint: a condition that a loop refines stays small") {
  const Footprint footprint = FootprintArguments().pointer().footprint(
      with_element("setp.lt.s32 %p1, %r4, 100; mov.u32 %r6, 0; $A: and.pred %p1, %p1, %p1;"
                   "add.s32 %r6, %r6, 1; setp.lt.s32 %p2, %r6, 60; @%p2 bra $A; @!%p1 bra $B;" +
                   std::string(kStore) + "$B: ret;"),
      {4, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(span_of(footprint.pointers[0], 0) == ByteSpan{0, 400});
}

TEST_CASE("footprint: the same constraint with another sign is another constraint") {
  // A loaded number is below 8 with a sign on one of the paths.
  const Footprint footprint = FootprintArguments().pointer().footprint(with_element(R"(
	ld.global.u32 	%r5, [%rd1];
	setp.eq.s32 	%p2, %r3, 0;
	@%p2 bra 	$L__BB0_1;
	setp.lt.u32 	%p1, %r5, 8;
	bra 	$L__BB0_2;
$L__BB0_1:
	setp.lt.s32 	%p1, %r5, 8;
$L__BB0_2:
	@!%p1 bra 	$L__BB0_3;
	mul.wide.s32 	%rd2, %r5, 4;
	add.s64 	%rd3, %rd1, %rd2;
	st.global.u32 	[%rd3], %r5;
$L__BB0_3:
	ret;)"),
                                                                       {4, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(span_of(footprint.pointers[0], 0).begin < -1'000);
}

TEST_CASE("footprint: packed numbers, wide results and inline assembly") {
  const auto bytes_of = [](std::string_view body) {
    const Footprint footprint =
        FootprintArguments().pointer().footprint(with_element(body), {4, 1, 1}, kThreads);
    CHECK(footprint.problem == "");
    return footprint.problem.empty() ? span_of(footprint.pointers[0], 0).end : 0;
  };
  const std::string tail =
      "mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;"
      "st.global.u32 [%rd3], %r4; ret;";
  // 0x0000'ffff and 1 in two halves are 0, not 0x1'0000.
  CHECK(bytes_of("add.u16x2 %r5, 0xffff, 1;" + tail) == std::int64_t{1} << 34);
  CHECK(bytes_of("{ .reg .b32 t; .reg .pred p; setp.lt.u32 p, %r4, 9; mov.u32 t, %r4;"
                 "@!p bra $B; add.u32 %r5, t, 0; }" +
                 tail + "$B: ret;") == 1'024);
  // The upper half of a wider register is zero.
  const Footprint wide = FootprintArguments().pointer().footprint(
      with_element("mov.u64 %rd4, -1; cvt.u32.u64 %rd2, %rd4; add.s64 %rd3, %rd1, %rd2;"
                   "st.global.u8 [%rd3], 1; ret;"),
      {4, 1, 1}, kThreads);
  REQUIRE(wide.problem == "");
  CHECK(wide.pointers[0].is_unbounded);
}

TEST_CASE("footprint: kernels without a footprint say why") {
  CHECK(problem_of("ret;") == "");
  CHECK(problem_of("call.uni f, (%r1); ret;") == "calls a function");
  CHECK(problem_of("T: .branchtargets $A; brx.idx %r4, T; $A: ret;") == "has a table of branches");
  CHECK(problem_of("bra $NOWHERE; ret;") == "branches to $NOWHERE");
  const std::string no_parameter = "accesses memory whose address is not a parameter";
  CHECK(problem_of("ld.global.u64 %rd2, [%rd1]; st.global.u32 [%rd2], %r1; ret;") == no_parameter);
  CHECK(problem_of("st.global.u32 [hits+4], %r1; ret;", ".global .align 4 .b8 hits[16];\n") ==
        no_parameter);
  CHECK(problem_of("mov.u64 %rd2, hits; st.global.u32 [%rd2], %r1; ret;",
                   ".global .align 4 .b8 hits[16];\n") == no_parameter);
  CHECK(problem_of("ld.param.u64 %rd2, [k_param_1]; add.s64 %rd3, %rd1, %rd2;"
                   "ld.global.u32 %r5, [%rd3]; ret;") == no_parameter);
  CHECK(problem_of("ld.param.u64 %rd2, [k_param_1]; selp.b64 %rd3, %rd1, %rd2, %p1;"
                   "ld.global.u32 %r5, [%rd3]; ret;") == no_parameter);
  CHECK(problem_of("and.b64 %rd2, %rd1, -16; ld.global.u32 %r5, [%rd2]; ret;") == no_parameter);
  for (const std::string_view store :
       {"st.global.u64 [%rd1], %rd1; ret;", "st.shared.u64 [s], %rd1; ret;",
        "st.global.v2.u64 [%rd1], {%rd2, %rd1}; ret;",
        "atom.global.exch.b64 %rd2, [%rd1], %rd1; ret;",
        "cvt.u32.u64 %r5, %rd1; st.global.u32 [%rd1], %r5; ret;",
        "{ .reg .b64 t; mov.u64 t, %rd1; st.global.u64 [%rd1], t; } ret;",
        "{ .reg .f64 t; mov.b64 t, %rd1; st.global.f64 [%rd1], t; } ret;"}) {
    CAPTURE(store);
    CHECK(problem_of(store) == "stores an address");
  }
  CHECK(problem_of("{ .reg .b32 %r5; } ret;") == "declares %r5 twice");
  CHECK(problem_of(".reg .b32 t1; { .reg .b32 t<4>; } ret;") == "declares t twice");
  CHECK(problem_of(".reg; ret;") == "declares .reg");
  CHECK(problem_of(".reg t; ret;") == "declares .reg t");
  CHECK(problem_of("{ .reg .b32 t; } { .reg .b32 t; } ret;") == "");
  for (const std::string opcode :
       {"tex.1d.v4.f32.s32", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
        "cp.async.bulk.global.shared::cta.bulk_group", "discard.global.L2"}) {
    CAPTURE(opcode);
    CHECK(problem_of(opcode + " [%r1], [%rd1], 16; ret;") == "uses " + opcode);
  }
  std::string loops;
  for (int i = 0; i < 300; ++i) loops += "add.s32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;";
  CHECK(problem_of("$A:" + loops + "setp.ne.s32 %p1, %r4, 0; @%p1 bra $A; ret;") ==
        "has too many iterations to follow");
}
