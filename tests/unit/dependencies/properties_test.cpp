// Properties of the dependency graphs of random recordings, checked against the order derived
// directly from its definition.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include <reprise/error.hpp>

#include "dependencies/dependency_graph.hpp"
#include "support/random_recording.hpp"
#include "support/reference_order.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

// Returns nullopt if user edges close a cycle.
std::optional<DependencyGraph> dependencies_or_cycle(const Recording& recording) {
  try {
    return build_dependencies(recording);
  } catch (const Error& error) {
    REQUIRE(error.code() == ErrorCode::CyclicDependency);
    return std::nullopt;
  }
}

void check_form(const Recording& recording, const DependencyGraph& dependencies) {
  REQUIRE(dependencies.is_join.size() == dependencies.node_count());
  REQUIRE(dependencies.first_edge.size() == dependencies.node_count() + 1);
  REQUIRE(dependencies.first_edge.front() == 0);
  REQUIRE(dependencies.first_edge.back() == dependencies.edges.size());
  std::vector<std::uint32_t> nodes_of(recording.commands.size(), 0);
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    const std::uint32_t command = dependencies.node_command[node];
    CHECK((recording.commands[command].kind == CommandKind::Barrier) ==
          (dependencies.is_join[node] != 0));
    ++nodes_of[command];
    const auto into = dependencies.edges_into(node);
    for (std::size_t e = 0; e < into.size(); ++e) {
      CHECK(into[e].to == node);
      CHECK(into[e].from < node);
      if (e != 0) CHECK(into[e - 1].from < into[e].from);
    }
  }
  for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
    if (recording.commands[command].kind != CommandKind::Barrier) CHECK(nodes_of[command] == 1);
  }
}

// Checks that ties are resolved by command index: of the ready commands, the lowest comes next.
void check_lowest_first(const Recording& recording, const Relation& order,
                        const DependencyGraph& dependencies) {
  std::vector<std::uint32_t> placed;
  std::set<std::uint32_t> remaining;
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    if (dependencies.is_join[node] == 0) remaining.insert(dependencies.node_command[node]);
  }
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    if (dependencies.is_join[node] != 0) continue;
    const auto is_ready = [&](std::uint32_t command) {
      return std::none_of(remaining.begin(), remaining.end(),
                          [&](std::uint32_t other) { return order.before(other, command); });
    };
    CHECK(dependencies.node_command[node] ==
          *std::find_if(remaining.begin(), remaining.end(), is_ready));
    remaining.erase(dependencies.node_command[node]);
  }
  CHECK(remaining.empty());
  CHECK(recording.commands.size() >=
        dependencies.node_count() -
            std::count(dependencies.is_join.begin(), dependencies.is_join.end(), 1));
}

// Checks that no edge is implied by others.
void check_minimal(const DependencyGraph& dependencies) {
  CHECK(dependencies.redundant_edges_left == 0);
  const Relation order = node_order(dependencies);
  for (const Edge& edge : dependencies.edges) {
    for (std::uint32_t middle = edge.from + 1; middle < edge.to; ++middle) {
      CHECK_FALSE((order.before(edge.from, middle) && order.before(middle, edge.to)));
    }
  }
}

void check_causes(const Recording& recording, const DependencyGraph& dependencies) {
  for (const Edge& edge : dependencies.edges) {
    const std::uint32_t a = dependencies.node_command[edge.from],
                        b = dependencies.node_command[edge.to];
    if (dependencies.is_join[edge.from] != 0 || dependencies.is_join[edge.to] != 0) {
      CHECK(edge.cause.kind == CauseKind::Barrier);
      CHECK(recording.commands[edge.cause.barrier].kind == CommandKind::Barrier);
      continue;
    }
    const bool has_hazard =
        recording.ordering == Ordering::Inferred && a < b && conflict(recording, a, b);
    bool has_barrier = false;
    for (std::uint32_t barrier = a + 1; barrier < b; ++barrier)
      has_barrier = has_barrier || orders(recording, barrier, a, b);
    switch (edge.cause.kind) {
      case CauseKind::Hazard:
        CHECK(has_hazard);
        CHECK(edge.cause.begin < edge.cause.end);
        CHECK(edge.cause.end <= recording.buffers[edge.cause.buffer]->bytes);
        break;
      case CauseKind::Barrier:
        CHECK_FALSE(has_hazard);
        CHECK(orders(recording, edge.cause.barrier, a, b));
        CHECK(edge.cause.buffer == recording.payload<BarrierPayload>(edge.cause.barrier).buffer);
        break;
      case CauseKind::User:
        CHECK_FALSE(has_hazard);
        CHECK_FALSE(has_barrier);
        CHECK(std::any_of(recording.edges.begin(), recording.edges.end(),
                          [&](const UserEdge& e) { return e.before == a && e.after == b; }));
        break;
      case CauseKind::Linear: CHECK(recording.ordering == Ordering::Linear); break;
      case CauseKind::Captured: FAIL("no recording of commands has captured edges"); break;
    }
  }
}

