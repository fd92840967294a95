#include <doctest/doctest.h>
#include <zstd.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "trace/chunk.hpp"
#include "trace/codec.hpp"
#include "trace/sample_columns.hpp"
#include "trace/schema_generated.h"
#include "trace/trace_error.hpp"
#include "unit/trace/trace_samples.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

// True if decode() accepts the graph; false if it reports Corrupt.
bool decodes(const GraphVersion& graph) {
  Records r;
  r.graph_versions = {graph};
  try {
    (void)decode(encode(r));
    return true;
  } catch (const TraceError& error) {
    CHECK(error.code() == TraceErrorCode::Corrupt);
    return false;
  }
}

void check_too_large(const GraphVersion& graph) {
  Records records;
  records.graph_versions = {graph};
  try {
    (void)decode(encode(records));
    FAIL("decode() accepted the graph");
  } catch (const TraceError& error) {
    CHECK(error.code() == TraceErrorCode::TooLarge);
  }
}

}  // namespace

TEST_CASE("trace codec: a record of every kind survives a round trip") {
  const Records records = test::one_of_each();
  CHECK(records.count() == 26);
  CHECK(decode(encode(records)) == records);
}

TEST_CASE("trace codec: empty records survive a round trip") {
  CHECK(decode(encode(Records{})).empty());
}

TEST_CASE("trace codec: add() appends a record to the vector of its kind") {
  Records records;
  for (const Replay& r : test::one_of_each().replays) records.add(r);
  records.add(test::sample_block(1, 3));
  CHECK(records.replays == test::one_of_each().replays);
  CHECK(records.sample_blocks.size() == 1);
  CHECK(records.count() == 2);
  records.clear();
  CHECK(records.empty());
}

TEST_CASE("trace codec: an index out of range is corrupt") {
  const GraphVersion good = test::sample_graph(0, 3);
  REQUIRE(decodes(good));
  const auto broken = [&](auto change) {
    GraphVersion g = good;
    change(g);
    return !decodes(g);
  };
  CHECK(broken([](GraphVersion& g) { g.strings.clear(); }));
  CHECK(broken([](GraphVersion& g) { g.labels.clear(); }));
  CHECK(broken([](GraphVersion& g) { g.labels[1].parent = 1; }));
  CHECK(broken([](GraphVersion& g) { g.labels[0].parent = 1; }));
  CHECK(broken([](GraphVersion& g) { g.labels[1].name = 6; }));
  CHECK(broken([](GraphVersion& g) { g.kernels[0].name = 6; }));
  CHECK(broken([](GraphVersion& g) { g.kernels[0].full_name = 6; }));
  CHECK(broken([](GraphVersion& g) { g.buffers[0].name = 6; }));
  CHECK(broken([](GraphVersion& g) { g.accesses[0].buffer = 1; }));
  CHECK(broken([](GraphVersion& g) { g.accesses[0].end = 3; }));
  CHECK(broken([](GraphVersion& g) { g.barriers[0].buffer = 1; }));
  CHECK(broken([](GraphVersion& g) { g.barriers[0].label = 2; }));
  CHECK(broken([](GraphVersion& g) { g.barriers[0].file = 6; }));
  CHECK(broken([](GraphVersion& g) { g.nodes[0].name = 6; }));
  CHECK(broken([](GraphVersion& g) { g.nodes[0].label = 2; }));
  CHECK(broken([](GraphVersion& g) { g.nodes[0].file = 6; }));
  CHECK(broken([](GraphVersion& g) { g.nodes[0].kernel = 1; }));
  CHECK(broken([](GraphVersion& g) { g.nodes[2].access_count = 2; }));
  CHECK(broken([](GraphVersion& g) { g.nodes[2].first_access = 0xffffffffu; }));
  CHECK(broken([](GraphVersion& g) {  // all nodes claim all accesses
    for (Node& n : g.nodes) {
      n.first_access = 0;
      n.access_count = static_cast<std::uint32_t>(g.accesses.size());
    }
  }));
  CHECK(broken([](GraphVersion& g) { g.edges[0].to = 3; }));
  CHECK(broken([](GraphVersion& g) { g.edges[0].from = 1; }));
  CHECK(broken([](GraphVersion& g) { g.edges[0].buffer = 1; }));
  CHECK(broken([](GraphVersion& g) { g.edges[0].barrier = 1; }));
}

