#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <reprise/error.hpp>

#include "compile/cost_lookup.hpp"
#include "compile/stages.hpp"
#include "support/contains.hpp"
#include "support/recording_builder.hpp"
#include "support/thrown_by.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

constexpr std::uint32_t kStages = 6, kWide = 6;

// kStages stages of kWide kernels of 128 threads; each kernel depends on the whole previous stage.
RecordingPtr stages(std::string_view kernel = "mul", std::string_view more = "") {
  RecordingBuilder build({.label = "step"});
  DispatchPayload desc;
  desc.grid = {4};
  desc.block = {32};
  std::vector<std::uint32_t> before;
  for (std::uint32_t s = 0; s < kStages; ++s) {
    build.begin_label("stage " + std::to_string(s));
    std::vector<std::uint32_t> made;
    for (std::uint32_t i = 0; i < kWide; ++i) {
      std::vector<BufferAccess> accesses;
      for (const std::uint32_t buffer : before) accesses.push_back(build.read(buffer));
      made.push_back(build.add_buffer("x", 64));
      accesses.push_back(build.write(made.back()));
      build.dispatch(kernel, desc, accesses);
    }
    build.end_label();
    before = made;
  }
  if (!more.empty()) build.fill(build.write(build.add_buffer(more, 256)));
  return build.finish();
}

// The costs of a trace of stages(); each command takes one microsecond longer than its predecessor.
CostProfile costs_of_stages(std::uint64_t plan_hash = 0) {
  GraphCosts graph{.label = "step", .device = "some GPU", .plan_hash = plan_hash, .replays = 9};
  for (std::uint32_t c = 0; c < kStages * kWide; ++c)
    graph.commands.push_back({c, "stage " + std::to_string(c / kWide), "mul", 128,
                              std::chrono::duration<double, std::micro>(1.0 + c)});
  return {.source = "run.reprise", .graphs = {graph}};
}

// `costs` outlives the plan.
std::shared_ptr<const Plan> planned(const RecordingPtr& recording, const CostProfile* costs,
                                    Lowering lowering = Lowering::Auto) {
  return make_plan("step", recording,
                   {.lowering = lowering, .costs = {std::shared_ptr<void>(), costs}});
}

std::string refused(const RecordingPtr& recording, const CostProfile& costs) {
  const Error error = thrown_by([&] { static_cast<void>(planned(recording, &costs)); });
  CHECK(error.code() == ErrorCode::InvalidArgument);
  CHECK(error.stage() == Stage::Lowering);
  return error.what();
}

}  // namespace

TEST_CASE("cost lookup: the n-th of equal commands gets the n-th cost") {
  const RecordingPtr recording = stages();
  const DependencyGraph dependencies = build_dependencies(*recording);
  const CostProfile costs = costs_of_stages();
  const CostLookup known = look_up_costs(&costs, "step", *recording, dependencies);
  REQUIRE(known.hints.costs.size() == kStages * kWide);
  for (std::uint32_t c = 0; c < known.hints.costs.size(); ++c)
    CHECK(known.hints.costs[c] == 1000 * (1 + c));
  CHECK(known.found.measured == kStages * kWide);
  CHECK(known.found.guessed == 0);
  CHECK(known.found.source ==
        "run.reprise: 9 replays of graph step on some GPU, timed by the host's clock");
}

TEST_CASE(
    "cost lookup: a command under another label gets the median cost of the same kernel and "
    "work, an unknown command the median of all") {
  const RecordingPtr recording = stages("mul", "tail");
  const DependencyGraph dependencies = build_dependencies(*recording);
  CostProfile costs = costs_of_stages();
  for (std::uint32_t c = 0; c < kWide; ++c) costs.graphs[0].commands[c].label = "elsewhere";
  const CostLookup known = look_up_costs(&costs, "step", *recording, dependencies);
  CHECK(known.hints.costs[0] == 1000 * (1 + kStages * kWide / 2));
  CHECK(known.hints.costs[kWide] == 1000 * (1 + kWide));
  CHECK(known.found.measured == kStages * kWide);
  CHECK(known.found.guessed == 1);
  CHECK(known.found.first_guessed == kStages * kWide);
}

