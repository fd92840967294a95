// Faults of a trace: killed process, full disk.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <zstd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "support/file_limit.hpp"
#include "support/temporary_folder.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_reader.hpp"
#include "trace/trace_writer.hpp"
#include "unit/trace/child_process.hpp"
#include "unit/trace/live_support.hpp"
#include "unit/trace/trace_samples.hpp"

using namespace reprise;
using namespace reprise::trace;
using reprise::test::Child;
using reprise::test::FileLimit;

namespace {

struct Folder : test::TemporaryFolder {
  [[nodiscard]] std::filesystem::path file() const { return path() / "run.reprise"; }
};

// Checks that every chunk is readable and that only an incomplete chunk follows them; returns the
// number of samples.
std::uint64_t check_whole(const std::filesystem::path& file) {
  const TraceReader reader(file);
  std::uint64_t samples = 0;
  for (const ChunkEntry& chunk : reader.chunks()) {
    for (const SampleBlock& block : reader.read(chunk).sample_blocks)
      samples += block.samples.size();
  }
  CHECK(reader.damage().empty() == (reader.trailing_bytes() == 0));
  return samples;
}

constexpr std::uint32_t kSamples = 500;

}  // namespace

TEST_CASE("trace faults: kill -9 at any moment leaves a readable file with all flushed data") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 8; ++i) {
    for (const std::uint64_t limit : {std::uint64_t{0}, TraceFile::kMinMaxBytes}) {
      CAPTURE(limit);
      const Folder folder;
      Child child([&](int, int to) {
        auto* const writer = new TraceWriter({.chunk_bytes = 20'000});
        writer->add_sink(
            std::make_shared<TraceFile>(TraceFileDesc{.path = folder.file(), .max_bytes = limit}));
        static_cast<void>(writer->push(test::sample_graph(3, 10)));
        for (std::uint64_t replay = 1;; ++replay) {
          static_cast<void>(writer->push(test::sample_block(replay, kSamples)));
          if (replay % 3 == 0) writer->flush();
          if (replay % 3 == 0) Child::send(to, std::to_string(replay));
        }
      });
      std::uint64_t flushed = 0;
      for (std::uint64_t remaining = 1 + random() % 40; remaining > 0; --remaining) {
        const std::string text = child.receive();
        REQUIRE_FALSE(text.empty());
        flushed = std::stoull(text);
      }
      child.kill();
      const std::uint64_t samples = check_whole(folder.file());
      if (limit == 0) CHECK(samples >= flushed * kSamples);
      CHECK(samples > 0);
      const TraceReader reader(folder.file());
      CHECK(reader.read(reader.chunks().front()).graph_versions.size() == 1);
    }
  }
}

TEST_CASE(
    "trace faults: a full disk is reported once, other sinks continue, and missing chunks are "
    "counted") {
  const test::RuntimeFolder runtime;
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
    CAPTURE(limit);
    const Folder folder;
    std::atomic<int> errors{0};
    std::string error;
    const auto server = std::make_shared<LiveServer>(test::patient("full"));
    test::Collector viewer(server->path());
    REQUIRE(viewer.wait_until_live());
    REQUIRE(test::eventually([&] { return server->stats().welcomed == 1; }));
    TraceWriterStats stats;
    {
      const FileLimit full(100'000);
      TraceWriter writer({.chunk_bytes = 20'000, .on_error = [&](const std::string& text) {
                            ++errors;
                            error = text;
                          }});
      writer.add_sink(
          std::make_shared<TraceFile>(TraceFileDesc{.path = folder.file(), .max_bytes = limit}));
      writer.add_sink(server);
      CHECK(writer.push(test::sample_graph(3, 10)));
      std::minstd_rand noise(1);
      for (std::uint64_t replay = 1; replay <= 200; ++replay) {
        SampleBlock block = test::sample_block(replay, kSamples);
        for (Sample& sample : block.samples) sample.duration = static_cast<std::uint32_t>(noise());
        CHECK(writer.push(std::move(block)));
        if (replay % 20 == 0) writer.flush();
      }
      stats = writer.stats();
    }
    CHECK(errors == 1);
    CHECK(error.find(folder.file().string()) != std::string::npos);
    CHECK(stats.lost_records == 0);
    CHECK(stats.failed_sinks == 1);
    CHECK(stats.unwritten_chunks > 0);
    CHECK(check_whole(folder.file()) > 0);
    const TraceReader reader(folder.file());
    CHECK(reader.trailing_bytes() == 0);
    CHECK(reader.chunks().size() + stats.unwritten_chunks == stats.chunks);
    REQUIRE(viewer.wait_for_chunks(stats.chunks));
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  }
}

TEST_CASE("trace faults: a flight recorder on a full disk keeps its previous contents") {
  const Folder folder;
  std::minstd_rand noise(1);
  const auto chunk = [&](std::uint64_t sequence) {
    Records records;
    records.sample_blocks = {test::sample_block(sequence, kSamples)};
    for (Sample& sample : records.sample_blocks[0].samples)
      sample.duration = static_cast<std::uint32_t>(noise());
    return std::make_shared<const Chunk>(make_chunk(ChunkKind::Samples, records, sequence));
  };
  TraceFile file({.path = folder.file(), .max_bytes = TraceFile::kMinMaxBytes});
  std::uint64_t written = 0;
  while (file.dropped_chunks() == 0) file.write(chunk(written++));
  while (file.bytes() + chunk(0)->size() <= TraceFile::kMinMaxBytes) file.write(chunk(written++));
  const std::uint64_t before = check_whole(folder.file());
  {
    const FileLimit full(1'000);
    CHECK_THROWS_AS(file.write(chunk(written)), TraceError);
  }
  CHECK(check_whole(folder.file()) == before);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("trace faults: what is not a regular file is refused without waiting") {
  const Folder folder;
  REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
  for (const std::filesystem::path& path :
       {folder.file(), folder.path(), std::filesystem::path("/dev/zero")}) {
    try {
      const TraceReader reader(path);
      FAIL("a reader of " << path.string());
    } catch (const TraceError& error) {
      CHECK(error.code() == TraceErrorCode::NotATrace);
      CHECK(std::string(error.what()).starts_with(path.string() + ": "));
    }
  }
  CHECK_FALSE(is_being_written(folder.file()));
}

TEST_CASE("trace faults: all chunks of a file share one allowance of memory") {
  const Folder folder;
  constexpr std::uint64_t kChunks = 256;
  const Records names = test::long_thread_names();
  Chunk chunk = make_chunk(ChunkKind::Topology, names, 0);
  // As other programs can write it: make_chunk() pads it.
  chunk.payload.resize(ZSTD_findFrameCompressedSize(chunk.payload.data(), chunk.payload.size()));
  chunk.header.compressed_bytes = static_cast<std::uint32_t>(chunk.payload.size());
  const auto shared = std::make_shared<const Chunk>(chunk);
  {
    TraceFile file({.path = folder.file()});
    file.write(shared);
  }
  const TraceReader one(folder.file());
  CHECK(one.read(one.chunks()[0]) == names);
  {
    TraceFile file({.path = folder.file()});
    for (std::uint64_t i = 0; i < kChunks; ++i) file.write(shared);
  }
  const TraceReader many(folder.file());
  REQUIRE(many.chunks().size() == kChunks);
  CHECK_THROWS_AS((void)many.read(many.chunks()[0]), TraceError);
}