TEST_CASE("trace codec: segments survive a round trip, and segments that overlap are corrupt") {
  GraphVersion good = test::sample_graph(0, 6);
  good.segments = {{0, 2, 1, 2}, {3, 3, 4, 9}};
  Records records;
  records.graph_versions = {good};
  CHECK(decode(encode(records)) == records);
  const auto broken = [&](auto change) {
    GraphVersion g = good;
    change(g);
    return !decodes(g);
  };
  CHECK(broken([](GraphVersion& g) { g.segments[1].first_node = 1; }));
  CHECK(broken([](GraphVersion& g) { g.segments[1].nodes = 4; }));
  CHECK(broken([](GraphVersion& g) { g.segments[1].nodes = 0xffffffffu; }));
  CHECK(broken([](GraphVersion& g) { g.segments[0].nodes = 0; }));
}

TEST_CASE(
    "trace codec: block relations survive a round trip, and one that leaves its segment is "
    "corrupt") {
  GraphVersion good = test::sample_graph(0, 6);
  good.segments = {{0, 2, 1, 2}, {3, 3, 4, 9}};
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  good.block_relations = {
      {0, 1, 1, 1, -1, 1}, {3, 4, kLowest, 3, kLowest, kLowest}, {3, 5, 0, 0, 0, 0}};
  Records records;
  records.graph_versions = {good};
  CHECK(decode(encode(records)) == records);
  const auto broken = [&](std::size_t i, auto change) {
    GraphVersion g = good;
    change(g.block_relations[i]);
    return !decodes(g);
  };
  CHECK(broken(0, [](BlockRelation& r) { r.from = 1; }));
  CHECK(broken(0, [](BlockRelation& r) { r.to = 2; }));  // between the segments
  CHECK(broken(0, [](BlockRelation& r) { r.to = 3; }));
  CHECK(broken(1, [](BlockRelation& r) { r.from = 1; }));
  CHECK(broken(1, [](BlockRelation& r) { r.divisor = -1; }));
  CHECK(broken(1, [](BlockRelation& r) { r.divisor = kLowest; }));
  CHECK(broken(2, [](BlockRelation& r) { r.to = 4; }));  // twice
  CHECK(broken(2, [](BlockRelation& r) { r.to = 6; }));
  CHECK(broken(2, [](BlockRelation& r) { r.to = 0xffffffff; }));
  CHECK(broken(2, [](BlockRelation& r) { r.from = 0xffffffff; }));
  GraphVersion without_segments = good;
  without_segments.segments.clear();
  CHECK_FALSE(decodes(without_segments));
}

TEST_CASE(
    "trace codec: bodies survive a round trip, and a body that does not follow its parent is "
    "corrupt") {
  const GraphVersion good = [] {
    GraphVersion g = test::sample_graph(0, 6);
    std::erase_if(g.edges, [](const Edge& e) { return e.from == 1 || e.from == 4; });
    g.bodies = {{0, 0, 2, 3, BodyKind::Loop}, {3, 0, 5, 1, BodyKind::Nested}};
    return g;
  }();
  Records records;
  records.graph_versions = {good};
  CHECK(decode(encode(records)) == records);
  const auto broken = [&](auto change) {
    GraphVersion g = good;
    change(g.bodies);
    return !decodes(g);
  };
  CHECK(broken([](auto& bodies) { bodies[0].parent = 2; }));
  CHECK(broken([](auto& bodies) { bodies[1].parent = 5; }));
  CHECK(broken([](auto& bodies) { bodies[1].first_node = 4; }));
  CHECK(broken([](auto& bodies) { bodies[1].nodes = 2; }));
  CHECK(broken([](auto& bodies) { bodies[0].nodes = 0xffffffff; }));
  CHECK(broken([](auto& bodies) { bodies.pop_back(); }));
  GraphVersion crossing = good;
  crossing.edges.push_back({1, 2});
  CHECK_FALSE(decodes(crossing));
}

TEST_CASE("trace codec: collectives are of nodes, in their order") {
  GraphVersion g = test::sample_graph(0, 4);
  g.collectives = {{1, CollectiveKind::AllReduce, 4, 3, kNone, 77, 2, 0, 4096},
                   {3, CollectiveKind::Broadcast, 4, 3, 1, 77, 2, 1, 64}};
  Records records;
  records.graph_versions = {g};
  CHECK(decode(encode(records)) == records);
  g.collectives[1].node = 4;
  CHECK_FALSE(decodes(g));
  g.collectives[1].node = 1;
  CHECK_FALSE(decodes(g));
}

