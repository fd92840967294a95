#include "lowering/segment.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "lowering/lowered_graph.hpp"
#include "lowering/lowering_config.hpp"
#include "support/manual_dependencies.hpp"
#include "support/thrown_by.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

// A node of `others` in 100 is no dispatch; the others have 1 to 40 blocks.
NodeHints random_hints(const DependencyGraph& dependencies, std::uint64_t seed,
                       std::uint32_t others, std::uint32_t lists) {
  std::mt19937_64 random(seed);
  NodeHints hints;
  hints.segment_lists = lists;
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    const bool is_other = random() % 100 < others;
    const bool is_wide = random() % 4 == 0;
    hints.segment_blocks.push_back(
        is_other ? 0 : static_cast<std::uint32_t>(is_wide ? 1 + random() % 40 : 1));
    hints.costs.push_back(static_cast<std::uint32_t>(random() % 5'000));
  }
  return hints;
}

NodeHints one_block_each(const DependencyGraph& dependencies, std::uint32_t lists) {
  NodeHints hints;
  hints.segment_lists = lists;
  hints.segment_blocks.assign(dependencies.node_count(), 1);
  return hints;
}

LoweredGraph lower(const DependencyGraph& dependencies, const NodeHints& hints) {
  return build_lowered_graph(dependencies, Lowering::Persistent, hints);
}

std::size_t waits(const Segment& segment) {
  std::size_t count = 0;
  for (const SegmentItem& item : segment.items) count += item.waits;
  return count;
}

}  // namespace

TEST_CASE("segments: random graphs pass the check, and every path stays inside its segment") {
  std::size_t segments = 0, left_out = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    CAPTURE(seed);
    const DependencyGraph dependencies =
        random_dependencies({.seed = seed,
                             .nodes = static_cast<std::uint32_t>(2 + seed),
                             .edge_percent = static_cast<std::uint32_t>(1 + seed % 12)});
    const NodeHints hints = random_hints(dependencies, seed, seed % 3 == 0 ? 25 : 5,
                                         static_cast<std::uint32_t>(1 + seed % 20));
    const LoweredGraph graph = lower(dependencies, hints);
    CHECK(passes(dependencies, graph));
    REQUIRE(implies_all(dependencies, graph));
    const Closure closure = close(graph);
    for (const Segment& segment : graph.segments) {
      ++segments;
      CHECK(segment.nodes > 1);
      CHECK(segment.lists() <= hints.segment_lists);
      for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
        if (segment.contains(node)) {
          CHECK(hints.segment_blocks[graph.nodes[node].dependency_node] != 0);
          continue;
        }
        ++left_out;
        bool follows = false, precedes = false;
        for (std::uint32_t member = segment.first_node; member < segment.first_node + segment.nodes;
             ++member) {
          follows = follows || closure[node][member];
          precedes = precedes || closure[member][node];
        }
        CHECK_FALSE((follows && precedes));
      }
    }
  }
  CHECK(segments > 80);
  CHECK(left_out > 80);
}

TEST_CASE("segments: the same input gives the same lists") {
  const DependencyGraph dependencies = random_dependencies({.seed = 7, .nodes = 120});
  const NodeHints hints = random_hints(dependencies, 7, 10, 16);
  CHECK(lower(dependencies, hints).segments == lower(dependencies, hints).segments);
}

TEST_CASE("segments: a chain is one list without waits, independent nodes fill all lists") {
  EdgeList edges;
  for (std::uint32_t node = 1; node < 100; ++node) edges.emplace_back(node - 1, node);
  const DependencyGraph chain = manual_dependencies(100, edges);
  const LoweredGraph in_a_row = lower(chain, one_block_each(chain, 16));
  REQUIRE(in_a_row.segments.size() == 1);
  CHECK(in_a_row.segments[0].lists() == 1);
  CHECK(waits(in_a_row.segments[0]) == 0);
  CHECK(std::none_of(in_a_row.segments[0].items.begin(), in_a_row.segments[0].items.end(),
                     [](const SegmentItem& item) { return item.publishes; }));

  const DependencyGraph wide = manual_dependencies(100, {});
  const LoweredGraph at_once = lower(wide, one_block_each(wide, 16));
  REQUIRE(at_once.segments.size() == 1);
  const Segment& segment = at_once.segments[0];
  CHECK(segment.lists() == 16);
  CHECK(waits(segment) == 0);
  for (std::uint32_t list = 0; list < 16; ++list) {
    const std::uint32_t items = segment.first_item[list + 1] - segment.first_item[list];
    CHECK(items >= 6);
    CHECK(items <= 7);
  }
}

TEST_CASE("segments: a dispatch of many blocks is divided among the lists") {
  const DependencyGraph dependencies = manual_dependencies(2, {{0, 1}});
  NodeHints hints = one_block_each(dependencies, 8);
  hints.segment_blocks = {1000, 3};
  const LoweredGraph graph = lower(dependencies, hints);
  REQUIRE(graph.segments.size() == 1);
  const Segment& segment = graph.segments[0];
  CHECK(segment.lists() == 8);
  CHECK(segment.item_counts == std::vector<std::uint32_t>{8, 3});
  for (const SegmentItem& item : segment.items) CHECK(item.blocks == (item.node == 0 ? 125 : 1));
  CHECK(waits(segment) == 3);
}

