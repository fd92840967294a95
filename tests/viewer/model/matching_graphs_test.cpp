#include "model/matching_graphs.hpp"

#include <doctest/doctest.h>

#include "model/rank_analysis.hpp"
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

TEST_CASE("matching graphs: the awaited arrival names the rank for which the others wait") {
  const auto document = test::make_rank_document({});
  const auto graphs = model::matching_graphs(*document, graph_of_rank(0));
  const model::AwaitedArrivals all = model::awaited_arrivals(*document, graphs, 2);
  REQUIRE(all.size() == 1);
  const auto& [key, awaited] = *all.begin();
  CHECK(key.replay == 2);
  CHECK(awaited.at == test::start_of(2) + test::kLateArrival);
  CHECK(awaited.member == 2);
  CHECK(awaited.known_ranks == 4);
  CHECK(model::awaited_arrivals(*document, graphs, 9).empty());
}

TEST_CASE("matching graphs: the waits of every kind are those that the rank analysis counts") {
  using trace::CollectiveKind;
  for (const CollectiveKind kind :
       {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
        CollectiveKind::AllToAll, CollectiveKind::Broadcast, CollectiveKind::Reduce,
        CollectiveKind::Send, CollectiveKind::Receive, CollectiveKind::Group}) {
    for (const std::uint32_t root : {1u, 2u, trace::kNone}) {  // rank 2 arrives last
      CAPTURE(static_cast<int>(kind));
      CAPTURE(root);
      const auto document = test::make_rank_document({.kind = kind, .root = root});
      const auto arrivals = model::awaited_arrivals(
          *document, model::matching_graphs(*document, graph_of_rank(0)), 1);
      const model::RankAnalysis analysis = model::rank_analysis(*document);
      REQUIRE(analysis.collectives.size() == 1);
      const auto all = model::executions_of(*document, analysis.collectives[0]);
      REQUIRE(all.executions[0].count == 4);
      for (std::uint32_t rank = 0; rank < 4; ++rank) {
        const model::Arrival& one = all.arrivals[rank];
        const auto& call = document->find(graph_of_rank(rank))->graph->record().collectives[0];
        CHECK(one.wait == (arrivals.empty()
                               ? -1
                               : arrivals.begin()->second.wait_of(call, one.started, one.ended)));
      }
    }
  }
}
