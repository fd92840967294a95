#include "compile/plan_cache.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "lowering/lowered_graph.hpp"
#include "support/random_recording.hpp"
#include "support/recording_builder.hpp"
#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

const PlanOptions kOptions{.alignment = 256};

Plan plan_of(const RecordingPtr& recording) {
  DependencyGraph dependencies = build_dependencies(*recording);
  LoweredGraph lowered = build_lowered_graph(dependencies, kOptions.lowering);
  Placement placement = place_transients(*recording, dependencies, lowered, kOptions.alignment);
  return freeze_plan("plan", recording, std::move(dependencies), std::move(lowered),
                     std::move(placement));
}

// Compiles `recording` twice, so that the cache keeps its structure.
void keep(PlanCache& cache, const RecordingPtr& recording) {
  const Plan plan = plan_of(recording);
  const std::uint64_t hash = PlanCache::structure_hash(*recording, kOptions);
  for (int i = 0; i < 2; ++i) cache.insert(hash, plan, kOptions);
}

std::shared_ptr<const Plan> find(PlanCache& cache, const RecordingPtr& recording,
                                 const PlanOptions& options = kOptions) {
  return cache.find(PlanCache::structure_hash(*recording, options), *recording, options);
}

// Two kernels that communicate through a transient, then a barrier and a fill.
RecordingPtr recorded(std::string_view kernel, std::uint64_t bytes = 256, std::uint64_t end = 64,
                      std::uint32_t bits = 0) {
  RecordingBuilder build;
  const std::uint32_t x = build.add_buffer("x", 256),
                      t = build.add_buffer("t", bytes, BufferKind::Transient);
  build.dispatch(kernel, {build.read(x), build.write(t)});
  build.dispatch(kernel, {build.read(t), RecordingBuilder::range(Access::Write, x, 0, end)});
  build.barrier();
  build.fill(build.write(x), bits);
  return build.finish();
}

}  // namespace

