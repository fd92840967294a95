#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/paths.hpp"
#include "support/temporary_folder.hpp"
#include "unit/runtime/fake_tunable.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

constexpr TuneDesc kTune{.pairs = 9, .budget = std::chrono::seconds(60)};
constexpr TuneDesc kRepeatable{
    .contents = TuneDesc::Contents::Repeatable, .pairs = 9, .budget = std::chrono::seconds(60)};

// Launch times in nanoseconds for which 8 lanes are the fastest lowering.
double prefer_8_lanes(const detail::Plan& plan) { return plan.lowered.lanes == 8 ? 5000 : 9000; }

}  // namespace

TEST_CASE("tune: the fastest lowering is selected, and the report gives the ratio") {
  FakeTunable tunable(prefer_8_lanes);
  CapturedGraph graph = tunable.make_wide();
  const std::uint64_t plan = graph.report().plan_hash, lowering = graph.report().lowering_hash;
  const TuneReport report = graph.tune(tunable.queue, kTune);
  REQUIRE(report.has_changed());
  CHECK(report.candidates[report.chosen].name == "lanes 8");
  CHECK(report.candidates[report.chosen].ratio == doctest::Approx(5.0 / 9));
  CHECK(report.candidates[report.chosen].median.count() == doctest::Approx(5));
  CHECK(report.confirmed_ratio == doctest::Approx(5.0 / 9));
  CHECK(graph.report().plan_hash == plan);
  CHECK(graph.report().lowering_hash != lowering);
  CHECK(graph.report().lanes == 8);
  CHECK(graph.num_replays() == 0);
  CHECK(graph.launch(tunable.queue).replay() == 1);
  tunable.device.wait_idle();
  tunable.fake.world.wait_until_execs(1);
}

TEST_CASE("tune: a graph keeps its executable if no candidate is faster") {
  FakeTunable tunable([](const detail::Plan&) { return 7000.0; });
  CapturedGraph graph = tunable.make_wide();
  const std::uint64_t lowering = graph.report().lowering_hash;
  const TuneReport report = graph.tune(tunable.queue, kRepeatable);
  CHECK_FALSE(report.has_changed());
  CHECK(graph.report().lowering_hash == lowering);
  for (const TuneCandidate& candidate : report.candidates)
    CHECK((candidate.pairs != 0 || !candidate.reason.empty()));
  tunable.fake.world.wait_until_execs(1);
  CHECK(error_of([&] { graph.save_tuning("never-written"); }).code == ErrorCode::InvalidState);
}

TEST_CASE("tune: a candidate that is faster in every second measurement is not selected") {
  int launches = 0;
  FakeTunable tunable([&launches](const detail::Plan& plan) {
    if (plan.lowered.lanes != 16) return 9000.0;
    return ++launches % 128 < 64 ? 1000.0 : 9500.0;
  });
  CapturedGraph graph = tunable.make_wide();
  CHECK_FALSE(graph.tune(tunable.queue, kRepeatable).has_changed());
}

TEST_CASE("tune: a candidate with only one faster executable loses to the next best") {
  constexpr int kFirstLaunches = 600;  // approximate number of launches of the first executable
  int of_8_lanes = 0;
  FakeTunable tunable([&of_8_lanes](const detail::Plan& plan) {
    if (plan.lowered.lanes == 8) return ++of_8_lanes < kFirstLaunches ? 5000.0 : 9000.0;
    return plan.lowered.lanes == 16 ? 6000.0 : 9000.0;
  });
  CapturedGraph graph = tunable.make_wide();
  const TuneReport report = graph.tune(tunable.queue, kRepeatable);
  REQUIRE(report.has_changed());
  CHECK(report.candidates[report.chosen].name == "lanes 16");
  for (const TuneCandidate& candidate : report.candidates) {
    if (candidate.name == "lanes 8") CHECK(candidate.reason == "did not win a second time");
  }
}

