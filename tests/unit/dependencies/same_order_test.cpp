#include <doctest/doctest.h>

#include <algorithm>

#include "dependencies/dependency_graph.hpp"
#include "dependencies/same_dependencies.hpp"
#include "support/random_recording.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

RecordingPtr random_with_everything(std::uint64_t seed, Ordering ordering) {
  return random_recording({.seed = seed,
                           .rows_percent = 10,
                           .barrier_percent = 20,
                           .user_edges = 5,
                           .ordering = ordering});
}

bool same_dependencies(const DependencyGraph& a, const DependencyGraph& b) {
  return a.node_command == b.node_command && a.is_join == b.is_join &&
         a.first_edge == b.first_edge &&
         std::equal(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end(),
                    [](const Edge& x, const Edge& y) {
                      return x.from == y.from && x.to == y.to && x.cause.kind == y.cause.kind &&
                             x.cause.buffer == y.cause.buffer &&
                             x.cause.barrier == y.cause.barrier && x.cause.begin == y.cause.begin &&
                             x.cause.end == y.cause.end;
                    });
}

// A chain of two dispatches over two buffers, with a barrier on one of them and an edge.
struct Parts {
  BarrierPayload barrier{.buffer = 0, .begin = 0, .end = 64};
  Access access = Access::Read;
  std::uint64_t begin = 0;
  std::uint32_t edge_to = 2;
  Dependency edge = Dependency::Full;
  DispatchDesc::Start start = DispatchDesc::Start::Ordered;
  Ordering ordering = Ordering::Inferred;
  std::string_view kernel = "second";
};

RecordingPtr record(const Parts& parts) {
  RecordingBuilder builder({.ordering = parts.ordering});
  const auto x = builder.add_buffer("x", 64), y = builder.add_buffer("y", 64);
  builder.dispatch("first", {builder.write(x)});
  builder.barrier(parts.barrier);
  const BufferAccess accesses[] = {RecordingBuilder::range(parts.access, x, parts.begin, 64),
                                   builder.write(y)};
  builder.dispatch(parts.kernel, {.start = parts.start}, accesses);
  builder.fill(builder.write(y));
  builder.edge(0, parts.edge_to, parts.edge);
  return builder.finish();
}

}  // namespace

TEST_CASE("same order: repeated recordings have the same order and the same dependency graph") {
  for (const Ordering ordering : {Ordering::Inferred, Ordering::Explicit, Ordering::Linear}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const RecordingPtr a = random_with_everything(seed, ordering),
                         b = random_with_everything(seed, ordering);
      CAPTURE(seed);
      CHECK(has_same_ordering(*a, *b));
      CHECK(same_dependencies(build_dependencies(*a), build_dependencies(*b)));
      CHECK_FALSE(has_same_ordering(*a, *random_with_everything(seed + 1, ordering)));
    }
  }
}

TEST_CASE("same order: the work of commands may differ") {
  CHECK(has_same_ordering(*record({}), *record({.kernel = "another"})));
  CHECK(has_same_ordering(*record({}), *record({.start = DispatchDesc::Start::Programmatic})));
}

TEST_CASE("same order: programmatic starts may not differ if a dependency is programmatic") {
  const Parts programmatic{.edge = Dependency::Programmatic};
  Parts early = programmatic;
  early.start = DispatchDesc::Start::Programmatic;
  CHECK(has_same_ordering(*record(programmatic), *record(programmatic)));
  CHECK_FALSE(has_same_ordering(*record(programmatic), *record({})));
  CHECK_FALSE(has_same_ordering(*record(programmatic), *record(early)));
  CHECK_FALSE(has_same_ordering(*record(early), *record(programmatic)));
}

TEST_CASE("same order: accesses, barriers, edges, command counts and the ordering may not differ") {
  const RecordingPtr before = record({});
  CHECK_FALSE(has_same_ordering(*before, *record({.access = Access::ReadWrite})));
  CHECK_FALSE(has_same_ordering(*before, *record({.begin = 16})));
  CHECK_FALSE(has_same_ordering(*before, *record({.edge_to = 3})));
  CHECK_FALSE(has_same_ordering(*before, *record({.ordering = Ordering::Explicit})));
  CHECK_FALSE(
      has_same_ordering(*before, *record({.barrier = {.buffer = 1, .begin = 0, .end = 64}})));
  CHECK_FALSE(
      has_same_ordering(*before, *record({.barrier = {.buffer = 0, .begin = 0, .end = 32}})));
  CHECK_FALSE(has_same_ordering(
      *before,
      *record({.barrier = {.buffer = 0, .begin = 0, .end = 64, .before = Access::Write}})));
  CHECK_FALSE(has_same_ordering(
      *before, *record({.barrier = {.buffer = 0, .begin = 0, .end = 64, .after = Access::Read}})));
  CHECK_FALSE(has_same_ordering(
      *before,
      *record({.barrier = {
                   .buffer = 0, .begin = 0, .end = 64, .dependency = Dependency::Programmatic}})));
  RecordingBuilder longer;
  const auto x = longer.add_buffer("x", 64);
  longer.dispatch("first", {longer.write(x)});
  CHECK_FALSE(has_same_ordering(*before, *longer.finish()));
}
