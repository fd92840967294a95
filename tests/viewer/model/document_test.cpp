#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "model/document_builder.hpp"
#include "model/document_text.hpp"
#include "model/trace_loader.hpp"
#include "support/golden_text.hpp"
#include "support/paths.hpp"
#include "viewer/model/random_graph.hpp"
#include "viewer/model/small_trace.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

std::shared_ptr<const model::Document> live_document() {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(test::small_topology());
  builder.add(test::small_events());
  builder.add(test::small_samples());
  return builder.publish();
}

}  // namespace

TEST_CASE("document: a hand-made trace matches its golden text") {
  const std::string text = model::document_text(*live_document());
  CHECK(text == test::golden_text("viewer/model/golden/hand_made.txt", text));
}

TEST_CASE("document: a pool has its label as name, or its number") {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  Records r;
  r.pool_states = {{0, 1, 10, "weights"}, {3, 1, 10, ""}};
  builder.add(std::move(r));
  const auto document = builder.publish();
  CHECK(document->pool_name(0) == "weights");
  CHECK(document->pool_name(3) == "pool 3");
  CHECK(document->pool_name(4) == "pool 4");  // without a record
  CHECK(document->pool_name(kNone).empty());
}

TEST_CASE("document: a file yields the same text as the live trace, and its samples on demand") {
  const std::filesystem::path path = test::scratch_folder() / "document.reprise";
  Records s = test::small_samples(), rest;
  rest.sample_blocks = {s.sample_blocks[2]};
  s.sample_blocks.pop_back();
  test::write_trace(path, {{ChunkKind::Topology, test::small_topology()},
                           {ChunkKind::Samples, s},
                           {ChunkKind::Events, test::small_events()},
                           {ChunkKind::Samples, rest}});
  model::TraceLoader loader({.path = path});
  const auto first = loader.document();
  CHECK(first->graphs.size() == 1);
  CHECK(first->graphs.begin()->second.replays.empty());
  CHECK(loader.progress() == 0);
  CHECK(loader.step());  // the events
  const auto second = loader.document();
  REQUIRE(second->find({3, 1}) != nullptr);
  CHECK(second->find({3, 1})->replays.size() == 3);
  CHECK(second->find({3, 1})->statistics->samples == 0);
  CHECK(second->find({3, 1})->graph == first->find({3, 1})->graph);
  // Before the loader reads any sample.
  const trace::Replay* third = second->find_replay({3, 1}, 3);
  REQUIRE(third != nullptr);
  CHECK(second->samples->held({3, 1}, 3) == nullptr);
  const auto block = second->samples->find(*third);
  REQUIRE(block != nullptr);
  CHECK(*block == rest.sample_blocks[0]);
  CHECK(second->samples->stats().chunks_read == 1);
  CHECK(second->samples->held({3, 1}, 3) == block);
  while (loader.step()) {
  }
  CHECK(loader.progress() == 1);
  CHECK(model::document_text(*loader.document()) == model::document_text(*live_document()));
  CHECK(model::document_text(*first) != model::document_text(*second));
}

TEST_CASE("document: publications share unchanged parts, and old documents stay unchanged") {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(test::small_topology());
  const auto a = builder.publish();
  builder.add(test::small_events());
  const auto b = builder.publish();
  builder.add(test::small_samples());
  const auto c = builder.publish();
  CHECK(a->sessions == b->sessions);
  CHECK(a->devices == c->devices);
  CHECK(a->buffers != b->buffers);
  CHECK(b->buffers == c->buffers);
  CHECK(b->find({3, 1})->statistics == a->find({3, 1})->statistics);
  CHECK(c->find({3, 1})->statistics != b->find({3, 1})->statistics);
  CHECK(a->find({3, 1})->replays.empty());
  CHECK(a->revision + 2 == c->revision);
  CHECK(c->find_replay({3, 1}, 4) == nullptr);
  CHECK(c->find_replay({4, 1}, 1) == nullptr);
  CHECK(c->unknown_replays == 1);
  // The same topology again, as a reattaching viewer receives it.
  builder.add(test::small_topology());
  CHECK(builder.publish()->find({3, 1})->graph == a->find({3, 1})->graph);
}

