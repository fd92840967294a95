// The records of segments. Needs no GPU.
#include "backend/cuda/segments/segment_records.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "backend/cuda/segments/segment_marks.hpp"
#include "compile/stages.hpp"
#include "record/payload.hpp"
#include "support/recording_builder.hpp"

using namespace reprise;
using namespace reprise::test;
using namespace reprise::detail;

namespace {

// Dispatches of two kernels, each of which reads two earlier results.
std::shared_ptr<const Plan> random_segments(std::uint32_t seed) {
  std::mt19937 random(seed);
  RecordingBuilder build;
  std::vector<std::uint32_t> results;
  for (int i = 0; i < 60; ++i) {
    results.push_back(build.add_buffer("x", 64));
    const auto earlier = [&] { return build.read(results[random() % results.size()]); };
    DispatchPayload dispatch{};
    dispatch.grid = Dim3(1 + random() % 3, 1 + random() % 3, random() % 8 == 0 ? 9 : 1);
    dispatch.block = 32u << random() % 4;
    build.dispatch("kernel", dispatch,
                   std::array{build.write(results.back()), earlier(), earlier()});
  }
  return make_plan("plan", build.finish(),
                   {.lowering = Lowering::Persistent, .segment_lists = 1 + seed % 9});
}

// Part 1 uses shared memory and barriers, part 0 does not.
struct Tables {
  explicit Tables(const Plan& plan) {
    parts.parts.resize(2);
    parts.threads = 256;
    code.parts.resize(2);
    code.parts[1].uses_shared = code.parts[1].has_barriers = true;
    for (std::uint32_t node = 0; node < plan.lowered.nodes.size(); ++node)
      parts.part_of.push_back(node % 2);
  }
  SegmentParts parts;
  PersistentKernel code;
};

struct Placed {
  std::uint32_t list = 0, position = 0;
};

std::uint32_t part_in(const SegmentRecord& record) { return record.word & 0x3ff; }
bool has(const SegmentRecord& record, std::uint32_t flag) { return (record.word & flag) != 0; }

// Whether a barrier of the persistent block lies between two records of one list.
bool are_separate(const SegmentRecords& table, std::uint32_t list, std::uint32_t from,
                  std::uint32_t to) {
  for (std::uint32_t i = from; i <= to; ++i) {
    const SegmentRecord& record = table.records()[table.first()[list] + i];
    if (i > from && has(record, SegmentRecord::kSync)) return true;
    if (i < to && has(record, SegmentRecord::kPublish)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("segment records: every block has one record, in the order of its list") {
  for (std::uint32_t seed = 1; seed < 30; ++seed) {
    CAPTURE(seed);
    const auto plan = random_segments(seed);
    const Tables tables(*plan);
    const Bindings bindings{std::vector<std::byte*>(plan->recording->buffers.size())};
    REQUIRE_FALSE(plan->lowered.segments.empty());
    for (const Segment& segment : plan->lowered.segments) {
      const SegmentRecords table({plan.get(), 0}, bindings, segment, tables.parts, tables.code);
      REQUIRE(table.first().size() == segment.lists() + 1);
      std::map<std::uint32_t, std::vector<Placed>> placed;  // by node
      std::map<std::uint32_t, std::uint32_t> published;     // by counter
      for (std::uint32_t list = 0; list < segment.lists(); ++list) {
        for (std::uint32_t i = table.first()[list]; i < table.first()[list + 1]; ++i) {
          const SegmentRecord& record = table.records()[i];
          const std::uint32_t position = i - table.first()[list];
          placed[segment.first_node + record.counter].push_back({list, position});
          if (has(record, SegmentRecord::kPublish)) ++published[record.counter];
          const bool ends = i + 1 == table.first()[list + 1] ||
                            position % SegmentRecord::kChunk == SegmentRecord::kChunk - 1;
          CHECK(has(record, SegmentRecord::kLast) == ends);
          CHECK(has(record, SegmentRecord::kPost) ==
                (ends || has(record, SegmentRecord::kPublish)));
          if (has(record, SegmentRecord::kWaits)) CHECK(has(record, SegmentRecord::kSync));
        }
      }
      for (std::uint32_t node = segment.first_node; node < segment.first_node + segment.nodes;
           ++node) {
        const auto& dispatch = plan->recording->payload<DispatchPayload>(plan->command_of(node));
        CHECK(placed[node].size() == dispatch.grid.volume());
        // A barrier separates each node from its successors in the same list.
        for (const LoweredEdge& edge : plan->lowered.edges_into(node)) {
          for (const Placed& before : placed[edge.from]) {
            for (const Placed& after : placed[node]) {
              if (before.list != after.list) continue;
              REQUIRE(before.position < after.position);
              CHECK(are_separate(table, before.list, before.position, after.position));
            }
          }
        }
      }
      for (const auto& [counter, count] : published) CHECK(count == segment.item_counts[counter]);
    }
  }
}

TEST_CASE("segment records: a barrier separates records that use the block's memory or barriers") {
  for (std::uint32_t seed = 1; seed < 30; ++seed) {
    CAPTURE(seed);
    const auto plan = random_segments(seed);
    const Tables tables(*plan);
    const Bindings bindings{std::vector<std::byte*>(plan->recording->buffers.size())};
    for (const Segment& segment : plan->lowered.segments) {
      const SegmentRecords table({plan.get(), 0}, bindings, segment, tables.parts, tables.code);
      for (std::uint32_t list = 0; list < segment.lists(); ++list) {
        std::optional<std::uint32_t> last;
        for (std::uint32_t i = 0; i < table.first()[list + 1] - table.first()[list]; ++i) {
          if (part_in(table.records()[table.first()[list] + i]) != 1) continue;
          if (last) CHECK(are_separate(table, list, *last, i));
          last = i;
        }
      }
    }
  }
}

TEST_CASE("segment records: a block has memory for each part, not for the sum of their maxima") {
  SegmentParts parts;
  parts.dynamic_shared_bytes = {0, 30'000, 500};
  PersistentKernel code;
  code.shared_base = 1'000;
  code.parts.resize(3);
  code.parts[0].static_shared_bytes = 40'000;
  code.parts[1].static_shared_bytes = 16;
  CHECK(segment_shared_bytes(parts, code) == 41'000);
}

TEST_CASE("segment records: records hold shapes, waits, and parameters or their places") {
  RecordingBuilder build;
  const std::uint32_t x = build.add_buffer("x", 64);
  std::vector<std::uint32_t> others;
  DispatchPayload wide{};
  wide.grid = Dim3(2, 3, 1);
  wide.block = Dim3(16, 4, 2);
  std::vector<BufferAccess> reads{build.write(x)};
  for (int i = 0; i < 6; ++i) {
    others.push_back(build.add_buffer("y", 64));
    DispatchPayload one{};
    one.grid = 1;
    one.block = 32;
    build.dispatch("kernel", one, std::array{build.write(others.back())});
    reads.push_back(build.read(others.back()));
  }
  build.dispatch("kernel", wide, reads);
  const auto plan =
      make_plan("plan", build.finish(), {.lowering = Lowering::Persistent, .segment_lists = 6});
  REQUIRE(plan->lowered.segments.size() == 1);
  Tables tables(*plan);
  const std::uint32_t last = static_cast<std::uint32_t>(plan->lowered.nodes.size()) - 1;
  tables.parts.part_of.assign(last + 1, 0);
  tables.parts.part_of[last] = 1;
  tables.code.parts[1] = {.has_inline_parameters = false};
  std::vector<std::byte> memory(64 * plan->recording->buffers.size());
  Bindings bindings;
  for (std::size_t i = 0; i < plan->recording->buffers.size(); ++i)
    bindings.address.push_back(memory.data() + 64 * i);
  SegmentRecords table({plan.get(), 0}, bindings, plan->lowered.segments[0], tables.parts,
                       tables.code);
  std::array<std::byte, 256> outside{};  // on the device
  table.place_outside(outside.data());
  const auto address_at = [](const std::byte* from) {
    std::byte* address = nullptr;
    std::memcpy(&address, from, sizeof address);
    return address;
  };
  std::size_t blocks = 0, waits = 0;
  for (const SegmentRecord& record : table.records()) {
    if (part_in(record) != 1) {
      CHECK(address_at(record.parameters) == bindings.address[others[record.counter]]);
      continue;
    }
    ++blocks;
    waits = std::max<std::size_t>(waits, record.waits);
    CHECK(record.grid_dim[1] == 3);
    CHECK(record.block_dim[0] == 16);
    CHECK(record.block[0] < 2);
    CHECK(record.block[1] < 3);
    CHECK((record.word >> SegmentRecord::kThreadsShift & 0x3ff) == 127);
    CHECK(address_at(record.parameters) == outside.data());
    for (std::uint32_t thread = 0; thread < 128; ++thread)
      CHECK((thread * record.divide_x >> 22) == thread / 16);
  }
  CHECK(blocks == 6);
  CHECK(waits >= 5);
  REQUIRE_FALSE(table.more_waits().empty());
  CHECK(table.more_waits()[0].count == 1);
  REQUIRE(table.outside().size() >= 56);
  CHECK(address_at(table.outside().data()) == bindings.address[x]);
  CHECK(address_at(table.outside().data() + 48) == bindings.address[others.back()]);

  // A disabled command keeps its waits and its counter.
  SegmentRecords disabled = table;
  static_cast<void>(disabled.set_enabled(last, false));
  REQUIRE(disabled.records().size() == table.records().size());
  for (std::size_t i = 0; i < table.records().size(); ++i) {
    const SegmentRecord &before = table.records()[i], &after = disabled.records()[i];
    CHECK(part_in(after) == (part_in(before) == 1 ? 2 : 0));
    CHECK(has(after, SegmentRecord::kWaits) == has(before, SegmentRecord::kWaits));
    CHECK(has(after, SegmentRecord::kPublish) == has(before, SegmentRecord::kPublish));
  }
  static_cast<void>(disabled.set_enabled(last, true));
  for (std::size_t i = 0; i < table.records().size(); ++i)
    CHECK(disabled.records()[i].word == table.records()[i].word);

  // Parameters change in place, and the range says where.
  bindings.address[x] = memory.data() + 8;
  const auto range = table.set(last, *plan, bindings);
  REQUIRE(range);
  CHECK(range->end_byte - range->first_byte >= 56);
  for (std::size_t i = 0; i < table.records().size(); ++i)
    if (part_in(table.records()[i]) == 1)
      CHECK((i >= range->first_record && i < range->end_record));
  CHECK(address_at(table.outside().data()) == memory.data() + 8);
}

TEST_CASE("segment records: a command that cannot take its place in the records is refused") {
  const auto plan_of = [](unsigned threads) {
    RecordingBuilder build;
    const std::uint32_t x = build.add_buffer("x", 64);
    for (int i = 0; i < 2; ++i) {
      DispatchPayload dispatch{};
      dispatch.grid = 1;
      dispatch.block = threads;
      build.dispatch("kernel", dispatch, std::array{build.write(x)});
    }
    return make_plan("plan", build.finish(),
                     {.lowering = Lowering::Persistent, .segment_lists = 6});
  };
  const auto plan = plan_of(64), other = plan_of(128);
  const Tables tables(*plan);
  const Bindings bindings{std::vector<std::byte*>(1)};
  SegmentRecords table({plan.get(), 0}, bindings, plan->lowered.segments[0], tables.parts,
                       tables.code);
  CHECK(table.set(0, *plan, bindings));
  CHECK_FALSE(table.set(0, *other, bindings));
}

TEST_CASE("segment records: a disabled command makes up for its last barrier") {
  const auto plan = random_segments(3);
  Tables tables(*plan);
  tables.parts.threads = 32;
  tables.code.parts[1].ends_together = true;
  const Segment& segment = plan->lowered.segments[0];
  SegmentRecords table({plan.get(), 0}, {std::vector<std::byte*>(plan->recording->buffers.size())},
                       segment, tables.parts, tables.code);
  for (std::uint32_t node = 0; node < segment.nodes; ++node)
    static_cast<void>(table.set_enabled(segment.first_node + node, false));
  std::size_t full = 0;
  for (const SegmentRecord& record : table.records()) {
    const bool ends_together = (segment.first_node + record.counter) % 2 == 1;
    if (!ends_together || !has(record, SegmentRecord::kFull)) continue;
    ++full;
    CHECK(has(record, SegmentRecord::kSync));
  }
  CHECK(full != 0);
}

TEST_CASE("segment marks: they tell what runs, and which command a block waits for") {
  // Two chains on two lists; the last command needs both.
  RecordingBuilder build;
  const std::uint32_t x = build.add_buffer("x", 64), y = build.add_buffer("y", 64),
                      z = build.add_buffer("z", 64);
  DispatchPayload one{};
  one.grid = 1;
  one.block = 64;
  build.dispatch("kernel", one, std::array{build.write(x)});
  build.dispatch("kernel", one, std::array{build.write(y)});
  build.dispatch("kernel", one, std::array{build.write(z), build.read(x), build.read(y)});
  const auto plan =
      make_plan("plan", build.finish(), {.lowering = Lowering::Persistent, .segment_lists = 2});
  const Tables tables(*plan);
  const SegmentRecords table({plan.get(), 0}, {std::vector<std::byte*>(3)},
                             plan->lowered.segments[0], tables.parts, tables.code);
  REQUIRE(table.records().size() == 3);
  std::vector<SegmentMark> marks(2 * SegmentMark::kWarps);
  CHECK(unfinished_in_segment(table, marks).empty());
  const auto set = [&](std::uint32_t node, std::uint32_t warp, std::uint32_t state,
                       std::uint32_t run = 7) {
    const std::uint32_t record = table.records_of(node)[0];
    const std::uint32_t list = record < table.first()[1] ? 0 : 1;
    marks[list * SegmentMark::kWarps + warp] = {record, run << SegmentMark::kStateBits | state};
  };
  const auto found = [&] { return unfinished_in_segment(table, marks); };
  // The last command is in the list of one of the others, `own`.
  const std::uint32_t last = table.records_of(2)[0];
  const std::uint32_t own = last - 1 == table.records_of(0)[0] ? 0 : 1, other = 1 - own;
  set(own, 0, SegmentMark::kEnded, 6);  // of the run before
  set(other, 1, SegmentMark::kRunning);
  REQUIRE(found().size() == 1);
  CHECK(found()[0].node == other);
  CHECK(found()[0].replay == 7);
  CHECK(found()[0].waits_for == kNone);
  set(other, 0, SegmentMark::kEnded);  // the second warp still runs
  set(2, 0, SegmentMark::kWaiting);
  set(2, 1, SegmentMark::kRunning);  // waits for the first warp, at the record's barrier
  REQUIRE(found().size() == 2);
  CHECK(found()[1].node == 2);
  CHECK(found()[1].waits_for == other);
  CHECK(found()[1].waiting_blocks == 1);
  set(other, 1, SegmentMark::kEnded);
  CHECK(found().empty());  // about to run
  set(2, 0, SegmentMark::kRunning);
  CHECK(found().size() == 1);
  set(2, 0, SegmentMark::kEnded);
  set(2, 1, SegmentMark::kEnded);
  CHECK(found().empty());
}
