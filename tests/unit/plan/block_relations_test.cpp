#include "plan/block_relations.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "compile/stages.hpp"
#include "dependencies/dependency_graph.hpp"
#include "plan/dispatch_footprint.hpp"
#include "plan/plan.hpp"
#include "support/recording_builder.hpp"
#include "unit/ptx/footprint_arguments.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

// A kernel whose blocks access what the test says.
struct KnownFootprint final : BackendKernel {
  explicit KnownFootprint(Footprint known)
      : of(std::make_shared<const Footprint>(std::move(known))) {}
  [[nodiscard]] std::shared_ptr<const Footprint> footprint(const DispatchPayload&) const override {
    return of;
  }
  std::shared_ptr<const Footprint> of;
};

// What block b accesses through one argument: [begin + step * b, begin + step * b + bytes).
struct Slice {
  std::int64_t step = 0, begin = 0, bytes = 0;
};
constexpr Slice kAnything{};

// A matrix, of which each block accesses a tile, with `further` bytes behind each row of it. Tiles
// start `distance` rows below each other.
struct Matrix {
  std::int64_t pitch = 0, height = 0, width = 0, further = 0, distance = 2;  // `width`: of a tile
};

// What a dispatch accesses through one argument.
struct ArgumentBytes {
  std::vector<Slice> slices = {};
  std::optional<Matrix> matrix = {};
};

BlockBytes bytes_between(std::array<std::int64_t, 3> step, std::int64_t begin, std::int64_t end,
                         std::int64_t highest) {
  return {.step = step, .begin = begin, .end = end, .lowest = begin, .highest = highest};
}
void add_matrix(Footprint& footprint, const Matrix& of, const Dim3& grid, std::int64_t rows) {
  const std::int64_t columns = grid.x, x = columns > 2 ? of.width : 0,
                     y = grid.y > 1 ? of.distance * of.pitch : 0, row = rows > 1 ? of.pitch : 0,
                     last = of.width * (columns - 1), bottom = of.pitch * (of.height - 1);
  footprint.pointers.back().bytes = {bytes_between(
      {of.width, y, 0}, 0, of.pitch * (rows - 1) + of.width + of.further, bottom + of.pitch)};
  for (auto& rows_of : footprint.rows) rows_of.resize(footprint.pointers.size(), {{}, true});
  footprint.rows[0].back() = {
      {bytes_between({x, y, row}, 0, of.width + of.further, bottom + last + of.further)}};
  footprint.rows[1].back() = {{bytes_between({0, y, row}, last, of.pitch, bottom + of.pitch)}};
}

class Program {
 public:
  RecordingBuilder builder;

  std::uint32_t dispatch(std::uint32_t blocks, const std::vector<BufferAccess>& accesses,
                         const std::vector<std::vector<Slice>>& slices) {
    std::vector<ArgumentBytes> arguments;
    for (const std::vector<Slice>& of : slices) arguments.push_back({of});
    return dispatch({blocks}, 1, accesses, arguments);
  }
  // With `rows` rows of threads in a block.
  std::uint32_t dispatch(const Dim3& grid, std::uint32_t rows,
                         const std::vector<BufferAccess>& accesses,
                         const std::vector<ArgumentBytes>& arguments) {
    const auto blocks = static_cast<std::int64_t>(grid.volume());
    Footprint footprint;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      PointerFootprint& of = footprint.pointers.emplace_back();
      if (arguments[i].matrix) {
        add_matrix(footprint, *arguments[i].matrix, grid, rows);
        continue;
      }
      for (const Slice& slice : arguments[i].slices) {
        if (slice.bytes == 0) of.is_unbounded = true;
        const std::int64_t end = slice.begin + slice.bytes;
        of.bytes.push_back({.step = {slice.step, slice.step * grid.x},
                            .begin = slice.begin,
                            .end = end,
                            .lowest = slice.begin,
                            .highest = end + slice.step * (blocks - 1)});
      }
    }
    for (auto& of : footprint.rows)
      if (!of.empty()) of.resize(footprint.pointers.size(), {{}, true});
    return dispatch(grid, {32, rows}, accesses, std::move(footprint));
  }
  std::uint32_t dispatch(const Dim3& grid, const Dim3& block,
                         const std::vector<BufferAccess>& accesses, Footprint footprint) {
    DispatchPayload payload{};
    payload.grid = grid;
    payload.block = block;
    const std::uint32_t command =
        builder.dispatch("k" + std::to_string(builder.command_count()), payload, accesses);
    const auto kernel = std::const_pointer_cast<KernelCore>(builder.recording().kernels.back());
    kernel->backend = std::make_shared<KnownFootprint>(std::move(footprint));
    return command;
  }

  // Declares what the blocks of the last command access through each argument.
  void declare(std::vector<BlockSlice> slices) {
    const Command& command = builder.recording().commands.back();
    declared.push_back(std::move(slices));
    static_cast<DispatchPayload*>(const_cast<void*>(command.payload))->block_slices =
        declared.back().data();
  }
  std::list<std::vector<BlockSlice>> declared;

  [[nodiscard]] std::shared_ptr<const Plan> plan(bool has_relations = true) {
    Lowering lowering = Lowering::Persistent;
    if (!has_relations) lowering = lowering.without_block_relations();
    return make_plan("program", builder.finish(),
                     {.lowering = lowering, .alignment = 16, .segment_lists = 4});
  }
  // The segments under Lowering::Auto, on a GPU.
  [[nodiscard]] std::size_t auto_segments(Lowering lowering = Lowering::Auto,
                                          EarlierStages earlier = {}) {
    const std::shared_ptr<const Recording> recording = builder.finish();
    DeviceInfo gpu;
    gpu.kind = DeviceKind::Cuda;
    gpu.limits.max_segment_blocks = 4;
    PlanOptions options{.lowering = lowering, .alignment = 16, .segment_lists = 4};
    options.may_have_segments =
        may_have_segments(*recording, lowering, options.memory_goal, gpu, 1);
    return make_plan("program", recording, options, std::move(earlier))->lowered.segments.size();
  }
};