TEST_CASE("tune: equal lowerings are measured once") {
  FakeTunable tunable([](const detail::Plan&) { return 7000.0; });
  const auto buffer = tunable.pool->allocate<int>(64, "x");
  CommandBuffer commands = tunable.device.create_command_buffer({.label = "chain"});
  commands.begin();
  for (int i = 0; i < 5; ++i) commands.fill(buffer, i);
  commands.end();
  CapturedGraph graph = tunable.device.compile(commands);
  const TuneReport report = graph.tune(tunable.queue, kRepeatable);
  REQUIRE(report.candidates.size() > 2);
  for (std::size_t i = 1; i < report.candidates.size(); ++i)
    CHECK(report.candidates[i].reason == "the same graph as an earlier candidate");
}

namespace {

// A graph in one lane, where the transients share bytes because the second is written after the
// first is read. With several lanes they are live concurrently and need more memory.
CapturedGraph make_with_transients(const FakeTunable& tunable) {
  const auto first = tunable.pool->transient<int>(1024, "first"),
             second = tunable.pool->transient<int>(1024, "second");
  const auto kept = tunable.pool->allocate<int>(1024, "kept"),
             other = tunable.pool->allocate<int>(1024, "other");
  CommandBuffer commands = tunable.device.create_command_buffer({.label = "transients"});
  commands.begin();
  commands.fill(first, 1);
  commands.copy(first, kept);
  for (int i = 0; i < 3; ++i) commands.fill(kept, i);
  commands.fill(second, 2);
  commands.copy(second, other);
  commands.end();
  return tunable.device.compile(commands, {.pool = tunable.pool, .lowering = Lowering::Lanes(1)});
}

}  // namespace

TEST_CASE("tune: a selected lowering may need a larger slab, and the candidates go first") {
  FakeTunable tunable(
      [](const detail::Plan& plan) { return plan.placement.slab_bytes > 4096 ? 5000.0 : 9000.0; });
  CapturedGraph graph = make_with_transients(tunable);
  CHECK(graph.report().slab_bytes == 4096);
  CHECK(graph.tune(tunable.queue, kRepeatable).has_changed());
  CHECK(graph.report().slab_bytes == 8192);
  tunable.device.wait_idle();
}

TEST_CASE("tune: a lowering that lacks memory is skipped, and the report names it") {
  FakeTunable tunable(prefer_8_lanes);
  CapturedGraph graph = make_with_transients(tunable);
  tunable.fake.world.limit_bytes(tunable.fake.world.memory_bytes() + 64);
  const TuneReport report = graph.tune(tunable.queue, kRepeatable);
  bool is_skipped = false;
  for (const TuneCandidate& candidate : report.candidates)
    is_skipped |= candidate.pairs == 0 && candidate.reason.find("bytes") != std::string::npos;
  CHECK(is_skipped);
  static_cast<void>(graph.launch(tunable.queue));
  tunable.device.wait_idle();
}

TEST_CASE("tune: an error names contents that cannot be saved, and nothing changes") {
  FakeTunable tunable(prefer_8_lanes);
  CapturedGraph graph = tunable.make_wide();
  tunable.fake.world.limit_bytes(tunable.fake.world.memory_bytes() + 64);
  const std::string text = text_of([&] { (void)graph.tune(tunable.queue, kTune); });
  CHECK(text.find("bytes to save the buffers that replays of wide write") != std::string::npos);
  CHECK_FALSE(graph.tune(tunable.queue, kRepeatable).candidates.empty());
}

TEST_CASE("tune: after a failure of any call, the graph can be launched and nothing leaks") {
  for (std::uint64_t n = 0; n < 400; n = n < 40 ? n + 1 : n + 23) {
    FakeTunable tunable(prefer_8_lanes);
    CapturedGraph graph = tunable.make_wide();
    tunable.fake.world.fail_call(n);
    try {
      static_cast<void>(graph.tune(tunable.queue, kTune));
    } catch (const Error&) {
      // The error depends on the failed call.
    }
    tunable.fake.world.fail_nothing();
    static_cast<void>(graph.launch(tunable.queue));
    tunable.device.wait_idle();
  }
}

