// Plans as text and DOT, byte for byte as in tests/golden.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "dependencies/dependency_graph.hpp"
#include "lowering/lowered_graph.hpp"
#include "lowering/lowering_config.hpp"
#include "memory/placement.hpp"
#include "plan/plan.hpp"
#include "support/golden_text.hpp"
#include "support/paths.hpp"
#include "support/random_recording.hpp"
#include "support/recording_builder.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

Plan golden_plan(std::shared_ptr<const Recording> recording, Lowering lowering) {
  DependencyGraph dependencies = build_dependencies(*recording);
  NodeHints hints = hints_of(*recording, dependencies);
  if (lowering.mode == Lowering::Mode::Persistent) {
    hints.segment_blocks = segment_blocks(*recording, dependencies);
    hints.segment_lists = 4;
  }
  LoweredGraph lowered = build_lowered_graph(dependencies, lowering, hints);
  check_lowered_graph(dependencies, lowered);
  Placement placement = place_transients(*recording, dependencies, lowered, 256);
  const std::string label = recording->label;
  return freeze_plan(label, std::move(recording), std::move(dependencies), std::move(lowered),
                     std::move(placement));
}

DispatchPayload launch(Dim3 grid, Dim3 block, std::uint32_t shared_bytes = 0) {
  DispatchPayload payload{};
  payload.grid = grid;
  payload.block = block;
  payload.shared_bytes = shared_bytes;
  return payload;
}

// Every kind of command, nested labels, transients that share bytes, several roots and leaves.
Plan step_as(Lowering lowering) {
  RecordingBuilder b({.label = "step"});
  const auto x = b.add_buffer("x", 4096), y = b.add_buffer("y", 4096),
             image = b.add_buffer("image", 65536);
  const auto input = b.add_buffer("input", 4096, BufferKind::PinnedHost);
  const auto t0 = b.add_buffer("t0", 4000, BufferKind::Transient),
             t1 = b.add_buffer("t1", 4096, BufferKind::Transient);
  const auto t2 = b.add_buffer("t2", 1000, BufferKind::Transient);
  float bytes[16] = {1, 2, 3};

  b.begin_label("forward", {30, 120, 200});
  b.copy(b.read(input), b.write(x));
  b.begin_label("layer 1");
  b.dispatch("scale", launch({16}, {256}, 1024), std::array{b.read(x), b.write(t0)});
  b.end_label();
  b.begin_label("layer 2");
  b.dispatch("reduce", launch({4, 2}, {32, 8}), std::array{b.read(t0), b.write(t1)});
  b.end_label();
  b.end_label();
  b.update(RecordingBuilder::range(Access::Write, y, 0, 64));
  b.fill(RecordingBuilder::range(Access::Write, y, 64, 4096), 7, 4);
  b.begin_label("backward");
  b.dispatch("gradient", {b.read(t1), b.write(t2)});
  b.dispatch("apply", {b.read(t2), b.read_write(y)});
  b.end_label();
  b.copy_from_host(bytes, HostBytes::Lifetime::Snapshot,
                   RecordingBuilder::range(Access::Write, image, 0, 64));
  b.copy(b.rows(Access::Read, y, 0, {64, 8, 1}, {128, 1024}),
         b.rows(Access::Write, image, 4096, {64, 8, 1}, {256, 2048}));
  b.host({b.read(input)});
  return golden_plan(b.finish(), lowering);
}

Plan step() { return step_as(Lowering::Auto); }
Plan step_in_segments() { return step_as(Lowering::Persistent); }

Plan two_lanes() {
  return golden_plan(layers(12, 4, 2, {.kind = BufferKind::Transient}), Lowering::Lanes(2));
}

Plan explicit_order() {
  RecordingBuilder b({.label = "explicit", .ordering = Ordering::Explicit});
  const auto x = b.add_buffer("x", 256), y = b.add_buffer("y", 256);
  b.dispatch("a", {b.write(x)});
  b.dispatch("b", {b.write(y)});
  b.barrier({.buffer = x, .begin = 0, .end = 256, .before = Access::Write, .after = Access::Read});
  b.dispatch("c", {b.read(x)});
  b.barrier();
  b.dispatch("d", {b.read_write(x), b.read(y)});
  b.edge(0, 5);
  return golden_plan(b.finish(), Lowering::Faithful);
}

// More commands before and after a barrier than direct edges are worth: the barrier remains as a
// join.
Plan join() {
  RecordingBuilder b({.label = "join", .ordering = Ordering::Explicit});
  const auto x = b.add_buffer("x", 4096);
  for (std::uint32_t i = 0; i < 10; ++i)
    b.dispatch("before", {RecordingBuilder::range(Access::Write, x, 64 * i, 64 * i + 64)});
  b.barrier();
  for (std::uint32_t i = 0; i < 10; ++i)
    b.dispatch("after", {RecordingBuilder::range(Access::ReadWrite, x, 64 * i, 64 * i + 64)});
  return golden_plan(b.finish(), Lowering::Auto);
}

// Names that need escaping.
Plan names() {
  RecordingBuilder b({.label = "say \"graph\" {}"});
  const auto x = b.add_buffer("a\\b \"c\"\n<d>", 64), unnamed = b.add_buffer("", 64);
  b.begin_label("un\\N \"forward\"");
  b.dispatch("k<float>", {b.write(x), b.write(unnamed)});
  b.begin_label("tab\there");
  b.dispatch("k2", {b.read(x)});
  b.end_label();
  b.end_label();
  return golden_plan(b.finish(), Lowering::Auto);
}

void compare(const std::string& name, const std::string& text) {
  CHECK(golden_text("golden/" + name, text) == text);
}

bool dot_accepts(const std::string& text) {
  const std::filesystem::path path = scratch_folder() / "plan.dot";
  std::ofstream(path, std::ios::binary) << text;
  const std::filesystem::path messages = scratch_folder() / "dot.txt";
  return std::system(
             ("dot -Tplain -o /dev/null '" + path.string() + "' 2> '" + messages.string() + "'")
                 .c_str()) == 0;
}

struct Golden {
  const char* name;
  Plan (*make)();
};
constexpr Golden kGolden[] = {{"step", step},           {"step_in_segments", step_in_segments},
                              {"two_lanes", two_lanes}, {"explicit_order", explicit_order},
                              {"join", join},           {"names", names}};

}  // namespace

TEST_CASE("plan: the text matches the golden files") {
  for (const Golden& golden : kGolden) {
    CAPTURE(golden.name);
    compare(std::string(golden.name) + ".txt", to_text(golden.make()));
  }
}

TEST_CASE("plan: the DOT output matches the golden files") {
  for (const Golden& golden : kGolden) {
    CAPTURE(golden.name);
    compare(std::string(golden.name) + ".dot", to_dot(golden.make(), DotFlags::Default));
  }
  compare("step_plain.dot", to_dot(step(), DotFlags::Locations));
}

TEST_CASE("plan: Graphviz accepts the DOT of every plan") {
  if (std::system("dot -V 2>/dev/null") != 0) {
    MESSAGE("no dot program here: nothing to ask");
    return;
  }
  for (const Golden& golden : kGolden) {
    CAPTURE(golden.name);
    const Plan plan = golden.make();
    CHECK(dot_accepts(to_dot(plan, DotFlags::Default)));
    CHECK(dot_accepts(to_dot(plan, DotFlags::Locations)));
  }
  CHECK_FALSE(dot_accepts("digraph {"));
}
