#include "memory/placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "memory/fit.hpp"
#include "support/manual_dependencies.hpp"
#include "support/network_recordings.hpp"
#include "support/random_recording.hpp"
#include "support/recording_builder.hpp"
#include "support/task_graphs.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

constexpr std::uint32_t kAlignment = 64;

struct Case {
  std::shared_ptr<const Recording> recording;
  DependencyGraph dependencies;
  LoweredGraph lowered;
};

Placement place(const Case& c) {
  return place_transients(*c.recording, c.dependencies, c.lowered, kAlignment);
}

// Commands access random transients; edges are random and independent of the accesses.
Case random_case(std::uint64_t seed, Lowering lowering) {
  Random random(seed);
  const std::uint32_t nodes = 2 + random.below(60);
  RecordingBuilder builder;
  const std::uint32_t buffers = 1 + random.below(24);
  for (std::uint32_t i = 0; i < buffers; ++i) {
    builder.add_buffer("t" + std::to_string(i), 1 + random.below(1000),
                       random.percent(90) ? BufferKind::Transient : BufferKind::Device);
  }
  for (std::uint32_t i = 0; i < nodes; ++i) {
    std::vector<BufferAccess> accesses;
    for (std::uint32_t a = random.below(4); a > 0; --a)
      accesses.push_back(builder.read_write(random.below(buffers)));
    builder.dispatch("k", accesses);
  }
  Case c{builder.finish(),
         random_dependencies({.seed = seed, .nodes = nodes, .edge_percent = 2 + random.below(20)}),
         {}};
  c.lowered = build_lowered_graph(c.dependencies, lowering);
  return c;
}

// Whether all uses of one buffer precede all uses of another, by index in recording.buffers.
class Sharing {
 public:
  explicit Sharing(const Case& c) : before_(close(c.lowered)), uses_(c.recording->buffers.size()) {
    for (std::uint32_t node = 0; node < c.dependencies.node_count(); ++node) {
      const Command& command = c.recording->commands[node];
      for (std::uint32_t i = 0; i < command.access_count; ++i) {
        uses_[c.recording->accesses[command.first_access + i].buffer].push_back(
            c.lowered.node_of[node]);
      }
    }
  }
  [[nodiscard]] bool allowed(std::uint32_t a, std::uint32_t b) const {
    return precedes(a, b) || precedes(b, a);
  }

 private:
  [[nodiscard]] bool precedes(std::uint32_t a, std::uint32_t b) const {
    for (const std::uint32_t x : uses_[a]) {
      for (const std::uint32_t y : uses_[b]) {
        if (!before_[y].test(x)) return false;
      }
    }
    return true;
  }
  Closure before_;
  std::vector<std::vector<std::uint32_t>> uses_;
};

void check_placement(const Case& c, const Placement& placement) {
  const Sharing sharing(c);
  std::uint64_t naive = 0, max_conflict = 0;
  for (const PlacedBuffer& a : placement.buffers) {
    REQUIRE(a.offset % kAlignment == 0);
    REQUIRE(a.offset + a.bytes <= placement.slab_bytes);
    REQUIRE(a.bytes == c.recording->buffers[a.buffer]->bytes);
    naive += (a.bytes + kAlignment - 1) / kAlignment * kAlignment;
    std::uint64_t conflict = 0;
    for (const PlacedBuffer& b : placement.buffers) {
      if (a.buffer == b.buffer || sharing.allowed(a.buffer, b.buffer)) continue;
      REQUIRE((a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset));
      conflict += b.bytes;
    }
    max_conflict = std::max(max_conflict, conflict);
  }
  CHECK(placement.naive_bytes == naive);
  CHECK(placement.lower_bound <= placement.slab_bytes);
  CHECK(placement.slab_bytes <= placement.naive_bytes);
}