std::size_t waits(const Plan& plan) {
  std::size_t count = 0;
  for (const Segment& segment : plan.lowered.segments)
    for (const SegmentItem& item : segment.items) count += item.waits;
  return count;
}

std::uint32_t by_block(const Plan& plan) { return make_report(plan, {}).segments.relations; }

bool has_line(const Plan& plan, const std::string& line) {
  return to_text(plan).find(line) != std::string::npos;
}

constexpr Slice kQuarter{64, 0, 64};

}  // namespace

TEST_CASE("block relations: a chain by blocks stays in its lists and waits for nothing") {
  Program p;
  const auto x = p.builder.add_buffer("x", 256), y = p.builder.add_buffer("y", 256);
  for (int i = 0; i < 6; ++i)
    p.dispatch(4, {p.builder.read(i % 2 == 0 ? x : y), p.builder.write(i % 2 == 0 ? y : x)},
               {{kQuarter}, {kQuarter}});
  const auto plan = p.plan();
  CHECK(by_block(*plan) == 5);
  CHECK(waits(*plan) == 0);
  CHECK(has_line(*plan, "block b of n1 needs block b of n0"));
  const SegmentsReport report = make_report(*plan, {}).segments;
  REQUIRE(report.footprints.size() == 6);
  for (const SegmentsReport::Footprint& of : report.footprints) CHECK(of.problem == "");
}

TEST_CASE("block relations: without them, commands wait for whole commands, and the hash differs") {
  std::vector<std::uint64_t> hashes;
  for (const bool has_relations : {true, false}) {
    Program p;
    const auto x = p.builder.add_buffer("x", 256), y = p.builder.add_buffer("y", 256);
    p.dispatch(4, {p.builder.write(x)}, {{kQuarter}});
    p.dispatch(4, {p.builder.read(x), p.builder.write(y)}, {{kQuarter}, {kQuarter}});
    const auto plan = p.plan(has_relations);
    CHECK((waits(*plan) == 0) == has_relations);
    hashes.push_back(plan->lowering_hash);
  }
  CHECK(hashes[0] != hashes[1]);
}

namespace {

// Each command reads what the one before wrote.
Program chain(std::uint32_t commands, std::uint32_t blocks, Slice from, Slice to) {
  Program p;
  const auto x = p.builder.add_buffer("x", 256), y = p.builder.add_buffer("y", 256);
  for (std::uint32_t i = 0; i < commands; ++i)
    p.dispatch(blocks, {p.builder.read(i % 2 == 0 ? x : y), p.builder.write(i % 2 == 0 ? y : x)},
               {{from}, {to}});
  return p;
}

}  // namespace

