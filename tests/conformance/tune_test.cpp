#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::tune_test {
namespace {

constexpr unsigned kCount = 512;
constexpr DispatchDesc kWords{.grid = 4, .block = 128};
constexpr TuneDesc kQuick{.pairs = 9, .budget = std::chrono::milliseconds(1000)};
constexpr TuneDesc kRepeatable{.contents = TuneDesc::Contents::Repeatable,
                               .pairs = 9,
                               .budget = std::chrono::milliseconds(1000)};

unsigned mixed(unsigned io, unsigned in, unsigned salt) {
  return io * 1664525u + (in ^ salt) + 1013904223u;
}

// Parallel branches that join repeatedly, so that lowerings differ.
void record_branches(const DeviceFixture& fixture, CommandBuffer& cmd,
                     const std::vector<GpuRef<unsigned>>& branches, const GpuRef<unsigned>& sum) {
  const Kernel mix = fixture.kernel(shaders::conf_mix);
  for (unsigned round = 0; round < 3; ++round) {
    for (const auto& branch : branches)
      cmd.dispatch(mix, kWords, read(sum), read_write(branch), round, kCount);
    for (const auto& branch : branches)
      cmd.dispatch(mix, kWords, read(branch), read_write(sum), round, kCount);
  }
}
void run_reference(std::vector<unsigned>& branches, unsigned& sum) {
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned& branch : branches) branch = mixed(branch, sum, round);
    for (const unsigned branch : branches) sum = mixed(sum, branch, round);
  }
}

}  // namespace

TEST_CASE_FIXTURE(
    DeviceFixture,
    "tune: contents and the replay count are preserved, and later replays are correct") {
  std::vector<GpuRef<unsigned>> branches;
  std::vector<unsigned> expected;
  for (unsigned i = 0; i < 6; ++i) {
    branches.push_back(buffer(std::vector<unsigned>(kCount, i), "branch"));
    expected.push_back(i);
  }
  const auto sum = buffer(std::vector<unsigned>(kCount, 7), "sum");
  unsigned total = 7;
  CommandBuffer cmd = recording();
  record_branches(*this, cmd, branches, sum);
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  run_reference(expected, total);

  const TuneReport report = graph.tune(queue, kQuick);
  CHECK(graph.num_replays() == 1);
  CHECK(values(sum) == std::vector<unsigned>(kCount, total));
  for (unsigned i = 0; i < 6; ++i)
    CHECK(values(branches[i]) == std::vector<unsigned>(kCount, expected[i]));
  CHECK(report.plan_hash == graph.report().plan_hash);
  REQUIRE(report.candidates.size() > 3);
  CHECK(report.candidates[0].name == "as it was");
  CHECK(report.candidates[0].ratio == 1);
  const auto is_segments = [](const TuneCandidate& candidate) {
    return candidate.name == "segments";
  };
  CHECK(std::any_of(report.candidates.begin(), report.candidates.end(), is_segments) ==
        (device.info().limits.max_segment_blocks != 0));
  CHECK(report.chosen < report.candidates.size());
  for (const TuneCandidate& candidate : report.candidates) {
    CAPTURE(candidate.name);
    CHECK((candidate.pairs != 0 || !candidate.reason.empty()));
    CHECK(candidate.ratio_low <= candidate.ratio);
    CHECK(candidate.ratio <= candidate.ratio_high);
  }
  if (report.has_changed()) CHECK(report.candidates[report.chosen].ratio_high < 1);

  for (unsigned i = 0; i < 3; ++i) {
    graph.launch(queue);
    run_reference(expected, total);
  }
  queue.wait_idle();
  CHECK(graph.num_replays() == 4);
  CHECK(values(sum) == std::vector<unsigned>(kCount, total));
  const TuneReport again = graph.tune(queue, kQuick);  // tuning twice is allowed
  CHECK(again.plan_hash == report.plan_hash);
  CHECK(values(sum) == std::vector<unsigned>(kCount, total));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "tune: pinned and borrowed host memory that copies write is restored") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  const auto pinned = pool->host<unsigned>(kCount, "pinned");
  std::vector<unsigned> own(kCount, 11);
  for (unsigned i = 0; i < kCount; ++i) pinned[i] = 9;
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_mix), kWords, read(x.slice(0, kCount / 2)),
               read_write(x.slice(kCount / 2, kCount / 2)), 1u, kCount / 2);
  cmd.copy(x, pinned);
  cmd.copy(x, borrowed(own));
  CapturedGraph graph = compile(cmd);
  static_cast<void>(graph.tune(queue, kQuick));
  CHECK(own == std::vector<unsigned>(kCount, 11));
  CHECK(std::vector<unsigned>(pinned.span().begin(), pinned.span().end()) ==
        std::vector<unsigned>(kCount, 9));
  CHECK(values(x) == std::vector<unsigned>(kCount, 1));
  graph.launch(queue).wait();
  CHECK(own == values(x));
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "tune: disabled commands, scalar values and rebound buffers apply to the selected lowering") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x"),
             y = buffer(std::vector<unsigned>(kCount, 2), "y"),
             other = buffer(std::vector<unsigned>(kCount, 3), "other");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), slot("value", 4u), kCount);
  const CommandRef off = cmd.fill(x, 99u);
  cmd.dispatch(kernel(shaders::conf_add), kWords, read(x), write(y), 1u, kCount);
  CapturedGraph graph = compile(cmd);
  auto value = graph.scalar<unsigned>("value");
  value.set(20);
  graph.disable(off);
  CHECK(graph.rebind(y, other).done());
  static_cast<void>(graph.tune(queue, kQuick));
  CHECK(values(other) == std::vector<unsigned>(kCount, 3));
  graph.launch(queue).wait();
  CHECK(values(other) == std::vector<unsigned>(kCount, 21));
  CHECK(values(y) == std::vector<unsigned>(kCount, 2));
  CHECK_FALSE(graph.is_enabled(off));
  value.set(30);
  graph.enable(off);
  graph.launch(queue).wait();
  CHECK(values(other) == std::vector<unsigned>(kCount, 100));
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "tune: transients are placed for the selected lowering, and results are unchanged") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  CommandBuffer cmd = recording();
  std::vector<GpuRef<unsigned>> parts;
  for (unsigned i = 0; i < 12; ++i) {
    parts.push_back(pool->transient<unsigned>(kCount, "part"));
    cmd.dispatch(kernel(shaders::conf_set), kWords, write(parts.back()), i, kCount);
  }
  for (const auto& part : parts)
    cmd.dispatch(kernel(shaders::conf_mix), kWords, read(part), read_write(x), 3u, kCount);
  CapturedGraph graph = compile(cmd);
  static_cast<void>(graph.tune(queue, kRepeatable));
  const unsigned before = values(x)[0];
  graph.launch(queue).wait();
  unsigned expected = before;
  for (unsigned i = 0; i < 12; ++i) expected = mixed(expected, i, 3);
  CHECK(values(x) == std::vector<unsigned>(kCount, expected));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "tune: a graph with host callbacks requires Contents::Repeatable") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  unsigned calls = 0;
  CommandBuffer cmd = recording();
  cmd.fill(x, 4u);
  cmd.host([&calls] { ++calls; });
  CapturedGraph graph = compile(cmd);
  check_refused(ErrorCode::Unsupported, {"tune", "callbacks", "Repeatable"},
                [&] { (void)graph.tune(queue, kQuick); });
  CHECK(calls == 0);
  static_cast<void>(graph.tune(queue, kRepeatable));
  CHECK(calls > 0);
  CHECK(graph.num_replays() == 0);
}

