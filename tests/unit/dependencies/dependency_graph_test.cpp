// Dependency graphs of small recordings, written out edge by edge.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.hpp"
#include "dependencies/dependency_graph.hpp"
#include "support/random_recording.hpp"
#include "support/recording_builder.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

std::string cause_text(const Recording& recording, const EdgeCause& cause) {
  switch (cause.kind) {
    case CauseKind::Hazard: {
      const char* const names[] = {"RAW", "WAR", "WAW"};
      return concat(names[static_cast<int>(cause.hazard)], ' ',
                    recording.buffers[cause.buffer]->name, " [", cause.begin, ", ", cause.end, ")");
    }
    case CauseKind::Barrier: return concat("barrier ", cause.barrier);
    case CauseKind::User: return "user";
    case CauseKind::Linear: return "linear";
    case CauseKind::Captured: return "captured";
  }
  return "?";
}

// "0>1 RAW x [0, 64); ..." with command indices; a join is shown as j and its barrier.
std::string edges_of(const Recording& recording) {
  const DependencyGraph dependencies = build_dependencies(recording);
  const auto name = [&](std::uint32_t node) {
    return concat(dependencies.is_join[node] != 0 ? std::string_view("j") : std::string_view(),
                  dependencies.node_command[node]);
  };
  std::string text;
  for (const Edge& edge : dependencies.edges) {
    text += concat(text.empty() ? "" : "; ", name(edge.from), ">", name(edge.to), " ",
                   cause_text(recording, edge.cause));
  }
  return text;
}

std::uint32_t joins_of(const DependencyGraph& dependencies) {
  std::uint32_t joins = 0;
  for (const std::uint8_t is_join : dependencies.is_join) joins += is_join;
  return joins;
}

constexpr Access R = Access::Read, W = Access::Write;

// One buffer x of 64 bytes.
struct OneBuffer {
  explicit OneBuffer(Ordering ordering = Ordering::Inferred)
      : b({.ordering = ordering}), x(b.add_buffer("x", 64)) {}
  BufferAccess part(Access access, std::uint64_t begin, std::uint64_t end) {
    return RecordingBuilder::range(access, x, begin, end);
  }
  void barrier(Access before, Access after) { b.barrier({x, 0, 64, before, after}); }
  std::string edges() { return edges_of(*b.finish()); }
  RecordingBuilder b;
  std::uint32_t x;
};

}  // namespace

TEST_CASE("dependencies:  an empty recording has no nodes and no edges") {
  const DependencyGraph dependencies = build_dependencies(*RecordingBuilder().finish());
  CHECK(dependencies.node_count() == 0);
  CHECK(dependencies.first_edge == std::vector<std::uint32_t>{0});
}

TEST_CASE("dependencies:  a read after a write adds exactly one edge") {
  OneBuffer t;
  t.b.dispatch("a", {t.b.write(t.x)});
  t.b.dispatch("b", {t.b.read(t.x)});
  CHECK(t.edges() == "0>1 RAW x [0, 64)");
}

TEST_CASE("dependencies:  a write after a read adds exactly one edge") {
  OneBuffer t;
  t.b.dispatch("a", {t.b.read(t.x)});
  t.b.dispatch("b", {t.b.write(t.x)});
  CHECK(t.edges() == "0>1 WAR x [0, 64)");
}

TEST_CASE("dependencies:  a write after a write adds exactly one edge") {
  OneBuffer t;
  t.b.dispatch("a", {t.b.write(t.x)});
  t.b.fill(t.b.write(t.x));
  CHECK(t.edges() == "0>1 WAW x [0, 64)");
}

TEST_CASE(
    "dependencies:  reads do not wait for each other, and the next write waits for all of them") {
  OneBuffer t;
  t.b.dispatch("a", {t.b.write(t.x)});
  t.b.dispatch("b", {t.b.read(t.x)});
  t.b.dispatch("c", {t.b.read(t.x)});
  t.b.dispatch("d", {t.b.write(t.x)});
  CHECK(t.edges() == "0>1 RAW x [0, 64); 0>2 RAW x [0, 64); 1>3 WAR x [0, 64); 2>3 WAR x [0, 64)");
}