TEST_CASE(
    "document builder: latest parameters of a graph replace earlier ones and keep its samples") {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(test::small_topology());
  builder.add(test::small_events());
  builder.add(test::small_samples());
  const auto before = builder.publish();
  trace::Records again = test::small_topology();
  again.graph_versions[0].nodes[1].grid[0] = 64;
  again.graph_versions[0].changes = {{1, 7}, {2, 3}};
  builder.add(std::move(again));
  const auto after = builder.publish();
  CHECK(after->graphs.size() == 1);
  const model::GraphEntry& entry = *after->find({3, 1});
  CHECK(entry.graph->record().nodes[1].grid[0] == 64);
  CHECK(entry.graph->changes(0) == 0);
  CHECK(entry.graph->changes(1) == 7);
  CHECK(entry.graph->changes() == 10);
  CHECK(entry.statistics == before->find({3, 1})->statistics);
  CHECK(entry.statistics->samples > 0);
  CHECK(entry.replays.size() == 3);
}

TEST_CASE("graph: neighbours, accesses and labels match its edges, accesses and nodes") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const model::Graph g(test::random_graph(seed));
    const GraphVersion& r = g.record();
    std::size_t predecessors = 0, successors = 0, in_labels = 0, uses = 0;
    for (std::uint32_t n = 0; n < g.node_count(); ++n) {
      for (const model::Neighbour& p : g.predecessors(n))
        CHECK((r.edges[p.edge].from == p.node && r.edges[p.edge].to == n));
      for (const model::Neighbour& s : g.successors(n))
        CHECK((r.edges[s.edge].to == s.node && r.edges[s.edge].from == n));
      predecessors += g.predecessors(n).size();
      successors += g.successors(n).size();
    }
    CHECK(predecessors == r.edges.size());
    CHECK(successors == r.edges.size());
    for (std::uint32_t b = 0; b < r.buffers.size(); ++b) {
      for (const model::BufferUse& u : g.uses(b)) CHECK(r.accesses[u.access].buffer == b);
      uses += g.uses(b).size();
    }
    CHECK(uses == r.accesses.size());
    for (std::uint32_t l = 0; l < r.labels.size(); ++l) in_labels += g.label_nodes(l).size();
    CHECK(in_labels == r.nodes.size());
    CHECK(g.is_below(2, 1));
    CHECK(g.is_below(2, 0));
    CHECK_FALSE(g.is_below(1, 2));
    CHECK(g.label_path(2) == "forward / backward");
  }
}

TEST_CASE("document: a long live session drops and counts its oldest replays and ranges") {
  constexpr std::size_t kLimit = 4'096;
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>(),
                                 {.replays = kLimit, .host_ranges = kLimit});
  builder.add(test::small_topology());
  std::uint64_t replay = 0;
  for (int chunk = 0; chunk < 40; ++chunk) {
    Records r;
    for (int i = 0; i < 500; ++i) {
      ++replay;
      r.replays.push_back({3, 1, 0, 4, replay, static_cast<Time>(replay), 0, 0, 0, 77, 0});
      r.host_ranges.push_back(
          {77, 0, static_cast<Time>(replay), static_cast<Time>(replay) + 1, "range", kNone, 0});
    }
    builder.add(std::move(r));
    const auto d = builder.publish();
    const model::GraphEntry& entry = *d->find({3, 1});
    CHECK(entry.replays.size() <= kLimit);
    CHECK(entry.replays.size() + entry.dropped_replays == replay);
    CHECK(entry.replays[0].replay == entry.dropped_replays + 1);
    CHECK(entry.replays.back().replay == replay);
    CHECK(d->host_ranges.size() <= kLimit);
    CHECK(d->host_ranges.size() + d->dropped_host_ranges == replay);
    CHECK(d->find_replay({3, 1}, replay - 100) != nullptr);
  }
  CHECK(builder.publish()->find({3, 1})->dropped_replays > 0);
}
