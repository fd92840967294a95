#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <set>

#include "support/temporary_folder.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_reader.hpp"
#include "trace/trace_writer.hpp"
#include "unit/trace/child_process.hpp"
#include "unit/trace/trace_samples.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

std::vector<char> bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const std::filesystem::path& path, std::span<const char> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::shared_ptr<const Chunk> chunk_of(ChunkKind kind, std::uint64_t sequence) {
  Records r;
  if (kind == ChunkKind::Topology)
    r.graph_versions = {test::sample_graph(static_cast<std::uint32_t>(sequence), 3)};
  if (kind == ChunkKind::Events) r.replays = test::one_of_each().replays;
  if (kind == ChunkKind::Samples) r.sample_blocks = {test::sample_block(sequence, 100)};
  return std::make_shared<const Chunk>(make_chunk(kind, r, sequence));
}

// Writes three chunks to `path`; returns the end of each.
std::vector<std::uint64_t> write_three(const std::filesystem::path& path) {
  TraceFile file({.path = path});
  std::vector<std::uint64_t> ends;
  std::uint64_t sequence = 0;
  for (const ChunkKind kind : {ChunkKind::Topology, ChunkKind::Events, ChunkKind::Samples}) {
    file.write(chunk_of(kind, sequence++));
    ends.push_back(file.bytes());
  }
  return ends;
}

TraceErrorCode code_of(auto call) {
  try {
    call();
  } catch (const TraceError& error) {
    return error.code();
  }
  FAIL("nothing was thrown");
  return TraceErrorCode::Io;
}

}  // namespace

TEST_CASE("trace file: reading returns the written records and headers") {
  const test::TemporaryFolder dir;
  write_three(dir / "a");
  const TraceReader reader(dir / "a");
  REQUIRE(reader.chunks().size() == 3);
  CHECK(reader.damage().empty());
  CHECK(reader.trailing_bytes() == 0);
  CHECK(reader.chunks()[0].header.kind == ChunkKind::Topology);
  CHECK(reader.chunks()[2].header.sample_count == 100);
  CHECK(reader.chunks()[2].header.first_time == test::sample_block(2, 100).samples.front().started);
  CHECK(reader.read(reader.chunks()[0]).graph_versions == std::vector{test::sample_graph(0, 3)});
  CHECK(reader.read(reader.chunks()[2]).sample_blocks == std::vector{test::sample_block(2, 100)});
}

TEST_CASE("trace file: a file that is being written is neither changed nor continued") {
  const test::TemporaryFolder dir;
  const std::filesystem::path path = dir / "a",
                              other = path.string() + "." + std::to_string(::getpid());
  CHECK_FALSE(is_being_written(path));
  std::optional<TraceFile> first(TraceFileDesc{.path = path});
  first->write(chunk_of(ChunkKind::Topology, 0));
  CHECK(is_being_written(path));
  for (const auto start : {TraceFileDesc::Start::Replace, TraceFileDesc::Start::Append}) {
    TraceFile second({.path = path, .start = start});
    CHECK(second.path() == other);
    CHECK(second.next_sequence() == 0);
    second.write(chunk_of(ChunkKind::Events, 0));
    CHECK(code_of([&] { const TraceFile third({.path = path}); }) == TraceErrorCode::Io);
  }
  first->write(chunk_of(ChunkKind::Events, 1));
  CHECK(first->path() == path);
  first.reset();
  CHECK_FALSE(is_being_written(path));
  CHECK(TraceReader(path).chunks().size() == 2);
  CHECK(TraceReader(other).chunks().size() == 1);
  const TraceFile later({.path = path});
  CHECK(later.path() == path);
}

TEST_CASE("trace file: a rewrite because of the limit keeps the file locked") {
  const test::TemporaryFolder dir;
  TraceFile file({.path = dir / "a", .max_bytes = TraceFile::kMinMaxBytes});
  for (std::uint64_t sequence = 0; file.dropped_chunks() == 0; ++sequence)
    file.write(chunk_of(ChunkKind::Samples, sequence));
  CHECK(is_being_written(dir / "a"));
}