TEST_CASE(
    "dependencies:  writes of disjoint halves are no hazard, and a read of both waits for both") {
  OneBuffer t;
  t.b.dispatch("a", {t.part(W, 0, 32)});
  t.b.dispatch("b", {t.part(W, 32, 64)});
  t.b.dispatch("c", {t.b.read(t.x)});
  CHECK(t.edges() == "0>2 RAW x [0, 32); 1>2 RAW x [32, 64)");
}

TEST_CASE("dependencies:  a cause names the conflicting bytes across all segments of one writer") {
  OneBuffer t;
  t.b.dispatch("a", {t.b.write(t.x)});
  t.b.dispatch("b", {t.part(R, 16, 24)});
  t.b.dispatch("c", {t.part(R, 8, 40)});
  t.b.dispatch("d", {t.part(W, 20, 22)});
  CHECK(t.edges() ==
        "0>1 RAW x [16, 24); 0>2 RAW x [8, 40); 1>3 WAR x [20, 22); 2>3 WAR x [20, 22)");
}

TEST_CASE("dependencies:  a write in the middle of a range keeps the history of both sides") {
  OneBuffer t;
  t.b.dispatch("a", {t.b.write(t.x)});
  t.b.dispatch("b", {t.part(W, 24, 40)});
  t.b.dispatch("c", {t.part(R, 0, 8)});
  t.b.dispatch("d", {t.part(R, 56, 64)});
  t.b.dispatch("e", {t.part(R, 20, 28)});
  CHECK(t.edges() ==
        "0>1 WAW x [24, 40); 0>2 RAW x [0, 8); 0>3 RAW x [56, 64); 1>4 RAW x [24, 28)");
}

TEST_CASE("dependencies:  strided halves of one buffer do not conflict, equal halves do") {
  OneBuffer t;
  t.b.fill(t.b.rows(W, t.x, 0, {4, 8, 1}, {8, 0}));
  t.b.fill(t.b.rows(W, t.x, 4, {4, 8, 1}, {8, 0}));
  t.b.dispatch("c", {t.part(R, 4, 8)});
  t.b.fill(t.b.rows(W, t.x, 4, {4, 8, 1}, {8, 0}));
  CHECK(t.edges() == "1>2 RAW x [4, 8); 2>3 WAR x [4, 8)");
}

TEST_CASE("dependencies:  a dense write after rows waits for them and replaces them") {
  OneBuffer t;
  t.b.fill(t.b.rows(W, t.x, 0, {4, 8, 1}, {8, 0}));
  t.b.dispatch("b", {t.b.write(t.x)});
  t.b.dispatch("c", {t.b.read(t.x)});
  CHECK(t.edges() == "0>1 WAW x [0, 60); 1>2 RAW x [0, 64)");
}

TEST_CASE(
    "dependencies:  a command that accesses one buffer several times gets no edge to itself") {
  OneBuffer t;
  t.b.dispatch("a", {t.b.write(t.x), t.b.read(t.x), t.part(W, 0, 8)});
  t.b.copy(t.part(R, 0, 32), t.part(W, 32, 64));
  t.b.dispatch("c", {t.b.read(t.x), t.b.read_write(t.x), t.b.read(t.x)});
  CHECK(t.edges() == "0>1 RAW x [0, 32); 1>2 RAW x [32, 64)");
}

TEST_CASE("dependencies:  empty ranges access nothing") {
  OneBuffer t;
  t.b.dispatch("a", {t.part(W, 8, 8)});
  t.b.dispatch("b", {t.part(W, 0, 16)});
  t.b.dispatch("c", {t.part(W, 8, 8)});
  CHECK(t.edges().empty());
}

TEST_CASE("dependencies:  an edge that a longer path implies is removed") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 8), y = b.add_buffer("y", 8);
  b.dispatch("a", {b.write(x)});
  b.dispatch("b", {b.read(x), b.write(y)});
  b.dispatch("c", {b.read(x), b.read(y)});
  CHECK(edges_of(*b.finish()) == "0>1 RAW x [0, 8); 1>2 RAW y [0, 8)");
}

