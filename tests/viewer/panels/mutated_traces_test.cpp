// The consumers of decode() with traces whose words were overwritten at random: decode() accepts
// many of them, and then statistics, exports, documents and panels must not crash. The traces
// depend only on the seed. REPRISE_MUTATED_TRACES=FIRST:COUNT runs other seeds, and prints each of
// them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "export/export_error.hpp"
#include "export/exporter.hpp"
#include "model/document_text.hpp"
#include "model/graph_comparison.hpp"
#include "model/trace_loader.hpp"
#include "panels/compare/compare_panel.hpp"
#include "panels/graph/graph_panel.hpp"
#include "panels/graphs/graphs_panel.hpp"
#include "panels/inspector/inspector_panel.hpp"
#include "panels/memory/memory_panel.hpp"
#include "panels/messages/messages_panel.hpp"
#include "panels/nodes/nodes_groups.hpp"
#include "panels/nodes/nodes_panel.hpp"
#include "panels/ranks/ranks_panel.hpp"
#include "panels/replays/replays_panel.hpp"
#include "panels/sync/sync_panel.hpp"
#include "panels/timeline/timeline_panel.hpp"
#include "support/paths.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_file.hpp"
#include "unit/trace/trace_samples.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/merged_job.hpp"
#include "viewer/panels/memory_documents.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;
using Random = std::mt19937_64;  // its numbers are the same everywhere, unlike the distributions'

constexpr std::uint64_t kFirstSeed = 1, kSeeds = 24;
constexpr int kTries = 40;             // mutations per seed, until decode() accepts one
constexpr std::size_t kMaxGraphs = 2;  // drawn per document

void write_chunks(const fs::path& path,
                  const std::vector<std::pair<trace::ChunkKind, trace::Records>>& chunks) {
  trace::TraceFile file({.path = path});
  std::uint64_t sequence = 0;
  for (const auto& [kind, records] : chunks)
    file.write(std::make_shared<const trace::Chunk>(make_chunk(kind, records, sequence++)));
}