TEST_CASE("trace file: the lock ends with the file, even if a forked child inherited it") {
  const test::TemporaryFolder dir;
  std::optional<TraceFile> file(TraceFileDesc{.path = dir / "a"});
  const test::Child child([](int, int) {});
  file.reset();
  CHECK_FALSE(is_being_written(dir / "a"));
}

TEST_CASE("trace file: a file that is truncated at any byte opens up to its last complete chunk") {
  const test::TemporaryFolder dir;
  const std::vector<std::uint64_t> ends = write_three(dir / "a");
  const std::vector<char> bytes = bytes_of(dir / "a");
  REQUIRE(bytes.size() == ends.back());
  for (std::size_t size = kPreambleBytes; size <= bytes.size(); ++size) {
    write_bytes(dir / "cut", std::span(bytes).first(size));
    const TraceReader reader(dir / "cut");
    std::size_t whole = 0;
    while (whole < ends.size() && ends[whole] <= size) ++whole;
    REQUIRE(reader.chunks().size() == whole);
    REQUIRE(reader.trailing_bytes() == size - (whole == 0 ? kPreambleBytes : ends[whole - 1]));
    REQUIRE(reader.damage().empty() == (reader.trailing_bytes() == 0));
    for (const ChunkEntry& entry : reader.chunks()) REQUIRE_FALSE(reader.read(entry).empty());
  }
}

TEST_CASE("trace file: modified bytes are detected or have no effect") {
  const test::TemporaryFolder dir;
  write_three(dir / "a");
  const std::vector<char> bytes = bytes_of(dir / "a");
  const TraceReader whole(dir / "a");
  const unsigned seed = 99;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  int unseen = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<char> changed = bytes;
    const std::size_t at = kPreambleBytes + random() % (changed.size() - kPreambleBytes);
    changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 + random() % 255));
    write_bytes(dir / "b", changed);
    const TraceReader reader(dir / "b");
    // zstd frames contain a few unused bits; every other change is corruption.
    bool found = !reader.damage().empty();
    bool same = reader.chunks().size() == whole.chunks().size();
    for (std::size_t chunk = 0; chunk < reader.chunks().size(); ++chunk) {
      try {
        const Records read = reader.read(reader.chunks()[chunk]);
        same = same && read == whole.read(whole.chunks()[chunk]);
      } catch (const TraceError& error) {
        found = true;
        CHECK(std::string(error.what()).find((dir / "b").string()) != std::string::npos);
      }
    }
    INFO("byte " << at);
    CHECK((found || same));
    unseen += found ? 0 : 1;
  }
  CHECK(unseen <= 3);
}

TEST_CASE(
    "trace file: other files, other format versions and missing files are rejected with their own "
    "codes") {
  const test::TemporaryFolder dir;
  write_bytes(dir / "text", std::string("hello, this is no trace at all"));
  write_bytes(dir / "short", std::string("REPRISE"));
  CHECK(code_of([&] { TraceReader r(dir / "text"); }) == TraceErrorCode::NotATrace);
  CHECK(code_of([&] { TraceReader r(dir / "short"); }) == TraceErrorCode::NotATrace);
  for (const std::uint32_t version : {kFormatVersion - 1, kFormatVersion + 1}) {
    auto preamble = encode_preamble();
    preamble[8] = static_cast<std::uint8_t>(version);
    write_bytes(dir / "other",
                std::span(reinterpret_cast<const char*>(preamble.data()), preamble.size()));
    std::string text;
    try {
      TraceReader r(dir / "other");
    } catch (const TraceError& error) {
      CHECK(error.code() == TraceErrorCode::WrongVersion);
      text = error.what();
    }
    CHECK(text == (dir / "other").string() + ": the trace has format version " +
                      std::to_string(version) + "; this program reads version " +
                      std::to_string(kFormatVersion));
  }
  CHECK(code_of([&] { TraceReader r(dir / "missing"); }) == TraceErrorCode::Io);
  CHECK(code_of([&] { TraceFile f({.path = dir / "no" / "such" / "place"}); }) ==
        TraceErrorCode::Io);
  CHECK(code_of([&] { TraceFile f({.path = dir / "a", .max_bytes = 10}); }) ==
        TraceErrorCode::TooLarge);
}

