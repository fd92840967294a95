#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "unit/runtime/fake_tunable.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

constexpr TuneDesc kTune{.pairs = 9, .budget = std::chrono::seconds(60)};
constexpr TuneDesc kRepeatable{
    .contents = TuneDesc::Contents::Repeatable, .pairs = 9, .budget = std::chrono::seconds(60)};

// As if 8 lanes were best.
double likes_8_lanes(const detail::Plan& plan) { return plan.lowered.lanes == 8 ? 5000 : 9000; }

std::string text_in(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("reprise-" + std::to_string(timestamp()) + "-" + name)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  static long long timestamp() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  }
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("tune: the fastest lowering takes the graph's place, and the report says by how much") {
  FakeTunable on(likes_8_lanes);
  CapturedGraph graph = on.make_wide();
  const std::uint64_t plan = graph.report().plan_hash, lowering = graph.report().lowering_hash;
  const TuneReport report = graph.tune(on.queue, kTune);
  REQUIRE(report.has_changed());
  CHECK(report.candidates[report.chosen].name == "lanes 8");
  CHECK(report.candidates[report.chosen].ratio == doctest::Approx(5.0 / 9));
  CHECK(report.candidates[report.chosen].median.count() == doctest::Approx(5));
  CHECK(report.confirmed_ratio == doctest::Approx(5.0 / 9));
  CHECK(graph.report().plan_hash == plan);
  CHECK(graph.report().lowering_hash != lowering);
  CHECK(graph.report().lanes == 8);
  CHECK(graph.num_replays() == 0);
  CHECK(graph.launch(on.queue).replay() == 1);
  on.device.wait_idle();
  on.fake.world.wait_until_execs(1);
}

TEST_CASE("tune: a graph than which nothing is faster stays what it is, with its executable") {
  FakeTunable on([](const detail::Plan&) { return 7000.0; });
  CapturedGraph graph = on.make_wide();
  const std::uint64_t lowering = graph.report().lowering_hash;
  const TuneReport report = graph.tune(on.queue, kRepeatable);
  CHECK_FALSE(report.has_changed());
  CHECK(graph.report().lowering_hash == lowering);
  for (const TuneCandidate& candidate : report.candidates)
    CHECK((candidate.pairs != 0 || !candidate.reason.empty()));
  on.fake.world.wait_until_execs(1);
  CHECK(error_of([&] { graph.save_tuning("never-written"); }).code == ErrorCode::InvalidState);
}

TEST_CASE("tune: one that is faster in every other measurement is not chosen") {
  int turn = 0;
  FakeTunable on([&turn](const detail::Plan& plan) {
    if (plan.lowered.lanes != 16) return 9000.0;
    return ++turn % 128 < 64 ? 1000.0 : 9500.0;
  });
  CapturedGraph graph = on.make_wide();
  CHECK_FALSE(graph.tune(on.queue, kRepeatable).has_changed());
}

TEST_CASE("tune: one that was faster as one executable only makes way for the next best") {
  constexpr int kOfFirstSeries = 600;  // launches, about
  int of_8_lanes = 0;
  FakeTunable on([&of_8_lanes](const detail::Plan& plan) {
    if (plan.lowered.lanes == 8) return ++of_8_lanes < kOfFirstSeries ? 5000.0 : 9000.0;
    return plan.lowered.lanes == 16 ? 6000.0 : 9000.0;
  });
  CapturedGraph graph = on.make_wide();
  const TuneReport report = graph.tune(on.queue, kRepeatable);
  REQUIRE(report.has_changed());
  CHECK(report.candidates[report.chosen].name == "lanes 16");
  for (const TuneCandidate& candidate : report.candidates) {
    if (candidate.name == "lanes 8") CHECK(candidate.reason == "did not win a second time");
  }
}

TEST_CASE("tune: what a device would be given twice is measured once") {
  FakeTunable on([](const detail::Plan&) { return 7000.0; });
  const auto buffer = on.pool->allocate<int>(64, "x");
  CommandBuffer commands = on.device.create_command_buffer({.label = "chain"});
  commands.begin();
  for (int i = 0; i < 5; ++i) commands.fill(buffer, i);
  commands.end();
  CapturedGraph graph = on.device.compile(commands);
  const TuneReport report = graph.tune(on.queue, kRepeatable);
  REQUIRE(report.candidates.size() > 2);
  for (std::size_t i = 1; i < report.candidates.size(); ++i)
    CHECK(report.candidates[i].reason == "the same graph as one before it");
}