TEST_CASE_FIXTURE(DeviceFixture, "tune: invalid arguments are refused") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  CommandBuffer cmd = recording({.label = "fills"});
  cmd.fill(x, 4u);
  CapturedGraph graph = compile(cmd);
  check_refused(ErrorCode::NotInitialized, {"fills", "Queue is empty"},
                [&] { (void)graph.tune({}, kQuick); });
  check_refused(ErrorCode::InvalidArgument, {"fills", "9 pairs"},
                [&] { (void)graph.tune(queue, {.pairs = 3}); });
  CapturedGraph none;
  check_refused(ErrorCode::NotInitialized, {"empty"}, [&] { (void)none.tune(queue); });
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "tune: a graph with replicas is refused, and the error names tuning_file") {
  const auto x = pool->allocate<unsigned>(kCount, "x", PerReplica{2});
  CommandBuffer cmd = recording({.label = "twice"});
  cmd.fill(x, 4u);
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool, .replicas = 2});
  check_refused(ErrorCode::Unsupported, {"twice", "2 replicas", "tuning_file"},
                [&] { (void)graph.tune(queue, kQuick); });
}

TEST_CASE_FIXTURE(DeviceFixture, "tune: fault markers hold, and so does a graph without segments") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x"),
             y = buffer(std::vector<unsigned>(kCount, 2), "y");
  CommandBuffer cmd = recording();
  record_branches(*this, cmd, {x}, y);
  CapturedGraph graph = compile(cmd, Lowering::Auto.without_segments().with_fault_markers());
  const auto has_markers = [&] {
    return graph.to_text().find("fault markers yes") != std::string::npos;
  };
  for (const TuneCandidate& candidate : graph.tune(queue, kQuick).candidates)
    CHECK(candidate.name != "segments");
  CHECK(has_markers());
  CHECK(graph.exec_update(cmd).done());
  CHECK(has_markers());
  graph.launch(queue).wait();
  std::vector<unsigned> expected{1};
  unsigned sum = 2;
  run_reference(expected, sum);
  CHECK(values(x) == std::vector<unsigned>(kCount, expected[0]));
  CHECK(values(y) == std::vector<unsigned>(kCount, sum));
}

}  // namespace reprise::test::tune_test
