#include "lowering/memory_aware_order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "lowering/lowered_graph.hpp"
#include "support/random_recording.hpp"
#include "support/recording_builder.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

}  // namespace

TEST_CASE(
    "memory-aware order: orders of random graphs are topological, and lanes keep all needed "
    "edges") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const auto recording = random_recording({.seed = seed,
                                             .commands = 50,
                                             .buffers = 10,
                                             .barrier_percent = 5,
                                             .kind = BufferKind::Transient});
    const DependencyGraph dependencies = build_dependencies(*recording);
    for (const MemoryAwareOrder kind : {MemoryAwareOrder::Recorded, MemoryAwareOrder::MinBytes}) {
      const std::vector<std::uint32_t> order = memory_aware_order(*recording, dependencies, kind);
      REQUIRE(order.size() == dependencies.node_count());
      for (const std::uint32_t lanes : {1u, 2u, 5u}) {
        const LaneAssignment assignment = assign_lanes_in_order(dependencies, order, lanes);
        CHECK(assignment.lanes <= lanes);
        check_lowered_graph(dependencies, build_lanes(dependencies, assignment));
      }
    }
  }
}

TEST_CASE("memory-aware order: MinBytes frees buffers before it allocates others") {
  RecordingBuilder b;
  const auto out = b.add_buffer("out", 64);
  std::vector<std::uint32_t> transients;
  for (std::uint32_t i = 0; i < 4; ++i) {
    transients.push_back(b.add_buffer("t" + std::to_string(i), 4096, BufferKind::Transient));
    b.dispatch("make", {b.write(transients.back())});
  }
  for (const std::uint32_t t : transients) b.dispatch("use", {b.read(t), b.read_write(out)});
  const auto recording = b.finish();
  const DependencyGraph dependencies = build_dependencies(*recording);
  std::vector<std::uint32_t> commands;
  for (const std::uint32_t node :
       memory_aware_order(*recording, dependencies, MemoryAwareOrder::MinBytes))
    commands.push_back(dependencies.node_command[node]);
  CHECK(commands == std::vector<std::uint32_t>{0, 4, 1, 5, 2, 6, 3, 7});
}
