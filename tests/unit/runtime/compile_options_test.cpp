// Every option of CompileDesc holds after each operation that makes another plan or executable of a
// graph.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/split_mix.hpp"
#include "compile/tuning_file.hpp"
#include "support/paths.hpp"
#include "unit/runtime/fake_tunable.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

constexpr TuneDesc kTuneAll{
    .contents = TuneDesc::Contents::Repeatable, .pairs = 9, .budget = std::chrono::seconds(60)};

// Graphs with independent fills, which are the fastest in 8 lanes, and a chain of commands whose
// transients a search places in fewer bytes.
struct OptionsSubject : FakeTunable {
  OptionsSubject()
      : FakeTunable(
            [](const detail::Plan& plan) { return plan.lowered.lanes == 8 ? 5000.0 : 9000.0; }) {
    for (int i = 0; i < 41; ++i) wide.push_back(pool->allocate<int>(64, "wide", PerReplica{2}));
  }

  [[nodiscard]] CommandBuffer record(std::size_t fills, int value = 1) const {
    constexpr std::uint32_t kTransients = 36, kMaxSize = 40;  // in units of 64 numbers
    detail::SplitMix64 random(6);
    CommandBuffer commands = device.create_command_buffer({.label = "step"});
    commands.begin();
    for (std::size_t i = 0; i < fills; ++i) commands.fill(wide[i], value);
    std::vector<GpuRef<int>> live;
    CommandRef last;
    const auto chain = [&](const CommandRef& next, bool is_first) {
      if (!is_first) commands.edge(last, next);
      last = next;
    };
    for (std::uint32_t made = 0; made < kTransients || !live.empty();) {
      if (made < kTransients && (live.size() < 3 || random.next() % 5 < 3)) {
        live.push_back(pool->transient<int>(64 * (1 + random.next() % kMaxSize), "t"));
        chain(commands.fill(live.back(), value), made++ == 0);
        continue;
      }
      const std::size_t i = random.next() % live.size();
      chain(commands.copy(live[i], sink.slice(0, live[i].size())), false);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
    }
    commands.end();
    return commands;
  }

  std::vector<GpuRef<int>> wide;
  GpuRef<int> sink = pool->allocate<int>(64 * 40, "sink", PerReplica{2});
};

struct MadeGraph {
  const char* name;
  std::function<CapturedGraph(const OptionsSubject&, const CompileDesc&)> make;
  bool is_tuned = false;
};

CapturedGraph compiled(const OptionsSubject& subject, const CompileDesc& desc) {
  return subject.device.compile(subject.record(40), desc);
}

const std::filesystem::path& tuning_of_subject(const OptionsSubject& subject) {
  static const std::filesystem::path path = [&] {
    CapturedGraph graph = compiled(subject, {});
    REQUIRE(graph.tune(subject.queue, kTuneAll).has_changed());
    const std::filesystem::path file = scratch_folder() / "compile_options.tuning.json";
    std::filesystem::remove(file);
    graph.save_tuning(file);
    return file;
  }();
  return path;
}

CompileDesc with_tuning_file(const OptionsSubject& subject, CompileDesc desc) {
  desc.tuning_file = tuning_of_subject(subject);
  return desc;
}

CapturedGraph tuned(const OptionsSubject& subject, const CompileDesc& desc) {
  CapturedGraph graph = compiled(subject, desc);
  if (desc.replicas == 1) REQUIRE(graph.tune(subject.queue, kTuneAll).has_changed());
  return graph;
}

