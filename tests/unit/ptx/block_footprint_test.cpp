#include "ptx/block_footprint.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "unit/ptx/footprint_arguments.hpp"

using namespace reprise::detail;
using namespace reprise::test;

TEST_CASE("footprint: elements under a guard") {
  const Footprint footprint = FootprintArguments().pointer().number(1'000).footprint(
      with_element("ld.param.u32 %r5, [k_param_1]; setp.ge.s32 %p1, %r4, %r5; @%p1 bra $L__BB0_2;" +
                   std::string(kStore) + "$L__BB0_2: ret;"),
      {4, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(footprint.pointers[0].bytes ==
        std::vector<BlockBytes>{
            {.step = {1'024, 0, 0}, .begin = 0, .end = 1'024, .lowest = 0, .highest = 4'000}});
}

TEST_CASE("footprint: a loop over the grid, with accesses of four numbers") {
  const std::string body = with_element(R"(
	ld.param.u32 	%r6, [k_param_1];
	setp.ge.s32 	%p1, %r4, %r6;
	@%p1 bra 	$L__BB2_3;
	mov.u32 	%r9, %nctaid.x;
	mul.lo.s32 	%r5, %r9, %r2;
$L__BB2_2:
	mul.wide.s32 	%rd5, %r4, 16;
	add.s64 	%rd6, %rd1, %rd5;
	ld.global.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd6];
	st.global.v4.f32 	[%rd6], {%f4, %f2, %f3, %f1};
	add.s32 	%r4, %r4, %r5;
	setp.lt.s32 	%p2, %r4, %r6;
	@%p2 bra 	$L__BB2_2;
$L__BB2_3:
	ret;)");
  const Footprint once =
      FootprintArguments().pointer().number(1'024).footprint(body, {4, 1, 1}, kThreads);
  REQUIRE(once.problem == "");
  CHECK(span_of(once.pointers[0], 1) == ByteSpan{4'096, 8'192});
  const Footprint thrice =
      FootprintArguments().pointer().number(3'000).footprint(body, {4, 1, 1}, kThreads);
  REQUIRE(thrice.problem == "");
  REQUIRE(thrice.pointers[0].bytes.size() == 3);
  for (const BlockBytes& bytes : thrice.pointers[0].bytes) CHECK(bytes.end - bytes.begin == 4'096);
  CHECK(span_of(thrice.pointers[0], 1) == ByteSpan{4'096, 40'960});
  CHECK(span_of(thrice.pointers[0], 3).end == 48'000);
}

TEST_CASE("footprint: a loop over the chunk of a block, with and without a common end") {
  const std::string body = R"(
	ld.param.u64 	%rd4, [k_param_0];
	ld.param.u32 	%r6, [k_param_1];
	ld.param.u32 	%r7, [k_param_2];
	mov.u32 	%r8, %ctaid.x;
	add.s32 	%r9, %r8, 1;
	mul.lo.s32 	%r10, %r9, %r7;
	min.s32 	%r1, %r10, %r6;
	mov.u32 	%r11, %tid.x;
	mad.lo.s32 	%r12, %r8, %r7, %r11;
	setp.ge.s32 	%p1, %r12, %r1;
	@%p1 bra 	$L__BB0_3;
	mov.u32 	%r3, %ntid.x;
	cvta.to.global.u64 	%rd1, %rd4;
$L__BB0_2:
	mul.wide.s32 	%rd5, %r12, 4;
	add.s64 	%rd6, %rd1, %rd5;
	ld.global.f32 	%f1, [%rd6];
	add.s32 	%r12, %r12, %r3;
	setp.lt.s32 	%p2, %r12, %r1;
	@%p2 bra 	$L__BB0_2;
$L__BB0_3:
	ret;)";
  // Of 1,000 numbers in few iterations, and of 100,000 in many.
  for (const std::int32_t chunk : {1'000, 100'000}) {
    CAPTURE(chunk);
    const std::int64_t bytes = 4 * std::int64_t{chunk};
    for (const std::int32_t count : {10 * chunk, 10 * chunk - 7}) {
      const Footprint footprint =
          FootprintArguments().pointer().number(count).number(chunk).footprint(body, {10, 1, 1},
                                                                               kThreads);
      REQUIRE(footprint.problem == "");
      CHECK(span_of(footprint.pointers[0], 0) == ByteSpan{0, bytes});
      CHECK(span_of(footprint.pointers[0], 3) == ByteSpan{3 * bytes, 4 * bytes});
      CHECK(span_of(footprint.pointers[0], 9) == ByteSpan{9 * bytes, 4 * std::int64_t{count}});
    }
  }
}

TEST_CASE("footprint: sums of rows with shared memory") {
  const std::string body = R"(
	.shared .align 4 .b8 _ZZ4rowsE1s[512];
	ld.param.u64 	%rd2, [k_param_0];
	ld.param.u64 	%rd3, [k_param_1];
	ld.param.u32 	%r19, [k_param_2];
	cvta.to.global.u64 	%rd1, %rd3;
	mov.u32 	%r1, %tid.x;
	mov.u32 	%r20, %ctaid.x;
	setp.ge.s32 	%p1, %r1, %r19;
	@%p1 bra 	$L__BB1_7;
	mov.u32 	%r34, %r1;
	mul.lo.s32 	%r2, %r20, %r19;
$L__BB1_6:
	add.s32 	%r25, %r2, %r34;
	mul.wide.u32 	%rd6, %r25, 4;
	add.s64 	%rd7, %rd1, %rd6;
	ld.global.f32 	%f1, [%rd7];
	add.s32 	%r34, %r34, 128;
	setp.lt.s32 	%p5, %r34, %r19;
	@%p5 bra 	$L__BB1_6;
$L__BB1_7:
	shl.b32 	%r28, %r1, 2;
	mov.u32 	%r29, _ZZ4rowsE1s;
	add.s32 	%r18, %r29, %r28;
	st.shared.f32 	[%r18], %f1;
	bar.sync 	0;
	setp.ne.s32 	%p6, %r1, 0;
	@%p6 bra 	$L__BB1_9;
	ld.shared.f32 	%f2, [_ZZ4rowsE1s+4];
	cvta.to.global.u64 	%rd14, %rd2;
	mul.wide.u32 	%rd15, %r20, 4;
	add.s64 	%rd16, %rd14, %rd15;
	st.global.f32 	[%rd16], %f2;
$L__BB1_9:
	ret;)";
  for (const std::int32_t columns : {100, 1'024, 1 << 20}) {
    CAPTURE(columns);
    const Footprint footprint = FootprintArguments().pointer().pointer().number(columns).footprint(
        body, {64, 1, 1}, {128, 1, 1});
    REQUIRE(footprint.problem == "");
    const std::int64_t row = 4 * std::int64_t{columns};
    CHECK(span_of(footprint.pointers[0], 5) == ByteSpan{20, 24});
    CHECK(span_of(footprint.pointers[1], 5) == ByteSpan{5 * row, 6 * row});
  }
}

TEST_CASE("footprint: addresses that a loop increments") {
  const Footprint footprint = FootprintArguments().pointer().footprint(with_element(R"(
	mul.wide.u32 	%rd2, %r1, 4096;
	add.s64 	%rd3, %rd1, %rd2;
	add.s64 	%rd4, %rd3, 4096;
$L__BB0_1:
	ld.global.f32 	%f1, [%rd3];
	add.s64 	%rd3, %rd3, 128;
	setp.lt.u64 	%p1, %rd3, %rd4;
	@%p1 bra 	$L__BB0_1;
	ret;)"),
                                                                       {8, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  for (const std::int64_t block : {0, 7})
    CHECK(span_of(footprint.pointers[0], block) == ByteSpan{block * 4'096, block * 4'096 + 3'972});
}

TEST_CASE("footprint: a gather is as wide as the type of its index") {
  const auto gather = [](std::string_view load) {
    return FootprintArguments().pointer().pointer().footprint(
        with_element(std::string(kStore) + std::string(load) + R"(
	ld.param.u64 	%rd7, [k_param_1];
	mul.wide.s32 	%rd8, %r6, 4;
	add.s64 	%rd9, %rd7, %rd8;
	ld.global.f32 	%f1, [%rd9];
	ret;)"),
        {4, 1, 1}, kThreads);
  };
  for (const std::string_view load :
       {"ld.global.u32 %r6, [%rd3];", "atom.global.add.u32 %r6, [%rd3], 1;"}) {
    const Footprint footprint = gather(load);
    REQUIRE(footprint.problem == "");
    CHECK(span_of(footprint.pointers[0], 2) == ByteSpan{2'048, 3'072});
    CHECK(span_of(footprint.pointers[1], 2) ==
          ByteSpan{-(std::int64_t{1} << 33), std::int64_t{1} << 33});
  }
  const Footprint bytes = gather("ld.global.u8 %r6, [%rd3];");
  REQUIRE(bytes.problem == "");
  CHECK(span_of(bytes.pointers[1], 2) == ByteSpan{0, 1'024});
  const Footprint offset = FootprintArguments().pointer().footprint(
      with_element(std::string(kStore) + "ld.global.u64 %rd4, [%rd3]; add.s64 %rd5, %rd1, %rd4;"
                                         "ld.global.u32 %r5, [%rd5]; ret;"),
      {4, 1, 1}, kThreads);
  REQUIRE(offset.problem == "");
  CHECK(offset.pointers[0].is_unbounded);
  CHECK(offset.pointers[0].bytes.empty());
}

TEST_CASE("footprint: all blocks access one counter") {
  const Footprint footprint =
      FootprintArguments().pointer().pointer().footprint(with_element(R"(
	ld.global.u32 	%r5, [%rd1];
	setp.lt.s32 	%p1, %r5, 4;
	@%p1 bra 	$L__BB6_2;
	ld.param.u64 	%rd6, [k_param_1];
	add.s64 	%rd7, %rd6, 8;
	atom.global.add.u32 	%r6, [%rd7], 1;
	@!%p1 red.global.add.u64 [%rd7+8], 1;
$L__BB6_2:
	ret;)"),
                                                         {4, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(footprint.pointers[1].bytes ==
        std::vector<BlockBytes>{{.begin = 8, .end = 12, .lowest = 8, .highest = 12},
                                {.begin = 16, .end = 24, .lowest = 16, .highest = 24}});
}

TEST_CASE("footprint: division and remainder by a parameter") {
  const std::string body = with_element(R"(
	ld.param.u32 	%r5, [k_param_1];
	div.s32 	%r7, %r4, %r5;
	rem.s32 	%r8, %r4, %r5;
	mul.wide.s32 	%rd2, %r7, 4;
	add.s64 	%rd3, %rd1, %rd2;
	ld.global.f32 	%f1, [%rd3];
	ld.param.u64 	%rd4, [k_param_2];
	mul.wide.s32 	%rd5, %r8, 4;
	add.s64 	%rd6, %rd4, %rd5;
	st.global.f32 	[%rd6], %f1;
	ret;)");
  const Footprint exact =
      FootprintArguments().pointer().number(64).pointer().footprint(body, {8, 1, 1}, kThreads);
  REQUIRE(exact.problem == "");
  CHECK(span_of(exact.pointers[0], 3) == ByteSpan{48, 64});
  CHECK(span_of(exact.pointers[1], 3) == ByteSpan{0, 256});
  const Footprint inexact =
      FootprintArguments().pointer().number(100).pointer().footprint(body, {8, 1, 1}, kThreads);
  REQUIRE(inexact.problem == "");
  CHECK(span_of(inexact.pointers[0], 3) == ByteSpan{20, 48});
  CHECK(span_of(inexact.pointers[1], 3) == ByteSpan{0, 400});
  // The divisor can change between replays, and be zero.
  const Footprint unknown =
      FootprintArguments().pointer().unknown().pointer().footprint(body, {8, 1, 1}, kThreads);
  REQUIRE(unknown.problem == "");
  CHECK(span_of(unknown.pointers[0], 3).end >= (std::int64_t{1} << 33));
}

TEST_CASE("footprint: an unknown count leaves what the grid bounds") {
  const Footprint footprint = FootprintArguments().pointer().unknown().footprint(
      with_element("ld.param.u32 %r5, [k_param_1]; setp.ge.s32 %p1, %r4, %r5; @%p1 bra $L__BB0_2;" +
                   std::string(kStore) + "$L__BB0_2: ret;"),
      {4, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(span_of(footprint.pointers[0], 3) == ByteSpan{3'072, 4'096});
}

TEST_CASE("footprint: a stencil of two dimensions inside of its border") {
  const std::string body = R"(
	ld.param.u64 	%rd1, [k_param_0];
	ld.param.u64 	%rd2, [k_param_1];
	ld.param.u32 	%r3, [k_param_2];
	ld.param.u32 	%r4, [k_param_3];
	mov.u32 	%r5, %ctaid.x;
	shl.b32 	%r6, %r5, 4;
	mov.u32 	%r7, %tid.x;
	add.s32 	%r1, %r6, %r7;
	mov.u32 	%r8, %ctaid.y;
	shl.b32 	%r9, %r8, 4;
	mov.u32 	%r10, %tid.y;
	add.s32 	%r2, %r9, %r10;
	setp.lt.s32 	%p1, %r1, 1;
	setp.lt.s32 	%p2, %r2, 1;
	or.pred  	%p3, %p1, %p2;
	add.s32 	%r11, %r3, -1;
	setp.ge.s32 	%p4, %r1, %r11;
	or.pred  	%p5, %p3, %p4;
	add.s32 	%r12, %r4, -1;
	setp.ge.s32 	%p6, %r2, %r12;
	or.pred  	%p7, %p5, %p6;
	@%p7 bra 	$L__BB4_2;
	add.s32 	%r13, %r2, -1;
	mad.lo.s32 	%r14, %r13, %r3, %r1;
	mul.wide.s32 	%rd5, %r14, 4;
	add.s64 	%rd6, %rd2, %rd5;
	ld.global.f32 	%f2, [%rd6];
	mad.lo.s32 	%r17, %r2, %r3, %r1;
	mul.wide.s32 	%rd11, %r17, 4;
	add.s64 	%rd12, %rd1, %rd11;
	st.global.f32 	[%rd12], %f2;
$L__BB4_2:
	ret;)";
  const Footprint footprint =
      FootprintArguments().pointer().pointer().number(64).number(48).footprint(body, {4, 3, 1},
                                                                               {16, 16, 1});
  REQUIRE(footprint.problem == "");
  // Rows 16 to 31 of 64 numbers, columns 32 to 47.
  CHECK(span_of(footprint.pointers[0], 2, 1) == ByteSpan{4 * (16 * 64 + 32), 4 * (31 * 64 + 48)});
  CHECK(span_of(footprint.pointers[1], 2, 1) == ByteSpan{4 * (15 * 64 + 32), 4 * (30 * 64 + 48)});
  CHECK(span_of(footprint.pointers[0], 0, 0).begin == 4 * 65);
  CHECK(span_of(footprint.pointers[1], 0, 0).begin == 4);
  CHECK(span_of(footprint.pointers[0], 3, 2).end == 4 * (46 * 64 + 63));
}

TEST_CASE("footprint: offsets before the address, and guards of two comparisons") {
  const Footprint footprint =
      FootprintArguments().pointer().number(40).footprint(with_element(R"(
	ld.param.u32 	%r5, [k_param_1];
	setp.gt.s32 	%p1, %r4, 7;
	setp.lt.s32 	%p2, %r4, %r5;
	and.pred  	%p3, %p1, %p2;
	not.pred 	%p4, %p3;
	@%p4 bra 	$L__BB0_2;
	add.s32 	%r6, %r4, -9;
	mul.wide.s32 	%rd2, %r6, 4;
	add.s64 	%rd3, %rd1, %rd2;
	ld.global.f32 	%f1, [%rd3+-16];
$L__BB0_2:
	ret;)"),
                                                          {4, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(span_of(footprint.pointers[0], 0) == ByteSpan{-20, 4 * 40 - 52});
  CHECK(span_of(footprint.pointers[0], 1) == ByteSpan{});
}

TEST_CASE("footprint: accesses under a predicate on their index") {
  const Footprint footprint =
      FootprintArguments().pointer().number(300).footprint(with_element(R"(
	ld.param.u32 	%r5, [k_param_1];
	setp.lt.u32 	%p1, %r4, 4;
	selp.b32 	%r6, %r4, 0, %p1;
	mul.wide.u32 	%rd2, %r6, 8;
	add.s64 	%rd3, %rd1, %rd2;
	@%p1 ld.global.u64 	%rd4, [%rd3];
	setp.eq.u32 	%p2, %r5, 0;
	@%p2 st.global.u32 	[%rd1+4096], %r4;
	@!%p2 st.global.u32 	[%rd1+64], %r4;
	ret;)"),
                                                           {4, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(span_of(footprint.pointers[0], 3) == ByteSpan{0, 68});
}

TEST_CASE("footprint: an early return ends a path") {
  const Footprint footprint = FootprintArguments().pointer().footprint(
      with_element("setp.gt.u32 %p1, %r4, 31; @%p1 ret; setp.eq.u32 %p2, %r1, 0; @!%p2 exit;" +
                   std::string(kStore) + "ret; st.global.f32 [%rd1+99999], %f1;"),
      {4, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(span_of(footprint.pointers[0], 0) == ByteSpan{0, 128});
}

TEST_CASE("footprint: a loop with an unknown count degrades only what it changes") {
  const Footprint footprint =
      FootprintArguments().pointer().pointer().footprint(with_element(R"(
	ld.global.u32 	%r5, [%rd1];
	ld.param.u64 	%rd4, [k_param_1];
	mul.wide.s32 	%rd5, %r4, 4;
	add.s64 	%rd6, %rd4, %rd5;
	mov.u64 	%rd7, %rd4;
	mov.u32 	%r6, 0;
$L__BB0_1:
	st.global.u32 	[%rd6], %r6;
	ld.global.u32 	%r7, [%rd1+8];
	add.s32 	%r6, %r6, 1;
	setp.ne.s32 	%p1, %r6, %r5;
	@%p1 bra 	$L__BB0_1;
	ret;)"),
                                                         {4, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(span_of(footprint.pointers[0], 2) == ByteSpan{0, 12});
  CHECK(span_of(footprint.pointers[1], 2) == ByteSpan{2'048, 3'072});
  const Footprint moving = FootprintArguments().pointer().pointer().footprint(with_element(R"(
	ld.param.u64 	%rd4, [k_param_1];
	mov.u32 	%r6, 0;
$L__BB0_1:
	ld.global.u32 	%r7, [%rd1];
	st.global.u32 	[%rd4], %r7;
	add.s64 	%rd4, %rd4, 4;
	setp.ne.s32 	%p1, %r7, 0;
	@%p1 bra 	$L__BB0_1;
	ret;)"),
                                                                              {4, 1, 1}, kThreads);
  REQUIRE(moving.problem == "");
  CHECK(span_of(moving.pointers[0], 2) == ByteSpan{0, 4});
  CHECK(moving.pointers[1].is_unbounded);
}

TEST_CASE("footprint: nested loops over the tile of a block") {
  const std::string body = R"(
	ld.param.u64 	%rd1, [k_param_0];
	ld.param.u32 	%r9, [k_param_1];
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r3, 0;
$L__BB0_1:
	mov.u32 	%r4, %tid.x;
$L__BB0_2:
	mad.lo.s32 	%r5, %r1, %r9, %r3;
	shl.b32 	%r6, %r5, 7;
	add.s32 	%r7, %r6, %r4;
	mul.wide.s32 	%rd2, %r7, 4;
	add.s64 	%rd3, %rd1, %rd2;
	st.global.u32 	[%rd3], %r3;
	add.s32 	%r4, %r4, 32;
	setp.lt.u32 	%p1, %r4, 128;
	@%p1 bra 	$L__BB0_2;
	add.s32 	%r3, %r3, 1;
	setp.lt.s32 	%p2, %r3, %r9;
	@%p2 bra 	$L__BB0_1;
	ret;)";
  for (const std::int32_t rows : {4, 100}) {
    CAPTURE(rows);
    const Footprint footprint =
        FootprintArguments().pointer().number(rows).footprint(body, {6, 1, 1}, {32, 1, 1});
    REQUIRE(footprint.problem == "");
    const std::int64_t bytes = 512 * std::int64_t{rows};
    CHECK(span_of(footprint.pointers[0], 4) == ByteSpan{4 * bytes, 5 * bytes});
  }
}