// The maximum-weight set of transients that pairwise may not share bytes, by brute force over all
// sets.
std::uint64_t true_bound(const Case& c, const Placement& placement) {
  const Sharing sharing(c);
  const std::size_t count = placement.buffers.size();
  std::uint64_t best = 0;
  for (std::uint32_t set = 0; set < (1u << count); ++set) {
    std::uint64_t bytes = 0;
    bool is_clique = true;
    for (std::size_t a = 0; a < count && is_clique; ++a) {
      if ((set >> a & 1) == 0) continue;
      bytes += (placement.buffers[a].bytes + kAlignment - 1) / kAlignment * kAlignment;
      for (std::size_t b = 0; b < a && is_clique; ++b) {
        is_clique = (set >> b & 1) == 0 ||
                    !sharing.allowed(placement.buffers[a].buffer, placement.buffers[b].buffer);
      }
    }
    if (is_clique) best = std::max(best, bytes);
  }
  return best;
}

// A chain of `nodes` in which node i writes transient i and reads transient i - 1.
Case chain_case(std::uint32_t nodes, std::uint64_t bytes) {
  RecordingBuilder builder;
  EdgeList edges;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    builder.add_buffer("t" + std::to_string(i), bytes, BufferKind::Transient);
    std::vector<BufferAccess> accesses = {builder.write(i)};
    if (i > 0) accesses.push_back(builder.read(i - 1));
    builder.dispatch("k", accesses);
    if (i > 0) edges.emplace_back(i - 1, i);
  }
  Case c{builder.finish(), manual_dependencies(nodes, edges), {}};
  c.lowered = build_lowered_graph(c.dependencies, Lowering::Faithful);
  return c;
}

// `nodes` unordered nodes with one transient each.
Case wide_case(std::uint32_t nodes, Lowering lowering) {
  RecordingBuilder builder;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    builder.add_buffer("t" + std::to_string(i), 64, BufferKind::Transient);
    builder.dispatch("k", {builder.write(i)});
  }
  Case c{builder.finish(), manual_dependencies(nodes, {}), {}};
  c.lowered = build_lowered_graph(c.dependencies, lowering);
  return c;
}

}  // namespace

TEST_CASE("memory: a recording without transients needs no slab") {
  RecordingBuilder builder;
  builder.add_buffer("x", 100);
  builder.dispatch("k", {builder.write(0)});
  Case c{builder.finish(), manual_dependencies(1, {}), {}};
  c.lowered = build_lowered_graph(c.dependencies, Lowering::Auto);
  const Placement placement = place(c);
  CHECK(placement.buffers.empty());
  CHECK(placement.slab_bytes == 0);
  CHECK(placement.naive_bytes == 0);
  CHECK(placement.lower_bound == 0);
}

TEST_CASE("memory: a chain in which two transients are alive at a time needs two regions") {
  const Placement placement = place(chain_case(100, 100));
  CHECK(placement.naive_bytes == 100 * 128);
  CHECK(placement.slab_bytes == 2 * 128);
  CHECK(placement.lower_bound == 2 * 128);
}

TEST_CASE("memory: transients of unordered nodes never share, whatever their recorded order") {
  const Placement placement = place(wide_case(10, Lowering::Faithful));
  CHECK(placement.slab_bytes == 640);
}

TEST_CASE("memory: nodes of one lane share bytes, and the lower bound is exact") {
  const Placement placement = place(wide_case(1000, Lowering::Lanes(8)));
  CHECK(placement.slab_bytes == 8 * 64);
  CHECK(placement.lower_bound == 8 * 64);
}

TEST_CASE("memory: a transient without uses also lies in the slab") {
  RecordingBuilder builder;
  builder.add_buffer("unused", 1000, BufferKind::Transient);
  const Case c{builder.finish(), manual_dependencies(0, {}), {}};
  const Placement placement = place(c);
  REQUIRE(placement.buffers.size() == 1);
  CHECK(placement.buffers[0].offset == 0);
  CHECK(placement.slab_bytes == 1024);
  CHECK(placement.lower_bound == 1024);
}