TEST_CASE(
    "plan cache: a structure is kept from its second compile on, and found for other kernels") {
  PlanCache cache;
  const RecordingPtr recording = recorded("first");
  const Plan plan = plan_of(recording);
  const std::uint64_t hash = PlanCache::structure_hash(*recording, kOptions);
  CHECK(find(cache, recording) == nullptr);
  cache.insert(hash, plan, kOptions);
  CHECK(find(cache, recording) == nullptr);
  cache.insert(hash, plan, kOptions);
  const auto found = find(cache, recorded("second", 256, 64, 7));
  REQUIRE(found != nullptr);
  CHECK(found->dependencies.edges.size() == plan.dependencies.edges.size());
  CHECK(found->placement.slab_bytes == plan.placement.slab_bytes);
  const CompileCacheReport report = cache.report();
  CHECK(report.hits == 1);
  CHECK(report.misses == 2);
  CHECK(report.structures == 1);
  CHECK(report.bytes > 0);
  CHECK(report.bytes < 10'000);
}

TEST_CASE("plan cache: different ranges, transient sizes and lowerings are different structures") {
  PlanCache cache;
  keep(cache, recorded("kernel"));
  CHECK(find(cache, recorded("kernel")) != nullptr);
  CHECK(find(cache, recorded("kernel", 512)) == nullptr);
  CHECK(find(cache, recorded("kernel", 256, 128)) == nullptr);
  const RecordingPtr same = recorded("kernel");
  CHECK(find(cache, same, {.lowering = Lowering::Faithful, .alignment = 256}) == nullptr);
  CHECK(find(cache, same, {.alignment = 512}) == nullptr);
}

TEST_CASE("plan cache: cost hints are part of the key because lanes depend on them") {
  PlanCache cache;
  const auto costing = [](float microseconds) {
    RecordingBuilder build;
    const BufferAccess accesses[] = {build.write(build.add_buffer("x", 256))};
    DispatchPayload dispatch;
    dispatch.cost = microseconds;
    build.dispatch("kernel", dispatch, accesses);
    return build.finish();
  };
  keep(cache, costing(5));
  CHECK(find(cache, costing(5)) != nullptr);
  CHECK(find(cache, costing(7)) == nullptr);
  CHECK(find(cache, costing(0)) == nullptr);
}

TEST_CASE(
    "plan cache: a fill instead of a kernel is a different structure because only kernels get "
    "entry and exit kernels") {
  const auto recorded_with = [](bool has_fill) {
    RecordingBuilder build;
    const std::uint32_t x = build.add_buffer("x", 64);
    if (has_fill) build.fill(build.write(x));
    if (!has_fill) build.dispatch("kernel", {build.write(x)});
    return build.finish();
  };
  PlanCache cache;
  keep(cache, recorded_with(false));
  CHECK(PlanCache::structure_hash(*recorded_with(true), kOptions) ==
        PlanCache::structure_hash(*recorded_with(false), kOptions));
  CHECK(find(cache, recorded_with(true)) == nullptr);
  CHECK(find(cache, recorded_with(false)) != nullptr);
}

TEST_CASE("plan cache: an equal hash alone is not a hit") {
  PlanCache cache;
  keep(cache, recorded("kernel"));
  const RecordingPtr other = recorded("kernel", 256, 128);
  CHECK(cache.find(PlanCache::structure_hash(*recorded("kernel"), kOptions), *other, kOptions) ==
        nullptr);
  CHECK(cache.report().hits == 0);
}

TEST_CASE("plan cache: it keeps no buffer alive") {
  PlanCache cache;
  std::weak_ptr<BufferCore> buffer;
  {
    const RecordingPtr recording = recorded("kernel");
    buffer = recording->buffers[0];
    keep(cache, recording);
  }
  CHECK(cache.report().structures == 1);
  CHECK(buffer.expired());
}

TEST_CASE("plan cache: it stays within its budget and evicts the least recently used plan") {
  PlanCache cache;
  const RecordingPtr first = chain(100), second = wide(100), third = binary_tree(100);
  keep(cache, first);
  keep(cache, second);
  const std::uint64_t both = cache.report().bytes;
  cache.set_budget(both);
  CHECK(find(cache, first) != nullptr);
  keep(cache, third);
  CompileCacheReport report = cache.report();
  CHECK(report.bytes <= both);
  CHECK(report.evictions >= 1);
  CHECK(find(cache, second) == nullptr);
  CHECK(find(cache, third) != nullptr);
  cache.set_budget(0);
  report = cache.report();
  CHECK(report.structures == 0);
  CHECK(report.bytes == 0);
  keep(cache, first);
  CHECK(cache.report().structures == 0);
}

TEST_CASE("compile cache: the third compile of a structure hits, and its graph is the same") {
  FakeInstance fake;
  Device device = fake.open();
  const auto pool = device.create_pool();
  const auto x = pool->allocate<int>(64, "x"), y = pool->allocate<int>(64, "y");
  const auto t = pool->transient<int>(64, "t");
  const auto compiled = [&](int value) {
    CommandBuffer commands = device.create_command_buffer({.label = "step"});
    commands.begin();
    commands.fill(t, value);
    commands.copy(t, x);
    commands.fill(y, value);
    commands.end();
    return device.compile(commands);
  };
  const CapturedGraph first = compiled(1), second = compiled(2), third = compiled(1);
  const CompileCacheReport report = device.compile_cache();
  CHECK(report.hits == 1);
  CHECK(report.misses == 2);
  CHECK(report.structures == 1);
  CHECK(report.budget == std::uint64_t{64} << 20);
  CHECK(third.report().plan_hash == first.report().plan_hash);
  CHECK(third.report().lowering_hash == first.report().lowering_hash);
  CHECK(third.to_text() == first.to_text());
  CHECK(second.report().plan_hash != first.report().plan_hash);
  device.set_compile_cache_budget(0);
  static_cast<void>(compiled(3));
  CHECK(device.compile_cache().hits == 1);
  CHECK(device.compile_cache().bytes == 0);
}

TEST_CASE("plan cache: the bytes that buffers share are part of the structure, addresses are not") {
  const auto recorded_at = [](std::vector<MemoryPlace> places) {
    RecordingBuilder build;
    const std::uint32_t a = build.add_buffer("a", 256), b = build.add_buffer("b", 256);
    build.fill(build.write(a));
    build.fill(build.write(b));
    build.recording().places = std::move(places);
    return build.finish();
  };
  const RecordingPtr apart = recorded_at({}), overlapping = recorded_at({{0, 0}, {0, 128}}),
                     touching = recorded_at({{0, 0}, {0, 64}});
  PlanCache cache;
  keep(cache, apart);
  CHECK(find(cache, overlapping) == nullptr);
  keep(cache, overlapping);
  CHECK(find(cache, touching) == nullptr);
  REQUIRE(find(cache, overlapping) != nullptr);
  CHECK(find(cache, overlapping)->dependencies.edges.size() == 1);
  CHECK(find(cache, apart)->dependencies.edges.empty());
}
