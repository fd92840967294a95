#include "model/matching_graphs.hpp"

#include <doctest/doctest.h>

#include "viewer/panels/rank_documents.hpp"

using namespace reprise;
using test::graph_of_rank;
using test::RankDocument;

namespace {

std::shared_ptr<const model::Document> document_of(trace::Records records) {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace

TEST_CASE("matching graphs: one per rank with the same communicator and number, by rank") {
  trace::Records records = test::make_rank_records({.ranks = 5});
  records.graph_versions[1].collectives[0].communicator = 78;
  records.graph_versions[3].collectives[0].number = 1;
  std::swap(records.sessions[0].rank, records.sessions[4].rank);
  const auto document = document_of(std::move(records));
  const auto graphs = model::matching_graphs(*document, graph_of_rank(2));
  REQUIRE(graphs.size() == 3);
  CHECK(graphs[0].session == 4);
  CHECK(graphs[0].graph == graph_of_rank(4));
  CHECK(graphs[1].graph == graph_of_rank(2));
  CHECK(graphs[2].graph == graph_of_rank(0));
}

TEST_CASE("matching graphs: a graph without collectives matches only itself") {
  const auto document = test::make_rank_document({.has_collectives = false});
  const auto graphs = model::matching_graphs(*document, graph_of_rank(1));
  REQUIRE(graphs.size() == 1);
  CHECK(graphs[0].graph == graph_of_rank(1));
  CHECK(graphs[0].session == 1);
  CHECK(graphs[0].in_collectives < 0);
}

TEST_CASE("matching graphs: the latest to arrive spend the least time in collectives") {
  const RankDocument desc{.ranks = 30, .late = 23};
  const auto document = test::make_rank_document(desc);
  const auto graphs = model::matching_graphs(*document, graph_of_rank(8));
  CHECK(graphs[23].in_collectives == doctest::Approx(test::kReplayEnd - test::kLateArrival));
  // After the shown graph and the late one, those that arrive 7 us after the first.
  CHECK(model::latest_to_arrive(graphs, graph_of_rank(8), 4) ==
        std::vector<std::size_t>{7, 8, 15, 23});
  CHECK(model::latest_to_arrive(graphs, graph_of_rank(8), 100).size() == 30);
}

TEST_CASE("matching graphs: the last arrival names the rank for which the others wait") {
  const auto document = test::make_rank_document({});
  const auto graphs = model::matching_graphs(*document, graph_of_rank(0));
  const model::LastArrivals all = model::last_arrivals(*document, graphs, 2);
  REQUIRE(all.size() == 1);
  const auto& [key, last] = *all.begin();
  CHECK(key.replay == 2);
  CHECK(last.at == test::start_of(2) + test::kLateArrival);
  CHECK(last.session == 2);
  CHECK(last.known_ranks == 4);
  CHECK(model::last_arrivals(*document, graphs, 9).empty());
}

TEST_CASE(
    "matching graphs: ranks wait for the root of a broadcast, and nothing is known of sends") {
  const auto last_of = [](trace::CollectiveKind kind) {
    trace::Records records = test::make_rank_records({});
    for (trace::GraphVersion& graph : records.graph_versions) {
      graph.collectives[0].kind = kind;
      graph.collectives[0].peer = 1;
    }
    const auto document = document_of(std::move(records));
    return model::last_arrivals(*document, model::matching_graphs(*document, graph_of_rank(0)), 1);
  };
  const model::LastArrivals broadcast = last_of(trace::CollectiveKind::Broadcast);
  REQUIRE(broadcast.size() == 1);
  CHECK(broadcast.begin()->second.session == 1);
  CHECK(broadcast.begin()->second.at == test::start_of(1) + test::arrival_of({}, 1));
  CHECK(broadcast.begin()->second.known_ranks == 4);
  CHECK(last_of(trace::CollectiveKind::Send).empty());
}
