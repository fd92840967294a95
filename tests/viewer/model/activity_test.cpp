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
  const auto& main = activity.queues.at(3);
  REQUIRE(main.size() == 3);
  CHECK(main[1].graph.graph == kSecondGraph);
  CHECK(main[1].replay == 2);
  CHECK(activity.queues.at(4).size() == 1);
  const auto& launches = activity.threads.at(7);
  REQUIRE(launches.size() == 4);
  for (std::size_t i = 1; i < launches.size(); ++i)
    CHECK(launches[i - 1].started < launches[i].started);
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
  const std::vector<model::IdleGap>& idle = activity.idle.at(1);
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
  for (const auto& [queue, list] : expected.queues) {
    const auto& other = activity.queues.at(queue);
    REQUIRE(other.size() == list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      CHECK(other[i].started == list[i].started);
      CHECK(other[i].replay == list[i].replay);
    }
  }
  REQUIRE(activity.idle.at(1).size() == expected.idle.at(1).size());
  for (std::size_t i = 0; i < expected.idle.at(1).size(); ++i)
    CHECK(activity.idle.at(1)[i].started == expected.idle.at(1)[i].started);
}