TEST_CASE("block relations: Auto makes a segment if no block waits for another list") {
  CHECK(chain(100, 4, kQuarter, kQuarter).auto_segments() == 1);
  CHECK(chain(99, 4, kQuarter, kQuarter).auto_segments() == 0);
  CHECK(chain(100, 1, kAnything, kAnything).auto_segments() == 1);
  CHECK(chain(100, 4, kQuarter, kQuarter).auto_segments(Lowering::Auto.without_segments()) == 0);
  CHECK(chain(100, 4, kQuarter, kQuarter).auto_segments(Lowering::Auto.without_block_relations()) ==
        0);
  CHECK(chain(100, 4, kQuarter, kQuarter).auto_segments(Lowering::Lanes(4)) == 0);
  CHECK(chain(100, 4, {64, -4, 72}, kQuarter).auto_segments() == 0);
  CHECK(chain(100, 4, kAnything, kQuarter).auto_segments() == 0);
  // More blocks than lists run in sequence, and more lists leave no room for other work.
  for (const std::uint32_t registers : {100u, 24u}) {
    Program p = chain(100, 8, {32, 0, 32}, {32, 0, 32});
    for (const auto& kernel : p.builder.recording().kernels)
      std::const_pointer_cast<KernelCore>(kernel)->registers = registers;
    CHECK(p.auto_segments() == 0);
  }
}

TEST_CASE("block relations: Auto makes nodes of branches, whose blocks would wait") {
  for (const bool has_branches : {true, false}) {
    Program p;
    const auto x = p.builder.add_buffer("x", 128), y = p.builder.add_buffer("y", 128),
               z = p.builder.add_buffer("z", 128);
    // The blocks of each read what those of the one before wrote; or of two, what one wrote.
    for (int i = 0; i < 34; ++i) {
      p.dispatch(2, {p.builder.read(z), p.builder.read_write(x)}, {{kQuarter}, {kQuarter}});
      p.dispatch(2, {p.builder.read(x), p.builder.read_write(y)}, {{kQuarter}, {kQuarter}});
      p.dispatch(2, {p.builder.read(has_branches ? x : y), p.builder.read_write(z)},
                 {{kQuarter}, {kQuarter}});
    }
    CHECK(p.auto_segments() == (has_branches ? 0 : 1));
  }
}

TEST_CASE("block relations: Auto does not depend on what was compiled with the same edges before") {
  PlanCache cache;
  for (const bool is_by_block : {false, true, false}) {
    for (int i = 0; i < 2; ++i) {
      Program p = chain(100, 4, is_by_block ? kQuarter : kAnything, kQuarter);
      const PlanOptions options{.alignment = 16, .segment_lists = 4, .may_have_segments = true};
      const std::shared_ptr<const Recording> recording = p.builder.finish();
      CacheLookup lookup(cache, *recording, options);
      CHECK(make_plan("program", recording, options, {.cache = &lookup})->lowered.segments.size() ==
            (is_by_block ? 1 : 0));
    }
  }
  CHECK(cache.report().hits > 0);
}

TEST_CASE("block relations: kernels of few registers have twice the lists, for many blocks") {
  for (const std::uint32_t registers : {0u, 24u, 100u}) {
    for (const std::uint32_t blocks : {4u, 16u}) {
      CAPTURE(registers);
      CAPTURE(blocks);
      Program p;
      const auto x = p.builder.add_buffer("x", 256);
      p.dispatch(blocks, {p.builder.write(x)}, {{{256 / blocks, 0, 256 / blocks}}});
      p.dispatch(blocks, {p.builder.read_write(x)}, {{{256 / blocks, 0, 256 / blocks}}});
      for (const auto& kernel : p.builder.recording().kernels)
        std::const_pointer_cast<KernelCore>(kernel)->registers = registers;
      const std::uint32_t lists = registers == 24 && blocks == 16 ? 8 : 4;
      CHECK(p.plan()->lowered.segments.at(0).lists() == lists);
    }
  }
}

