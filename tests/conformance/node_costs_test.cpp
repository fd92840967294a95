// Compiling a graph with the cost profile of its own trace.
#include <filesystem>
#include <string>
#include <vector>

#include "conformance/device_fixture.hpp"
#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"
#include "words.shaders.hpp"

namespace reprise::test::node_costs_test {
namespace {

constexpr unsigned kCount = 512, kBranches = 8, kRounds = 4;
constexpr DispatchDesc kWords{.grid = 4, .block = 128};

unsigned mixed(unsigned io, unsigned in, unsigned salt) {
  return io * 1664525u + (in ^ salt) + 1013904223u;
}

std::vector<GpuRef<unsigned>> make_branches(CapturePool& pool) {
  std::vector<GpuRef<unsigned>> branches;
  for (unsigned i = 0; i < kBranches; ++i)
    branches.push_back(pool.allocate<unsigned>(kCount, "way"));
  return branches;
}

// Parallel branches; in each iteration a branch also reads its neighbour.
CommandBuffer record_branches(const Device& device, const std::vector<GpuRef<unsigned>>& branches,
                              unsigned rounds = kRounds) {
  const Kernel mix = device.load_kernel(shaders::conf_mix),
               set = device.load_kernel(shaders::conf_set);
  CommandBuffer cmd = device.create_command_buffer({.label = "ways"});
  cmd.begin();
  for (unsigned i = 0; i < kBranches; ++i)
    cmd.dispatch(set, kWords, write(branches[i]), i + 1, kCount);
  for (unsigned round = 0; round < rounds; ++round) {
    const auto label = cmd.label("round " + std::to_string(round));
    for (unsigned i = 0; i < kBranches; ++i)
      cmd.dispatch(mix, kWords, read(branches[(i + 1) % kBranches]), read_write(branches[i]), round,
                   kCount);
  }
  cmd.end();
  return cmd;
}
std::vector<unsigned> expected_branches() {
  std::vector<unsigned> branches;
  for (unsigned i = 0; i < kBranches; ++i) branches.push_back(i + 1);
  for (unsigned round = 0; round < kRounds; ++round) {
    for (unsigned i = 0; i < kBranches; ++i)
      branches[i] = mixed(branches[i], branches[(i + 1) % kBranches], round);
  }
  return branches;
}

// Writes a trace of the graph on the device under test, with no trace settings in the environment.
struct TracedBranches {
  EnvironmentVariable trace{"REPRISE_TRACE", std::nullopt},
      profile{"REPRISE_PROFILE", std::nullopt};
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "costs.reprise";
  std::uint64_t plan_hash = 0;

  explicit TracedBranches(ProfileMode mode) {
    const std::string target = file.string();
    const Instance instance({.application = "costs", .trace = {.target = target, .profile = mode}});
    const Device device = instance.open_device(selector_of_this_run());
    {
      const Queue queue = device.create_queue();
      const auto pool = device.create_pool();
      const CommandBuffer cmd = record_branches(device, make_branches(*pool));
      CapturedGraph graph = device.compile(cmd, {.pool = pool, .lowering = Lowering::Lanes(3)});
      plan_hash = graph.report().plan_hash;
      for (int i = 0; i < 12; ++i) graph.launch(queue).wait();
    }
    // After the last replay completes, destroying the instance completes the file.
    device.wait_idle();
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    DeviceFixture,
    "cost profile: a trace of another lowering covers every command, and results are unchanged") {
  const TracedBranches traced(ProfileMode::Every);
  const auto costs = load_cost_profile(traced.file);
  REQUIRE(costs->graphs.size() == 1);
  CHECK(costs->graphs[0].commands.size() == kBranches * (1 + kRounds));
  CHECK(costs->graphs[0].replays >= 1);

  const auto branches = make_branches(*pool);
  const CommandBuffer cmd = record_branches(device, branches);
  CapturedGraph graph = device.compile(cmd, {.pool = pool, .costs = costs});
  const CostsReport& report = graph.report().costs;
  CHECK(graph.report().plan_hash == traced.plan_hash);
  CHECK(report.same_recording);
  CHECK(report.measured == kBranches * (1 + kRounds));
  CHECK(report.hinted == 0);
  CHECK(report.guessed == 0);
  CHECK(report.source.find(traced.file.string()) == 0);
  CHECK(report.device == device.info().name);
  CHECK(graph.to_text().find("command costs: 40 measured from") != std::string::npos);
  CHECK(messages->empty());
  graph.launch(queue).wait();
  const std::vector<unsigned> expected = expected_branches();
  for (unsigned i = 0; i < kBranches; ++i)
    CHECK(values(branches[i]) == std::vector<unsigned>(kCount, expected[i]));

  // Updates and tuning use the costs too.
  CHECK(graph.update(record_branches(device, branches, kRounds + 1)).done());
  CHECK(graph.report().costs.measured == kBranches * (2 + kRounds));
  static_cast<void>(graph.tune(queue, {.contents = TuneDesc::Contents::Repeatable,
                                       .pairs = 9,
                                       .budget = std::chrono::milliseconds(500)}));
  CHECK(graph.report().costs.measured == kBranches * (2 + kRounds));
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "cost profile: commands missing in the trace are reported, and a missing graph is refused") {
  const TracedBranches traced(ProfileMode::Every);
  const auto costs = load_cost_profile(traced.file);
  const auto branches = make_branches(*pool);
  CommandBuffer cmd = recording({.label = "ways"});
  cmd.fill(branches[0], 3u);
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(branches[1]), 4u, kCount);
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool, .costs = costs});
  CHECK(graph.report().costs.measured == 1);
  CHECK(graph.report().costs.guessed == 1);
  CHECK(*messages == std::vector<std::string>{"costs-unmatched"});
  REQUIRE(graph.report().messages.size() == 1);
  CHECK(graph.report().messages[0].command == 0);
  graph.launch(queue).wait();
  CHECK(values(branches[1]) == std::vector<unsigned>(kCount, 4));

  CommandBuffer other = recording({.label = "another"});
  other.fill(branches[0], 3u);
  other.end();
  check_refused(ErrorCode::InvalidArgument, {"no graph \"another\"", "\"ways\""},
                [&] { (void)device.compile(other, {.pool = pool, .costs = costs}); });
  CommandBuffer fills = recording({.label = "ways"});
  fills.fill(branches[0], 3u);
  fills.end();
  check_refused(ErrorCode::InvalidArgument,
                {"another recording", "command that differs, 0, is conf_set", "fill way"},
                [&] { (void)device.compile(fills, {.pool = pool, .costs = costs}); });
}

TEST_CASE_FIXTURE(DeviceFixture, "cost profile: a trace without node times contains no costs") {
  const TracedBranches traced(ProfileMode::Replays);
  check_refused(ErrorCode::InvalidArgument, {traced.file.string(), "ProfileMode::Sampled"},
                [&] { (void)load_cost_profile(traced.file); });
}

}  // namespace reprise::test::node_costs_test
