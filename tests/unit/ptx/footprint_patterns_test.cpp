// Footprints of what compilers make of clamped indices.
#include "ptx/footprint_patterns.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "unit/ptx/footprint_arguments.hpp"

using namespace reprise::detail;
using namespace reprise::test;

namespace {

// The bytes of block b of eight blocks that load element %r5 of 2,000, or %rd5.
PointerFootprint bytes_of(std::string_view body, bool has_wide_index = false) {
  const Footprint footprint = FootprintArguments().pointer().number(2'000).footprint(
      with_element("ld.param.u32 %r9, [k_param_1]; setp.ge.s32 %p1, %r4, %r9; @%p1 bra $END;" +
                   std::string(body) +
                   (has_wide_index ? "shl.b64 %rd6, %rd5, 2;" : "mul.wide.u32 %rd6, %r5, 4;") +
                   "add.s64 %rd7, %rd1, %rd6; ld.global.f32 %f1, [%rd7]; $END: ret;"),
      {8, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  return footprint.pointers[0];
}
// Of the elements at this distance.
void check_neighbours(const PointerFootprint& bytes, std::int64_t distance) {
  const std::int64_t moved = 4 * distance;
  CHECK(span_of(bytes, 0) == ByteSpan{std::max<std::int64_t>(moved, 0), 1'024 + moved});
  CHECK(span_of(bytes, 3) == ByteSpan{3'072 + moved, 4'096 + moved});
  CHECK(span_of(bytes, 7) == ByteSpan{7'168 + moved, 8'000 + std::min<std::int64_t>(moved, 0)});
}

}  // namespace

TEST_CASE("footprint patterns: clamped neighbours are near the block") {
  for (const std::string_view left : {
           "add.s32 %r6, %r4, -1; max.s32 %r5, %r6, 0;",
           "sub.s32 %r6, %r4, 1; setp.lt.s32 %p2, %r6, 0; selp.b32 %r5, 0, %r6, %p2;",
           "add.s32 %r6, %r4, -1; setp.gt.s32 %p2, %r4, 0; selp.b32 %r5, %r6, 0, %p2;",
           "add.s32 %r6, %r4, -1; setp.eq.s32 %p2, %r4, 0; selp.b32 %r5, 0, %r6, %p2;",
       }) {
    CAPTURE(left);
    check_neighbours(bytes_of(left), -1);
  }
  for (const std::string_view right : {
           "add.s32 %r6, %r4, 1; add.s32 %r7, %r9, -1; min.s32 %r5, %r6, %r7;",
           "add.s32 %r6, %r4, 1; add.s32 %r7, %r9, -1; min.u32 %r5, %r7, %r6;",
           "add.s32 %r6, %r4, 1; add.s32 %r7, %r9, -1; setp.lt.s32 %p2, %r4, %r7;"
           "selp.b32 %r5, %r6, %r7, %p2;",
           "add.s32 %r6, %r4, 1; add.s32 %r7, %r9, -1; setp.ge.u32 %p2, %r6, %r9;"
           "selp.b32 %r5, %r7, %r6, %p2;",
       }) {
    CAPTURE(right);
    check_neighbours(bytes_of(right), 1);
  }
  const std::string wide = "cvt.u64.u32 %rd2, %r4; cvt.u64.u32 %rd3, %r9;";
  check_neighbours(bytes_of(wide + "add.s64 %rd4, %rd2, -1; setp.eq.s64 %p2, %rd2, 0;"
                                   "selp.b64 %rd5, 0, %rd4, %p2;",
                            true),
                   -1);
  check_neighbours(bytes_of(wide + "add.s64 %rd4, %rd2, 1; setp.lt.u64 %p2, %rd4, %rd3;"
                                   "add.s64 %rd3, %rd3, -1; selp.b64 %rd5, %rd4, %rd3, %p2;",
                            true),
                   1);
}

TEST_CASE("footprint patterns: without a guard, threads behind the end stay in the last block") {
  const Footprint footprint = FootprintArguments().pointer().number(2'000).footprint(
      with_element("ld.param.u32 %r9, [k_param_1]; add.s32 %r7, %r9, -1; min.s32 %r4, %r4, %r7;"
                   "add.s32 %r5, %r4, 2; max.s32 %r5, %r5, 0; min.s32 %r4, %r5, %r7;" +
                   std::string(kStore) + "ret;"),
      {8, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(span_of(footprint.pointers[0], 3) == ByteSpan{3'080, 4'104});
}

TEST_CASE("footprint patterns: a selected address stays near the block") {
  // &a[i - 1], or the first element's.
  const Footprint footprint = FootprintArguments().pointer().footprint(
      with_element("add.s32 %r5, %r4, -1; mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;"
                   "setp.gt.s32 %p1, %r4, 0; selp.b64 %rd4, %rd3, %rd1, %p1;"
                   "ld.global.f32 %f1, [%rd4]; ret;"),
      {8, 1, 1}, kThreads);
  REQUIRE(footprint.problem == "");
  CHECK(span_of(footprint.pointers[0], 3) == ByteSpan{3'068, 4'092});
}

TEST_CASE("footprint patterns: an index that wraps around is that of any block") {
  const PointerFootprint bytes =
      bytes_of("add.s32 %r6, %r4, 1; setp.lt.s32 %p2, %r6, %r9; selp.b32 %r5, %r6, 0, %p2;");
  CHECK(span_of(bytes, 7).begin == 0);
}

TEST_CASE("footprint patterns: a register that changes in between is not the one of the sum") {
  const std::string_view select = "setp.eq.s32 %p2, %r4, 0; selp.b32 %r5, 0, %r6, %p2;";
  for (const std::string_view change : {
           "mov.u32 %r4, %r3;",                                     // the thread's index
           "ld.global.u32 %r4, [%rd1];",                            // any number
           "setp.eq.s32 %p3, %r3, 5; @%p3 add.s32 %r4, %r4, %r9;",  // on one path
           "bra $A; $A: setp.eq.s32 %p3, %r3, 5; @%p3 bra $B; mov.u32 %r4, 1; $B:",
       }) {
    CAPTURE(change);
    const PointerFootprint bytes =
        bytes_of("add.s32 %r6, %r4, -1;" + std::string(change) + std::string(select));
    // -1 of the first thread, read without a sign.
    CHECK(span_of(bytes, 0).end >= std::int64_t{4} * 0xffff'ffff);
  }
}

TEST_CASE(
    "footprint patterns: a limit says nothing of the blocks on paths that do not compare it") {
  // %r6 is not set in the blocks that select 1,999.
  const PointerFootprint bytes = bytes_of(
      "setp.gt.s32 %p2, %r4, 500; @%p2 bra $A; mov.u32 %r6, %r4; $A:"
      "selp.b32 %r5, 1999, %r6, %p2;");
  CHECK(span_of(bytes, 4).end == 8'000);
  CHECK(span_of(bytes, 7).end == 8'000);
}