const std::vector<MadeGraph>& made_graphs() {
  static const std::vector<MadeGraph> all = {
      {"compile", compiled},
      {"an update of the same structure",
       [](const OptionsSubject& subject, const CompileDesc& desc) {
         CapturedGraph graph = compiled(subject, desc);
         REQUIRE(graph.update(subject.record(40, 2)).done());
         return graph;
       }},
      {"an update to another structure",
       [](const OptionsSubject& subject, const CompileDesc& desc) {
         CapturedGraph graph = subject.device.compile(subject.record(41), desc);
         REQUIRE(graph.update(subject.record(40)).done());
         return graph;
       }},
      {"rebind",
       [](const OptionsSubject& subject, const CompileDesc& desc) {
         CapturedGraph graph = compiled(subject, desc);
         REQUIRE(graph.rebind(subject.wide[0], subject.wide[40]).done());
         return graph;
       }},
      {"a tuning file",
       [](const OptionsSubject& subject, const CompileDesc& desc) {
         return compiled(subject, with_tuning_file(subject, desc));
       },
       true},
      {"an update to a recording in the tuning file",
       [](const OptionsSubject& subject, const CompileDesc& desc) {
         CapturedGraph graph =
             subject.device.compile(subject.record(41), with_tuning_file(subject, desc));
         REQUIRE(graph.update(subject.record(40)).done());
         return graph;
       },
       true},
      {"tune", tuned, true},
      {"an update after tune",
       [](const OptionsSubject& subject, const CompileDesc& desc) {
         CapturedGraph graph = tuned(subject, desc);
         REQUIRE(graph.update(subject.record(40, 2)).done());
         return graph;
       },
       true}};
  return all;
}

// Calls check(graph, row) for a graph of each row, compiled with `desc`.
void for_each_made_graph(const CompileDesc& desc,
                         const std::function<void(const CapturedGraph&, const MadeGraph&)>& check) {
  const OptionsSubject subject;
  for (const MadeGraph& row : made_graphs()) {
    INFO("after ", std::string(row.name));
    check(row.make(subject, desc), row);
  }
  subject.device.wait_idle();
}

}  // namespace

TEST_CASE("compile options: fault markers hold after updates and tuning") {
  for_each_made_graph({.lowering = Lowering::Auto.with_fault_markers()},
                      [](const CapturedGraph& graph, const MadeGraph&) {
                        CHECK(graph.to_text().find("fault markers yes") != std::string::npos);
                      });
}

TEST_CASE("compile options: the lowering holds after updates, and tuning replaces it") {
  for_each_made_graph({.lowering = Lowering::Lanes(3)},
                      [](const CapturedGraph& graph, const MadeGraph& row) {
                        CHECK(graph.report().lanes == (row.is_tuned ? 8 : 3));
                      });
}

TEST_CASE("compile options: a search for a smaller slab runs after updates and tuning too") {
  std::vector<std::uint64_t> without;
  for_each_made_graph({}, [&](const CapturedGraph& graph, const MadeGraph&) {
    without.push_back(graph.report().slab_bytes);
  });
  std::size_t row = 0;
  for_each_made_graph({.memory_search_budget = std::chrono::seconds(10)},
                      [&](const CapturedGraph& graph, const MadeGraph&) {
                        CHECK(graph.report().slab_bytes < without[row++]);
                      });
}

TEST_CASE("compile options: the memory goal holds after updates and tuning") {
  for_each_made_graph({.memory_goal = MemoryGoal::Minimum},
                      [](const CapturedGraph& graph, const MadeGraph&) {
                        CHECK(graph.report().memory_tradeoff.goal == MemoryGoal::Minimum);
                      });
}

TEST_CASE("compile options: measured costs hold after updates and tuning") {
  CostProfile costs{.source = "costs of step", .graphs = {{.label = "step", .replays = 1}}};
  costs.graphs[0].commands = {
      {.name = "fill wide", .work = 256, .time = std::chrono::microseconds(5)}};
  for_each_made_graph({.costs = std::make_shared<const CostProfile>(costs)},
                      [](const CapturedGraph& graph, const MadeGraph&) {
                        CHECK(graph.report().costs.measured == 40);
                      });
}

TEST_CASE("compile options: the label holds after updates and tuning") {
  for_each_made_graph({.label = "named"}, [](const CapturedGraph& graph, const MadeGraph&) {
    CHECK(graph.label() == "named");
    CHECK(graph.to_text().find("named") != std::string::npos);
  });
}