TEST_CASE("block relations: what a dispatch declares takes the place of what its kernel shows") {
  std::vector<std::uint64_t> hashes;
  for (const std::uint64_t around : {0, 4}) {
    Program p;
    const auto x = p.builder.add_buffer("x", 256), y = p.builder.add_buffer("y", 256);
    p.dispatch(4, {p.builder.write(x)}, {{kAnything}});
    p.declare({{64, 0, 256}});
    p.dispatch(4, {p.builder.read(x), p.builder.write(y)}, {{kAnything}, {kQuarter}});
    p.declare({{64, around, 256}, {}});
    const auto plan = p.plan();
    CHECK(has_line(*plan, around == 0 ? "block b of n1 needs block b of n0"
                                      : "block b of n1 needs blocks b - 1 to b + 1 of n0"));
    hashes.push_back(plan->plan_hash);
  }
  CHECK(hashes[0] != hashes[1]);
}

TEST_CASE("block relations: declared blocks that no memory has are whole accesses") {
  Program p;
  const auto x = p.builder.add_buffer("x", 256);
  p.dispatch(4, {p.builder.write(x)}, {{kQuarter}});
  p.declare({{std::uint64_t{1} << 61, 0, 256}});
  p.dispatch(4, {p.builder.read_write(x)}, {{kQuarter}});
  const auto plan = p.plan();
  CHECK(by_block(*plan) == 0);
  CHECK(make_report(*plan, {}).segments.footprints[0].problem ==
        "declares blocks beyond all memory");
}

TEST_CASE("block relations: neighbours' blocks, and blocks of other sizes") {
  Program p;
  const auto x = p.builder.add_buffer("x", 256), y = p.builder.add_buffer("y", 256),
             z = p.builder.add_buffer("z", 256);
  p.dispatch(4, {p.builder.write(x)}, {{kQuarter}});
  p.dispatch(4, {p.builder.read(x), p.builder.write(y)}, {{{64, -4, 72}}, {kQuarter}});
  p.dispatch(2, {p.builder.read(y), p.builder.write(z)}, {{{128, 0, 128}}, {{128, 0, 128}}});
  const auto plan = p.plan();
  CHECK(has_line(*plan, "block b of n1 needs blocks b - 1 to b + 1 of n0"));
  CHECK(has_line(*plan, "block b of n2 needs blocks 2 b to 2 b + 1 of n1"));
}

// The edge from the first command to the last is implied by commands, but not by blocks.
TEST_CASE("block relations: an access to all blocks that other commands imply is kept") {
  Program p;
  const auto x = p.builder.add_buffer("x", 256), y = p.builder.add_buffer("y", 256),
             z = p.builder.add_buffer("z", 256);
  p.dispatch(4, {p.builder.write(x)}, {{kQuarter}});
  p.dispatch(4, {p.builder.read(x), p.builder.write(y)}, {{kQuarter}, {kQuarter}});
  p.dispatch(4, {p.builder.read(y), p.builder.read(x), p.builder.write(z)},
             {{kQuarter}, {kAnything}, {kQuarter}});
  const auto plan = p.plan();
  CHECK(plan->dependencies.edges.size() == 2);
  CHECK(has_line(*plan, "block b of n2 needs all blocks of n0"));
  CHECK(has_line(*plan, "block b of n2 needs block b of n1"));
  const SegmentsReport report = make_report(*plan, {}).segments;
  CHECK(report.footprints.back().problem.find("depend on values in memory") != std::string::npos);
}

TEST_CASE("block relations: a command that leaves out declared bytes orders no others by blocks") {
  Program p;
  const auto x = p.builder.add_buffer("x", 256), y = p.builder.add_buffer("y", 256);
  p.dispatch(4, {p.builder.write(x)}, {{kQuarter}});
  p.dispatch(4, {p.builder.write(x), p.builder.write(y)}, {{{64, 0, 32}}, {kQuarter}});
  p.dispatch(4, {p.builder.read(x)}, {{kQuarter}});
  const auto plan = p.plan();
  CHECK(by_block(*plan) == 0);
  CHECK(waits(*plan) != 0);
  CHECK(make_report(*plan, {}).segments.footprints[1].problem ==
        "blocks do not access all declared bytes");
}

// A matrix of 5 rows of 10 bytes in tiles of 4 bytes and 2 rows: 3 columns, the last of 2 bytes.
constexpr Matrix kMatrix{.pitch = 10, .height = 5, .width = 4};