TEST_CASE("tuning file: the next compile reads the selected lowering, and other entries are kept") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "tuning.json";
  std::uint64_t lowering = 0;
  {
    FakeTunable tunable(prefer_8_lanes);
    CapturedGraph graph = tunable.make_wide();
    REQUIRE(graph.tune(tunable.queue, kRepeatable).has_changed());
    graph.save_tuning(file);
    graph.save_tuning(file);  // replaces the entry
    lowering = graph.report().lowering_hash;
    tunable.device.wait_idle();
  }
  const std::string text = text_of_file(file);
  CHECK(text.find("\"lanes 8\"") != std::string::npos);
  CHECK(text.find("\"lanes 8\"") == text.rfind("\"lanes 8\""));
  FakeTunable tunable(prefer_8_lanes);
  CapturedGraph tuned = tunable.make_wide({.tuning_file = file});
  CHECK(tuned.report().lowering_hash == lowering);
  tuned.save_tuning(file);
  CHECK(tunable.make_wide({.tuning_file = "there is no such file"}).report().lowering_hash !=
        lowering);
  // The file has no entry for this graph.
  const auto a = tunable.pool->allocate<int>(4, "a");
  CommandBuffer commands = tunable.device.create_command_buffer({.label = "other"});
  commands.begin();
  commands.fill(a, 1);
  commands.end();
  CHECK(tunable.device.compile(commands, {.tuning_file = file}).report().lanes == 0);
}

TEST_CASE("tuning file: another file is refused by name and never overwritten") {
  FakeTunable tunable(prefer_8_lanes);
  CapturedGraph graph = tunable.make_wide();
  REQUIRE(graph.tune(tunable.queue, kRepeatable).has_changed());
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "broken.json";
  const std::string deep = "{\"reprise_tuning\": 1, \"graphs\": [" + std::string(200'000, '[') +
                           std::string(200'000, ']') + "]}";
  for (const std::string& content :
       {std::string(), std::string("not JSON"), std::string("{\"reprise_tuning\": 1}"),
        std::string("{\"reprise_tuning\": 2, \"graphs\": []}"), std::string("[1]"), deep}) {
    CAPTURE(content);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
    CHECK(error_of([&] { (void)tunable.make_wide({.tuning_file = file}); }).code ==
          ErrorCode::InvalidArgument);
    CHECK(error_of([&] { graph.save_tuning(file); }).code == ErrorCode::InvalidArgument);
    CHECK(text_of_file(file) == content);
  }
  // A directory.
  CHECK(error_of([&] { (void)tunable.make_wide({.tuning_file = folder.path()}); }).code ==
        ErrorCode::InvalidArgument);
  // Invalid entries for this graph.
  std::filesystem::remove(file);
  graph.save_tuning(file);
  std::string text = text_of_file(file);
  const std::size_t at = text.find("\"lanes\": 8");
  REQUIRE(at != std::string::npos);
  for (const std::string value :
       {"\"lanes\": 0", "\"lanes\": -1", "\"lanes\": \"x\"", "\"lanes\": 70000",
        "\"lanes\": 4294967297", "\"lanes\": 1.5", "\"lanes\": 1e10"}) {
    CAPTURE(value);
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        << (text.substr(0, at) + value + text.substr(at + 10));
    CHECK(error_of([&] { (void)tunable.make_wide({.tuning_file = file}); }).code ==
          ErrorCode::InvalidArgument);
  }
  CHECK(error_of([&] { graph.save_tuning("/there/is/no/such/folder/tuning.json"); }).code ==
        ErrorCode::NativeFailure);
  tunable.device.wait_idle();
}