TEST_CASE("memory: a larger transient uses two adjacent free regions") {
  // 0 writes a and b, 1 reads both, 2 writes c, which is as large as both.
  RecordingBuilder builder;
  builder.add_buffer("a", 64, BufferKind::Transient);
  builder.add_buffer("b", 64, BufferKind::Transient);
  builder.add_buffer("c", 128, BufferKind::Transient);
  builder.dispatch("k", {builder.write(0), builder.write(1)});
  builder.dispatch("k", {builder.read(0), builder.read(1)});
  builder.dispatch("k", {builder.write(2)});
  Case c{builder.finish(), manual_dependencies(3, {{0, 1}, {1, 2}}), {}};
  c.lowered = build_lowered_graph(c.dependencies, Lowering::Faithful);
  CHECK(place(c).slab_bytes == 128);
}

TEST_CASE("memory: random graphs: unordered transients do not overlap") {
  std::uint64_t saved = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    for (const Lowering lowering : {Lowering::Faithful, Lowering::Auto, Lowering::Lanes(3)}) {
      const Case c = random_case(seed, lowering);
      const Placement placement = place(c);
      check_placement(c, placement);
      saved += placement.naive_bytes - placement.slab_bytes;
    }
  }
  CHECK(saved > 0);
}

TEST_CASE("memory: random graphs: both fast fits are valid on their own") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const Case c = random_case(seed, seed % 2 == 0 ? Lowering::Faithful : Lowering::Lanes(4));
    const TransientUses uses =
        collect_transient_uses(*c.recording, c.dependencies, c.lowered, kAlignment);
    if (uses.transients.empty()) continue;
    const ReachabilityIndex order(c.lowered, uses);
    for (const Fit& fit : {fit_by_first_use(uses, order), fit_by_size(uses, order)}) {
      Placement placement = place(c);
      for (std::size_t i = 0; i < placement.buffers.size(); ++i) {
        placement.buffers[i].offset = fit.offsets[i];
        placement.slab_bytes = std::max(
            {placement.slab_bytes, fit.slab_bytes, fit.offsets[i] + uses.transients[i].bytes});
      }
      check_placement(c, placement);
    }
  }
}

TEST_CASE("memory: random graphs: the lower bound never exceeds the maximum-weight antichain") {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed);
    const Case c = random_case(seed, seed % 2 == 0 ? Lowering::Faithful : Lowering::Lanes(4));
    const Placement placement = place(c);
    if (placement.buffers.size() > 14) continue;
    const std::uint64_t bound = true_bound(c, placement);
    CHECK(placement.lower_bound <= bound);
    // If the fast fits exceed the first bound, the exact bound is computed.
    if (placement.slab_bytes > placement.lower_bound) CHECK(placement.lower_bound == bound);
  }
}

TEST_CASE("memory: in a chain the lower bound is exact") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const Case c = random_case(seed, Lowering::Lanes(1));
    const Placement placement = place(c);
    if (placement.buffers.size() > 14) continue;
    CHECK(placement.lower_bound == true_bound(c, placement));
  }
}

TEST_CASE("memory: training steps of networks of any length are within 2 % of their lower bound") {
  for (const Ordering ordering : {Ordering::Inferred, Ordering::Linear}) {
    for (const std::uint32_t blocks : {6u, 64u, 300u}) {
      CAPTURE(blocks);
      const NetworkDesc desc{.blocks = blocks, .ordering = ordering};
      for (const RecordingPtr& recording :
           {mlp_step(desc), resnet_step(desc), transformer_step(desc), unet_step(desc)}) {
        Case c{recording, build_dependencies(*recording), {}};
        c.lowered = build_lowered_graph(c.dependencies, Lowering::Auto);
        const Placement placement = place(c);
        CHECK(static_cast<double>(placement.slab_bytes) <=
              1.02 * static_cast<double>(placement.lower_bound));
      }
    }
  }
}