TEST_CASE("block relations: tiles of a matrix that are the same stay in their lists") {
  Program p;
  const auto x = p.builder.add_buffer("x", 50), y = p.builder.add_buffer("y", 50);
  for (int i = 0; i < 6; ++i)
    p.dispatch({3, 3}, 2, {p.builder.read(i % 2 == 0 ? x : y), p.builder.write(i % 2 == 0 ? y : x)},
               {{.matrix = kMatrix}, {.matrix = kMatrix}});
  const auto plan = p.plan();
  CHECK(by_block(*plan) == 5);
  CHECK(waits(*plan) == 0);
  CHECK(has_line(*plan, "block b of n1 needs block b of n0"));
  const SegmentsReport report = make_report(*plan, {}).segments;
  for (const SegmentsReport::Footprint& of : report.footprints) CHECK(of.problem == "");
}

TEST_CASE("block relations: tiles that overlap, leave out bytes or are others order no blocks") {
  Matrix overlapping = kMatrix, with_gaps = kMatrix, other = kMatrix, fewer = kMatrix;
  overlapping.further = 1;
  with_gaps.further = -1;
  other.width = 3;
  other.pitch = 8;
  fewer.height = 4;
  for (const Matrix& second : {overlapping, with_gaps, other, fewer}) {
    CAPTURE(second.further);
    CAPTURE(second.pitch);
    Program p;
    const auto x = p.builder.add_buffer("x", 50), y = p.builder.add_buffer("y", 50);
    p.dispatch({3, 4}, 2, {p.builder.write(x)}, {{.matrix = kMatrix}});
    p.dispatch({3, 4}, 2, {p.builder.read(x), p.builder.write(y)},
               {{.matrix = second}, {.matrix = kMatrix}});
    CHECK(by_block(*p.plan()) == 0);
  }
}

TEST_CASE("block relations: kernels of images of two dimensions stay in their lists") {
  // y[row][column] = x[row][column] of 40 rows of 60 numbers, by 16 x 16 threads.
  const Footprint footprint =
      FootprintArguments().pointer().pointer().number(60).number(40).footprint(R"(
	ld.param.u64 	%rd1, [k_param_0];
	ld.param.u64 	%rd2, [k_param_1];
	ld.param.u32 	%r3, [k_param_2];
	ld.param.u32 	%r4, [k_param_3];
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
	mul.wide.s32 	%rd3, %r11, 4;
	add.s64 	%rd4, %rd1, %rd3;
	ld.global.f32 	%f1, [%rd4];
	add.s64 	%rd5, %rd2, %rd3;
	st.global.f32 	[%rd5], %f1;
$L__BB0_2:
	ret;)",
                                                                               {4, 3, 1},
                                                                               {16, 16, 1});
  Program p;
  const auto x = p.builder.add_buffer("x", 9'600), y = p.builder.add_buffer("y", 9'600),
             z = p.builder.add_buffer("z", 9'600, BufferKind::Transient);
  for (const auto& [from, to] : {std::pair{x, y}, std::pair{y, z}, std::pair{z, x}})
    p.dispatch({4, 3}, {16, 16}, {p.builder.read(from), p.builder.write(to)}, footprint);
  const auto plan = p.plan();
  CHECK(by_block(*plan) == 3);
  CHECK(waits(*plan) == 0);
}

TEST_CASE("block access: a tile contains the bytes of its rows") {
  Program p;
  p.dispatch({3, 3}, 2, {p.builder.write(p.builder.add_buffer("x", 50))}, {{.matrix = kMatrix}});
  const Recording& recording = p.builder.recording();
  const std::vector<MemoryPlace> places = {{.memory = 0}};
  std::string reason;
  const std::vector<BlockAccess> accesses =
      block_accesses(recording, 0, recording.accesses, places, &reason);
  REQUIRE(accesses.size() == 1);
  CHECK(reason == "");
  REQUIRE(accesses[0].tiles.has_value());
  for (std::int64_t block = 0; block < 9; ++block) {
    for (std::int64_t byte = -12; byte < 62; ++byte) {
      CAPTURE(block);
      CAPTURE(byte);
      const bool is_owned = byte >= 0 && byte / 20 == block / 3 && byte % 10 / 4 == block % 3;
      CHECK(accesses[0].contains(byte, byte + 1, block) == is_owned);
      CHECK(accesses[0].contains(byte, byte + 2, block) ==
            (is_owned && byte % 10 % 4 < 3 && byte % 10 < 9));
    }
  }
}

