#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "model/document_builder.hpp"
#include "panels/graph/graph_choice.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::HandMadeTrace;

namespace {

struct GraphSpec {
  model::GraphKey key;
  std::size_t nodes = 1, replays = 0;
};

std::shared_ptr<const model::Document> document_with(const std::vector<GraphSpec>& graphs) {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  for (const GraphSpec& spec : graphs) {
    trace::GraphVersion g;
    g.graph = spec.key.graph;
    g.version = spec.key.version;
    g.strings = {"", "a", "b"};
    g.labels = {{0, 0, 0}};
    g.buffers = {{1, trace::BufferKind::Device, 0, 0, 64, 0}};
    for (std::size_t n = 0; n < spec.nodes; ++n) {
      trace::Node node;
      node.name = n == 0 ? 1 : 2;
      g.nodes.push_back(node);
    }
    records.graph_versions.push_back(g);
    for (std::uint64_t r = 1; r <= spec.replays; ++r) {
      trace::Replay replay;
      replay.graph = g.graph;
      replay.version = g.version;
      replay.replay = r;
      records.replays.push_back(replay);
    }
  }
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace

TEST_CASE("graph choice: a file shows the graph with the most replays; on a tie the larger graph") {
  CHECK_FALSE(default_graph(*document_with({}), GraphSource::File));
  CHECK(default_graph(*document_with({{{1, 1}, 9, 3}, {{2, 1}, 2, 8}}), GraphSource::File) ==
        model::GraphKey{2, 1});
  CHECK(default_graph(*document_with({{{1, 1}, 2, 0}, {{2, 1}, 7, 0}, {{3, 1}, 3, 0}}),
                      GraphSource::File) == model::GraphKey{2, 1});
}

TEST_CASE("graph choice: a session shows the newest replayed version of the most replayed graph") {
  const auto document =
      document_with({{{1, 1}, 2, 90}, {{1, 2}, 2, 20}, {{1, 3}, 2, 0}, {{2, 1}, 9, 50}});
  CHECK(default_graph(*document, GraphSource::Session) == model::GraphKey{1, 2});
  CHECK(default_graph(*document, GraphSource::File) == model::GraphKey{1, 1});
  CHECK(newest_version(*document, {1, 1}) == model::GraphKey{1, 3});
  CHECK(newest_version(*document, {2, 1}) == model::GraphKey{2, 1});
}

TEST_CASE("graph choice: a selection exists only if the document has its graph and object") {
  const auto document = document_with({{{1, 1}, 2, 5}});
  CHECK(selection_exists({}, *document));
  CHECK(selection_exists(model::SelectedNode{{1, 1}, 1}, *document));
  CHECK_FALSE(selection_exists(model::SelectedNode{{1, 1}, 2}, *document));
  CHECK_FALSE(selection_exists(model::SelectedNode{{1, 2}, 0}, *document));
  CHECK(selection_exists(model::SelectedBuffer{{1, 1}, 0}, *document));
  CHECK_FALSE(selection_exists(model::SelectedBuffer{{1, 1}, 1}, *document));
  CHECK(selection_exists(model::SelectedReplay{{1, 1}, 5}, *document));
  CHECK_FALSE(selection_exists(model::SelectedReplay{{1, 1}, 6}, *document));
  CHECK_FALSE(selection_exists(model::SelectedBarrier{{1, 1}, 0}, *document));
  CHECK_FALSE(selection_exists(model::SelectedEdge{{1, 1}, 0}, *document));
}

TEST_CASE(
    "graph choice: a selected node or buffer maps to the same index and name in another version") {
  const auto document = document_with({{{1, 1}, 3, 0}, {{1, 2}, 2, 0}});
  CHECK(map_selection(model::SelectedNode{{1, 1}, 1}, *document, {1, 2}) ==
        model::Selection(model::SelectedNode{{1, 2}, 1}));
  CHECK(map_selection(model::SelectedNode{{1, 1}, 2}, *document, {1, 2}) == model::Selection());
  CHECK(map_selection(model::SelectedBuffer{{1, 1}, 0}, *document, {1, 2}) ==
        model::Selection(model::SelectedBuffer{{1, 2}, 0}));
  CHECK(map_selection(model::SelectedReplay{{1, 1}, 1}, *document, {1, 2}) == model::Selection());
}

TEST_CASE("graph choice: a range keeps its replays when older replays are dropped") {
  const auto after = [](model::ReplayRange range, std::uint64_t replays) {
    const model::ReplayRange result = drop_oldest_replays(range, replays);
    return std::pair(result.first, result.count);
  };
  const model::ReplayRange all;
  const auto everything = std::pair(all.first, all.count);
  CHECK(after(all, 100) == everything);
  CHECK(after({50, 20}, 30) == std::pair<std::size_t, std::size_t>(20, 20));
  CHECK(after({50, 20}, 60) == std::pair<std::size_t, std::size_t>(0, 10));
  CHECK(after({50, 20}, 70) == everything);
  CHECK(after({50, all.count}, 20) == std::pair<std::size_t, std::size_t>(30, all.count));
  CHECK(after({50, all.count}, 80) == everything);
  const model::ReplayRange durations{.first = 5, .count = 9, .durations = model::DurationBounds{}};
  CHECK(drop_oldest_replays(durations, 20).durations == durations.durations);
}