void check_everything(const RandomDesc& desc) {
  INFO("seed ", desc.seed, ", ordering ", static_cast<int>(desc.ordering));
  const RecordingPtr recording = random_recording(desc);
  Relation order = direct_order(*recording);
  order.close();
  const std::optional<DependencyGraph> dependencies = dependencies_or_cycle(*recording);
  REQUIRE(dependencies.has_value() == !order.is_cyclic());
  if (!dependencies) return;
  check_form(*recording, *dependencies);
  CHECK(order_of(*recording, *dependencies) == order);
  check_lowest_first(*recording, order, *dependencies);
  check_minimal(*dependencies);
  check_causes(*recording, *dependencies);
}

constexpr std::uint64_t kSeeds = 60;

}  // namespace

TEST_CASE(
    "dependencies:  random recordings get exactly the order of their conflicts, without redundant "
    "edges") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    check_everything({.seed = seed,
                      .commands = 50,
                      .buffers = 4 + static_cast<std::uint32_t>(seed % 12),
                      .whole_percent = 100});
    check_everything({.seed = seed, .commands = 50, .buffers = 2, .whole_percent = 20});
  }
}

TEST_CASE("dependencies:  buffers that share memory are ordered like ranges of one buffer") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const Ordering ordering : {Ordering::Inferred, Ordering::Explicit}) {
      check_everything({.seed = seed,
                        .commands = 50,
                        .buffers = 6,
                        .whole_percent = 50,
                        .shared_percent = 60,
                        .rows_percent = 20,
                        .barrier_percent = 15,
                        .ordering = ordering});
    }
  }
}

TEST_CASE("dependencies:  unaligned ranges in large buffers are ordered like those in small ones") {
  for (std::uint64_t seed = 1; seed <= kSeeds / 2; ++seed) {
    check_everything({.seed = seed,
                      .commands = 40,
                      .buffers = 3,
                      .bytes = std::uint64_t{1} << 40,
                      .whole_percent = 10});
    check_everything({.seed = seed,
                      .commands = 40,
                      .buffers = 2,
                      .bytes = 100'003,
                      .whole_percent = 10,
                      .rows_percent = 20});
  }
}

TEST_CASE("dependencies:  random rows with gaps conflict exactly where they share a byte") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    check_everything(
        {.seed = seed, .commands = 50, .buffers = 2, .whole_percent = 20, .rows_percent = 60});
    check_everything({.seed = seed,
                      .commands = 60,
                      .buffers = 1,
                      .max_accesses = 1,
                      .whole_percent = 30,
                      .rows_percent = 50,
                      .write_percent = 20});
  }
}

TEST_CASE(
    "dependencies:  few writes after many dense and pitched reads wait for all conflicting ones") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    check_everything({.seed = seed,
                      .commands = 80,
                      .buffers = 1,
                      .max_accesses = 1,
                      .whole_percent = 60,
                      .rows_percent = 40,
                      .write_percent = 8});
  }
}

TEST_CASE("dependencies:  random barriers add their order to inferred edges") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    check_everything({.seed = seed,
                      .commands = 50,
                      .buffers = 10,
                      .write_percent = 20,
                      .barrier_percent = 15,
                      .user_edges = 5});
    check_everything(
        {.seed = seed, .commands = 50, .buffers = 2, .rows_percent = 20, .barrier_percent = 40});
  }
}

TEST_CASE("dependencies:  random explicit recordings are ordered only by barriers and user edges") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto barriers = static_cast<std::uint32_t>(seed % 4) * 15;
    check_everything({.seed = seed,
                      .commands = 60,
                      .buffers = 3,
                      .barrier_percent = barriers,
                      .user_edges = 20,
                      .ordering = Ordering::Explicit});
    check_everything({.seed = seed,
                      .commands = 60,
                      .buffers = 1,
                      .max_accesses = 1,
                      .whole_percent = 90,
                      .barrier_percent = 5,
                      .ordering = Ordering::Explicit});
  }
}