TEST_CASE("block relations: barriers, edges and other orders have none") {
  for (const int form : {0, 1, 2}) {
    CAPTURE(form);
    Program p;
    if (form == 2) p.builder = RecordingBuilder({.ordering = Ordering::Linear});
    const auto x = p.builder.add_buffer("x", 256);
    p.dispatch(4, {p.builder.write(x)}, {{kQuarter}});
    if (form == 0) p.builder.barrier();
    p.dispatch(4, {p.builder.read(x)}, {{kQuarter}});
    if (form == 1) p.builder.edge(0, 1);
    CHECK(by_block(*p.plan()) == 0);
  }
}

namespace {

// A segment's blocks, with what orders them: lists, and waits for all items of a command.
class BlockOrder {
 public:
  explicit BlockOrder(const Segment& segment) : segment_(segment) {
    const std::size_t items = segment.items.size();
    before_.assign(items, std::vector<bool>(items, false));
    // An item comes after those of its list and after what they come after.
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (std::uint32_t list = 0; list < segment.lists(); ++list)
        for (std::uint32_t i = segment.first_item[list]; i < segment.first_item[list + 1]; ++i) {
          if (i != segment.first_item[list]) has_changed = follow(i, i - 1) || has_changed;
          for (const std::uint32_t node : segment.waits_of(segment.items[i]))
            for (std::uint32_t other = 0; other < items; ++other)
              if (segment.items[other].node == node) has_changed = follow(i, other) || has_changed;
        }
    }
  }
  [[nodiscard]] bool orders(std::uint32_t node, std::uint32_t block, std::uint32_t later_node,
                            std::uint32_t later_block) const {
    return before_[item_of(later_node, later_block)][item_of(node, block)];
  }

 private:
  bool follow(std::uint32_t item, std::uint32_t earlier) {
    bool has_changed = !before_[item][earlier];
    before_[item][earlier] = true;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (!before_[earlier][i] || before_[item][i]) continue;
      before_[item][i] = has_changed = true;
    }
    return has_changed;
  }
  [[nodiscard]] std::uint32_t item_of(std::uint32_t node, std::uint32_t block) const {
    for (std::uint32_t i = 0; i < segment_.items.size(); ++i) {
      const SegmentItem& item = segment_.items[i];
      if (item.node == node && block - item.first_block < item.blocks) return i;
    }
    FAIL("no such block");
    return 0;
  }

  const Segment& segment_;
  std::vector<std::vector<bool>> before_;
};

// The bytes that blocks really access, in placed memory.
struct Touch {
  std::uint32_t command = 0, block = 0;
  bool writes = false;
  std::uint32_t memory = 0;
  std::int64_t begin = 0, end = 0;
};

}  // namespace