TEST_CASE("memory: a long chain of overlapping neighbours is at its lower bound") {
  constexpr std::uint32_t kLength = 5000;
  RecordingBuilder builder;
  EdgeList edges;
  for (std::uint32_t i = 0; i < kLength; ++i) {
    builder.add_buffer("t" + std::to_string(i), kAlignment * (1 + std::uint64_t{i} * i % 997),
                       BufferKind::Transient);
    std::vector<BufferAccess> accesses = {builder.write(i)};
    if (i != 0) accesses.push_back(builder.read(i - 1));
    builder.dispatch("k", accesses);
    if (i != 0) edges.emplace_back(i - 1, i);
  }
  Case c{builder.finish(), manual_dependencies(kLength, edges), {}};
  c.lowered = build_lowered_graph(c.dependencies, Lowering::Auto);
  const Placement placement = place(c);
  CHECK(placement.slab_bytes == placement.lower_bound);
}

TEST_CASE("memory: sparsely connected layers need at most 1.5 times their lower bound") {
  const TaskGraph tasks = make_task_graph("sparse-8", 500);
  RecordingBuilder builder;
  EdgeList edges;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    builder.add_buffer("t" + std::to_string(i), 1024 * (1 + i % 7), BufferKind::Transient);
    std::vector<BufferAccess> accesses = {builder.write(i)};
    for (const std::uint32_t parent : tasks.parents[i]) {
      accesses.push_back(builder.read(parent));
      edges.emplace_back(parent, i);
    }
    builder.dispatch("k", accesses);
  }
  Case c{builder.finish(), manual_dependencies(tasks.size(), edges), {}};
  c.lowered = build_lowered_graph(c.dependencies, Lowering::Auto);
  const Placement placement = place(c);
  const TransientUses uses =
      collect_transient_uses(*c.recording, c.dependencies, c.lowered, kAlignment);
  const ReachabilityIndex order(c.lowered, uses);
  for (std::uint32_t a = 0; a < placement.buffers.size(); ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      const PlacedBuffer &one = placement.buffers[a], &other = placement.buffers[b];
      if (one.offset + one.bytes <= other.offset || other.offset + other.bytes <= one.offset)
        continue;
      REQUIRE((order.precedes(a, b) || order.precedes(b, a)));
    }
  }
  CHECK(placement.slab_bytes * 2 <= placement.lower_bound * 3);
  CHECK(place(c).slab_bytes == placement.slab_bytes);
}

TEST_CASE("memory: with a budget, placements are valid and not larger than without") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Case c = random_case(seed, seed % 2 == 0 ? Lowering::Faithful : Lowering::Lanes(3));
    const Placement placement = place_transients(*c.recording, c.dependencies, c.lowered,
                                                 kAlignment, std::chrono::milliseconds(20));
    check_placement(c, placement);
    CHECK(placement.slab_bytes <= place(c).slab_bytes);
  }
}

TEST_CASE("memory: if chains are exhausted, unordered transients still do not overlap") {
  // More roots than the maximum number of chains; one node after each root writes its own
  // transient.
  const std::uint32_t roots = 400;
  RecordingBuilder builder;
  EdgeList edges;
  for (std::uint32_t i = 0; i < roots; ++i) {
    builder.add_buffer("a" + std::to_string(i), 64, BufferKind::Transient);
    builder.dispatch("k", {builder.write(i)});
  }
  for (std::uint32_t i = 0; i < roots; ++i) {
    builder.add_buffer("b" + std::to_string(i), 64, BufferKind::Transient);
    builder.dispatch("k", {builder.write(roots + i)});
    edges.emplace_back(i, roots + i);
  }
  Case c{builder.finish(), manual_dependencies(2 * roots, edges), {}};
  c.lowered = build_lowered_graph(c.dependencies, Lowering::Faithful);
  const Placement placement = place(c);
  CHECK(placement.slab_bytes >= roots * 64);
  CHECK(placement.slab_bytes < 2 * roots * 64);
  for (std::uint32_t a = 0; a < 2 * roots; ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      if (a != b + roots) REQUIRE(placement.buffers[a].offset != placement.buffers[b].offset);
    }
  }
}
