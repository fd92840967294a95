#include "plan/plan.hpp"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>

#include "lowering/lowered_graph.hpp"
#include "plan/hash.hpp"
#include "support/manual_dependencies.hpp"
#include "support/random_recording.hpp"
#include "support/recording_builder.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

Plan plan_of(std::shared_ptr<const Recording> recording, Lowering lowering = Lowering::Auto) {
  DependencyGraph dependencies = build_dependencies(*recording);
  LoweredGraph lowered = build_lowered_graph(dependencies, lowering);
  Placement placement = place_transients(*recording, dependencies, lowered, 256);
  return freeze_plan("plan", std::move(recording), std::move(dependencies), std::move(lowered),
                     std::move(placement));
}

// Every property that a plan's hash distinguishes; each test changes one of them.
struct Variant {
  const char* label = "step";
  const char* buffer = "x";
  std::uint64_t bytes = 1024;
  BufferKind kind = BufferKind::Device;
  const char* kernel = "k";
  Dim3 grid = {4}, block = {32};
  std::uint32_t shared_bytes = 0;
  DispatchDesc::Launch launch = DispatchDesc::Launch::Normal;
  Access access = Access::ReadWrite;
  std::uint64_t begin = 0;
  std::uint32_t fill_bits = 1;
  float host_value = 1;
  const char* scope = "forward";
  Color color = {};
  std::uint32_t extra_edges = 0;
};

Plan plan_of_variant(const Variant& v) {
  RecordingBuilder b({.label = v.label});
  const auto x = b.add_buffer(v.buffer, v.bytes, v.kind), y = b.add_buffer("y", 64),
             z = b.add_buffer("z", 64);
  b.begin_label(v.scope, v.color);
  DispatchPayload launch{};
  launch.grid = v.grid;
  launch.block = v.block;
  launch.shared_bytes = v.shared_bytes;
  launch.launch = v.launch;
  b.dispatch(v.kernel, launch, std::array{RecordingBuilder::range(v.access, x, v.begin, 512)});
  b.end_label();
  b.dispatch("k", {b.read(x)});
  b.fill(b.write(y), v.fill_bits, 4);
  float host[16] = {v.host_value};
  b.copy_from_host(host, HostBytes::Lifetime::Snapshot, b.write(z));
  if (v.extra_edges != 0) b.edge(2, 3);
  return plan_of(b.finish());
}

}  // namespace

TEST_CASE("plan: the same recording gives the same hashes and text on two runs") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const RandomDesc desc = {.seed = seed,
                             .commands = 60,
                             .rows_percent = 20,
                             .barrier_percent = 5,
                             .kind = BufferKind::Transient};
    const Plan a = plan_of(random_recording(desc)), b = plan_of(random_recording(desc));
    CHECK(a.plan_hash == b.plan_hash);
    CHECK(a.lowering_hash == b.lowering_hash);
    CHECK(to_text(a) == to_text(b));
    CHECK(to_dot(a, DotFlags::Default) == to_dot(b, DotFlags::Default));
  }
}

TEST_CASE("plan: the hash covers every recorded value") {
  const std::array variants = {
      Variant{},
      Variant{.label = "other"},
      Variant{.buffer = "w"},
      Variant{.bytes = 2048},
      Variant{.kind = BufferKind::Transient},
      Variant{.kernel = "k2"},
      Variant{.grid = {4, 2}},
      Variant{.block = {32, 1, 2}},
      Variant{.shared_bytes = 16},
      Variant{.launch = DispatchDesc::Launch::Cooperative},
      Variant{.access = Access::Write},
      Variant{.begin = 256},
      Variant{.fill_bits = 2},
      Variant{.host_value = 2},
      Variant{.scope = "backward"},
      Variant{.color = {1, 2, 3}},
      Variant{.extra_edges = 1},
  };
  std::set<std::uint64_t> hashes;
  for (const Variant& variant : variants) hashes.insert(plan_of_variant(variant).plan_hash);
  CHECK(hashes.size() == variants.size());
}

TEST_CASE("plan: the lowering changes the lowering hash, never the plan hash") {
  const auto recording = layers(400, 200, 2);
  std::set<std::uint64_t> plans, lowerings;
  for (const Lowering lowering :
       {Lowering::Faithful, Lowering::Auto, Lowering::Lanes(8), Lowering::Lanes(9)}) {
    const Plan plan = plan_of(recording, lowering);
    plans.insert(plan.plan_hash);
    lowerings.insert(plan.lowering_hash);
  }
  CHECK(plans.size() == 1);
  CHECK(lowerings.size() == 4);
}