TEST_CASE("compile options: the pool and the number of replicas hold after updates and tuning") {
  for_each_made_graph({.replicas = 2}, [](const CapturedGraph& graph, const MadeGraph&) {
    CHECK(graph.report().replicas == 2);
    CHECK(graph.replicas() == 2);
  });
}

TEST_CASE("compile cache: an update to a structure that was compiled twice hits") {
  const OptionsSubject subject;
  CapturedGraph graph = subject.device.compile(subject.record(41));
  for (int i = 0; i < 2; ++i) static_cast<void>(compiled(subject, {}));
  const CompileCacheReport before = subject.device.compile_cache();
  REQUIRE(graph.update(subject.record(41, 2)).done());
  CHECK(subject.device.compile_cache().hits == before.hits);  // the graph has this structure
  CHECK(subject.device.compile_cache().misses == before.misses);
  REQUIRE(graph.update(subject.record(40)).done());
  CHECK(subject.device.compile_cache().hits == before.hits + 1);
  CHECK(graph.report().lowering_hash == compiled(subject, {}).report().lowering_hash);
}

TEST_CASE("update: a graph whose segments cannot be made gets nodes, and keeps them") {
  std::vector<std::string> ids;
  FakeInstance fake(
      {.validation = Validation::Basic,  // Full warns of fills that others overwrite
       .on_message = [&ids](const Message& message) { ids.emplace_back(message.id); }},
      {{.selector = "cuda:0", .kind = DeviceKind::Cuda, .max_segment_blocks = 8}});
  const Device device = fake.open("cuda:0");
  const auto x = device.create_pool()->allocate<int>(64, "x");
  const auto fills = [&](int count) {
    CommandBuffer commands = device.create_command_buffer({.label = "step"});
    commands.begin();
    for (int i = 0; i < count; ++i) commands.fill(x, i);
    commands.end();
    return commands;
  };
  CHECK(device.compile(fills(100)).report().segments.segments == 1);
  CapturedGraph graph = device.compile(fills(3));
  fake.world.fail_call(0);
  REQUIRE(graph.update(fills(100)).done());
  CHECK(fake.world.failed_call() == "instantiate");
  CHECK(graph.report().segments.segments == 0);
  CHECK(graph.report().nodes == 100);
  REQUIRE(graph.report().messages.size() == 1);
  CHECK(graph.report().messages[0].id == "no-segments");
  CHECK(graph.report().messages[0].text.find("graph step") != std::string::npos);
  REQUIRE(graph.update(fills(101)).done());
  CHECK(graph.report().segments.segments == 0);
  CHECK(ids == std::vector<std::string>{"no-segments"});
}

TEST_CASE("tuning file: an entry with segments is refused for a graph without segments") {
  const FakeInstance fake({}, {{.max_segment_blocks = 8}});
  const Device device = fake.open();
  const auto x = device.create_pool()->allocate<int>(64, "x");
  CommandBuffer commands = device.create_command_buffer({.label = "step"});
  commands.begin();
  for (int i = 0; i < 3; ++i) commands.fill(x, i);
  commands.end();
  const detail::TuningKey key{device.info().name, device.compile(commands).report().plan_hash};
  const auto file = scratch_folder() / "segments.tuning.json";
  detail::write_tuning(file, key, {.shape = detail::LoweringConfig::Shape::Segments, .lanes = 4});
  CHECK(device.compile(commands, {.tuning_file = file}).report().segments.segments == 1);
  const CompileDesc without{.lowering = Lowering::Auto.without_segments(), .tuning_file = file};
  const ErrorDetails refused = error_of([&] { (void)device.compile(commands, without); });
  CHECK(refused.code == ErrorCode::InvalidArgument);
  CHECK(refused.label == "step");
  CHECK(text_of([&] { (void)device.compile(commands, without); }).find("without_segments()") !=
        std::string::npos);
}
