#include <doctest/doctest.h>

#include <numeric>

#include "model/document_builder.hpp"
#include "model/slowdown.hpp"
#include "viewer/model/random_graph.hpp"
#include "viewer/model/small_trace.hpp"

using namespace reprise;
using trace::Time;

namespace {

constexpr model::GraphKey kSlowdownGraph{3, 1};

// Nine replays of load -> saxpy, blur. In replay 5 the launch takes 1 us longer, load 500 ns and
// the gap before saxpy 34,950 ns. Replay 10 has no samples and takes 1 us longer on the device.
std::shared_ptr<const model::Document> slow_document() {
  trace::Records r = test::small_topology();
  for (std::uint64_t n = 1; n <= 9; ++n) {
    const Time slow = n == 5 ? 1 : 0;
    const auto launched = static_cast<Time>(100'000 * n);
    const Time started = launched + 2'000 + 1'000 * slow;
    const auto load = static_cast<std::uint32_t>(1'000 + 500 * slow);
    const Time loaded = started + 100 + load, saxpy = loaded + 100 + 34'950 * slow;
    r.replays.push_back(
        {3, 1, 0, 4, n, launched, launched + 900, started, saxpy + 2'000 + 200, 77, 1});
    r.sample_blocks.push_back(
        {3,
         1,
         0,
         n,
         trace::SampleSource::Host,
         {{0, 0, started + 100, load, 0}, {2, 0, loaded + 100, 500, 1}, {1, 0, saxpy, 2'000, 0}}});
  }
  r.replays.push_back(
      {3, 1, 0, 4, 10, 1'000'000, 1'000'900, 1'002'000, 1'002'000 + 3'400 + 1'000, 77, 0});
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(r));
  return builder.publish();
}

model::Slowdown slowdown_of(const model::Document& document, std::uint64_t number) {
  const model::GraphEntry& entry = *document.find(kSlowdownGraph);
  const trace::Replay& replay = *document.find_replay(kSlowdownGraph, number);
  const auto block = replay.sampled != 0 ? document.samples->find(replay) : nullptr;
  return model::slowdown(entry, model::replay_baseline(document, entry, {}, {1'000, 2'000, 500}),
                         replay,
                         model::replay_times(*entry.graph, block ? *block : trace::SampleBlock{}));
}

double sum_of_excesses(const model::Slowdown& s) {
  return std::accumulate(
      s.parts.begin(), s.parts.end(), s.remainder,
      [](double sum, const model::SlowdownPart& part) { return sum + part.excess(); });
}

}  // namespace

TEST_CASE("slowdown: a gap that caused the difference comes first, with its own median") {
  const auto document = slow_document();
  const model::Slowdown s = slowdown_of(*document, 5);
  CHECK(s.difference() == 36'450);
  REQUIRE(s.parts.size() >= 3);
  CHECK(s.parts[0].kind == model::SlowdownKind::Gap);
  CHECK(s.parts[0].node == 1);
  CHECK(s.parts[0].edge == 0);
  CHECK(s.parts[0].time == 35'050);
  CHECK(s.parts[0].median == 100);
  CHECK(s.parts[1].kind == model::SlowdownKind::LaunchLatency);
  CHECK(s.parts[1].excess() == 1'000);
  CHECK(s.parts[2].kind == model::SlowdownKind::Node);
  CHECK(s.parts[2].excess() == 500);
  CHECK(s.remainder == 0);
  const model::Graph& graph = *document->find(kSlowdownGraph)->graph;
  CHECK(part_name(graph, s.parts[0]) == "gap before saxpy");
  CHECK(part_name(graph, s.parts[1]) == "launch latency without queueing");
  CHECK(part_name(graph, s.parts[2]) == "load");
}

TEST_CASE("slowdown: time in the queue belongs to the replays before") {
  trace::Records r = test::small_topology();
  // Four replays are launched at once and run back to back, 3 us each; the last waits 500 ns
  // longer.
  for (std::uint64_t n = 1; n <= 4; ++n) {
    const Time started = 10'000 + 4'000 * static_cast<Time>(n) + (n == 4 ? 500 : 0);
    r.replays.push_back({3, 1, 0, 4, n, 10'000, 10'100, started, started + 3'000, 77, 0});
  }
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(r));
  const model::Slowdown s = slowdown_of(*builder.publish(), 4);
  CHECK(s.time == 1'500 + 3'000);
  REQUIRE(s.parts.size() == 2);
  CHECK(s.parts[0].kind == model::SlowdownKind::LaunchLatency);
  CHECK(s.parts[0].time == 1'500);
  CHECK(s.parts[0].median == 1'000);
}

TEST_CASE("slowdown: a replay without samples has its latency and device time as parts") {
  const model::Slowdown s = slowdown_of(*slow_document(), 10);
  CHECK(s.difference() == 1'000);
  REQUIRE(s.parts.size() == 2);
  CHECK(s.parts[0].kind == model::SlowdownKind::DeviceTime);
  CHECK(s.parts[0].excess() == 1'000);
  CHECK(s.remainder == 0);
}

TEST_CASE("slowdown: the medians are those of the selected durations") {
  const auto document = slow_document();
  const model::GraphEntry& entry = *document->find(kSlowdownGraph);
  const auto device_time = [&](model::Durations admitted) {
    const model::DurationBounds bounds{.measure = model::ReplayMeasure::DeviceTime,
                                       .min = 10'000,
                                       .max = 1e9,
                                       .admitted = admitted};
    return model::replay_baseline(*document, entry, {.durations = bounds}, {}).device_time;
  };
  CHECK(device_time(model::Durations::Inside) == 38'850);
  CHECK(device_time(model::Durations::Outside) == 3'400);
}

TEST_CASE("slowdown: the parts and the remainder add up to the difference") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    trace::Records records;
    trace::GraphVersion g = test::random_graph(seed);
    records.graph_versions = {g};
    for (std::uint64_t n = 1; n <= 7; ++n) {
      trace::SampleBlock block = test::random_replay(g, seed * 100 + n, n == 3 ? 4 : 0);
      block.graph = g.graph;
      block.version = g.version;
      block.replay = n;
      const model::ReplayTimes times = model::replay_times(model::Graph(g), block);
      const Time started = times.started - static_cast<Time>(seed % 5);
      records.replays.push_back({g.graph, g.version, 0, 0, n, n % 2 == 0 ? 0 : started - 50,
                                 started - 10, started, times.ended + 3, 1, 1});
      records.sample_blocks.push_back(std::move(block));
    }
    model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
    builder.add(records);
    const auto document = builder.publish();
    const model::GraphEntry& entry = document->graphs.begin()->second;
    const model::ReplayBaseline baseline =
        model::replay_baseline(*document, entry, {}, entry.statistics->medians());
    for (const trace::Replay& replay : entry.replays) {
      const model::Slowdown s =
          model::slowdown(entry, baseline, replay,
                          model::replay_times(*entry.graph, *document->samples->find(replay)));
      CHECK(sum_of_excesses(s) == doctest::Approx(s.difference()));
      for (std::size_t i = 1; i < s.parts.size(); ++i)
        CHECK(std::abs(s.parts[i - 1].excess()) >= std::abs(s.parts[i].excess()));
    }
  }
}

TEST_CASE("slowdown: the slowest replays are those with the longest device time") {
  const auto document = slow_document();
  const auto& replays = document->find(kSlowdownGraph)->replays;
  CHECK(model::slowest_replays(replays, 2) == std::vector<std::size_t>{4, 9});
  CHECK(model::slowest_replays(replays, 99).size() == 10);
}

TEST_CASE("edge gaps: a median counts the replays in which the edge released the node") {
  // Node 2 has the predecessors 0 and 1; 1 ends last in two of three replays.
  trace::GraphVersion g = test::small_topology().graph_versions[0];
  g.edges = {{0, 2}, {1, 2}};
  const model::Graph graph(g);
  std::vector<model::SampleStore::Block> blocks;
  for (std::uint32_t n = 0; n < 3; ++n) {
    const std::uint32_t first = n == 0 ? 100 : 10;  // ends last in the first replay
    blocks.push_back(std::make_shared<trace::SampleBlock>(trace::SampleBlock{
        3,
        1,
        0,
        n,
        trace::SampleSource::Host,
        {{0, 0, 1'000, first, 0}, {1, 0, 1'000, 50, 0}, {2, 0, 1'200 + n * 10, 5, 0}}}));
  }
  const model::MedianGaps gaps = model::median_gaps(graph, blocks);
  CHECK(gaps.edges[0].count == 1);
  CHECK(gaps.edges[0].time == 100);
  CHECK(gaps.edges[1].count == 2);
  CHECK(gaps.edges[1].time == 160);
  CHECK(gaps.nodes[2].count == 3);
  CHECK(gaps.nodes[2].time == 160);
  CHECK(gaps.nodes[0].time == 0);
}
