#include <doctest/doctest.h>

#include <functional>

#include "lowering/lowered_graph.hpp"
#include "memory/placement.hpp"
#include "plan/plan_difference.hpp"
#include "support/recording_builder.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

using Outcome = GraphExecUpdateOutcome;

Plan plan_recorded_by(const std::function<void(RecordingBuilder&)>& record) {
  RecordingBuilder builder;
  record(builder);
  RecordingPtr recording = builder.finish();
  DependencyGraph dependencies = build_dependencies(*recording);
  LoweredGraph lowered = build_lowered_graph(dependencies, Lowering::Faithful);
  Placement placement = place_transients(*recording, dependencies, lowered, 256);
  return freeze_plan("test", recording, std::move(dependencies), std::move(lowered),
                     std::move(placement));
}

struct Expected {
  Outcome outcome;
  std::uint32_t node, from;
};

void check_difference(const Plan& before, const Plan& after, const Expected& expected) {
  const PlanDifference found = find_difference(before, after);
  CHECK(to_string(found.outcome) == to_string(expected.outcome));
  CHECK(found.node == expected.node);
  CHECK(found.from == expected.from);
}

}  // namespace

TEST_CASE("plan difference: values, kernels, grids and buffers are not differences") {
  const Plan a = plan_recorded_by([](RecordingBuilder& b) {
    const auto x = b.add_buffer("x", 64), y = b.add_buffer("y", 64);
    b.fill(b.write(x), 1);
    b.dispatch("one", {b.read(x), b.write(y)});
    b.copy(b.read(y), b.write(x));
  });
  const Plan c = plan_recorded_by([](RecordingBuilder& b) {
    const auto x = b.add_buffer("p", 128), y = b.add_buffer("q", 128);
    b.fill(b.write(x), 2);
    b.dispatch("other", {b.read(x), b.write(y)});
    b.copy(b.read(y), b.write(x));
  });
  check_difference(a, c, {Outcome::Success, kNone, kNone});
}

TEST_CASE(
    "plan difference: a different node count names no node, a different edge names both ends") {
  const auto chain = [](std::uint32_t more, bool to_first) {
    return plan_recorded_by([=](RecordingBuilder& b) {
      const auto x = b.add_buffer("x", 64), y = b.add_buffer("y", 64), z = b.add_buffer("z", 64);
      b.dispatch("k", {b.write(x)});
      b.dispatch("k", {b.read(x), b.write(y)});
      b.dispatch("k", {b.read(to_first ? x : y), b.write(z)});
      for (std::uint32_t i = 0; i < more; ++i) b.dispatch("k", {b.read_write(z)});
    });
  };
  check_difference(chain(0, false), chain(1, false), {Outcome::TopologyChanged, kNone, kNone});
  check_difference(chain(0, false), chain(0, true), {Outcome::TopologyChanged, 2, 0});
}

TEST_CASE("plan difference: command kinds map to node types; an update of bytes is a copy") {
  const auto second = [](const std::function<void(RecordingBuilder&, std::uint32_t)>& add) {
    return plan_recorded_by([&](RecordingBuilder& b) {
      const auto x = b.add_buffer("x", 64), y = b.add_buffer("y", 64);
      b.fill(b.write(x));
      b.dispatch("k", {b.read(x), b.write(y)});
      add(b, x);
    });
  };
  const Plan fill = second([](RecordingBuilder& b, std::uint32_t x) { b.fill(b.write(x)); });
  const Plan dispatch =
      second([](RecordingBuilder& b, std::uint32_t x) { b.dispatch("k", {b.read_write(x)}); });
  check_difference(fill, dispatch, {Outcome::NodeTypeChanged, 2, kNone});
  const Plan update = second([](RecordingBuilder& b, std::uint32_t x) { b.update(b.write(x)); });
  static char bytes[64] = {};
  const Plan copy = second([](RecordingBuilder& b, std::uint32_t x) {
    b.copy_from_host(bytes, HostBytes::Lifetime::Borrowed, b.write(x));
  });
  check_difference(update, copy, {Outcome::Success, kNone, kNone});
}

TEST_CASE(
    "plan difference: kernel attributes, memory kinds and pitched copy shapes cannot change in "
    "place") {
  const auto launched = [](DispatchDesc::Launch launch) {
    return plan_recorded_by([=](RecordingBuilder& b) {
      const auto x = b.add_buffer("x", 64);
      DispatchPayload desc{};
      desc.grid = desc.block = {1, 1, 1};
      desc.launch = launch;
      const BufferAccess accesses[] = {b.write(x)};
      b.dispatch("k", desc, accesses);
    });
  };
  check_difference(launched(DispatchDesc::Launch::Normal),
                   launched(DispatchDesc::Launch::Cooperative),
                   {Outcome::AttributesChanged, 0, kNone});
  const auto copied = [](BufferKind kind, bool pitched) {
    return plan_recorded_by([=](RecordingBuilder& b) {
      const auto x = b.add_buffer("x", 64, kind), y = b.add_buffer("y", 64);
      if (pitched) {
        b.copy(b.rows(Access::Read, x, 0, {4, 4, 1}, {16, 64}),
               b.rows(Access::Write, y, 0, {4, 4, 1}, {16, 64}));
      } else {
        b.copy(b.read(x), b.write(y));
      }
    });
  };
  check_difference(copied(BufferKind::Device, false), copied(BufferKind::PinnedHost, false),
                   {Outcome::ParametersChanged, 0, kNone});
  check_difference(copied(BufferKind::Device, false), copied(BufferKind::Device, true),
                   {Outcome::ParametersChanged, 0, kNone});
  check_difference(copied(BufferKind::Device, true), copied(BufferKind::Device, true),
                   {Outcome::Success, kNone, kNone});
}