TEST_CASE("tune: a lowering that there is no memory for is passed over by name") {
  FakeTunable on(likes_8_lanes);
  // In one lane the second transient is written after the first was read; side by side they would
  // not share bytes.
  const auto first = on.pool->transient<int>(1024, "first"),
             second = on.pool->transient<int>(1024, "second");
  const auto kept = on.pool->allocate<int>(1024, "kept"),
             other = on.pool->allocate<int>(1024, "other");
  CommandBuffer commands = on.device.create_command_buffer({.label = "transients"});
  commands.begin();
  commands.fill(first, 1);
  commands.copy(first, kept);
  for (int i = 0; i < 3; ++i) commands.fill(kept, i);
  commands.fill(second, 2);
  commands.copy(second, other);
  commands.end();
  CapturedGraph graph =
      on.device.compile(commands, {.pool = on.pool, .lowering = Lowering::Lanes(1)});
  on.fake.world.limit_bytes(on.fake.world.memory_bytes() + 64);
  const TuneReport report = graph.tune(on.queue, kRepeatable);
  bool passed_over = false;
  for (const TuneCandidate& candidate : report.candidates)
    passed_over |= candidate.pairs == 0 && candidate.reason.find("bytes") != std::string::npos;
  CHECK(passed_over);
  static_cast<void>(graph.launch(on.queue));
  on.device.wait_idle();
}

TEST_CASE("tune: contents that can't be saved are said so, and nothing has changed") {
  FakeTunable on(likes_8_lanes);
  CapturedGraph graph = on.make_wide();
  on.fake.world.limit_bytes(on.fake.world.memory_bytes() + 64);
  const std::string text = text_of([&] { (void)graph.tune(on.queue, kTune); });
  CHECK(text.find("bytes to save what replays of wide write") != std::string::npos);
  CHECK_FALSE(graph.tune(on.queue, kRepeatable).candidates.empty());
}

TEST_CASE("tune: whichever call fails, the graph can be launched and nothing stays behind") {
  for (std::uint64_t n = 0; n < 400; n = n < 40 ? n + 1 : n + 23) {
    FakeTunable on(likes_8_lanes);
    CapturedGraph graph = on.make_wide();
    on.fake.world.fail_call(n);
    try {
      static_cast<void>(graph.tune(on.queue, kTune));
    } catch (const Error&) {
      // Which one depends on the call.
    }
    on.fake.world.fail_nothing();
    static_cast<void>(graph.launch(on.queue));
    on.device.wait_idle();
  }
}

TEST_CASE("tuning file: what was chosen is read by the next compile, and others stay in the file") {
  const TemporaryFile file("tuning.json");
  std::uint64_t lowering = 0;
  {
    FakeTunable on(likes_8_lanes);
    CapturedGraph graph = on.make_wide();
    REQUIRE(graph.tune(on.queue, kRepeatable).has_changed());
    graph.save_tuning(file.path());
    graph.save_tuning(file.path());  // in its own place
    lowering = graph.report().lowering_hash;
    on.device.wait_idle();
  }
  const std::string text = text_in(file.path());
  CHECK(text.find("\"lanes 8\"") != std::string::npos);
  CHECK(text.find("\"lanes 8\"") == text.rfind("\"lanes 8\""));
  FakeTunable on(likes_8_lanes);
  CapturedGraph tuned = on.make_wide({.tuning_file = file.path()});
  CHECK(tuned.report().lowering_hash == lowering);
  tuned.save_tuning(file.path());
  CHECK(on.make_wide({.tuning_file = "there is no such file"}).report().lowering_hash != lowering);
  // A graph that the file does not know.
  const auto a = on.pool->allocate<int>(4, "a");
  CommandBuffer commands = on.device.create_command_buffer({.label = "other"});
  commands.begin();
  commands.fill(a, 1);
  commands.end();
  CHECK(on.device.compile(commands, {.tuning_file = file.path()}).report().lanes == 0);
}

TEST_CASE("tuning file: what is no tuning file is refused by name, and never written over") {
  FakeTunable on(likes_8_lanes);
  CapturedGraph graph = on.make_wide();
  REQUIRE(graph.tune(on.queue, kRepeatable).has_changed());
  const TemporaryFile file("broken.json");
  for (const std::string content : {"", "not JSON", "{\"reprise_tuning\": 1}",
                                    "{\"reprise_tuning\": 2, \"graphs\": []}", "[1]"}) {
    CAPTURE(content);
    std::ofstream(file.path(), std::ios::binary | std::ios::trunc) << content;
    CHECK(error_of([&] { (void)on.make_wide({.tuning_file = file.path()}); }).code ==
          ErrorCode::InvalidArgument);
    CHECK(error_of([&] { graph.save_tuning(file.path()); }).code == ErrorCode::InvalidArgument);
    CHECK(text_in(file.path()) == content);
  }
  // An entry for this graph that says nothing sensible.
  std::filesystem::remove(file.path());
  graph.save_tuning(file.path());
  std::string text = text_in(file.path());
  const std::size_t at = text.find("\"lanes\": 8");
  REQUIRE(at != std::string::npos);
  for (const std::string value :
       {"\"lanes\": 0", "\"lanes\": -1", "\"lanes\": \"x\"", "\"lanes\": 70000"}) {
    CAPTURE(value);
    std::ofstream(file.path(), std::ios::binary | std::ios::trunc)
        << (text.substr(0, at) + value + text.substr(at + 10));
    CHECK(error_of([&] { (void)on.make_wide({.tuning_file = file.path()}); }).code ==
          ErrorCode::InvalidArgument);
  }
  CHECK(error_of([&] { graph.save_tuning("/there/is/no/such/folder/tuning.json"); }).code ==
        ErrorCode::NativeFailure);
  on.device.wait_idle();
}
