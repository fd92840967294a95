// Ranks of a merged trace: exposed communication, waiting, and who arrived last.
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <numeric>

#include "model/document_builder.hpp"
#include "model/late_command.hpp"
#include "model/rank_analysis.hpp"
#include "viewer/merged_job.hpp"
#include "viewer/panels/rank_documents.hpp"

using namespace reprise;
using trace::CollectiveKind;
using trace::Time;

namespace {

// A graph with two collectives of the kind on each rank, and one replay in which rank r arrives at
// arrivals[r] and leaves at 1,000 or at once. Rank 1 is the root.
std::shared_ptr<const model::Document> one_collective(CollectiveKind kind,
                                                      const std::vector<Time>& arrivals) {
  test::HandMadeRanks options = test::aligned_ranks();
  options.ranks = static_cast<std::uint32_t>(arrivals.size());
  options.replays = 1;
  options.steps = 1;
  const test::HandMadeJob job(options);
  trace::Records topology = test::merged_topology(job), events = test::merged_events(job);
  for (trace::GraphVersion& g : topology.graph_versions) {
    g.collectives[0].kind = kind;
    g.collectives[0].peer = 1;
  }
  for (trace::SampleBlock& b : events.sample_blocks)
    b.samples = {{1, 0, arrivals[b.graph],
                  static_cast<std::uint32_t>(std::max<Time>(1'000 - arrivals[b.graph], 0))}};
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(topology));
  builder.add(std::move(events));
  return builder.publish();
}

std::vector<Time> waits_in(const model::Document& document) {
  const model::RankAnalysis analysis = model::rank_analysis(document);
  REQUIRE(analysis.collectives.size() == 1);
  std::vector<Time> waits;
  for (const model::Arrival& a : model::executions_of(document, analysis.collectives[0]).arrivals)
    waits.push_back(a.wait);
  return waits;
}

// The collective of a step.
const model::CollectiveSummary& of_step(const model::RankAnalysis& analysis, std::uint32_t step) {
  for (const model::CollectiveSummary& c : analysis.collectives) {
    if (c.id.index == step) return c;
  }
  throw std::out_of_range("no such collective");
}

}  // namespace

TEST_CASE("document: objects belong to the rank that recorded them") {
  const test::HandMadeJob job(test::aligned_ranks());
  const auto document = test::merged_document(job, 12'300);
  CHECK(document->has_ranks());
  CHECK(document->process_name() == "train, 4 ranks");
  CHECK(document->session_of({3, 1}) == 3);
  CHECK(document->session_of_queue(2) == 2);
  CHECK(document->session_of_thread(1) == 1);
  CHECK(document->session_of({9, 1}) == 0);  // unknown
  CHECK(document->rank_name(3) == "rank 3");
  CHECK(document->rank_name(4).empty());
  CHECK(document->pool_name(3) == "weights, rank 3");
  CHECK(document->alignments->at(3).error == 12'300);
}

TEST_CASE("document: exposed communication is that without work of the graph") {
  const test::HandMadeJob job(test::aligned_ranks());
  const auto document = test::merged_document(job);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const auto& all = document->find({rank, 1})->communication;
    REQUIRE(all.size() == 40);
    for (const model::Communication& c : all) {
      CAPTURE(c.replay);
      // From the arrival until the last rank, then `overlapped` and `exposed`, and a varying end.
      Time least = 0;
      for (std::uint32_t step = 0; step < 2; ++step)
        least += job.last_arrival(c.replay, step) - job.arrival(rank, c.replay, step) + 50'000;
      CHECK(c.total >= least);
      CHECK(c.total <= least + 2 * job.options().end_jitter);
      CHECK(c.overlapped() == 2 * job.options().overlapped);
    }
  }
}

TEST_CASE("communication: nodes that run bodies are no work, nodes of bodies are") {
  trace::GraphVersion g;
  g.strings = {""};
  g.labels = {{0, 0, 0}};
  g.nodes.resize(4);
  g.nodes[0].kind = trace::NodeKind::Conditional;
  g.nodes[1].kind = trace::NodeKind::Join;
  g.bodies = {{0, 0, 2, 2, trace::BodyKind::Loop}};
  g.collectives = {{.node = 2}};
  const model::Graph graph(g);
  trace::SampleBlock block;
  block.replay = 7;
  block.samples = {{0, 0, 100, 1'000}, {1, 0, 100, 1'000}, {2, 0, 100, 50}, {2, 1, 200, 50},
                   {3, 0, 140, 80},    {2, 2, 0, 50},      {9, 0, 100, 50}};
  CHECK(model::communication(graph, block) == model::Communication{7, 100, 70});
}

TEST_CASE("document: a long session keeps communication within its limits") {
  constexpr std::size_t kLimit = 2'048;
  test::HandMadeRanks options = test::aligned_ranks();
  options.ranks = 1;
  options.replays = 5'000;
  const test::HandMadeJob job(options);
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>(), {.replays = kLimit});
  builder.add(test::merged_topology(job));
  builder.add(test::merged_events(job));
  const auto document = builder.publish();
  CHECK(document->find({0, 1})->communication.size() <= kLimit);
  CHECK(document->find({0, 1})->communication.back().replay == 5'000);
  CHECK(document->find({0, 1})->collectives.size() <= 2 * kLimit);
  CHECK(document->find({0, 1})->collectives.back().key.replay == 5'000);
}

TEST_CASE("rank analysis: ranks wait for the last one, for the root, or as the root") {
  const std::vector<Time> arrivals = {100, 300, 250, 700};
  CHECK(waits_in(*one_collective(CollectiveKind::AllReduce, arrivals)) ==
        std::vector<Time>{600, 400, 450, 0});
  CHECK(waits_in(*one_collective(CollectiveKind::Broadcast, arrivals)) ==
        std::vector<Time>{200, 0, 50, 0});
  CHECK(waits_in(*one_collective(CollectiveKind::Reduce, arrivals)) ==
        std::vector<Time>{0, 400, 0, 0});
  CHECK(waits_in(*one_collective(CollectiveKind::Send, arrivals)) ==
        std::vector<Time>{-1, -1, -1, -1});
  CHECK(model::rank_analysis(*one_collective(CollectiveKind::Send, arrivals)).worst ==
        trace::kNone);
  const auto document = one_collective(CollectiveKind::AllReduce, arrivals);
  const model::RankAnalysis analysis = model::rank_analysis(*document);
  CHECK(analysis.collectives[0].last == 3);
  CHECK(analysis.collectives[0].transfer.median == 300);
  CHECK(analysis.ranks[3].caused == 1'450);
  CHECK(analysis.worst == 3);
  CHECK(analysis.ranks[1].waited == 400);
  CHECK(model::executions_of(*document, analysis.collectives[0]).executions[0].lateness == 450);
}

TEST_CASE("rank analysis: no rank waits for longer than it is in the collective") {
  // The clocks are wrong: rank 3 starts after all others ended.
  const std::vector<Time> arrivals = {100, 300, 250, 5'000};
  CHECK(waits_in(*one_collective(CollectiveKind::AllReduce, arrivals)) ==
        std::vector<Time>{900, 700, 750, 0});
}

TEST_CASE("rank analysis: waits are those of the job, and every execution has a last rank") {
  test::HandMadeRanks options = test::aligned_ranks();
  options.ranks = 7;
  const test::HandMadeJob job(options);
  const auto document = test::merged_document(job);
  const model::RankAnalysis analysis = model::rank_analysis(*document);
  REQUIRE(analysis.collectives.size() == 2);
  std::vector<double> waited(7);
  for (const model::CollectiveSummary& c : analysis.collectives) {
    CHECK(c.executions == 40);
    CHECK(c.incomplete == 0);
    CHECK(c.name == "all-reduce");
    CHECK(c.graph == "step");
    CHECK(c.transfer.median >= 50'000);
    CHECK(c.transfer.median <= 52'000);
    const auto all = model::executions_of(*document, c);
    REQUIRE(all.executions.size() == 40);
    for (const model::CollectiveExecution& e : all.executions) {
      REQUIRE(e.count == 7);
      for (std::uint32_t rank = 0; rank < 7; ++rank) {
        const model::Arrival& a = all.arrivals[e.first + rank];
        CHECK(a.rank == rank);
        CHECK(a.wait ==
              job.last_arrival(e.replay, c.id.index) - job.arrival(rank, e.replay, c.id.index));
        waited[rank] += static_cast<double>(a.wait);
      }
      CHECK(all.arrivals[e.first + e.last].wait == 0);
      CHECK(e.is_certain);
    }
  }
  std::uint64_t last = 0;
  double caused = 0;
  for (std::uint32_t rank = 0; rank < 7; ++rank) {
    CHECK(analysis.ranks[rank].waited == waited[rank]);
    CHECK(analysis.ranks[rank].executions == 80);
    CHECK(analysis.ranks[rank].replays == 40);
    last += analysis.ranks[rank].last;
    caused += analysis.ranks[rank].caused;
  }
  CHECK(last == 80);
  CHECK(caused == std::accumulate(waited.begin(), waited.end(), 0.0));
}

TEST_CASE("rank analysis: finds a straggler of 20 us and its command") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    CAPTURE(seed);
    test::HandMadeRanks options = test::aligned_ranks();
    options.ranks = 8;
    options.replays = 200;
    options.seed = seed;
    options.jitter = 10'000;
    options.stragglers = {{.rank = 5, .step = 1, .delay = 20'000}};
    const auto document = test::merged_document(test::HandMadeJob(options));
    const model::RankAnalysis analysis = model::rank_analysis(*document);
    const model::CollectiveSummary& c = of_step(analysis, 1);
    CHECK(c.last == 5);
    std::uint64_t found = 0;
    for (const model::CollectiveExecution& e : model::executions_of(*document, c).executions) {
      if (e.last != 5 || !e.is_certain) continue;
      const model::LateCommand late =
          model::late_command(*document, c, e.replay, e.occurrence, e.last);
      found += late.node == 3 && late.excess() > 10'000 ? 1 : 0;  // forward of the second step
    }
    CHECK(found >= 190);
    const model::LateCommand late = model::late_command(*document, c, 5);
    CHECK(late.node == 3);
    CHECK(late.excess() > 15'000);
    CHECK(late.excess() < 25'000);
    CHECK(of_step(analysis, 0).ranks[5].last < 100);  // the other step has no straggler
  }
}

TEST_CASE(
    "rank analysis: the first execution in a loop is also late because of commands before it") {
  // load, which rank 1 runs longer, and a loop that runs compute and all-reduce twice.
  trace::Records records = test::make_rank_records({.ranks = 2, .late = 1, .replays = 1});
  for (trace::GraphVersion& g : records.graph_versions) {
    g.strings = {"", "load", "loop", "compute", "all-reduce"};
    g.nodes.assign(4, trace::Node{});
    for (std::uint32_t n = 0; n < 4; ++n) g.nodes[n].name = n + 1;
    g.nodes[1].kind = trace::NodeKind::Conditional;
    g.edges = {{0, 1, trace::EdgeCause::User}, {2, 3, trace::EdgeCause::User}};
    g.bodies = {{1, 0, 2, 2, trace::BodyKind::Loop}};
    g.collectives[0].node = 3;
  }
  for (trace::SampleBlock& b : records.sample_blocks) {
    const bool is_late = b.graph == test::graph_of_rank(1).graph;
    const Time begin = test::start_of(1), loop = begin + (is_late ? 300 : 100);
    b.samples = {{0, 0, begin, static_cast<std::uint32_t>(loop - begin)},
                 {1, 0, loop, static_cast<std::uint32_t>(begin + 900 - loop)},
                 {2, 0, loop, 50},
                 {3, 0, loop + 50, static_cast<std::uint32_t>(begin + 400 - loop - 50)},
                 {2, 1, begin + 400, is_late ? 150u : 100u},
                 {3, 1, begin + (is_late ? 550 : 500), is_late ? 350u : 400u}};
  }
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(records));
  const auto document = builder.publish();
  const model::RankAnalysis analysis = model::rank_analysis(*document);
  REQUIRE(analysis.collectives.size() == 1);
  const model::CollectiveSummary& c = analysis.collectives[0];
  const model::LateCommand first = model::late_command(*document, c, 1, 0, 1);
  CHECK(first.node == 0);
  CHECK(first.excess() == 200);
  const model::LateCommand second = model::late_command(*document, c, 1, 1, 1);
  CHECK(second.node == 2);
  CHECK(second.excess() == 50);
}

TEST_CASE("rank analysis: what the clocks cannot tell is not certain") {
  test::HandMadeRanks options = test::aligned_ranks();
  options.stragglers = {{.rank = 3, .step = 0, .delay = 100'000}};
  const test::HandMadeJob job(options);
  const auto certain = [&](Time error) {
    const auto document = test::merged_document(job, error);
    const model::RankAnalysis analysis = model::rank_analysis(*document);
    const model::CollectiveRank& rank = of_step(analysis, 0).ranks[3];
    CHECK(rank.last == 40);
    return rank.certainly_last;
  };
  CHECK(certain(0) == 40);
  CHECK(certain(50'000) == 40);  // against hosts 0 and 1; those of one host share a clock
  CHECK(certain(130'000) == 0);  // delay and jitter are at most 120 us
  CHECK(certain(trace::kUnknownError) == 0);
  const model::RankClocks clocks(*test::merged_document(job, 50'000));
  CHECK(clocks.bound(0, 1) == 0);
  CHECK(clocks.bound(2, 3) == 0);
  CHECK(clocks.bound(1, 3) == 50'000);
  CHECK(clocks.max_bound() == 50'000);
  CHECK(clocks.bound(0, 4) == trace::kUnknownError);  // no such session
}

TEST_CASE("rank analysis: executions that lack a rank are counted; one rank alone is none") {
  test::HandMadeRanks options = test::aligned_ranks();
  options.ranks = 3;
  const test::HandMadeJob job(options);
  trace::Records events = test::merged_events(job);
  std::erase_if(events.sample_blocks, [](const trace::SampleBlock& b) {
    return (b.graph == 2 && b.replay <= 4) || (b.graph != 0 && b.replay == 1);
  });
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(test::merged_topology(job));
  builder.add(std::move(events));
  const model::RankAnalysis analysis = model::rank_analysis(*builder.publish());
  CHECK(of_step(analysis, 0).executions == 39);
  CHECK(of_step(analysis, 0).incomplete == 3);
}

TEST_CASE("rank analysis: the time of many executions grows with their number, not its square") {
  const auto time_of = [](std::uint32_t ranks) {
    test::HandMadeRanks options = test::aligned_ranks();
    options.ranks = ranks;
    options.replays = 500;
    const auto document = test::merged_document(test::HandMadeJob(options));
    std::clock_t best = std::numeric_limits<std::clock_t>::max();
    for (int i = 0; i < 3; ++i) {
      const std::clock_t started = std::clock();  // CPU time: other programs run as well
      const model::RankAnalysis analysis = model::rank_analysis(*document);
      best = std::min(best, std::clock() - started);
      CHECK(of_step(analysis, 0).executions == 500);
    }
    return best;
  };
  const auto few = time_of(16), many = time_of(256);
  CHECK(many < 80 * few);  // 16 times as many executions; the square would be 256
}
