// Footprints of blocks that are tiles of a matrix.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "unit/ptx/footprint_arguments.hpp"

using namespace reprise::detail;
using namespace reprise::test;

namespace {

// Stores to element (x, y) in %r1 and %r2 of a matrix of %r3 columns and %r4 rows.
const std::string kMatrix = R"(
	ld.param.u64 	%rd1, [k_param_0];
	ld.param.u32 	%r3, [k_param_1];
	ld.param.u32 	%r4, [k_param_2];
	mov.u32 	%r5, %ctaid.x;
	mov.u32 	%r6, %ntid.x;
	mov.u32 	%r7, %tid.x;
	mad.lo.s32 	%r1, %r5, %r6, %r7;
	mov.u32 	%r8, %ntid.y;
	mov.u32 	%r9, %ctaid.y;
	mov.u32 	%r10, %tid.y;
	mad.lo.s32 	%r2, %r9, %r8, %r10;
	setp.ge.s32 	%p1, %r1, %r3;
	setp.ge.s32 	%p2, %r2, %r4;
	or.pred  	%p3, %p1, %p2;
	@%p3 bra 	$L__BB0_2;
	mad.lo.s32 	%r11, %r2, %r3, %r1;
	mul.wide.s32 	%rd2, %r11, 4;
	add.s64 	%rd3, %rd1, %rd2;
	st.global.f32 	[%rd3], %f1;
$L__BB0_2:
	ret;)";

Footprint footprint_of(std::int32_t columns, std::int32_t rows, std::array<std::uint32_t, 3> grid,
                       std::array<std::uint32_t, 3> block) {
  Footprint footprint =
      FootprintArguments().pointer().number(columns).number(rows).footprint(kMatrix, grid, block);
  REQUIRE(footprint.problem == "");
  return footprint;
}

using AllBytes = std::vector<BlockBytes>;

}  // namespace

TEST_CASE("footprint rows: a row of threads accesses a row of its tile, and the last one its end") {
  const Footprint of = footprint_of(60, 40, {4, 3, 1}, {16, 16, 1});
  REQUIRE(of.rows[0].size() == 1);
  REQUIRE(of.rows[1].size() == 1);
  CHECK(of.rows[0][0].bytes ==
        AllBytes{{.step = {64, 16 * 240, 240}, .end = 64, .lowest = 0, .highest = 39 * 240 + 192}});
  CHECK(
      of.rows[1][0].bytes ==
      AllBytes{
          {.step = {0, 16 * 240, 240}, .begin = 192, .end = 240, .lowest = 192, .highest = 9'600}});
  const Footprint two = footprint_of(24, 16, {2, 1, 1}, {16, 16, 1});
  CHECK(two.rows[0][0].bytes ==
        AllBytes{{.step = {0, 0, 96}, .end = 64, .lowest = 0, .highest = 15 * 96 + 64}});
  CHECK(two.rows[1][0].bytes ==
        AllBytes{{.step = {0, 0, 96}, .begin = 64, .end = 96, .lowest = 64, .highest = 16 * 96}});
  const Footprint flat = footprint_of(60, 40, {4, 40, 1}, {16, 1, 1});
  CHECK(flat.rows[0][0].bytes ==
        AllBytes{{.step = {64, 240, 0}, .end = 64, .lowest = 0, .highest = 39 * 240 + 192}});
}

TEST_CASE("footprint rows: grids of one column and of three dimensions have none") {
  for (const std::array<std::uint32_t, 3>& grid :
       {std::array{1u, 3u, 1u}, std::array{4u, 3u, 2u}, std::array{4u, 1u, 1u}}) {
    const std::uint32_t rows = grid[1] == 1 ? 1 : 16;
    const Footprint of = footprint_of(60, 40, grid, {16, rows, 1});
    CHECK(of.rows[0].empty());
    CHECK(of.rows[1].empty());
  }
  CHECK(footprint_of(60, 40, {4, 3, 1}, {16, 8, 2}).rows[0].empty());
}