TEST_CASE("trace file: a header with an excessive size is rejected before allocation") {
  ChunkHeader header;
  header.raw_bytes = ChunkHeader::kMaxRawBytes + 1;
  CHECK(code_of([&] { (void)decode_header(encode_header(header)); }) == TraceErrorCode::TooLarge);
  // Header and frame must agree.
  Chunk chunk = *chunk_of(ChunkKind::Events, 1);
  chunk.header.raw_bytes = ChunkHeader::kMaxRawBytes;
  CHECK(code_of([&] { (void)read_chunk(chunk.header, chunk.payload); }) == TraceErrorCode::Corrupt);
}

TEST_CASE("trace file: refresh() finds chunks written since the file was opened") {
  const test::TemporaryFolder dir;
  TraceFile file({.path = dir / "a"});
  file.write(chunk_of(ChunkKind::Topology, 0));
  TraceReader reader(dir / "a");
  CHECK(reader.chunks().size() == 1);
  CHECK(reader.refresh() == 0);
  file.write(chunk_of(ChunkKind::Samples, 1));
  CHECK(reader.refresh() == 1);
  CHECK(reader.chunks().size() == 2);
}

TEST_CASE(
    "trace file: a flight recorder keeps the topology and the newest chunks within its limit") {
  const test::TemporaryFolder dir;
  constexpr std::uint64_t kLimit = TraceFile::kMinMaxBytes;
  TraceFile file({.path = dir / "ring", .max_bytes = kLimit});
  file.write(chunk_of(ChunkKind::Topology, 0));
  constexpr std::uint64_t kLast = 1'500;
  for (std::uint64_t i = 1; i <= kLast; ++i) {
    file.write(chunk_of(ChunkKind::Samples, i));
    REQUIRE(file.bytes() <= kLimit);
  }
  CHECK(file.dropped_chunks() > 0);
  const TraceReader reader(dir / "ring");
  CHECK(reader.damage().empty());
  CHECK(reader.chunks().front().header.kind == ChunkKind::Topology);
  CHECK(reader.chunks().back().header.sequence == kLast);
  CHECK(reader.chunks().size() + file.dropped_chunks() == kLast + 1);
  for (std::size_t i = 2; i < reader.chunks().size(); ++i) {
    CHECK(reader.chunks()[i].header.sequence == reader.chunks()[i - 1].header.sequence + 1);
  }
  CHECK(std::distance(std::filesystem::directory_iterator(dir / ""), {}) == 1);
}

