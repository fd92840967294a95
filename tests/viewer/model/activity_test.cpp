#include "model/activity.hpp"

#include <doctest/doctest.h>

#include <random>

#include "model/document_builder.hpp"

using namespace reprise;
using model::IdleCause;
using trace::Time;

namespace {

constexpr std::uint32_t kFirstGraph = 1, kSecondGraph = 2;

trace::GraphVersion empty_graph(std::uint32_t id) {
  trace::GraphVersion graph;
  graph.graph = id;
  graph.version = 1;
  graph.strings = {""};
  graph.labels = {{}};
  return graph;
}

trace::Replay replay_of(std::uint32_t graph, std::uint64_t number, std::uint32_t queue,
                        Time launched, Time started, Time ended) {
  return {graph, 1, 0, queue, number, launched, launched + 1, started, ended, 7, 0};
}

// Adds replays of two graphs on queues 3 and 4 of device 1 and publishes.
struct ActivityTrace {
  ActivityTrace() {
    trace::Records records;
    records.graph_versions = {empty_graph(kFirstGraph), empty_graph(kSecondGraph)};
    records.queues = {{3, 1, "main"}, {4, 1, "copy"}};
    builder.add(std::move(records));
  }
  std::shared_ptr<const model::Document> add(std::vector<trace::Replay> replays) {
    trace::Records records;
    records.replays = std::move(replays);
    builder.add(std::move(records));
    return builder.publish();
  }
  model::DocumentBuilder builder{std::make_shared<model::SampleStore>()};
};

}  // namespace

TEST_CASE("activity: replays are listed by queue and launches by thread, sorted by start") {
  ActivityTrace trace;
  const auto document = trace.add(
      {replay_of(kFirstGraph, 1, 3, 100, 200, 300), replay_of(kFirstGraph, 2, 3, 400, 500, 600),
       replay_of(kSecondGraph, 1, 4, 150, 250, 450), replay_of(kSecondGraph, 2, 3, 310, 320, 390)});
  model::ActivityBuilder builder;
  const model::Activity activity = builder.extend(*document);
  REQUIRE(activity.queues.size() == 2);
  const auto& main = activity.queues.at(3).spans;
  REQUIRE(main.size() == 3);
  CHECK(main[1].graph.graph == kSecondGraph);
  CHECK(main[1].replay == 2);
  CHECK(activity.queues.at(4).spans.size() == 1);
  const auto& launches = activity.threads.at(7).spans;
  REQUIRE(launches.size() == 4);
  for (std::size_t i = 1; i < launches.size(); ++i)
    CHECK(launches[i - 1].started < launches[i].started);
}

TEST_CASE("activity: busy time counts overlaps once, for all replays and for each graph") {
  ActivityTrace trace;
  const auto document = trace.add({
      replay_of(kFirstGraph, 1, 3, 100, 200, 300),
      replay_of(kSecondGraph, 1, 3, 150, 250, 450),  // overlaps
      replay_of(kFirstGraph, 2, 4, 400, 260, 290),   // on another queue
      replay_of(kFirstGraph, 3, 3, 500, 0, 0),       // without device times
  });
  const model::Activity activity = model::ActivityBuilder().extend(*document);
  const model::ReplayRow& queue = activity.queues.at(3);
  CHECK(queue.busy.between(0, 1000) == 250);
  CHECK(queue.busy.between(280, 310) == 30);
  CHECK(queue.by_graph.at({kFirstGraph, 1}).between(0, 1000) == 100);
  CHECK(queue.by_graph.at({kSecondGraph, 1}).between(0, 300) == 50);
  const model::ReplayRow& graph = activity.graphs.at({kFirstGraph, 1});
  REQUIRE(graph.spans.size() == 3);
  CHECK(graph.busy.total() == 100);
  CHECK(graph.spans[2].started == 500);  // its launch
  CHECK(graph.spans[2].ended == 500);
}

TEST_CASE("activity: idle time ends at the launch of the next replay, and the rest is latency") {
  ActivityTrace trace;
  const auto document = trace.add({
      replay_of(kFirstGraph, 1, 3, 100, 200, 300),
      replay_of(kSecondGraph, 1, 4, 150, 250, 450),  // overlaps: no gap until 450
      replay_of(kFirstGraph, 2, 3, 600, 700, 800),   // launched after 450
      replay_of(kFirstGraph, 3, 3, 650, 900, 950),   // launched before 800
      replay_of(kFirstGraph, 4, 3, 0, 1000, 1100),   // unknown
  });
  model::ActivityBuilder builder;
  const model::Activity activity = builder.extend(*document);
  REQUIRE(activity.idle.size() == 1);
  const std::vector<model::IdleGap>& idle = activity.idle.at(1).gaps;
  REQUIRE(idle.size() == 4);
  const auto check = [](const model::IdleGap& gap, Time started, Time ended, IdleCause cause,
                        std::uint64_t replay) {
    CHECK(gap.started == started);
    CHECK(gap.ended == ended);
    CHECK(gap.cause == cause);
    CHECK(gap.replay == replay);
  };
  check(idle[0], 450, 600, IdleCause::Host, 2);
  check(idle[1], 600, 700, IdleCause::Launch, 2);
  check(idle[2], 800, 900, IdleCause::Launch, 3);
  check(idle[3], 950, 1000, IdleCause::Unknown, 4);
  const auto& by_cause = activity.idle.at(1).by_cause;
  CHECK(by_cause[static_cast<std::size_t>(IdleCause::Host)].total() == 150);
  CHECK(by_cause[static_cast<std::size_t>(IdleCause::Launch)].between(650, 850) == 100);
}

TEST_CASE("activity: extending by parts gives the same as one pass, also out of order") {
  std::mt19937 random(3);
  std::vector<trace::Replay> all;
  Time at = 1000;
  for (std::uint64_t n = 1; n <= 300; ++n) {
    const std::uint32_t graph = random() % 2 == 0 ? kFirstGraph : kSecondGraph;
    const auto length = static_cast<Time>(10 + random() % 50);
    all.push_back(replay_of(graph, n, random() % 3 == 0 ? 4 : 3, at - 5, at, at + length));
    at += length + static_cast<Time>(random() % 20);
  }
  for (std::size_t i = 20; i + 20 < all.size(); i += 37) std::swap(all[i], all[i + 15]);
  ActivityTrace whole, parts;
  model::ActivityBuilder one_pass, by_parts;
  const model::Activity expected = one_pass.extend(*whole.add(all));
  model::Activity activity;
  for (std::size_t i = 0; i < all.size(); i += 25) {
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(i + 25, all.size()));
    activity = by_parts.extend(*parts.add({all.begin() + static_cast<std::ptrdiff_t>(i), end}));
  }
  REQUIRE(activity.queues.size() == expected.queues.size());
  for (const auto& [queue, row] : expected.queues) {
    const auto& list = row.spans;
    const auto& other = activity.queues.at(queue).spans;
    REQUIRE(other.size() == list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      CHECK(other[i].started == list[i].started);
      CHECK(other[i].replay == list[i].replay);
    }
  }
  const auto &idle = activity.idle.at(1).gaps, &all_idle = expected.idle.at(1).gaps;
  REQUIRE(idle.size() == all_idle.size());
  for (std::size_t i = 0; i < all_idle.size(); ++i) CHECK(idle[i].started == all_idle[i].started);
}