// A trace with records of every kind: a graph with barriers, and the same with bodies and a loop.
void write_trace_of_every_kind(const fs::path& path) {
  trace::Records topology = test::one_of_each(), events, samples;
  std::swap(events.host_ranges, topology.host_ranges);
  std::swap(events.messages, topology.messages);
  std::swap(events.losses, topology.losses);
  std::swap(events.profiling_overheads, topology.profiling_overheads);
  // The largest times that decode() accepts: their sum overflows.
  constexpr trace::Time kLargest = 3'000'000'000'000'000'000;
  events.profiling_overheads.assign(4, {-kLargest, kLargest, 3, kLargest, kLargest});
  topology.replays.clear();
  topology.loop_runs.clear();
  topology.sample_blocks.clear();
  const trace::GraphVersion g = test::memory_record();
  trace::GraphVersion loop = g;
  loop.graph = 7;
  loop.bodies = {{1, 0, 3, 2, trace::BodyKind::Loop}, {4, 0, 5, 1, trace::BodyKind::Nested}};
  std::erase_if(loop.edges, [](const trace::Edge& e) {
    return (e.from < 3) != (e.to < 3) || (e.from < 5) != (e.to < 5);
  });
  topology.graph_versions.insert(topology.graph_versions.end(), {g, loop});
  for (const std::uint32_t graph : {3u, g.graph, loop.graph}) {
    for (std::uint64_t r = 1; r <= 4; ++r) {
      trace::SampleBlock block = test::sample_block(r, 6);
      block.graph = graph;
      const trace::Time started = block.samples.front().started;
      events.replays.push_back(
          {graph, 1, 0, 4, r, started - 900, started - 500, started, started + 12'000, 77, 1});
      if (graph == loop.graph) events.loop_runs.push_back({graph, 1, 0, r, 12, 10});
      samples.sample_blocks.push_back(std::move(block));
    }
  }
  write_chunks(path, {{trace::ChunkKind::Topology, topology},
                      {trace::ChunkKind::Events, events},
                      {trace::ChunkKind::Samples, samples}});
}

struct Original {
  explicit Original(const fs::path& path)
      : name(path.filename().string()), document(test::document_of(path)) {
    const trace::TraceReader reader(path);
    for (const trace::ChunkEntry& chunk : reader.chunks())
      chunks.emplace_back(chunk.header.kind, encode(reader.read(chunk)));
  }
  std::string name;
  std::vector<std::pair<trace::ChunkKind, Bytes>> chunks;
  std::shared_ptr<const model::Document> document;
};

std::vector<Original> original_traces() {
  const fs::path hand_made = test::scratch_folder() / "to-mutate.reprise",
                 every_kind = test::scratch_folder() / "every-kind.reprise",
                 ranks = test::scratch_folder() / "ranks-to-mutate.reprise";
  test::write_hand_made_trace(hand_made);
  write_trace_of_every_kind(every_kind);
  std::vector<Original> all;
  all.emplace_back(every_kind);
  all.emplace_back(hand_made);
  test::HandMadeRanks options = test::aligned_ranks();
  options.replays = 4;
  const test::HandMadeJob job(options);
  write_chunks(ranks, {{trace::ChunkKind::Topology, test::merged_topology(job, 5'000)},
                       {trace::ChunkKind::Events, test::merged_events(job)}});
  all.emplace_back(ranks);
  for (const char* golden : {"digits", "photo"})
    all.emplace_back(test::test_file("viewer/model/golden/" + std::string(golden) + ".reprise"));
  return all;
}

// Overwrites an aligned word of 2, 4 or 8 bytes with a value that is likely to matter.
void overwrite_word(Bytes& bytes, Random& random) {
  static constexpr std::uint64_t kValues[] = {0,
                                              1,
                                              2,
                                              0x7fff,
                                              0xffff,
                                              0x7fffffff,
                                              0x80000000,
                                              0xffffffff,
                                              std::uint64_t{1} << 40,
                                              1'000'000'000'000'000'000,
                                              std::numeric_limits<std::int64_t>::max(),
                                              std::uint64_t{1} << 63,
                                              std::numeric_limits<std::uint64_t>::max()};
  const std::size_t size = std::size_t{2} << random() % 3;
  std::uint8_t* const at = &bytes[random() % (bytes.size() / size) * size];
  std::uint64_t value = 0;
  std::memcpy(&value, at, size);
  switch (random() % 4) {
    case 0: value = random() % 20; break;
    case 1: value += random() % 9 - 4; break;
    case 2: value = 0 - value; break;
    default: value = kValues[random() % std::size(kValues)]; break;
  }
  std::memcpy(at, &value, size);
}

struct Outcomes {
  int accepted = 0, rejected = 0;
};

// Writes a variation of the trace that decode() accepts; false if it accepts none.
bool write_mutated(const Original& original, const fs::path& path, Random& random,
                   Outcomes& outcomes) {
  for (int i = 0; i < kTries; ++i) {
    auto chunks = original.chunks;
    for (std::uint64_t words = 1 + random() % 6; words != 0; --words)
      overwrite_word(chunks[random() % chunks.size()].second, random);
    try {
      std::vector<std::pair<trace::ChunkKind, trace::Records>> decoded;
      for (const auto& [kind, bytes] : chunks) decoded.emplace_back(kind, trace::decode(bytes));
      write_chunks(path, decoded);
      ++outcomes.accepted;
      return true;
    } catch (const trace::TraceError&) {
      ++outcomes.rejected;
    }
  }
  return false;
}

void compare_and_export(const Original& original, const model::Document& document,
                        const trace::TraceReader& reader) {
  for (const auto& [a, b] : model::match_graphs(*original.document, document).pairs) {
    static_cast<void>(model::compare({*original.document, a}, {document, b}));
    static_cast<void>(model::compare({document, b}, {*original.document, a}));
  }
  const std::string graph =
      document.graphs.empty() ? "" : std::to_string(document.graphs.begin()->first.graph);
  for (const auto format : {trace::ExportFormat::Perfetto, trace::ExportFormat::Csv,
                            trace::ExportFormat::Sqlite, trace::ExportFormat::Dot}) {
    try {
      trace::export_trace(format, reader,
                          {.output = test::scratch_folder() / "mutated.export",
                           .graph = format == trace::ExportFormat::Dot ? graph : ""});
    } catch (const trace::ExportError&) {
      // The trace lacks what the format needs.
    }
  }
}

// Every panel, in a window each.
struct AllPanels {
  explicit AllPanels(test::PanelFixture& of) : fixture(of) {}

  template <class Panel>
  void draw(Panel& panel, int place) {
    constexpr float kWidth = 600, kHeight = 450;
    ImGui::SetNextWindowPos(
        {kWidth * static_cast<float>(place % 3), kHeight * static_cast<float>(place / 3)});
    ImGui::SetNextWindowSize({kWidth, kHeight});
    ImGui::Begin(std::to_string(place).c_str(), nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings);
    fixture.draw(panel);
    ImGui::End();
  }
  void frame() {
    fixture.frame([&] {
      draw(replays, 0);
      draw(graph, 1);
      draw(timeline, 2);
      draw(nodes, 3);
      draw(memory, 4);
      draw(sync, 5);
      draw(messages, 6);
      draw(inspector, 7);
      draw(compare, 8);
      draw(graphs, 9);
      draw(icicle, 10);
      draw(ranks, 11);
    });
    CHECK(fixture.is_drawable());
  }

  test::PanelFixture& fixture;
  Background& workers = fixture.background;
  ReplaysPanel replays{workers};
  GraphPanel graph{workers};
  TimelinePanel timeline{workers};
  NodesPanel nodes{workers};
  MemoryPanel memory{workers};
  SyncPanel sync{workers};
  MessagesPanel messages{workers};
  InspectorPanel inspector{workers};
  ComparePanel compare{workers};
  GraphsPanel graphs{workers};
  RanksPanel ranks{workers};
  struct {
    NodeGroupsView view;
    void draw(PanelContext& context) { view.draw(context, GroupView::Icicle, GroupScope::Process); }
  } icicle{NodeGroupsView(workers)};
};

// One item of each kind that the graph has.
std::vector<model::Selection> selections(const model::GraphEntry& entry, Random& random) {
  const model::GraphKey key = entry.graph->key();
  const trace::GraphVersion& g = entry.graph->record();
  const auto one_of = [&](std::size_t count) {
    return static_cast<std::uint32_t>(random() % count);
  };
  std::vector<model::Selection> all = {{}};
  if (!g.nodes.empty()) all.emplace_back(model::SelectedNode{key, one_of(g.nodes.size())});
  if (!g.buffers.empty()) all.emplace_back(model::SelectedBuffer{key, one_of(g.buffers.size())});
  if (!g.edges.empty()) all.emplace_back(model::SelectedEdge{key, one_of(g.edges.size())});
  if (!g.barriers.empty()) all.emplace_back(model::SelectedBarrier{key, one_of(g.barriers.size())});
  if (!entry.replays.empty())
    all.emplace_back(
        model::SelectedReplay{key, entry.replays[one_of(entry.replays.size())].replay});
  return all;
}

void draw_everything(const Original& original, std::shared_ptr<const model::Document> document,
                     test::PanelFixture& fixture, Random& random) {
  fixture.document = std::move(document);
  fixture.other = original.document;
  fixture.view = {};
  AllPanels panels(fixture);
  std::size_t graphs = 0;
  for (const auto& [key, entry] : fixture.document->graphs) {
    if (++graphs > kMaxGraphs) break;
    fixture.view.range = {};
    fixture.view.replay.reset();
    fixture.show(key);
    for (const model::Selection& selection : selections(entry, random)) {
      fixture.view.select(selection);
      fixture.view.fit = true;
      fixture.view.colour_by = static_cast<ColourBy>(random() % 7);
      if (const auto* replay = std::get_if<model::SelectedReplay>(&selection)) {
        fixture.view.replay = replay->replay;
        fixture.view.range = {random() % entry.replays.size(), 1 + random() % 5};
        fixture.update();
        static_cast<void>(make_replay_summary(entry, fixture.view.range, RateOver::LastSecond));
      }
      for (int i = 0; i < 3; ++i) {
        fixture.move_mouse(
            {static_cast<float>(random() % 1800), static_cast<float>(random() % 1800)});
        fixture.wheel(static_cast<float>(random() % 5) - 2);
        panels.frame();
        fixture.background.wait_until_idle();
      }
      panels.frame();
    }
  }
}

}  // namespace

TEST_CASE("mutated traces: what decode() accepts can be summarised, exported, loaded and drawn") {
  std::uint64_t first = kFirstSeed, count = kSeeds;
  const char* const asked = std::getenv("REPRISE_MUTATED_TRACES");
  if (asked != nullptr) {
    char* rest = nullptr;
    first = std::strtoull(asked, &rest, 10);
    REQUIRE(*rest == ':');
    count = std::strtoull(rest + 1, nullptr, 10);
  }
  const std::vector<Original> originals = original_traces();
  const fs::path path = test::scratch_folder() / "mutated.reprise";
  test::PanelFixture fixture({1800, 1800});
  Outcomes outcomes;
  for (std::uint64_t seed = first; seed != first + count; ++seed) {
    const Original& original = originals[seed % originals.size()];
    INFO("seed " << seed << " of " << original.name);
    if (asked != nullptr) {
      std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
      std::fflush(stdout);
    }
    Random random(seed);
    if (!write_mutated(original, path, random, outcomes)) continue;
    try {
      const trace::TraceReader reader(path);
      REQUIRE(reader.damage().empty());
      auto document = test::document_of(path);
      compare_and_export(original, *document, reader);
      static_cast<void>(model::document_text(*document));
      draw_everything(original, std::move(document), fixture, random);
    } catch (const trace::TraceError& error) {
      FAIL("a trace that decode() accepted: " << error.what());
    }
  }
  INFO("accepted " << outcomes.accepted << ", rejected " << outcomes.rejected);
  CHECK(outcomes.accepted * 10 >= static_cast<int>(count) * 8);
  CHECK(outcomes.rejected > 0);
}
