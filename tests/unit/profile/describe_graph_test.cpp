#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "lowering/lowered_graph.hpp"
#include "memory/placement.hpp"
#include "profile/describe_graph.hpp"
#include "support/random_recording.hpp"
#include "support/recording_builder.hpp"
#include "trace/codec.hpp"

using namespace reprise;
using namespace reprise::test;
using detail::Plan;

namespace {

Plan planned(RecordingPtr recording, Lowering lowering) {
  detail::DependencyGraph dependencies = detail::build_dependencies(*recording);
  detail::LoweredGraph lowered = detail::build_lowered_graph(dependencies, lowering);
  detail::Placement placement = detail::place_transients(*recording, dependencies, lowered, 256);
  return detail::freeze_plan("label", std::move(recording), std::move(dependencies),
                             std::move(lowered), std::move(placement));
}

std::size_t count_of(const trace::GraphVersion& g, trace::EdgeCause cause) {
  return static_cast<std::size_t>(std::count_if(
      g.edges.begin(), g.edges.end(), [cause](const trace::Edge& e) { return e.cause == cause; }));
}

// The record decodes: every index is valid.
void check_readable(const trace::GraphVersion& graph) {
  trace::Records records;
  records.graph_versions.push_back(graph);
  CHECK(trace::decode(trace::encode(records)) == records);
}

}  // namespace

TEST_CASE("describe graph: an edge contains its hazard, its buffer and the conflicting bytes") {
  RecordingBuilder builder;
  const auto x = builder.add_buffer("x", 1024),
             t = builder.add_buffer("t", 512, BufferKind::Transient);
  builder.fill(builder.write(x));
  builder.dispatch("double",
                   {RecordingBuilder::range(Access::Read, x, 256, 512), builder.write(t)});
  builder.copy(builder.read(t), RecordingBuilder::range(Access::Write, x, 0, 512));
  const Plan plan = planned(builder.finish(), Lowering::Faithful);
  const detail::BufferIdentity identities[] = {{11, 3, detail::BufferIdentity::Memory::Adopted},
                                               {trace::kNone, 3}};
  const trace::GraphVersion g = detail::describe_graph(plan, {.graph = 4,
                                                              .version = 1,
                                                              .device = 2,
                                                              .compiled = 10,
                                                              .compile_time = 5,
                                                              .instantiate_time = 6,
                                                              .buffers = identities});
  check_readable(g);
  CHECK(g.graph == 4);
  CHECK(g.device == 2);
  CHECK(g.label == "label");
  CHECK(g.plan_hash == plan.plan_hash);
  CHECK(g.lowering_hash == plan.lowering_hash);
  CHECK(g.compile_time == 5);
  CHECK(g.instantiate_time == 6);
  CHECK(g.naive_bytes == 512);
  REQUIRE(g.nodes.size() == 3);
  CHECK(g.nodes[0].kind == trace::NodeKind::Fill);
  CHECK(g.nodes[0].bytes == 1024);
  CHECK(g.nodes[1].kind == trace::NodeKind::Dispatch);
  CHECK(g.strings[g.nodes[1].name] == "double");
  CHECK(g.nodes[2].kind == trace::NodeKind::Copy);
  CHECK(g.nodes[2].bytes == 512);
  CHECK(g.nodes[2].line == 3);
  CHECK(g.strings[g.nodes[2].file] == "app.cpp");
  REQUIRE(g.edges.size() == 2);
  CHECK(g.edges[0] == trace::Edge{0, 1, trace::EdgeCause::Hazard, trace::Hazard::ReadAfterWrite, x,
                                  trace::kNone, 256, 512});
  CHECK(g.edges[1].from == 1);
  CHECK(g.edges[1].cause == trace::EdgeCause::Hazard);
  REQUIRE(g.buffers.size() == 2);
  CHECK(g.strings[g.buffers[0].name] == "x");
  CHECK(g.buffers[0].kind == trace::BufferKind::Foreign);
  CHECK(g.buffers[0].id == 11);
  CHECK(g.buffers[1].kind == trace::BufferKind::Transient);
  CHECK(g.buffers[1].pool == 3);
  const trace::NodeAccess& read = g.accesses[g.nodes[1].first_access];
  CHECK(read == trace::NodeAccess{x, trace::Access::Read, 0, 256, 512});
}

TEST_CASE("describe graph: a segment has the block relations of its nodes") {
  RecordingBuilder builder;
  const auto x = builder.add_buffer("x", 64), y = builder.add_buffer("y", 64);
  builder.fill(builder.write(x));
  builder.copy(builder.read(x), builder.write(y));
  Plan plan = planned(builder.finish(), Lowering::Faithful);
  plan.lowered.segments = {{.first_node = 0,
                            .nodes = 2,
                            .first_item = {0, 2},
                            .items = {{0, 0, 4}, {1, 0, 4}},
                            .relations = {{0, 1, 2, 3, -1, 4}}}};
  const trace::GraphVersion g = detail::describe_graph(plan, {});
  check_readable(g);
  CHECK(g.segments == std::vector<trace::Segment>{{0, 2, 1, 2}});
  CHECK(g.block_relations == std::vector<trace::BlockRelation>{{0, 1, 2, 3, -1, 4}});
}