TEST_CASE("trace file: a flight recorder holds its limit over many topology chunks") {
  const test::TemporaryFolder dir;
  constexpr std::uint64_t kLimit = TraceFile::kMinMaxBytes;
  TraceFile file({.path = dir / "ring", .max_bytes = kLimit});
  std::uint64_t sequence = 0, written = 0, largest = 0;
  int rewrites = 0;
  std::uint64_t before = 0;
  const auto write = [&](ChunkKind kind, const Records& r) {
    const auto chunk = std::make_shared<const Chunk>(make_chunk(kind, r, sequence++));
    written += chunk->size();
    largest = std::max<std::uint64_t>(largest, chunk->size());
    file.write(chunk);
    REQUIRE(file.bytes() <= kLimit + largest);
    REQUIRE(file.bytes() == std::filesystem::file_size(dir / "ring"));
    rewrites += file.bytes() < before ? 1 : 0;
    before = file.bytes();
  };
  Records start;
  start.queues = {{4, 1, "main"}};
  start.graph_versions = {test::sample_graph(0, 3)};
  write(ChunkKind::Topology, start);
  // Graphs and buffers come and go; each graph is replayed once, and the first one always.
  constexpr std::uint32_t kGraphs = 2'000;
  for (std::uint32_t id = 1; id <= kGraphs; ++id) {
    Records begin, replays, end;
    begin.graph_versions = {test::sample_graph(id, 3)};
    begin.graph_versions[0].plan_hash = id * 0x9e3779b97f4a7c15u;
    begin.buffer_lifetimes = {
        {id, 1, 1, trace::BufferKind::Device, id * 7919u, id * 2654435761u, id, 0, "x"}};
    write(ChunkKind::Topology, begin);
    replays.replays = {{id, 1, 0, 4, 1, id}, {0, 1, 0, 4, id, id}};
    write(ChunkKind::Events, replays);
    end.buffer_lifetimes = begin.buffer_lifetimes;
    end.buffer_lifetimes[0].freed = id + 1;
    end.ended = {{id, ObjectKind::Graph, id}};
    write(ChunkKind::Topology, end);
  }
  REQUIRE(written > 10 * kLimit);
  CHECK(rewrites > 1);
  CHECK(static_cast<std::uint64_t>(rewrites) < 4 * written / kLimit);
  const TraceReader reader(dir / "ring");
  CHECK(reader.damage().empty());
  std::set<std::uint32_t> described;
  std::size_t replays = 0;
  std::uint64_t last = 0;
  for (const ChunkEntry& entry : reader.chunks()) {
    CHECK(entry.header.sequence >= last);
    last = entry.header.sequence;
    const Records r = reader.read(entry);
    for (const GraphVersion& g : r.graph_versions) described.insert(g.graph);
    for (const Replay& replay : r.replays) {
      CHECK(described.contains(replay.graph));
      ++replays;
    }
  }
  CHECK(last == sequence - 1);
  CHECK(replays > 50);
  CHECK(described.contains(0));
  CHECK(described.size() < replays);
}