TEST_CASE("segments: a wait for the last of several nodes of a list is a wait for all of them") {
  const DependencyGraph dependencies = manual_dependencies(4, {{0, 3}, {1, 3}, {2, 3}});
  NodeHints hints = one_block_each(dependencies, 2);
  hints.costs = {5'000, 1'000, 1'000, 1'000};  // nodes 1 and 2 share the other list
  LoweredGraph graph = lower(dependencies, hints);
  REQUIRE(graph.segments.size() == 1);
  Segment& segment = graph.segments[0];
  REQUIRE(segment.lists() == 2);
  CHECK(waits(segment) == 1);
  CHECK(std::count_if(segment.items.begin(), segment.items.end(),
                      [](const SegmentItem& item) { return item.publishes; }) == 1);
  REQUIRE(passes(dependencies, graph));
  // The first of the two says nothing of the second.
  const auto published = std::find_if(segment.items.begin(), segment.items.end(),
                                      [](const SegmentItem& item) { return item.publishes; });
  segment.waits[0] = published[-1].node;
  std::swap(published[-1].publishes, published[0].publishes);
  CHECK_FALSE(passes(dependencies, graph));
}

TEST_CASE("segments: with unknown costs, an item does not wait for one that it does not need") {
  // Two nodes follow node 2. The list of node 1 has been idle for long by then, if its cost is as
  // expected.
  const DependencyGraph dependencies = manual_dependencies(5, {{0, 2}, {2, 3}, {2, 4}});
  NodeHints hints = one_block_each(dependencies, 16);
  CHECK(lower(dependencies, hints).segments.at(0).lists() == 3);
  // A third list would disturb one of two.
  hints.undisturbed_lists = 2;
  CHECK(lower(dependencies, hints).segments.at(0).lists() == 2);
  hints.undisturbed_lists = 16;
  hints.costs.assign(5, 2'000);
  CHECK(lower(dependencies, hints).segments.at(0).lists() == 2);
}

TEST_CASE("segments: a command that is no dispatch separates them, a lone dispatch is a node") {
  const DependencyGraph dependencies =
      manual_dependencies(7, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}});
  NodeHints hints = one_block_each(dependencies, 4);
  hints.segment_blocks[2] = hints.segment_blocks[5] = 0;
  const LoweredGraph graph = lower(dependencies, hints);
  REQUIRE(graph.segments.size() == 2);
  CHECK(graph.segments[0].first_node == 0);
  CHECK(graph.segments[0].nodes == 2);
  CHECK(graph.segments[1].first_node == 3);
  CHECK(graph.segments[1].nodes == 2);
}

TEST_CASE("segments: the check finds each damage to the lists") {
  const DependencyGraph dependencies =
      random_dependencies({.seed = 11, .nodes = 60, .edge_percent = 6});
  const LoweredGraph graph = lower(dependencies, random_hints(dependencies, 11, 0, 6));
  REQUIRE(passes(dependencies, graph));
  REQUIRE(graph.segments.size() == 1);
  std::uint32_t damaged = 0;
  const auto refuses = [&](const auto& damage) {
    LoweredGraph changed = graph;
    damage(changed.segments[0]);
    ++damaged;
    return !passes(dependencies, changed);
  };
  const Segment& segment = graph.segments[0];
  for (std::uint32_t i = 0; i < segment.items.size(); ++i) {
    CAPTURE(i);
    const SegmentItem& item = segment.items[i];
    CHECK(refuses([i](Segment& s) { ++s.items[i].blocks; }));
    CHECK(refuses([i](Segment& s) { ++s.items[i].first_block; }));
    if (item.publishes) CHECK(refuses([i](Segment& s) { s.items[i].publishes = false; }));
    // Without one of its waits. Every wait is the first of its node in its list.
    for (std::uint32_t wait = 0; wait < item.waits; ++wait) {
      CHECK(refuses([&](Segment& s) {
        std::swap(s.waits[item.first_wait + wait], s.waits[item.first_wait + item.waits - 1]);
        --s.items[i].waits;
      }));
    }
    // It waits for itself.
    if (item.waits != 0)
      CHECK(refuses([&](Segment& s) { s.waits[item.first_wait] = s.items[i].node; }));
  }
  CHECK(refuses([](Segment& s) { s.items.pop_back(); }));
  CHECK(refuses([](Segment& s) { ++s.item_counts[0]; }));
  CHECK(refuses([](Segment& s) { s.waits[0] = 1'000'000; }));
  CHECK(refuses([](Segment& s) { s.items[0].node = 1'000'000; }));
  CHECK(damaged > 150);
}

TEST_CASE("segments: the check finds lists that wait for each other") {
  // Two chains on two lists, each of which also needs the other's first node.
  const DependencyGraph dependencies = manual_dependencies(4, {{0, 2}, {0, 3}, {1, 2}, {1, 3}});
  const LoweredGraph graph = lower(dependencies, one_block_each(dependencies, 2));
  REQUIRE(passes(dependencies, graph));
  LoweredGraph stuck = graph;
  Segment& segment = stuck.segments[0];
  segment.first_item = {0, 2, 4};
  segment.items = {
      {2, 0, 1, 0, 2, false}, {0, 0, 1, 0, 0, true}, {3, 0, 1, 0, 2, false}, {1, 0, 1, 0, 0, true}};
  segment.waits = {0, 1};
  const Error error = thrown_by([&] { check_lowered_graph(dependencies, stuck); });
  CHECK(error.code() == ErrorCode::Internal);
  CHECK(std::string(error.what()).find("waits for ever for node") != std::string::npos);
}