TEST_CASE(
    "cost lookup: the version of a graph with most commands is selected, the last of "
    "several") {
  const RecordingPtr recording = stages();
  const DependencyGraph dependencies = build_dependencies(*recording);
  CostProfile costs = costs_of_stages();
  costs.graphs.push_back(costs.graphs[0]);
  costs.graphs.push_back(costs.graphs[0]);
  costs.graphs[1].commands[0].time = std::chrono::microseconds(77);
  costs.graphs[2].commands.pop_back();
  CHECK(look_up_costs(&costs, "step", *recording, dependencies).hints.costs[0] == 77000);
}

TEST_CASE("cost lookup: a measurement takes precedence over a hint, and a hint over a guess") {
  RecordingBuilder build({.label = "step"});
  const std::uint32_t x = build.add_buffer("x", 64);
  DispatchPayload desc;
  desc.cost = 5;
  for (const char* kernel : {"known", "hinted"})
    build.dispatch(kernel, desc, std::vector{build.read_write(x)});
  build.dispatch("neither", {build.read_write(x)});
  const RecordingPtr recording = build.finish();
  const CostProfile costs{
      .source = "t",
      .graphs = {
          {.label = "step", .commands = {{0, "", "known", 1, std::chrono::microseconds(2)}}}}};
  const CostLookup known =
      look_up_costs(&costs, "step", *recording, build_dependencies(*recording));
  CHECK(known.hints.costs == std::vector<std::uint32_t>{2000, 5000, 5000});
  CHECK(known.found.measured == 1);
  CHECK(known.found.hinted == 1);
  CHECK(known.found.guessed == 1);
  CHECK(known.found.first_guessed == 2);
}

TEST_CASE("cost lookup: a plan names the source of its costs and whether its lanes use them") {
  const RecordingPtr recording = stages();
  const auto without = planned(recording, nullptr);
  CHECK_FALSE(contains(to_text(*without), "command costs"));
  const CostProfile costs = costs_of_stages(without->plan_hash);
  const auto with = planned(recording, &costs);
  CHECK(with->plan_hash == without->plan_hash);
  CHECK(with->costs.same_recording);
  CHECK(contains(to_text(*with),
                 "command costs: 36 measured from \"run.reprise: 9 replays of graph step"));
  // Six parallel commands need no more than the minimum number of lanes, so costs may be unused.
  CHECK(contains(to_text(*with), "0 hinted, 0 estimated; used for lanes") == with->lowered.by_cost);
  const auto laned = planned(recording, &costs, Lowering::Lanes(3));
  CHECK(laned->lowered.lanes == 3);
  CHECK(contains(to_text(*laned), "; unused"));
  const CostProfile others = costs_of_stages(1);
  CHECK_FALSE(planned(recording, &others)->costs.same_recording);
}

TEST_CASE(
    "cost lookup: a trace without the graph, without node times, or with another recording "
    "is refused by name") {
  const RecordingPtr recording = stages();
  CostProfile costs = costs_of_stages();
  costs.graphs[0].label = "other";
  CHECK(contains(refused(recording, costs),
                 "run.reprise has no graph \"step\" with node times; it has \"other\""));
  costs.untimed = {"step"};
  CHECK(contains(refused(recording, costs),
                 "run.reprise has graph \"step\", but no replay with node times"));
  const CostProfile same = costs_of_stages();
  CHECK(
      contains(refused(stages("add"), same),
               "is another recording: the first command that differs, 0, is mul in stage 0, and is "
               "add in stage 0 here"));
}

TEST_CASE("cost lookup: commands without a cost and costs of another device cause warnings") {
  const RecordingPtr recording = stages("mul", "tail");
  const CostProfile costs = costs_of_stages();
  const auto plan = planned(recording, &costs);
  const std::vector<Message> warnings = cost_warnings(plan->costs, *plan, "host");
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].id == "costs-unmatched");
  CHECK(warnings[0].command == kStages * kWide);
  CHECK(contains(warnings[0].text, "1 of its commands have no cost in run.reprise"));
  CHECK(contains(warnings[0].text, "command 36, fill tail"));
  CHECK(warnings[1].id == "costs-of-another-device");
  CHECK(contains(warnings[1].text, "measured on some GPU, and this is host"));
  const auto all = planned(stages(), &costs);
  CHECK(cost_warnings(all->costs, *all, "some GPU").empty());
}