TEST_CASE("trace file: a flight recorder that cannot describe all objects says so") {
  const test::TemporaryFolder dir;
  constexpr std::uint64_t kLimit = TraceFile::kMinMaxBytes;
  TraceFile file({.path = dir / "ring", .max_bytes = kLimit});
  std::uint64_t largest = 0;
  for (std::uint32_t i = 0; i < 50; ++i) {
    Records r;
    for (std::uint32_t j = 0; j < 100; ++j) {
      r.graph_versions.push_back(test::sample_graph(100 * i + j, 3));
      r.graph_versions.back().plan_hash = (100 * i + j) * 0x9e3779b97f4a7c15u;
    }
    const auto chunk = std::make_shared<const Chunk>(make_chunk(ChunkKind::Topology, r, i));
    largest = std::max<std::uint64_t>(largest, chunk->size());
    file.write(chunk);
    REQUIRE(file.bytes() <= kLimit + largest);
  }
  const TraceReader reader(dir / "ring");
  std::uint64_t graphs = 0, left_out = 0;
  for (const ChunkEntry& entry : reader.chunks()) {
    const Records r = reader.read(entry);
    graphs += r.graph_versions.size();
    for (const Loss& loss : r.losses) left_out += loss.count;
  }
  CHECK(left_out > 0);
  CHECK(graphs + left_out == 5'000);
}

TEST_CASE("trace file: keep=first stops at the limit and counts dropped chunks") {
  const test::TemporaryFolder dir;
  TraceFile file({.path = dir / "first",
                  .max_bytes = TraceFile::kMinMaxBytes,
                  .keep = TraceFileDesc::Keep::First});
  for (std::uint64_t i = 0; i < 1'500; ++i) file.write(chunk_of(ChunkKind::Samples, i));
  const TraceReader reader(dir / "first");
  CHECK(reader.chunks().front().header.sequence == 0);
  CHECK(reader.chunks().size() + file.dropped_chunks() == 1'500);
  CHECK(file.dropped_chunks() > 0);
  file.write(chunk_of(ChunkKind::Topology, 1'500));  // nothing in the file refers to it
  CHECK(std::filesystem::file_size(dir / "first") <= TraceFile::kMinMaxBytes);
  CHECK(TraceReader(dir / "first").chunks().size() == reader.chunks().size());
}

TEST_CASE("trace file: a full disk is an error with the path, and complete chunks stay readable") {
  // /dev/full rejects every write.
  if (!std::filesystem::exists("/dev/full")) return;
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_files();
  CHECK(code_of([] { TraceFile f({.path = "/dev/full"}); }) == TraceErrorCode::Io);
  CHECK(open_files() == before);
}

TEST_CASE("trace file: appending continues after the last complete chunk") {
  const test::TemporaryFolder dir;
  const std::vector<std::uint64_t> ends = write_three(dir / "a");
  const std::vector<char> before = bytes_of(dir / "a");
  write_bytes(dir / "a", std::span(before).first(before.size() - 1));  // truncates the last chunk
  {
    TraceFile file({.path = dir / "a", .start = TraceFileDesc::Start::Append});
    const TraceReader reader(dir / "a");
    CHECK(reader.trailing_bytes() == 0);
    REQUIRE(reader.chunks().size() == ends.size() - 1);
    CHECK(file.next_sequence() == reader.chunks().back().header.sequence + 1);
    CHECK(file.bytes() == std::filesystem::file_size(dir / "a"));
    file.write(chunk_of(ChunkKind::Samples, file.next_sequence()));
  }
  const TraceReader reader(dir / "a");
  CHECK(reader.trailing_bytes() == 0);
  REQUIRE(reader.chunks().size() == ends.size());
  CHECK_FALSE(reader.read(reader.chunks().back()).empty());
  CHECK(code_of([&] {
          TraceFile({.path = dir / "missing", .start = TraceFileDesc::Start::Append});
        }) == TraceErrorCode::Io);
  write_bytes(dir / "text", std::vector<char>(100, 'x'));
  CHECK(code_of([&] {
          TraceFile({.path = dir / "text", .start = TraceFileDesc::Start::Append});
        }) == TraceErrorCode::NotATrace);
  CHECK(bytes_of(dir / "text") == std::vector<char>(100, 'x'));
}

TEST_CASE("trace file: when appending with a limit, existing chunks count and are dropped first") {
  const test::TemporaryFolder dir;
  constexpr std::uint64_t kLimit = TraceFile::kMinMaxBytes;
  std::uint64_t next = 0;
  for (int part = 0; part < 3; ++part) {
    const auto start = part == 0 ? TraceFileDesc::Start::Replace : TraceFileDesc::Start::Append;
    TraceFile file({.path = dir / "ring", .max_bytes = kLimit, .start = start});
    CHECK(file.next_sequence() == next);
    file.write(chunk_of(ChunkKind::Topology, next++));
    for (int i = 0; i < 500; ++i) file.write(chunk_of(ChunkKind::Samples, next++));
    CHECK(file.bytes() <= kLimit);
  }
  const TraceReader reader(dir / "ring");
  std::size_t graphs = 0;
  for (const ChunkEntry& entry : reader.chunks())
    graphs += reader.read(entry).graph_versions.size();
  CHECK(graphs == 3);
  CHECK(reader.chunks().size() < next);
  CHECK(reader.chunks().back().header.sequence == next - 1);
}

TEST_CASE("trace file: only its owner can read it, also after it was rewritten") {
  const test::TemporaryFolder dir;
  const auto permissions = [&] {
    return std::filesystem::status(dir / "a").permissions() & std::filesystem::perms::mask;
  };
  TraceFile file({.path = dir / "a", .max_bytes = TraceFile::kMinMaxBytes});
  CHECK(permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  std::uint64_t sequence = 0;
  while (file.dropped_chunks() == 0) {
    file.write(chunk_of(ChunkKind::Samples, sequence++));
    REQUIRE(sequence < 100'000);
  }
  CHECK(permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  std::filesystem::remove(dir / "a");  // the next rewrite creates it again
  while (!std::filesystem::exists(dir / "a")) {
    file.write(chunk_of(ChunkKind::Samples, sequence++));
    REQUIRE(sequence < 200'000);
  }
  CHECK(permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}
