#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "model/trace_loader.hpp"
#include "support/paths.hpp"
#include "trace/trace_error.hpp"
#include "viewer/model/random_graph.hpp"
#include "viewer/model/small_trace.hpp"

using namespace reprise;
using trace::ChunkKind;

namespace {

constexpr std::uint64_t kReplays = 200, kReplaysOfAChunk = 10;
constexpr std::uint32_t kNodes = 50;

// A file with one graph and one sample per node of every replay.
std::filesystem::path many_samples() {
  const std::filesystem::path path = test::scratch_folder() / "many.reprise";
  const trace::GraphVersion graph = test::random_graph(1, {.nodes = kNodes});
  test::Chunks chunks = {{ChunkKind::Topology, {}}, {ChunkKind::Events, {}}};
  chunks[0].second.graph_versions = {graph};
  for (std::uint64_t n = 0; n < kReplays; ++n) {
    if (n % kReplaysOfAChunk == 0) chunks.push_back({ChunkKind::Samples, {}});
    trace::SampleBlock block = test::random_replay(graph, n);
    block.replay = n;
    for (trace::Sample& s : block.samples) s.started += static_cast<trace::Time>(n) * 1'000'000;
    const trace::Time first = block.samples.front().started;
    chunks[1].second.replays.push_back(
        {0, 0, 0, 0, n, first - 20, first - 10, first, first + 500'000, 0, 1});
    chunks.back().second.sample_blocks.push_back(std::move(block));
  }
  test::write_trace(path, chunks);
  return path;
}

}  // namespace

TEST_CASE("trace loader: topology first, then every replay, then statistics") {
  model::TraceLoader loader({.path = many_samples()});
  const auto& entry_of = [](const model::Document& d) -> const model::GraphEntry& {
    return d.graphs.begin()->second;
  };
  CHECK_FALSE(loader.has_replays());
  CHECK(entry_of(*loader.document()).replays.empty());
  CHECK(loader.step());
  CHECK(loader.has_replays());
  CHECK(entry_of(*loader.document()).replays.size() == kReplays);
  CHECK(entry_of(*loader.document()).statistics->samples == 0);
  double before = loader.progress();
  std::size_t steps = 0;
  while (loader.step()) {
    CHECK(loader.progress() > before);
    before = loader.progress();
    ++steps;
  }
  CHECK(steps == kReplays / kReplaysOfAChunk);
  CHECK(loader.progress() == 1);
  CHECK(entry_of(*loader.document()).statistics->samples == kReplays * kNodes);
}

TEST_CASE("trace loader: statistics retain no samples, and queries stay within the budget") {
  constexpr std::uint64_t kChunkBytes = kReplaysOfAChunk * (kNodes * sizeof(trace::Sample) + 128);
  constexpr std::uint64_t kBudget = 3 * kChunkBytes;
  model::TraceLoader loader({.path = many_samples(), .max_sample_bytes = kBudget});
  while (loader.step()) {
    CHECK(loader.document()->samples->stats().bytes == 0);
  }
  const auto document = loader.document();
  const model::GraphEntry& entry = document->graphs.begin()->second;
  for (std::uint64_t i = 0; i < kReplays; ++i) {
    CHECK(document->samples->find(entry.replays[i * 77 % kReplays]) != nullptr);
    const model::SampleStoreStats stats = document->samples->stats();
    CHECK(stats.bytes <= kBudget);
    CHECK(stats.blocks * (kNodes * sizeof(trace::Sample) + 128) == stats.bytes);
  }
  CHECK(document->samples->stats().evicted > 0);
}

TEST_CASE(
    "trace loader: it continues with a file that grew, and not with one that was overwritten") {
  const std::filesystem::path path = test::scratch_folder() / "follow.reprise";
  test::write_trace(path, {{ChunkKind::Topology, test::small_topology()}});
  model::TraceLoader loader({.path = path});
  CHECK_FALSE(loader.step());
  CHECK(loader.follow());
  CHECK_FALSE(loader.step());
  test::append_trace(path, {{ChunkKind::Events, test::small_events()},
                            {ChunkKind::Samples, test::small_samples()}});
  CHECK(loader.follow());
  CHECK_FALSE(loader.has_replays());
  while (loader.step()) {
  }
  CHECK(loader.document()->find({3, 1})->replays.size() == 3);
  CHECK(loader.document()->find({3, 1})->statistics->samples == 8);
  test::write_trace(path, {{ChunkKind::Topology, test::small_topology()}});
  CHECK_FALSE(loader.follow());
  std::filesystem::resize_file(path, trace::kPreambleBytes);
  CHECK_FALSE(loader.follow());
  // Existing contents are unchanged.
  CHECK(loader.document()->find({3, 1})->replays.size() == 3);
}

TEST_CASE("trace loader: the document has all consecutive sessions of a file") {
  const std::filesystem::path path = test::scratch_folder() / "sessions.reprise";
  test::write_trace(path, {{ChunkKind::Topology, test::small_topology()},
                           {ChunkKind::Events, test::small_events()}});
  model::TraceLoader loader({.path = path});
  while (loader.step()) {
  }
  // A later session of a process continues the ids of the previous one.
  trace::Records later = test::small_topology();
  later.sessions[0].application = "evaluation";
  later.graph_versions[0].graph = 4;
  test::append_trace(path, {{ChunkKind::Topology, later}});
  REQUIRE(loader.follow());
  const auto document = loader.document();
  REQUIRE(document->sessions->size() == 2);
  CHECK(document->sessions->at(0).application == "digits");
  CHECK(document->sessions->at(1).application == "evaluation");
  CHECK(document->find({3, 1})->replays.size() == 3);
  CHECK(document->find({4, 1}) != nullptr);
}
