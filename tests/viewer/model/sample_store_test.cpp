#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "model/sample_store.hpp"
#include "model/trace_loader.hpp"
#include "support/paths.hpp"
#include "viewer/model/random_graph.hpp"
#include "viewer/model/small_trace.hpp"

using namespace reprise;
using namespace reprise::trace;

TEST_CASE("sample store: live blocks stay within the budget, newest first") {
  model::SampleStore store({.max_bytes = 5'000});
  const GraphVersion g = test::random_graph(1);
  for (std::uint64_t n = 1; n <= 100; ++n) {
    SampleBlock b = test::random_replay(g, n);
    b.replay = n;
    store.keep({b});
  }
  const model::SampleStoreStats stats = store.stats();
  CHECK(stats.bytes <= 5'000);
  CHECK(stats.blocks + stats.evicted == 100);
  CHECK(stats.evicted > 0);
  CHECK(store.held({0, 0}, 100) != nullptr);
  CHECK(store.held({0, 0}, 101 - stats.blocks) != nullptr);
  CHECK(store.held({0, 0}, 100 - stats.blocks) == nullptr);
}

TEST_CASE("sample store: a damaged chunk has no samples, and others have theirs") {
  const std::filesystem::path path = test::scratch_folder() / "damaged store.reprise";
  Records first = test::small_samples(), second = first;
  first.sample_blocks.resize(1);
  second.sample_blocks.erase(second.sample_blocks.begin());
  test::write_trace(path, {{ChunkKind::Topology, test::small_topology()},
                           {ChunkKind::Events, test::small_events()},
                           {ChunkKind::Samples, first},
                           {ChunkKind::Samples, second}});
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-6, std::ios::end);
    file.write("damage", 6);
  }
  model::TraceLoader loader({.path = path});
  while (loader.step()) {
  }
  CHECK(loader.damage().find("1 chunk is damaged") == 0);
  const auto document = loader.document();
  CHECK(document->samples->find(*document->find_replay({3, 1}, 1)) != nullptr);
  for (const std::uint64_t replay : {2, 3})
    CHECK(document->samples->find(*document->find_replay({3, 1}, replay)) == nullptr);
}

TEST_CASE(
    "sample store: a file's replays are complete in any order of access and with any budget") {
  const std::filesystem::path path = test::scratch_folder() / "store.reprise";
  const GraphVersion g = test::random_graph(2);
  Records t;
  t.graph_versions = {g};
  test::Chunks chunks = {{ChunkKind::Topology, t}};
  std::vector<SampleBlock> blocks;
  std::vector<trace::Replay> replays;
  for (std::uint64_t n = 0; n < 40; ++n) {
    if (n % 8 == 0) chunks.push_back({ChunkKind::Samples, {}});
    SampleBlock b = test::random_replay(g, n, 4);
    b.replay = n;
    Time first = 0;
    for (Sample& s : b.samples) {
      if (s.started != 0) s.started += static_cast<Time>(n) * 100'000;
      if (first == 0) first = s.started;
    }
    chunks.back().second.sample_blocks.push_back(b);
    blocks.push_back(b);
    // Some replays have no known times.
    replays.push_back(
        {0, 0, 0, 0, n, 0, 0, n % 5 == 0 ? 0 : first, n % 5 == 0 ? 0 : first + 5'000, 0, 1});
  }
  test::write_trace(path, chunks);
  model::SampleStore store(
      {.reader = std::make_shared<const TraceReader>(path), .max_bytes = 4'000});
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::uint64_t n = i * 17 % 40;
    CAPTURE(n);
    const auto block = store.find(replays[n]);
    REQUIRE(block != nullptr);
    CHECK(*block == blocks[n]);
  }
  CHECK(store.stats().blocks == 8);  // one chunk
  trace::Replay none = replays[3];
  none.replay = 99;
  CHECK(store.find(none) == nullptr);
}