TEST_CASE(
    "dependencies:  hazards take precedence over barriers as cause, and barriers over user edges") {
  OneBuffer t;
  const std::uint32_t y = t.b.add_buffer("y", 8);
  t.b.dispatch("a", {t.b.write(t.x), t.b.read(y)});
  t.b.dispatch("b", {t.b.read(y)});
  t.b.barrier();
  t.b.dispatch("c", {t.b.read(t.x)});
  t.b.dispatch("d", {});
  t.b.edge(0, 3);
  t.b.edge(1, 3);
  t.b.edge(1, 4);
  t.b.edge(1, 4);
  CHECK(t.edges() == "0>3 RAW x [0, 64); 1>3 barrier 2; 1>4 user");
}

TEST_CASE("dependencies:  a barrier orders only the accesses of its kinds to its range") {
  OneBuffer t(Ordering::Explicit);
  const std::uint32_t y = t.b.add_buffer("y", 8);
  t.b.dispatch("writes x", {t.part(W, 0, 8)});
  t.b.dispatch("reads x", {t.part(R, 0, 8)});
  t.b.dispatch("writes x above", {t.part(W, 32, 64)});
  t.b.dispatch("writes y", {t.b.write(y)});
  t.b.barrier({t.x, 0, 32, W, R});
  t.b.dispatch("reads x", {t.part(R, 16, 24)});
  t.b.dispatch("writes x", {t.part(W, 0, 8)});
  t.b.dispatch("reads y", {t.b.read(y)});
  CHECK(t.edges() == "0>5 barrier 4");
}

TEST_CASE(
    "dependencies:  a global barrier orders accesses of all buffers, but no command without "
    "accesses") {
  OneBuffer t(Ordering::Explicit);
  const std::uint32_t y = t.b.add_buffer("y", 8);
  t.b.dispatch("a", {t.b.write(t.x)});
  t.b.host({});
  t.b.barrier({.before = W, .after = R});
  t.b.dispatch("b", {t.b.read(y)});
  t.b.dispatch("c", {t.b.write(y)});
  t.b.host({});
  CHECK(t.edges() == "0>3 barrier 2");
}

TEST_CASE(
    "dependencies:  a second barrier of another kind does not propagate the order of the first") {
  OneBuffer t(Ordering::Explicit);
  t.b.dispatch("a", {t.b.write(t.x)});
  t.barrier(W, R);
  t.barrier(R, W);
  t.b.dispatch("b", {t.b.write(t.x)});
  CHECK(t.edges().empty());
}

TEST_CASE("dependencies:  successive barriers make a chain of direct edges") {
  OneBuffer t(Ordering::Explicit);
  for (int i = 0; i < 4; ++i) {
    t.b.dispatch("a", {t.b.read_write(t.x)});
    t.barrier(Access::ReadWrite, Access::ReadWrite);
  }
  CHECK(t.edges() == "0>2 barrier 1; 2>4 barrier 3; 4>6 barrier 5");
}

TEST_CASE("dependencies:  a barrier with many edges on both sides remains as a join") {
  OneBuffer t(Ordering::Explicit);
  for (int i = 0; i < 12; ++i) t.b.dispatch("before", {t.b.write(t.x)});
  t.barrier(W, R);
  for (int i = 0; i < 12; ++i) t.b.dispatch("after", {t.b.read(t.x)});
  const DependencyGraph dependencies = build_dependencies(*t.b.finish());
  CHECK(dependencies.node_count() == 25);
  CHECK(joins_of(dependencies) == 1);
  CHECK(dependencies.is_join[12] == 1);
  CHECK(dependencies.node_command[12] == 12);
  CHECK(dependencies.edges.size() == 24);
  CHECK(dependencies.edges_into(12).size() == 12);
  CHECK(dependencies.edges.back().cause.barrier == 12);
}

TEST_CASE("dependencies:  a barrier with few edges on both sides becomes direct edges") {
  OneBuffer t(Ordering::Explicit);
  for (int i = 0; i < 8; ++i) t.b.dispatch("before", {t.b.write(t.x)});
  t.barrier(W, R);
  for (int i = 0; i < 8; ++i) t.b.dispatch("after", {t.b.read(t.x)});
  const DependencyGraph dependencies = build_dependencies(*t.b.finish());
  CHECK(joins_of(dependencies) == 0);
  CHECK(dependencies.edges.size() == 64);
}

