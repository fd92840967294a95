// Plans of recordings that are long enough to be built by several threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include <reprise/error.hpp>

#include "base/handle_access.hpp"
#include "compile/async.hpp"
#include "compile/stages.hpp"
#include "lowering/lowered_graph.hpp"
#include "lowering/lowering_config.hpp"
#include "memory/placement.hpp"
#include "record/command_buffer_core.hpp"
#include "record/payload.hpp"
#include "support/edited_recording.hpp"
#include "support/random_recording.hpp"
#include "support/recording_builder.hpp"
#include "support/thrown_by.hpp"
#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

constexpr std::uint32_t kLong = 5000, kAlignment = 256;
static_assert(kLong >= kMinAsyncCommands);

Plan stage_by_stage(const RecordingPtr& recording) {
  DependencyGraph dependencies = build_dependencies(*recording);
  LoweredGraph lowered =
      build_lowered_graph(dependencies, Lowering::Auto, hints_of(*recording, dependencies));
  Placement placement = place_transients(*recording, dependencies, lowered, kAlignment);
  return freeze_plan("plan", recording, std::move(dependencies), std::move(lowered),
                     std::move(placement));
}

}  // namespace

TEST_CASE("make plan: concurrent and sequential stages give the same plan") {
  for (const RecordingPtr& recording :
       {layers(kLong, 32, 3), wide(kLong), binary_tree(kLong, {.kind = BufferKind::Transient}),
        random_dag({.commands = kLong})}) {
    const Plan expected = stage_by_stage(recording);
    const PlanOptions desc{.alignment = kAlignment};
    for (const auto& plan : {make_plan("plan", recording, desc),
                             make_plan("plan", recording, desc,
                                       {.dependencies = build_dependencies_async(recording)})}) {
      CHECK(plan->plan_hash == expected.plan_hash);
      CHECK(plan->lowering_hash == expected.lowering_hash);
      CHECK(plan->total_nodes == expected.total_nodes);
      CHECK(plan->dependencies.edges.size() == expected.dependencies.edges.size());
      CHECK(plan->placement.slab_bytes == expected.placement.slab_bytes);
      CHECK(to_text(*plan) == to_text(expected));
    }
  }
}

TEST_CASE("make plan: get() rethrows an ordering error of concurrently built dependencies") {
  const RecordingPtr circle =
      random_recording({.commands = kLong, .user_edges = 20, .backward_edges = 500});
  std::future<DependencyGraph> ahead = build_dependencies_async(circle);
  CHECK(thrown_by([&] {
          static_cast<void>(make_plan("plan", circle, {}, {.dependencies = std::move(ahead)}));
        }).code() == ErrorCode::CyclicDependency);
  // Destroying an unread result leaks nothing.
  static_cast<void>(build_dependencies_async(circle));
}

TEST_CASE(
    "make plan: an invalid number of lanes is an error while the hash is computed concurrently") {
  RecordingBuilder build;
  const std::uint32_t x = build.add_buffer("x", 64);
  for (std::uint32_t i = 0; i < kLong; ++i) build.dispatch("kernel", {build.write(x)});
  const RecordingPtr recording = build.finish();
  CHECK(thrown_by([&] {
          static_cast<void>(make_plan("plan", recording, {.lowering = Lowering::Lanes(0)}));
        })
            .details()
            .stage == Stage::Lowering);
}

TEST_CASE("make plan: segments are made again if blocks change, and not after tuning") {
  const auto recording_of = [](std::uint32_t grid) {
    RecordingBuilder build;
    const std::uint32_t x = build.add_buffer("x", 64);
    DispatchPayload launch{};
    launch.grid = grid;
    launch.block = 32;
    for (int i = 0; i < 3; ++i) build.dispatch("kernel", launch, std::array{build.read_write(x)});
    return build.finish();
  };
  const PlanOptions desc{.lowering = Lowering::Persistent, .segment_lists = 4};
  const auto first = make_plan("plan", recording_of(2), desc);
  REQUIRE(first->lowered.segments.size() == 1);
  CHECK(make_plan("plan", recording_of(2), desc, {.like = first.get()})->lowered.segments ==
        first->lowered.segments);
  const auto wider = make_plan("plan", recording_of(8), desc, {.like = first.get()});
  REQUIRE(wider->lowered.segments.size() == 1);
  CHECK(wider->lowered.segments[0].items.back().blocks == 2);
  const auto tuned = lower_again(*first, {.shape = LoweringConfig::Shape::Faithful}, desc);
  CHECK(make_plan("plan", recording_of(8), desc, {.like = tuned.get()})->lowered.segments.empty());
}

namespace {

bool same(const Placement& a, const Placement& b) {
  return a.slab_bytes == b.slab_bytes && a.naive_bytes == b.naive_bytes &&
         a.lower_bound == b.lower_bound &&
         std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(), b.buffers.end(),
                    [](const PlacedBuffer& x, const PlacedBuffer& y) {
                      return x.buffer == y.buffer && x.offset == y.offset && x.bytes == y.bytes;
                    });
}