TEST_CASE(
    "dependencies:  thousands of small explicit recordings, where few paths can hide a missing "
    "edge") {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const auto buffers = 1 + static_cast<std::uint32_t>(seed % 2);
    check_everything({.seed = seed,
                      .commands = 12,
                      .buffers = buffers,
                      .max_accesses = 1,
                      .barrier_percent = 25,
                      .ordering = Ordering::Explicit});
  }
}

TEST_CASE(
    "dependencies:  programmatic barriers and edges order only kernels with programmatic start") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const Ordering ordering : {Ordering::Inferred, Ordering::Explicit}) {
      check_everything({.seed = seed,
                        .commands = 50,
                        .buffers = 4,
                        .barrier_percent = 20,
                        .user_edges = 10,
                        .programmatic_percent = 60,
                        .ordering = ordering});
    }
    check_everything({.seed = seed,
                      .commands = 40,
                      .buffers = 8,
                      .backward_edges = 3,
                      .programmatic_percent = 70,
                      .ordering = Ordering::Explicit});
  }
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    check_everything({.seed = seed,
                      .commands = 14,
                      .buffers = 1,
                      .max_accesses = 1,
                      .barrier_percent = 35,
                      .programmatic_percent = 50,
                      .ordering = Ordering::Explicit});
  }
}

TEST_CASE("dependencies:  random edges against recorded order are kept or reported as a cycle") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto backward = 1 + static_cast<std::uint32_t>(seed % 5);
    check_everything({.seed = seed,
                      .commands = 40,
                      .buffers = 60,
                      .barrier_percent = 3,
                      .user_edges = 5,
                      .backward_edges = backward});
    check_everything({.seed = seed,
                      .commands = 40,
                      .buffers = 8,
                      .barrier_percent = 5,
                      .backward_edges = 2 * backward,
                      .ordering = Ordering::Explicit});
  }
}

TEST_CASE("dependencies:  a random linear recording is one chain") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    check_everything({.seed = seed,
                      .commands = 30,
                      .barrier_percent = 10,
                      .user_edges = 5,
                      .ordering = Ordering::Linear});
    check_everything(
        {.seed = seed, .commands = 30, .backward_edges = 1, .ordering = Ordering::Linear});
  }
}

TEST_CASE("dependencies:  removing any edge leaves some conflicting pair unordered") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const RecordingPtr recording = random_recording({.seed = seed, .commands = 40, .buffers = 5});
    const DependencyGraph dependencies = build_dependencies(*recording);
    REQUIRE_FALSE(dependencies.edges.empty());
    for (std::size_t removed = 0; removed < dependencies.edges.size(); ++removed) {
      Relation order(dependencies.node_count());
      for (std::size_t e = 0; e < dependencies.edges.size(); ++e) {
        if (e != removed) order.set(dependencies.edges[e].from, dependencies.edges[e].to);
      }
      order.close();
      bool is_broken = false;
      for (std::uint32_t a = 0; a < 40 && !is_broken; ++a) {
        for (std::uint32_t b = a + 1; b < 40 && !is_broken; ++b)
          is_broken = conflict(*recording, a, b) && !order.before(a, b);
      }
      CHECK(is_broken);
    }
  }
}

TEST_CASE("dependencies:  the same recording always gives the same graph") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const RecordingPtr recording = random_recording(
        {.seed = seed, .commands = 300, .buffers = 12, .barrier_percent = 5, .user_edges = 10});
    const DependencyGraph a = build_dependencies(*recording), b = build_dependencies(*recording);
    CHECK(a.node_command == b.node_command);
    CHECK(a.is_join == b.is_join);
    CHECK(a.first_edge == b.first_edge);
    REQUIRE(a.edges.size() == b.edges.size());
    for (std::size_t e = 0; e < a.edges.size(); ++e) {
      CHECK(a.edges[e].from == b.edges[e].from);
      CHECK(a.edges[e].cause.kind == b.edges[e].cause.kind);
      CHECK(a.edges[e].cause.buffer == b.edges[e].cause.buffer);
      CHECK(a.edges[e].cause.barrier == b.edges[e].cause.barrier);
      CHECK(a.edges[e].cause.begin == b.edges[e].cause.begin);
      CHECK(a.edges[e].cause.end == b.edges[e].cause.end);
    }
  }
}