TEST_CASE("describe graph: a barrier counts the edges that it causes, possibly none") {
  RecordingBuilder builder({.ordering = Ordering::Explicit});
  const auto x = builder.add_buffer("x", 64), y = builder.add_buffer("y", 64);
  builder.begin_label("outer", {255, 128, 0});
  builder.fill(builder.write(x));
  builder.barrier(
      {.buffer = x, .begin = 0, .end = 64, .before = Access::Write, .after = Access::Read});
  builder.end_label();
  builder.copy(builder.read(x), builder.write(y));
  builder.barrier({.dependency = Dependency::Programmatic});
  const trace::GraphVersion g =
      detail::describe_graph(planned(builder.finish(), Lowering::Faithful), {});
  check_readable(g);
  REQUIRE(g.barriers.size() == 2);
  CHECK(g.barriers[0].edges == 1);
  CHECK(g.barriers[0].command == 1);
  CHECK(g.barriers[0].buffer == x);
  CHECK(g.barriers[0].before == trace::Access::Write);
  CHECK(g.barriers[0].after == trace::Access::Read);
  CHECK(g.strings[g.labels[g.barriers[0].label].name] == "outer");
  CHECK(g.labels[g.barriers[0].label].color == 0xff8000);
  CHECK(g.barriers[0].dependency == trace::Dependency::Full);
  CHECK(g.barriers[1].dependency == trace::Dependency::Programmatic);
  CHECK(g.barriers[1].edges == 0);
  CHECK(g.barriers[1].buffer == trace::kNone);
  REQUIRE(g.edges.size() == 1);
  CHECK(g.edges[0].cause == trace::EdgeCause::Barrier);
  CHECK(g.edges[0].barrier == 0);
  CHECK(g.ordering == 1);
}

TEST_CASE(
    "describe graph: entry and exit kernels and lane edges are added to the complete required "
    "edges") {
  RecordingBuilder builder;
  for (int i = 0; i < 6; ++i) {
    const auto x = builder.add_buffer("x", 64);
    builder.fill(builder.write(x));
    builder.dispatch("k", {builder.read_write(x)});
  }
  const Plan plan = planned(builder.finish(), Lowering::Lanes(3));
  const trace::GraphVersion g = detail::describe_graph(plan, {});
  check_readable(g);
  CHECK(g.lanes == 3);
  CHECK(g.entry_exit == 2);
  CHECK(g.nodes.front().kind == trace::NodeKind::Entry);
  CHECK(g.nodes.back().kind != trace::NodeKind::Exit);
  CHECK(count_of(g, trace::EdgeCause::Hazard) == plan.dependencies.edges.size());
  CHECK(count_of(g, trace::EdgeCause::Lane) + count_of(g, trace::EdgeCause::EntryExit) ==
        plan.lowered.added_edges);
  CHECK(count_of(g, trace::EdgeCause::EntryExit) == 3);
  CHECK(g.edges.size() == plan.dependencies.edges.size() + plan.lowered.added_edges);
  CHECK(std::is_sorted(g.edges.begin(), g.edges.end(),
                       [](const trace::Edge& a, const trace::Edge& b) {
                         return std::pair(a.to, a.from) < std::pair(b.to, b.from);
                       }));
}

TEST_CASE("describe graph: the record tells which of the entry and exit kernels exist") {
  struct Row {
    std::uint32_t roots, leaves;
    std::uint8_t entry_exit;
  };
  for (const Row& row : {Row{1, 1, 0}, Row{2, 8, 1}, Row{2, 1, 2}, Row{1, 8, 3}}) {
    CAPTURE(row.entry_exit);
    RecordingBuilder builder;
    const auto x = builder.add_buffer("x", 64 * 16), y = builder.add_buffer("y", 64 * 16),
               z = builder.add_buffer("z", 64);
    for (std::uint32_t i = 0; i < row.roots; ++i)
      builder.dispatch("root", {RecordingBuilder::range(Access::Write, x, 64 * i, 64 * i + 64)});
    builder.dispatch("middle", {builder.read(x), builder.write(z)});
    for (std::uint32_t i = 0; i < row.leaves; ++i)
      builder.dispatch("leaf", {builder.read(z),
                                RecordingBuilder::range(Access::Write, y, 64 * i, 64 * i + 64)});
    const trace::GraphVersion g =
        detail::describe_graph(planned(builder.finish(), Lowering::Auto), {});
    check_readable(g);
    CHECK(g.entry_exit == row.entry_exit);
    CHECK((g.nodes.front().kind == trace::NodeKind::Entry) ==
          (row.entry_exit == 1 || row.entry_exit == 2));
    CHECK((g.nodes.back().kind == trace::NodeKind::Exit) ==
          (row.entry_exit == 1 || row.entry_exit == 3));
  }
}