void check_derived(const RecordingPtr& first, const EditDesc& edit, const PlanOptions& desc) {
  auto before = make_plan("plan", first, desc);
  RecordingPtr recording = first;
  for (std::uint32_t step = 0; step < 3; ++step) {
    CAPTURE(step);
    EditDesc next = edit;
    next.seed = edit.seed + step;
    recording = edited(recording, next);
    const auto expected = make_plan("plan", recording, desc);
    const auto plan = make_plan("plan", recording, desc, {.like = before.get()});
    CHECK(plan->plan_hash == expected->plan_hash);
    CHECK(plan->lowering_hash == expected->lowering_hash);
    CHECK(same(plan->placement, expected->placement));
    CHECK(to_text(*plan) == to_text(*expected));
    before = plan;
  }
}

}  // namespace

TEST_CASE("make plan: a plan derived from that of an unedited recording equals a new plan") {
  const PlanOptions desc{.alignment = kAlignment};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const RandomDesc random{.seed = seed, .commands = 300, .buffers = 100, .bytes = 1024};
    for (const BufferKind kind : {BufferKind::Device, BufferKind::Transient}) {
      RandomDesc of_kind = random;
      of_kind.kind = kind;
      const RecordingPtr recording = random_recording(of_kind);
      for (const EditDesc& edit :
           {EditDesc{.seed = seed}, EditDesc{.seed = seed, .changed = 2},
            EditDesc{.seed = seed, .moved = 1}, EditDesc{.seed = seed, .added = 1},
            EditDesc{.seed = seed, .removed = 1}}) {
        check_derived(recording, edit, desc);
      }
    }
  }
}

TEST_CASE("make plan: derived plans of wide, long and laned graphs equal new plans") {
  check_derived(wide(400), {.changed = 1, .added = 1}, {.alignment = kAlignment});
  check_derived(layers(kLong, 32, 3), {.changed = 3, .removed = 1}, {.alignment = kAlignment});
  check_derived(layers(kLong, 32, 3), {.changed = 3},
                {.lowering = Lowering::Lanes(8), .alignment = kAlignment});
}

TEST_CASE("make plan: the plan of an unchanged body is reused") {
  FakeInstance fake;
  const Device device = fake.open();
  const auto x = device.create_pool()->allocate<int>(64, "x");
  CommandBuffer inside =
      device.create_command_buffer({.label = "inside", .level = Level::Secondary});
  inside.begin();
  inside.fill(x, 1);
  inside.end();
  CommandBuffer outside = device.create_command_buffer({.label = "outside"});
  const auto record = [&](int fills) {
    outside.begin();
    outside.execute(inside, Nested);
    for (int i = 0; i < fills; ++i) outside.fill(x, i);
    outside.end();
    return detail::core_of(outside)->recording();
  };
  const auto before = make_plan("plan", record(1), {});
  const auto now = make_plan("plan", record(2), {}, {.like = before.get()});
  REQUIRE(now->bodies.size() == 1);
  CHECK(now->bodies[0] == before->bodies[0]);
  CHECK(now->plan_hash == make_plan("plan", detail::core_of(outside)->recording(), {})->plan_hash);
}

TEST_CASE(
    "make plan: Auto asks for segments on a GPU with one replica, for enough small commands") {
  const auto record = [](std::uint32_t dispatches, Dim3 last_grid,
                         const std::function<void(RecordingBuilder&, std::uint32_t)>& then = {}) {
    RecordingBuilder build;
    const std::uint32_t x = build.add_buffer("x", 1 << 15);
    for (std::uint32_t i = 0; i < dispatches; ++i) {
      DispatchPayload dispatch{};
      dispatch.grid = i + 1 == dispatches ? last_grid : Dim3(1);
      dispatch.block = 32;
      build.dispatch("kernel", dispatch, std::array{build.write(x)});
    }
    if (then) then(build, x);
    return build.finish();
  };
  DeviceInfo gpu;
  gpu.kind = DeviceKind::Cuda;
  gpu.limits.max_segment_blocks = 528;
  const RecordingPtr recording = record(100, 1);
  const auto may = [&](const Recording& of, Lowering lowering = Lowering::Auto,
                       MemoryGoal goal = MemoryGoal::Speed, std::uint32_t replicas = 1) {
    return may_have_segments(of, lowering, goal, gpu, replicas);
  };
  CHECK(may(*recording));
  CHECK_FALSE(may(*recording, Lowering::Auto.without_segments()));
  CHECK_FALSE(may(*recording, Lowering::Auto.with_fault_markers()));
  CHECK_FALSE(may(*recording, Lowering::Faithful));
  CHECK_FALSE(may(*recording, Lowering::Auto, MemoryGoal::Minimum));
  CHECK_FALSE(may(*recording, Lowering::Auto, MemoryGoal::Speed, 2));
  CHECK_FALSE(may(*record(99, 1)));
  CHECK(may(*record(100, {1, 2, 1})));
  CHECK_FALSE(may(*record(100, {1, 2, 1}), Lowering::Auto.without_block_relations()));
  const auto fill = [](std::uint64_t bytes) {
    return [bytes](RecordingBuilder& build, std::uint32_t x) {
      build.fill(RecordingBuilder::range(Access::Write, x, 0, bytes));
    };
  };
  CHECK(may(*record(99, 1, fill(64))));
  CHECK_FALSE(may(*record(100, 1, fill(kMaxSegmentTransfer + 4))));
  CHECK_FALSE(may(*record(
      100, 1, [](RecordingBuilder& build, std::uint32_t x) { build.host({build.read(x)}); })));
  gpu.limits.max_segment_blocks = 0;
  CHECK_FALSE(may(*recording));
  gpu.limits.max_segment_blocks = 528;
  gpu.kind = DeviceKind::Host;
  CHECK_FALSE(may(*recording));
}