TEST_CASE("dependencies:  many barriers over the same commands share one join") {
  OneBuffer t(Ordering::Explicit);
  for (int i = 0; i < 100; ++i) t.b.dispatch("writes", {t.b.write(t.x)});
  for (int i = 0; i < 100; ++i) {
    t.barrier(W, R);
    t.b.dispatch("reads", {t.b.read(t.x)});
  }
  const DependencyGraph dependencies = build_dependencies(*t.b.finish());
  CHECK(joins_of(dependencies) == 1);
  CHECK(dependencies.edges.size() == 200);
}

TEST_CASE("dependencies:  inferred barriers add edges between commands that do not conflict") {
  OneBuffer t;
  t.b.dispatch("a", {t.b.read(t.x)});
  t.barrier(R, R);
  t.b.dispatch("b", {t.b.read(t.x)});
  CHECK(t.edges() == "0>2 barrier 1");
}

TEST_CASE("dependencies:  explicit recordings get no edge for a hazard") {
  OneBuffer t(Ordering::Explicit);
  t.b.dispatch("a", {t.b.write(t.x)});
  t.b.dispatch("b", {t.b.write(t.x)});
  t.b.edge(0, 1);
  t.b.dispatch("c", {t.b.write(t.x)});
  CHECK(t.edges() == "0>1 user");
}

TEST_CASE("dependencies:  a linear recording is a chain in recorded order without barriers") {
  OneBuffer t(Ordering::Linear);
  t.b.dispatch("a", {t.b.read(t.x)});
  t.b.barrier();
  t.b.dispatch("b", {});
  t.b.dispatch("c", {t.b.read(t.x)});
  CHECK(t.edges() == "0>2 linear; 2>3 linear");
}

TEST_CASE("dependencies:  a user edge may lead backward in recorded order") {
  OneBuffer t;
  t.b.dispatch("a", {});
  t.b.dispatch("b", {});
  t.b.dispatch("c", {});
  t.b.edge(2, 0);
  const DependencyGraph dependencies = build_dependencies(*t.b.finish());
  CHECK(dependencies.node_command == std::vector<std::uint32_t>{1, 2, 0});
  REQUIRE(dependencies.edges.size() == 1);
  CHECK(dependencies.edges[0].from == 1);
  CHECK(dependencies.edges[0].to == 2);
}

TEST_CASE("dependencies:  the generated shapes have their documented edge counts") {
  const auto edges = [](const RecordingPtr& recording) {
    return build_dependencies(*recording).edges.size();
  };
  CHECK(edges(chain(1000)) == 999);
  CHECK(edges(wide(1000)) == 0);
  CHECK(edges(binary_tree(1023)) == 1022);
  CHECK(edges(reverse_tree(1023)) == 1022);
  CHECK(edges(layers(320, 32, 3)) == 9 * 32 * 3);
  CHECK(edges(layers(40, 4, 0)) == 9 * 16);
  CHECK(edges(fork_join(16, 3)) == 3 * 32 + 2);
  CHECK(edges(wavefront(32)) == 2 * 32 * 31);
  CHECK(build_dependencies(*cholesky(16)).node_count() == 816);
}

TEST_CASE("dependencies:  beyond the exact size, common shapes are still fully reduced") {
  const std::uint32_t commands = kExactReductionCommands + 5000;
  for (const RecordingPtr& recording :
       {layers(commands, 32, 3), wavefront(160),
        random_dag({.seed = 3, .commands = commands, .window = 300})}) {
    const DependencyGraph dependencies = build_dependencies(*recording);
    CHECK(dependencies.node_count() > kExactReductionCommands);
    CHECK(dependencies.redundant_edges_left == 0);
  }
}

TEST_CASE("dependencies:  beyond the exact size, long-distance edges may remain and are counted") {
  const std::uint32_t commands = 2 * kExactReductionCommands;
  const DependencyGraph dependencies =
      build_dependencies(*random_dag({.seed = 4, .commands = commands, .window = commands}));
  CHECK(dependencies.redundant_edges_left > 0);
  CHECK(dependencies.redundant_edges_left < dependencies.edges.size());
}

TEST_CASE("dependencies:  alternating reads of all rows and writes of some rows are a chain") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 64);
  const BufferAccess left_columns = b.rows(W, x, 0, {4, 8, 1}, {8, 0});
  for (int i = 0; i < 5000; ++i) {
    b.dispatch("reads all", {b.read(x)});
    b.fill(left_columns);
  }
  CHECK(build_dependencies(*b.finish()).edges.size() == 9999);
}
