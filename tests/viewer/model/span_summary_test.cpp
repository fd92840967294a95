#include "model/span_summary.hpp"

#include <doctest/doctest.h>

#include "model/document_builder.hpp"

using namespace reprise;
using model::SpanSummary;
using trace::Time;

namespace {

constexpr Time kBegin = 1'000'000, kPeriod = 1'000;

// Replays of a copy of 64 bytes (200 ns), then, after a wait of 100 ns, "work" (300 ns) in the
// label "forward". The first of two is sampled. A replay starts every 1000 ns, 50 ns after its
// launch.
std::shared_ptr<const model::Document> make_document(std::uint64_t replays) {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  trace::GraphVersion graph;
  graph.graph = graph.version = 1;
  graph.label = "step";
  graph.lanes = 1;
  graph.strings = {"", "input", "work", "forward"};
  graph.labels = {{}, {0, 3, 0}};
  graph.kernels = {{2, 2, 0, 0}};
  graph.nodes.resize(2);
  graph.nodes[0].kind = trace::NodeKind::Copy;
  graph.nodes[0].name = 1;
  graph.nodes[0].bytes = 64;
  graph.nodes[1].kind = trace::NodeKind::Dispatch;
  graph.nodes[1].name = 2;
  graph.nodes[1].kernel = 0;
  graph.nodes[1].label = 1;
  graph.edges = {{0, 1}};
  records.graph_versions = {graph};
  records.queues = {{3, 1, "main"}};
  for (std::uint64_t n = 0; n < replays; ++n) {
    const Time at = kBegin + static_cast<Time>(n) * kPeriod;
    const bool sampled = n % 2 == 0;
    records.replays.push_back({1, 1, 0, 3, n + 1, at - 50, at - 40, at, at + 600, 7,
                               sampled ? std::uint8_t{1} : std::uint8_t{0}});
    if (!sampled) continue;
    trace::SampleBlock block{1, 1, 0, n + 1, trace::SampleSource::Host, {}};
    block.samples = {{0, 0, at, 200, 0}, {1, 0, at + 300, 300, 0}};
    records.sample_blocks.push_back(std::move(block));
  }
  builder.add(std::move(records));
  return builder.publish();
}

SpanSummary summary_of(const model::Document& document, Time from, Time to) {
  return model::summarise(document, model::ActivityBuilder().extend(document),
                          {kBegin + from, kBegin + to}, model::RowsBy::Lane);
}

}  // namespace

TEST_CASE("span summary: replays, nodes and idle time are cut to the span") {
  // The end of replay 1, replay 2 without samples, and the copy and half of the work of replay 3.
  const SpanSummary summary = summary_of(*make_document(10), 100, 2450);
  CHECK(summary.replays == 3);
  CHECK(summary.sampled == 2);
  CHECK(summary.read == 2);
  CHECK(summary.busy == 500 + 600 + 450);
  REQUIRE(summary.graphs.size() == 1);
  CHECK(summary.graphs[0].name == "step");
  CHECK(summary.graphs[0].time == summary.busy);
  CHECK(summary.nodes == 4);
  REQUIRE(summary.kernels.size() == 2);
  CHECK(summary.kernels[0].name == "work");
  CHECK(summary.kernels[0].total == 300 + 150);
  CHECK(summary.kernels[1].total == 100 + 200);
  CHECK(summary.node_time == 750);
  REQUIRE(summary.transfers.size() == 1);
  CHECK(summary.transfers[0].name == "input");
  CHECK(summary.transfers[0].bytes == 2 * 64);
  const auto label = std::find_if(summary.labels.begin(), summary.labels.end(),
                                  [](const model::NodeGroup& g) { return g.name == "forward"; });
  REQUIRE(label != summary.labels.end());
  CHECK(label->total == 450);
  const auto& host = summary.idle[static_cast<std::size_t>(model::IdleCause::Host)];
  CHECK(host.count == 2);
  CHECK(host.time == 2 * 350);
  CHECK(summary.idle[static_cast<std::size_t>(model::IdleCause::Launch)].time == 2 * 50);
  const auto& bubble = summary.gaps[static_cast<std::size_t>(model::GapKind::LaunchBubble)];
  CHECK(bubble.count == 2);
  CHECK(bubble.time == 2 * 100);
}

TEST_CASE("span summary: of many replays, evenly chosen ones are read") {
  const SpanSummary summary = summary_of(*make_document(2'000), 0, 2'000 * kPeriod);
  CHECK(summary.replays == 2'000);
  CHECK(summary.sampled == 1'000);
  CHECK(summary.read == 250);
  CHECK(summary.read <= model::kMaxSpanReplays);
}

TEST_CASE("span summary: an empty span has nothing") {
  const SpanSummary summary = summary_of(*make_document(3), 700, 900);
  CHECK(summary.replays == 0);
  CHECK(summary.nodes == 0);
  CHECK(summary.busy == 0);
  CHECK(summary.kernels.empty());
}
