// Footprints of what compilers make of clamped indices, divisions and remainders.
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

namespace {

// The bytes of 64 blocks of 192 threads that load element %r5, or %rd5.
PointerFootprint divided(std::string_view body, bool has_wide_index = false) {
  const Footprint footprint = FootprintArguments().pointer().number(64 * 192).footprint(
      with_element("ld.param.u32 %r9, [k_param_1]; setp.ge.u32 %p1, %r4, %r9; @%p1 bra $END;"
                   "cvt.u64.u32 %rd2, %r4;" +
                   std::string(body) +
                   (has_wide_index ? "shl.b64 %rd6, %rd5, 2;" : "mul.wide.u32 %rd6, %r5, 4;") +
                   "add.s64 %rd7, %rd1, %rd6; ld.global.f32 %f1, [%rd7]; $END: ret;"),
      {64, 1, 1}, {192, 1, 1});
  REQUIRE(footprint.problem == "");
  return footprint.pointers[0];
}
// The quotient in %r11, and the remainder in %r5.
constexpr std::string_view kBy3 =
                               "mul.wide.u32 %rd3, %r4, -1431655765; shr.u64 %rd4, %rd3, 33;"
                               "cvt.u32.u64 %r11, %rd4;",
                           kBy48 =
                               "mul.hi.s32 %r6, %r4, 715827883; shr.u32 %r7, %r6, 31;"
                               "shr.s32 %r8, %r6, 3; add.s32 %r11, %r8, %r7;",
                           kBy7 =
                               "mul.hi.u32 %r6, %r4, 613566757; sub.s32 %r7, %r4, %r6;"
                               "shr.u32 %r12, %r7, 1; add.s32 %r8, %r12, %r6;"
                               "shr.u32 %r11, %r8, 2;",
                           kTimes48 = "mul.lo.s32 %r10, %r11, 48; sub.s32 %r5, %r4, %r10;";
std::string quotient(std::string_view body) { return std::string(body) + "mov.u32 %r5, %r11;"; }

}  // namespace

TEST_CASE("footprint patterns: a quotient by a constant is that of the block's indices") {
  for (const std::string& third : {
           quotient(kBy3),
           std::string("mul.hi.s32 %r6, %r4, 1431655766; shr.u32 %r7, %r6, 31;"
                       "add.s32 %r5, %r6, %r7;"),
           std::string("mul.hi.u32 %r6, %r4, 0xaaaaaaab; shr.u32 %r5, %r6, 1;"),
       })
    CHECK(span_of(divided(third), 5) == ByteSpan{5 * 256, 6 * 256});
  for (const std::string_view third :
       {"mul.hi.u64 %rd3, %rd2, -6148914691236517205; shr.u64 %rd5, %rd3, 1;",
        "mul.hi.u64 %rd3, %rd2, -6148914691236517205; shl.b64 %rd3, %rd3, 1;"
        "and.b64 %rd3, %rd3, -4; shr.u64 %rd5, %rd3, 2;"})
    CHECK(span_of(divided(third, true), 5) == ByteSpan{5 * 256, 6 * 256});
  CHECK(span_of(divided(quotient(kBy48)), 5) == ByteSpan{5 * 16, 6 * 16});
  CHECK(span_of(divided("shr.s32 %r6, %r4, 31; shr.u32 %r7, %r6, 28; add.s32 %r8, %r4, %r7;"
                        "shr.s32 %r5, %r8, 4;"),
                5) == ByteSpan{5 * 48, 6 * 48});
  // 192 / 7 is 27.4: the footprint is wider, and contains the numbers of the block.
  const ByteSpan seventh = span_of(divided(quotient(kBy7)), 5);
  CHECK(seventh.begin <= 4 * (5 * 192 / 7));
  CHECK(seventh.begin >= 4 * (5 * 192 / 7 - 5));
  CHECK(seventh.end >= 4 * ((6 * 192 - 1) / 7 + 1));
  CHECK(seventh.end <= 4 * ((6 * 192 - 1) / 7 + 30));
}

TEST_CASE("footprint patterns: a remainder is less than the divisor") {
  const std::string by_48 = std::string(kBy48) + std::string(kTimes48);
  CHECK(span_of(divided(by_48), 5) == ByteSpan{0, 4 * 48});
  CHECK(span_of(divided(std::string(kBy7) + "mul.lo.s32 %r10, 7, %r11; sub.s32 %r5, %r4, %r10;"),
                5) == ByteSpan{0, 4 * 7});
  // After a shift, in 64 bits, by a power of two with a sign, and by a parameter.
  CHECK(span_of(divided("shr.u32 %r6, %r4, 2; mul.wide.u32 %rd3, %r6, 613566757;"
                        "shr.u64 %rd4, %rd3, 32; cvt.u32.u64 %r7, %rd4; mul.lo.s32 %r8, %r7, 28;"
                        "sub.s32 %r5, %r4, %r8;"),
                5) == ByteSpan{0, 4 * 28});
  CHECK(span_of(divided("mul.hi.u64 %rd3, %rd2, 2635249153387078803; sub.s64 %rd4, %rd2, %rd3;"
                        "shr.u64 %rd8, %rd4, 1; add.s64 %rd10, %rd8, %rd3; shr.u64 %rd6, %rd10, 2;"
                        "mul.lo.s64 %rd7, %rd6, 7; sub.s64 %rd5, %rd2, %rd7;",
                        true),
                5) == ByteSpan{0, 4 * 7});
  CHECK(span_of(divided("shr.s32 %r6, %r4, 31; shr.u32 %r7, %r6, 28; add.s32 %r8, %r4, %r7;"
                        "and.b32 %r10, %r8, -16; sub.s32 %r5, %r4, %r10;"),
                5) == ByteSpan{0, 4 * 16});
  CHECK(span_of(divided("shr.u32 %r7, %r9, 8; div.s32 %r6, %r4, %r7; mul.lo.s32 %r8, %r6, %r7;"
                        "sub.s32 %r5, %r4, %r8;"),
                5) == ByteSpan{0, 4 * 48});
}

TEST_CASE("footprint patterns: what is not quite a remainder can be more than the divisor") {
  for (const std::string& other : {
           std::string(kBy48) + "mul.lo.s32 %r10, %r11, 47; sub.s32 %r5, %r4, %r10;",
           // A factor that is not exact for all numbers.
           "mul.hi.u32 %r6, %r4, 0xaaaaaaa0; shr.u32 %r11, %r6, 5;" + std::string(kTimes48),
           std::string(kBy48) + "add.s32 %r4, %r4, 100;" + std::string(kTimes48),
           "mul.hi.s32 %r6, %r3, 715827883; shr.u32 %r7, %r6, 31; shr.s32 %r8, %r6, 3;"
           "add.s32 %r11, %r8, %r7;" +
               std::string(kTimes48),
       }) {
    CAPTURE(other);
    CHECK(span_of(divided(other), 5).end > 4 * 48);
  }
}

TEST_CASE("footprint patterns: a product that is zero for every number is no division") {
  CHECK(span_of(divided("mul.wide.u32 %rd3, %r4, 105; shr.u64 %rd4, %rd3, 39;"
                        "cvt.u32.u64 %r5, %rd4;"),
                5) == ByteSpan{0, 4});
  // 0xffff'ffff read without a sign.
  CHECK(span_of(divided("mov.u32 %r6, -1; mul.wide.u32 %rd3, %r6, 105; shr.u64 %rd4, %rd3, 39;"
                        "cvt.u32.u64 %r5, %rd4;"),
                5) == ByteSpan{0, 4});
}