TEST_CASE("plan: hash and text exclude source locations and addresses") {
  RecordingBuilder a, b;
  for (RecordingBuilder* builder : {&a, &b}) {
    const auto x = builder->add_buffer("x", 64);
    builder->dispatch("k", {builder->write(x)});
  }
  b.recording().commands[0].where = {"/some/folder/other.cpp", 99};
  std::byte memory[64];
  b.recording().buffers[0]->address = memory;
  const Plan first = plan_of(a.finish()), second = plan_of(b.finish());
  CHECK(first.plan_hash == second.plan_hash);
  CHECK(to_text(first) == to_text(second));
  const std::string dot = to_dot(second, DotFlags::Default | DotFlags::Locations);
  CHECK(dot.find("other.cpp:99") != std::string::npos);
  CHECK(dot.find("folder") == std::string::npos);
}

TEST_CASE("plan: the hash excludes the bytes of borrowed host memory") {
  const auto hash_with = [](float value) {
    float host[16] = {value};
    RecordingBuilder b;
    const auto x = b.add_buffer("x", 64);
    b.copy_from_host(host, HostBytes::Lifetime::Borrowed, b.write(x));
    return plan_of(b.finish()).plan_hash;
  };
  CHECK(hash_with(1) == hash_with(2));
}

TEST_CASE("plan: the text distinguishes needed and added edges and names those that lanes imply") {
  const std::string text = to_text(plan_of(layers(64, 8, 3), Lowering::Lanes(2)));
  CHECK(text.find(" needed: RAW ") != std::string::npos);
  CHECK(text.find(" added: lane") != std::string::npos);
  CHECK(text.find(" added: entry/exit") != std::string::npos);
  CHECK(text.find("    implied n") != std::string::npos);
}

TEST_CASE("plan: DOT without added edges draws exactly the needed edges") {
  const Plan plan = plan_of(layers(64, 8, 3), Lowering::Lanes(2));
  const std::string dot = to_dot(plan, DotFlags::Accesses | DotFlags::Causes);
  std::size_t arrows = 0;
  for (std::size_t at = dot.find(" -> "); at != std::string::npos; at = dot.find(" -> ", at + 1))
    ++arrows;
  CHECK(arrows == plan.dependencies.edges.size());
  CHECK(dot.find("dashed") == std::string::npos);
}

TEST_CASE("plan: deeply nested labels do not recurse") {
  RecordingBuilder b;
  const auto x = b.add_buffer("x", 64);
  for (int i = 0; i < 300; ++i) b.begin_label("deeper");
  b.dispatch("k", {b.write(x)});
  for (int i = 0; i < 300; ++i) b.end_label();
  const std::string dot = to_dot(plan_of(b.finish()), DotFlags::Default);
  std::size_t open = 0, clusters = 0;
  for (std::size_t at = dot.find("subgraph"); at != std::string::npos;
       at = dot.find("subgraph", at + 1))
    ++clusters;
  for (const char c : dot) open += c == '{' ? 1 : c == '}' ? -1 : 0;
  CHECK(clusters == 300);
  CHECK(open == 0);
}

TEST_CASE("hash: words, bytes and their lengths are all hashed") {
  const auto hash = [](auto... parts) {
    Hash64 h;
    (h.add(parts), ...);
    return h.value();
  };
  using namespace std::string_view_literals;
  const std::set<std::uint64_t> all = {hash(),
                                       hash(std::uint64_t{0}),
                                       hash(std::uint64_t{0}, std::uint64_t{0}),
                                       hash(""sv),
                                       hash("a"sv),
                                       hash("a\0"sv),
                                       hash("a"sv, "b"sv),
                                       hash("ab"sv),
                                       hash("12345678"sv, ""sv),
                                       hash("12345678"sv),
                                       hash(""sv, "12345678"sv)};
  // hash(0) and hash("") are the same word.
  CHECK(all.size() == 10);
}

TEST_CASE("hash: its values are identical on every platform") {
  Hash64 hash;
  CHECK(hash.value() == 0xe18485764ba03644u);
  hash.add(std::uint64_t{1});
  hash.add(std::string_view("Reprise"));
  CHECK(hash.value() == 0xf75e8686aac5638cu);
}