TEST_CASE("block relations: random programs order every two blocks that share a byte") {
  std::mt19937 random(20261130);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  // Mostly of 8 rows of 12 bytes, in tiles of 5 bytes and 2 rows.
  const auto random_matrix = [&] {
    Matrix matrix{.pitch = 12, .height = 8, .width = 5};
    switch (below(20)) {
      case 0: matrix = {.pitch = 16, .height = 6, .width = 5}; break;
      case 1: matrix.height = 7; break;
      case 2: matrix.width = 4; break;
      case 3: matrix.further = 1; break;
      case 4: matrix.distance = 1; break;
      default: break;
    }
    return matrix;
  };
  std::uint32_t relations = 0, conflicts = 0, shared = 0;
  for (int program = 0; program < 300; ++program) {
    CAPTURE(program);
    Program p;
    constexpr std::uint32_t kBytes = 96, kBuffers = 6;
    for (std::uint32_t b = 0; b < kBuffers; ++b)
      p.builder.add_buffer("b" + std::to_string(b), kBytes,
                           b < 3 ? BufferKind::Device : BufferKind::Transient);
    struct Accessed {
      std::uint32_t command;
      Dim3 grid;
      BufferAccess access;
      ArgumentBytes argument;
    };
    std::vector<Accessed> all;
    const std::uint32_t commands = 4 + below(10);
    const bool has_matrices = below(2) == 0;
    for (std::uint32_t c = 0; c < commands; ++c) {
      constexpr std::array<std::uint32_t, 5> kBlocks = {1, 2, 3, 4, 6};
      const bool is_matrix = has_matrices && below(4) != 0;
      const Dim3 grid =
          is_matrix ? Dim3{3, below(8) == 0 ? 3u : 4u} : Dim3{kBlocks[below(kBlocks.size())]};
      const auto blocks = static_cast<std::uint32_t>(grid.volume());
      std::vector<BufferAccess> accesses;
      std::vector<ArgumentBytes> arguments;
      for (std::uint32_t a = 0; a < 1 + below(3); ++a) {
        const bool is_whole = below(2) == 0 || (is_matrix && below(4) != 0);
        const std::uint32_t begin = is_whole && is_matrix ? 0 : below(3) * 24,
                            bytes = is_whole ? kBytes - begin : 24;
        accesses.push_back(RecordingBuilder::range(
            std::array{Access::Read, Access::Write, Access::ReadWrite}[below(3)], below(kBuffers),
            begin, begin + bytes));
        const std::int64_t step = bytes / blocks;
        std::vector<Slice> slices;
        switch (below(6)) {
          case 0: slices = {{0, 0, static_cast<std::int64_t>(bytes)}}; break;
          case 1: slices = {{step, -2, step + 4}}; break;
          case 2: slices = {{step, 0, std::max<std::int64_t>(step / 2, 1)}}; break;
          case 3: slices = {{step, 0, step}, {0, 0, 4}}; break;
          default: slices = {{step, 0, step}}; break;
        }
        arguments.push_back({slices});
        if (is_matrix && below(5) != 0) arguments.back() = {.matrix = random_matrix()};
      }
      p.dispatch(grid, is_matrix ? 2 : 1, accesses, arguments);
      for (std::size_t a = 0; a < accesses.size(); ++a)
        all.push_back({c, grid, accesses[a], arguments[a]});
    }
    const auto plan = p.plan();
    relations += by_block(*plan);
    REQUIRE(plan->lowered.segments.size() == 1);
    const Segment& segment = plan->lowered.segments[0];
    const BlockOrder order(segment);
    std::vector<Touch> touched;
    for (const Accessed& of : all) {
      const auto placed =
          std::find_if(plan->placement.buffers.begin(), plan->placement.buffers.end(),
                       [&](const PlacedBuffer& one) { return one.buffer == of.access.buffer; });
      const bool is_placed = placed != plan->placement.buffers.end();
      const auto offset = is_placed ? static_cast<std::int64_t>(placed->offset) : 0;
      const auto begin = static_cast<std::int64_t>(of.access.begin),
                 end = static_cast<std::int64_t>(of.access.end);
      for (std::uint32_t block = 0; block < of.grid.volume(); ++block) {
        const auto touch = [&](std::int64_t from, std::int64_t bytes) {
          touched.push_back({of.command, block, writes(of.access.access),
                             is_placed ? 100 : of.access.buffer,
                             offset + std::max(begin + from, begin),
                             offset + std::min(begin + from + bytes, end)});
        };
        for (const Slice& slice : of.argument.slices)
          touch(slice.begin + slice.step * block, slice.bytes);
        if (!of.argument.matrix) continue;
        const Matrix& matrix = *of.argument.matrix;
        const std::int64_t column = block % of.grid.x, row = block / of.grid.x;
        for (std::int64_t r = matrix.distance * row; r < matrix.distance * row + 2; ++r)
          if (r < matrix.height)
            touch(matrix.pitch * r + matrix.width * column,
                  column + 1 < of.grid.x ? matrix.width + matrix.further
                                         : matrix.pitch - matrix.width * column);
      }
    }
    shared += plan->placement.slab_bytes < plan->placement.naive_bytes ? 1 : 0;
    for (const Touch& a : touched) {
      for (const Touch& b : touched) {
        if (a.command >= b.command || a.memory != b.memory || (!a.writes && !b.writes) ||
            std::max(a.begin, b.begin) >= std::min(a.end, b.end))
          continue;
        const auto node_of = [&](std::uint32_t command) {
          const auto at = std::find(plan->dependencies.node_command.begin(),
                                    plan->dependencies.node_command.end(), command);
          return plan->lowered
              .node_of[static_cast<std::size_t>(at - plan->dependencies.node_command.begin())];
        };
        ++conflicts;
        const bool is_ordered =
            order.orders(node_of(a.command), a.block, node_of(b.command), b.block);
        if (!is_ordered) {
          INFO("command ", a.command, " block ", a.block, ", command ", b.command, " block ",
               b.block, "\n", to_text(*plan));
          REQUIRE(is_ordered);
        }
      }
    }
  }
  CHECK(relations > 300);
  CHECK(conflicts > 10'000);
  CHECK(shared > 20);
}