TEST_CASE("trace codec: changes are of nodes, in their order") {
  GraphVersion g = test::sample_graph(0, 4);
  g.changes = {{1, 6'000}, {3, 1}};
  Records records;
  records.graph_versions = {g};
  CHECK(decode(encode(records)) == records);
  g.changes[1].node = 4;
  CHECK_FALSE(decodes(g));
  g.changes[1].node = 1;
  CHECK_FALSE(decodes(g));
}

TEST_CASE("trace codec: frames follow their callers, and stacks are of nodes, in their order") {
  GraphVersion g = test::sample_graph(0, 4);
  g.frames = {{kNone, 0, 0, 7, 0}, {0, 0, 0, 8, 0x1234}};
  g.stacks = {{1, 1}, {3, 0}};
  g.launch_stacks = {{7, 1, 0, 8}};
  g.stack = 1;
  Records records;
  records.graph_versions = {g};
  CHECK(decode(encode(records)) == records);
  const auto strings = static_cast<std::uint32_t>(g.strings.size());
  const auto rejects = [&](auto change) {
    GraphVersion wrong = g;
    change(wrong);
    CHECK_FALSE(decodes(wrong));
  };
  rejects([](GraphVersion& w) { w.frames[1].caller = 1; });
  rejects([&](GraphVersion& w) { w.frames[0].function = strings; });
  rejects([&](GraphVersion& w) { w.frames[0].file = strings; });
  rejects([](GraphVersion& w) { w.stacks[1].node = 4; });
  rejects([](GraphVersion& w) { w.stacks[1].node = 1; });
  rejects([](GraphVersion& w) { w.stacks[0].frame = 2; });
  rejects([](GraphVersion& w) { w.launch_stacks[0].frame = 2; });
  rejects([&](GraphVersion& w) { w.launch_stacks[0].file = strings; });
  rejects([](GraphVersion& w) { w.stack = 2; });
}

TEST_CASE("trace codec: a clock alignment has a drift that clocks can have") {
  for (const double drift : {0.1, -0.1, std::nan("")}) {
    Records records = test::one_of_each();
    records.clock_alignments[0].drift = drift;
    CHECK_THROWS_AS(decode(encode(records)), TraceError);
  }
}

TEST_CASE("trace codec: the rows of an inspected range lie within its bytes") {
  const auto accepts = [](auto change) {
    Records records = test::one_of_each();
    change(records.inspected_ranges[0]);
    try {
      return decode(encode(records)) == records;
    } catch (const TraceError& error) {
      CHECK(error.code() == TraceErrorCode::Corrupt);
      return false;
    }
  };
  using Range = trace::InspectedRange;
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  CHECK(accepts([](Range& r) { r.end += 100; }));
  CHECK(accepts([](Range& r) { r.depth = 1, r.slice_pitch = 0; }));
  CHECK_FALSE(accepts([](Range& r) { --r.end; }));
  CHECK_FALSE(accepts([](Range& r) { r.end = 0; }));
  CHECK_FALSE(accepts([](Range& r) { r.width = 0; }));
  CHECK_FALSE(accepts([](Range& r) { r.height = 4; }));
  CHECK_FALSE(accepts([](Range& r) { r.depth = 2; }));
  CHECK_FALSE(accepts([](Range& r) { r.row_pitch = 11; }));
  CHECK_FALSE(accepts([](Range& r) { r.row_pitch = kHuge; }));
  CHECK_FALSE(accepts([](Range& r) { r.height = kHuge; }));
  CHECK_FALSE(accepts([](Range& r) { r.width = kHuge; }));
}

TEST_CASE("trace codec: times out of range are corrupt, so that differences do not overflow") {
  constexpr Time kMax = 3'000'000'000'000'000'000;
  const auto accepts = [](Time t, auto change) {
    Records records = test::one_of_each();
    change(records, t);
    try {
      return decode(encode(records)) == records;
    } catch (const TraceError& error) {
      CHECK(error.code() == TraceErrorCode::Corrupt);
      return false;
    }
  };
  const auto check = [&](auto change) {
    CHECK(accepts(kMax, change));
    CHECK(accepts(-kMax, change));
    CHECK_FALSE(accepts(kMax + 1, change));
    CHECK_FALSE(accepts(-kMax - 1, change));
  };
  check([](Records& r, Time t) { r.sessions[0].process_start_utc = t; });
  check([](Records& r, Time t) { r.clocks[0].host = t; });
  check([](Records& r, Time t) { r.clocks[0].other = t; });
  check([](Records& r, Time t) { r.clocks[0].error = t; });
  check([](Records& r, Time t) { r.graph_versions[0].compiled = t; });
  check([](Records& r, Time t) { r.graph_versions[0].compile_time = t; });
  check([](Records& r, Time t) { r.graph_versions[0].instantiate_time = t; });
  check([](Records& r, Time t) { r.replays[0].launched = t; });
  check([](Records& r, Time t) { r.replays[0].launch_returned = t; });
  check([](Records& r, Time t) { r.replays[0].started = t; });
  check([](Records& r, Time t) { r.replays[0].ended = t; });
  check([](Records& r, Time t) { r.sample_blocks[0].samples[3].started = t; });
  check([](Records& r, Time t) { r.host_ranges[0].started = t; });
  check([](Records& r, Time t) { r.host_ranges[0].ended = t; });
  check([](Records& r, Time t) { r.pool_states[0].at = t; });
  check([](Records& r, Time t) { r.pool_uses[0].from = t; });
  check([](Records& r, Time t) { r.pool_uses[0].to = t; });
  check([](Records& r, Time t) { r.device_totals[0].at = t; });
  check([](Records& r, Time t) { r.buffer_lifetimes[0].allocated = t; });
  check([](Records& r, Time t) { r.buffer_lifetimes[0].freed = t; });
  check([](Records& r, Time t) { r.messages[0].at = t; });
  check([](Records& r, Time t) { r.updates[0].at = t; });
  check([](Records& r, Time t) { r.ended[0].at = t; });
  check([](Records& r, Time t) { r.creation_costs[0].at = t; });
  check([](Records& r, Time t) { r.creation_costs[0].capture_time = t; });
  check([](Records& r, Time t) { r.creation_costs[0].launch_time = t; });
  check([](Records& r, Time t) { r.losses[0].at = t; });
  check([](Records& r, Time t) { r.clock_exchanges[0].sent = t; });
  check([](Records& r, Time t) { r.clock_exchanges[0].received = t; });
  check([](Records& r, Time t) { r.clock_exchanges[0].other = t; });
  check([](Records& r, Time t) { r.clock_alignments[0].at = t; });
  check([](Records& r, Time t) { r.clock_alignments[0].offset = t; });
  check([](Records& r, Time t) { r.clock_alignments[0].error = t; });
  check([](Records& r, Time t) { r.profiling_overheads[0].from = t; });
  check([](Records& r, Time t) { r.profiling_overheads[0].to = t; });
  check([](Records& r, Time t) { r.profiling_overheads[0].host = t; });
  check([](Records& r, Time t) { r.profiling_overheads[0].device = t; });
}

TEST_CASE("trace codec: a small graph whose nodes have long label paths is refused") {
  const auto nested = [](std::uint32_t depth) {
    GraphVersion g = test::sample_graph(0, 5'000);
    g.labels.resize(1);
    g.strings[2] = std::string(100, 'x');
    for (std::uint32_t i = 1; i <= depth; ++i) g.labels.push_back({i - 1, 2, 0});
    for (Node& n : g.nodes) n.label = depth;
    g.barriers.clear();
    return g;
  };
  CHECK(decodes(nested(50)));
  check_too_large(nested(5'000));  // 1 MB for 2.5 GB of paths
}

TEST_CASE("trace codec: a small graph whose frames have long names is refused") {
  const auto stack_of = [](std::uint32_t depth) {
    GraphVersion g = test::sample_graph(0, 4);
    g.strings[2] = std::string(100'000, 'x');
    for (std::uint32_t i = 0; i < depth; ++i) g.frames.push_back({i == 0 ? kNone : i - 1, 2, 2, 1});
    return g;
  };
  CHECK(decodes(stack_of(50)));
  check_too_large(stack_of(5'000));  // 200 kB for 1 GB of names
}

TEST_CASE("trace codec: truncated and modified bytes decode or throw TraceError") {
  const std::vector<std::uint8_t> good = encode(test::one_of_each());
  // The last bytes can be padding.
  for (std::size_t size = 0; size + 8 < good.size(); size += 7)
    CHECK_THROWS_AS((void)decode(std::span(good).first(size)), TraceError);
  const unsigned seed = 20261;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::size_t survived = 0;
  for (int i = 0; i < 3'000; ++i) {
    std::vector<std::uint8_t> bytes = good;
    for (int k = 0; k < 4; ++k)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    try {
      survived += decode(bytes).count() <= 64 ? 1 : 0;
    } catch (const TraceError& error) {
      CHECK(error.code() == TraceErrorCode::Corrupt);
    }
  }
  CHECK(survived <= 3'000);
}

TEST_CASE("sample columns: arbitrary values survive a round trip") {
  const unsigned seed = 7;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<Sample> samples(random() % 50);
    for (Sample& s : samples) {
      const unsigned shift = random() % 64;
      s.node = static_cast<std::uint32_t>(random() >> 32 >> (random() % 32));
      s.occurrence = round % 3 == 0 ? static_cast<std::uint32_t>(random()) : 0;
      s.started = static_cast<Time>(random() >> shift);
      s.duration = static_cast<std::uint32_t>(random() >> 32 >> (random() % 32));
      s.worker = round % 2 == 0 ? static_cast<std::uint16_t>(random()) : 0;
    }
    std::vector<std::uint8_t> bytes;
    encode_samples(samples, bytes);
    CHECK(decode_samples(bytes, static_cast<std::uint32_t>(samples.size())) == samples);
  }
}

TEST_CASE("sample columns: a count that exceeds the bytes is rejected before allocation") {
  const std::vector<std::uint8_t> bytes(30, 0);
  CHECK_THROWS_AS((void)decode_samples(bytes, 0xffffffffu), TraceError);
  CHECK_THROWS_AS((void)decode_samples(bytes, 11), TraceError);
}

TEST_CASE("sample columns: trailing bytes and overlong numbers are corrupt") {
  std::vector<std::uint8_t> bytes;
  encode_samples(test::sample_block(1, 4).samples, bytes);
  bytes.push_back(0);
  CHECK_THROWS_AS((void)decode_samples(bytes, 4), TraceError);
  const std::vector<std::uint8_t> endless(40, 0xff);
  CHECK_THROWS_AS((void)decode_samples(endless, 1), TraceError);
}

TEST_CASE("trace codec: a small chunk whose records share one long string is refused") {
  const auto chunk_with = [](std::size_t references) {
    flatbuffers::FlatBufferBuilder builder;
    const auto shared = builder.CreateString(std::string(100'000, 'x'));
    const auto strings = builder.CreateVector(
        std::vector<flatbuffers::Offset<flatbuffers::String>>(references, shared));
    const auto labels =
        builder.CreateVectorOfStructs(std::vector<wire::Label>{wire::Label(0, 0, 0)});
    wire::GraphVersionBuilder graph(builder);
    graph.add_strings(strings);
    graph.add_labels(labels);
    const auto graphs = builder.CreateVector(std::vector{graph.Finish()});
    wire::ChunkBuilder chunk(builder);
    chunk.add_graph_versions(graphs);
    wire::FinishChunkBuffer(builder, chunk.Finish());
    return std::vector<std::uint8_t>(builder.GetBufferPointer(),
                                     builder.GetBufferPointer() + builder.GetSize());
  };
  CHECK(decode(chunk_with(10)).graph_versions[0].strings.size() == 10);
  try {
    (void)decode(chunk_with(20'000));  // 180 kB for 2 GB of strings
    FAIL("decode() accepted the chunk");
  } catch (const TraceError& error) {
    CHECK(error.code() == TraceErrorCode::TooLarge);
  }
}

TEST_CASE("trace chunk: memory is granted for compressed bytes, and the error names the limit") {
  const Records names = test::long_thread_names();
  // As other programs can write it: make_chunk() pads it.
  Chunk chunk = make_chunk(ChunkKind::Topology, names, 0);
  const std::size_t padded = chunk.payload.size();
  CHECK(padded >= 4'000'000 * 8 / ChunkHeader::kMemoryPerByte);
  CHECK(read_chunk(chunk.header, chunk.payload, 0) == names);
  chunk.payload.resize(ZSTD_findFrameCompressedSize(chunk.payload.data(), padded));
  chunk.header.compressed_bytes = static_cast<std::uint32_t>(chunk.payload.size());
  try {
    (void)read_chunk(chunk.header, chunk.payload, 0);
    FAIL("read_chunk() accepted the chunk");
  } catch (const TraceError& error) {
    CHECK(error.code() == TraceErrorCode::TooLarge);
    CHECK(std::string(error.what())
              .find(std::to_string(chunk.payload.size() * ChunkHeader::kMemoryPerByte)) !=
          std::string::npos);
  }
}
