#include <doctest/doctest.h>

#include <algorithm>

#include "model/document_builder.hpp"
#include "model/graph_comparison.hpp"
#include "support/paths.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/trace_document.hpp"

using namespace reprise;
using model::Verdict;
using test::HandMadeTrace;

namespace {

using Document = std::shared_ptr<const model::Document>;

// In a file of its own, which the document's samples are read from.
Document traced(const HandMadeTrace& options) {
  static int count = 0;
  const std::filesystem::path path =
      test::scratch_folder() / ("compared-" + std::to_string(count++) + ".reprise");
  test::write_hand_made_trace(path, options);
  return test::document_of(path);
}

model::GraphComparison compare_step(const Document& a, const Document& b) {
  return model::compare({*a, {HandMadeTrace::kStep, 1}}, {*b, {HandMadeTrace::kStep, 1}});
}

std::vector<std::uint32_t> nodes_with(const model::GraphComparison& c, Verdict verdict) {
  std::vector<std::uint32_t> nodes;
  for (const model::ComparedNode& n : c.nodes) {
    if (n.times.verdict == verdict) nodes.push_back(n.b == trace::kNone ? n.a : n.b);
  }
  return nodes;
}

// A graph of two nodes of one name, whose commands are `first` and `second`.
Document twins(std::uint32_t first, std::uint32_t second, std::uint32_t time_of_first) {
  trace::GraphVersion g;
  g.strings = {"", "twice"};
  g.labels = {{}};
  g.nodes.resize(2);
  for (trace::Node& n : g.nodes) n.name = 1;
  g.nodes[first].command = 0;
  g.nodes[second].command = 1;
  trace::Records records;
  records.graph_versions = {g};
  trace::SampleBlock block;
  block.replay = 1;
  block.samples = {{first, 0, 100, time_of_first, 0}, {second, 0, 1'000, 50, 0}};
  records.replays = {{0, 0, 0, 0, 1, 10, 20, 90, 1'100, 0, 1}};
  records.sample_blocks = {block};
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace

TEST_CASE("trace comparison: a trace does not differ from itself") {
  const Document d = traced({});
  const model::MatchedGraphs matched = model::match_graphs(*d, *d);
  REQUIRE(matched.pairs.size() == 2);
  CHECK(matched.only_a.empty());
  CHECK(matched.only_b.empty());
  for (const auto& [a, b] : matched.pairs) {
    CHECK(a == b);
    const model::GraphComparison c = model::compare({*d, a}, {*d, b});
    CHECK_FALSE(c.device_time.is_significant());
    CHECK(c.nodes.size() == HandMadeTrace::kNodes);
    CHECK(c.slower + c.faster + c.added + c.removed == 0);
    for (const model::ComparedNode& n : c.nodes) {
      CHECK(n.a == n.b);
      CHECK(n.times.change == 0);
      CHECK(n.effect == 0);
    }
  }
}

TEST_CASE("trace comparison: the slower node comes first and alone is significantly slower") {
  const Document before = traced({}), after = traced({.slow_node = 2});
  const model::GraphComparison c = compare_step(before, after);
  CHECK(c.device_time.verdict == Verdict::Slower);
  CHECK(c.device_time.change > 0);
  CHECK(nodes_with(c, Verdict::Slower) == std::vector<std::uint32_t>{2});
  CHECK(c.nodes[0].a == 2);
  CHECK(c.nodes[0].times.change == doctest::Approx(0.5).epsilon(0.001));
  CHECK(c.nodes[0].times.b_is_longer == 1);
  const model::GraphComparison back = compare_step(after, before);
  CHECK(nodes_with(back, Verdict::Faster) == std::vector<std::uint32_t>{2});
  CHECK(back.nodes[0].effect == doctest::Approx(-c.nodes[0].effect));
}

TEST_CASE("trace comparison: nodes without a partner are listed, and the others still match") {
  const model::GraphComparison c = compare_step(traced({}), traced({.renamed_node = 2}));
  CHECK(c.added == 1);
  CHECK(c.removed == 1);
  CHECK(nodes_with(c, Verdict::Added) == std::vector<std::uint32_t>{2});
  CHECK(nodes_with(c, Verdict::Removed) == std::vector<std::uint32_t>{2});
  CHECK(c.nodes.size() == HandMadeTrace::kNodes + 1);
}

TEST_CASE("trace comparison: the effects of all nodes and the time outside add up to the mean") {
  for (const HandMadeTrace& options :
       {HandMadeTrace{.slow_node = 2}, {.slow_node = 0}, {.renamed_node = 1}}) {
    const Document before = traced({}), after = traced(options);
    const model::GraphComparison c = compare_step(before, after);
    double sum = c.effect_outside();
    for (const model::ComparedNode& n : c.nodes) sum += n.effect;
    const auto mean = [](const Document& d) {
      return model::replay_statistics(d->find({HandMadeTrace::kStep, 1})->replays,
                                      model::ReplayMeasure::DeviceTime)
          .mean;
    };
    CHECK(sum == doctest::Approx(mean(after) - mean(before)));
    CHECK(c.contributions_a.time == doctest::Approx(mean(before)));
  }
}

TEST_CASE("trace comparison: a slower node that leaves the critical path makes replays shorter") {
  const auto document = [](std::uint32_t first, std::uint32_t second) {
    trace::GraphVersion g;
    g.strings = {"", "first", "second", "join"};
    g.labels = {{}};
    g.nodes.resize(3);
    for (std::uint32_t n = 0; n < 3; ++n) g.nodes[n].name = n + 1;
    g.edges = {{0, 2}, {1, 2}};
    trace::Records records;
    records.graph_versions = {g};
    for (std::uint64_t r = 1; r <= 20; ++r) {
      const auto at = static_cast<trace::Time>(r * 100'000), joined = at + std::max(first, second);
      trace::SampleBlock block;
      block.replay = r;
      block.samples = {{0, 0, at, first, 0}, {1, 0, at, second, 0}, {2, 0, joined, 1'000, 0}};
      records.replays.push_back({0, 0, 0, 0, r, at - 20, at - 10, at, joined + 1'000, 0, 1});
      records.sample_blocks.push_back(std::move(block));
    }
    model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
    builder.add(std::move(records));
    return builder.publish();
  };
  const auto before = document(5'000, 1'000), after = document(6'000, 9'000);
  const model::GraphComparison c = model::compare({*before, {0, 0}}, {*after, {0, 0}});
  const auto first = std::find_if(c.nodes.begin(), c.nodes.end(),
                                  [](const model::ComparedNode& n) { return n.a == 0; });
  REQUIRE(first != c.nodes.end());
  CHECK(first->times.verdict == Verdict::Slower);
  CHECK(first->effect == -5'000);
  CHECK(c.contributions_a.on_path == std::vector<double>{1, 0, 1});
  CHECK(c.contributions_b.on_path == std::vector<double>{0, 1, 1});
}

TEST_CASE("trace comparison: a node that is slow in few replays has an effect, but no verdict") {
  const auto document = [](std::uint64_t slow_replay) {
    trace::GraphVersion g;
    g.strings = {"", "a", "b"};
    g.labels = {{}};
    g.nodes.resize(2);
    g.nodes[0].name = 1;
    g.nodes[1].name = 2;
    g.edges = {{0, 1}};
    trace::Records records;
    records.graph_versions = {g};
    for (std::uint64_t r = 1; r <= 20; ++r) {
      const auto at = static_cast<trace::Time>(r * 100'000);
      const std::uint32_t slow = r == slow_replay ? 40'000 : 500;
      trace::SampleBlock block;
      block.replay = r;
      block.samples = {{0, 0, at, 1'000, 0}, {1, 0, at + 1'000, slow, 0}};
      records.replays.push_back({0, 0, 0, 0, r, at - 20, at - 10, at, at + 1'000 + slow, 0, 1});
      records.sample_blocks.push_back(std::move(block));
    }
    model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
    builder.add(std::move(records));
    return builder.publish();
  };
  const auto before = document(0), after = document(7);
  const model::GraphComparison c = model::compare({*before, {0, 0}}, {*after, {0, 0}});
  CHECK(c.nodes[0].a == 1);
  CHECK(c.nodes[0].times.verdict == Verdict::Same);
  CHECK(c.nodes[0].times.change == 0);  // the medians are equal
  CHECK(c.nodes[0].effect == doctest::Approx(39'500 / 20.0));
  CHECK(c.nodes[1].effect == 0);
}

TEST_CASE("trace comparison: equal nodes match in command order, whatever their node order") {
  const Document a = twins(0, 1, 10), b = twins(1, 0, 20);
  const model::GraphComparison c = model::compare({*a, {0, 0}}, {*b, {0, 0}});
  REQUIRE(c.nodes.size() == 2);
  const auto first = std::find_if(c.nodes.begin(), c.nodes.end(),
                                  [](const model::ComparedNode& n) { return n.a == 0; });
  CHECK(first->b == 1);
  CHECK(first->times.median_a == 10);
  CHECK(first->times.median_b == 20);
}

TEST_CASE("trace comparison: graphs match by name and order, and others are listed") {
  const auto document = [](std::initializer_list<const char*> names) {
    trace::Records records;
    for (const char* name : names) {
      trace::GraphVersion g;
      g.graph = static_cast<std::uint32_t>(records.graph_versions.size());
      g.label = name;
      records.graph_versions.push_back(g);
    }
    model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
    builder.add(std::move(records));
    return builder.publish();
  };
  const auto a = document({"step", "old", "step"}), b = document({"new", "step", "step", "step"});
  const model::MatchedGraphs matched = model::match_graphs(*a, *b);
  using Key = model::GraphKey;
  CHECK(matched.pairs == std::vector<std::pair<Key, Key>>{{{0, 0}, {1, 0}}, {{2, 0}, {2, 0}}});
  CHECK(matched.only_a == std::vector<Key>{{1, 0}});
  CHECK(matched.only_b == std::vector<Key>{{0, 0}, {3, 0}});
  CHECK(model::matching_graph(*a, {2, 5}, *b) == Key{2, 0});
  CHECK_FALSE(model::matching_graph(*a, {1, 0}, *b).has_value());
}

TEST_CASE("trace comparison: replays are compared even without samples") {
  const model::GraphComparison c = compare_step(traced({.samples = false}), traced({}));
  CHECK(c.device_time.count_a == HandMadeTrace::kStepReplays);
  CHECK(c.device_time.verdict == Verdict::Same);
  REQUIRE(c.nodes.size() == HandMadeTrace::kNodes);
  CHECK(c.nodes[0].times.count_a == 0);
  CHECK(c.nodes[0].times.verdict == Verdict::Unmeasured);
  CHECK(c.nodes[0].effect == 0);
}

TEST_CASE("trace comparison: a verdict says why it is so") {
  model::ComparedTimes times{.count_a = 40, .count_b = 3, .verdict = Verdict::TooFewSamples};
  CHECK(model::verdict_reason(times, 5) ==
        "A has 40 and B 3 samples; the test needs 8 on each side");
  times = {.count_a = 40, .count_b = 40, .p = 0.004, .b_is_longer = 0.7, .verdict = Verdict::Same};
  CHECK(
      model::verdict_reason(times, 50) ==
      "p is 0.0040, B is longer in 70 % of the pairs of a sample of A and one of B; with 50 nodes "
      "compared, p below 0.0002 is significant");
  times.verdict = Verdict::Slower;
  CHECK(model::verdict_reason(times, 1).ends_with("; p below 0.01 is significant"));
  times = {.count_b = 4};
  CHECK(model::verdict_reason(times, 1) == "A has no samples");
}
