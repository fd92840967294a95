#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "unit/run/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

constexpr TuneDesc kTune{.pairs = 9, .budget = std::chrono::seconds(60)};
constexpr TuneDesc kRepeatable{.contents = TuneDesc::Contents::Repeatable, .pairs = 9, .budget = std::chrono::seconds(60)};

// Fills of 40 buffers, none ordered with another.
CapturedGraph make_wide(const Device& device, const std::shared_ptr<CapturePool>& pool, const CompileDesc& desc = {}) {
  CommandBuffer commands = device.create_command_buffer({.label = "wide"});
  commands.begin();
  for (int i = 0; i < 40; ++i) commands.fill(pool->allocate<int>(64, "x"), i);
  commands.end();
  return device.compile(commands, desc);
}

// As if 8 lanes were best.
double likes_8_lanes(const detail::Plan& plan) { return plan.lowered.lanes == 8 ? 5000 : 9000; }

std::string text_in(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name) : path_(std::filesystem::temp_directory_path() / ("reprise-" + std::to_string(stamp()) + "-" + name)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  static long long stamp() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("tune: the fastest lowering takes the graph's place, and the report says by how much") {
  FakeInstance fake;
  fake.world.set_completion(Completion::AtOnce);
  fake.world.set_time_of(likes_8_lanes);
  const Device device = fake.open();
  const Queue queue = device.create_queue({.label = "q"});
  CapturedGraph graph = make_wide(device, device.create_pool());
  const std::uint64_t plan = graph.report().plan_hash, lowering = graph.report().lowering_hash;
  const TuneReport report = graph.tune(queue, kTune);
  REQUIRE(report.has_changed());
  CHECK(report.candidates[report.chosen].name == "lanes 8");
  CHECK(report.candidates[report.chosen].ratio == doctest::Approx(5.0 / 9));
  CHECK(report.candidates[report.chosen].median_us == doctest::Approx(5));
  CHECK(report.confirmed_ratio == doctest::Approx(5.0 / 9));
  CHECK(graph.report().plan_hash == plan);
  CHECK(graph.report().lowering_hash != lowering);
  CHECK(graph.report().lanes == 8);
  CHECK(graph.num_replays() == 0);
  CHECK(graph.launch(queue).replay() == 1);
  device.wait_idle();
  fake.world.wait_until_execs(1);
}

TEST_CASE("tune: a graph than which nothing is faster stays what it is, with its executable") {
  FakeInstance fake;
  fake.world.set_completion(Completion::AtOnce);
  fake.world.set_time_of([](const detail::Plan&) { return 7000.0; });
  const Device device = fake.open();
  const Queue queue = device.create_queue({.label = "q"});
  CapturedGraph graph = make_wide(device, device.create_pool());
  const std::uint64_t lowering = graph.report().lowering_hash;
  const TuneReport report = graph.tune(queue, kRepeatable);
  CHECK_FALSE(report.has_changed());
  CHECK(graph.report().lowering_hash == lowering);
  for (const TuneCandidate& candidate : report.candidates) CHECK((candidate.pairs != 0 || !candidate.reason.empty()));
  fake.world.wait_until_execs(1);
  CHECK(error_of([&] { graph.save_tuning("never-written"); }).code == ErrorCode::InvalidState);
}

TEST_CASE("tune: one that is faster in every other measurement is not chosen") {
  FakeInstance fake;
  fake.world.set_completion(Completion::AtOnce);
  int turn = 0;
  fake.world.set_time_of([&turn](const detail::Plan& plan) { return plan.lowered.lanes == 16 && ++turn % 128 < 64 ? 1000.0 : plan.lowered.lanes == 16 ? 9500.0 : 9000.0; });
  const Device device = fake.open();
  const Queue queue = device.create_queue({.label = "q"});
  CapturedGraph graph = make_wide(device, device.create_pool());
  CHECK_FALSE(graph.tune(queue, kRepeatable).has_changed());
}

TEST_CASE("tune: a lowering that there is no memory for is passed over by name") {
  FakeInstance fake;
  fake.world.set_completion(Completion::AtOnce);
  fake.world.set_time_of(likes_8_lanes);
  const Device device = fake.open();
  const Queue queue = device.create_queue({.label = "q"});
  const auto pool = device.create_pool();
  // In one lane the second transient is written after the first was read; side by side they would not share bytes.
  const auto first = pool->transient<int>(1024, "first"), second = pool->transient<int>(1024, "second");
  const auto kept = pool->allocate<int>(1024, "kept"), other = pool->allocate<int>(1024, "other");
  CommandBuffer commands = device.create_command_buffer({.label = "transients"});
  commands.begin();
  commands.fill(first, 1);
  commands.copy(first, kept);
  for (int i = 0; i < 3; ++i) commands.fill(kept, i);
  commands.fill(second, 2);
  commands.copy(second, other);
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool, .lowering = Lowering::Lanes(1)});
  fake.world.limit_bytes(fake.world.memory_bytes() + 64);
  const TuneReport report = graph.tune(queue, kRepeatable);
  bool passed_over = false;
  for (const TuneCandidate& candidate : report.candidates) passed_over |= candidate.pairs == 0 && candidate.reason.find("bytes") != std::string::npos;
  CHECK(passed_over);
  static_cast<void>(graph.launch(queue));
  device.wait_idle();
}

TEST_CASE("tune: contents that can't be saved are said so, and nothing has changed") {
  FakeInstance fake;
  fake.world.set_completion(Completion::AtOnce);
  fake.world.set_time_of(likes_8_lanes);
  const Device device = fake.open();
  const Queue queue = device.create_queue({.label = "q"});
  CapturedGraph graph = make_wide(device, device.create_pool());
  fake.world.limit_bytes(fake.world.memory_bytes() + 64);
  const std::string text = text_of([&] { (void)graph.tune(queue, kTune); });
  CHECK(text.find("bytes to save what replays of wide write") != std::string::npos);
  CHECK_FALSE(graph.tune(queue, kRepeatable).candidates.empty());
}

TEST_CASE("tune: whichever call fails, the graph can be launched and nothing stays behind") {
  for (std::uint64_t n = 0; n < 400; n = n < 40 ? n + 1 : n + 23) {
    FakeInstance fake;
    fake.world.set_completion(Completion::AtOnce);
    fake.world.set_time_of(likes_8_lanes);
    const Device device = fake.open();
    const Queue queue = device.create_queue({.label = "q"});
    CapturedGraph graph = make_wide(device, device.create_pool());
    fake.world.fail_call(n);
    try {
      static_cast<void>(graph.tune(queue, kTune));
    } catch (const Error&) {
      // Which one depends on the call.
    }
    fake.world.fail_nothing();
    static_cast<void>(graph.launch(queue));
    device.wait_idle();
  }
}

TEST_CASE("tuning file: what was chosen is read by the next compile, and others stay in the file") {
  const TemporaryFile file("tuning.json");
  std::uint64_t lowering = 0;
  {
    FakeInstance fake;
    fake.world.set_completion(Completion::AtOnce);
    fake.world.set_time_of(likes_8_lanes);
    const Device device = fake.open();
    const Queue queue = device.create_queue({.label = "q"});
    CapturedGraph graph = make_wide(device, device.create_pool());
    REQUIRE(graph.tune(queue, kRepeatable).has_changed());
    graph.save_tuning(file.path());
    graph.save_tuning(file.path());  // in its own place
    lowering = graph.report().lowering_hash;
    device.wait_idle();
  }
  const std::string text = text_in(file.path());
  CHECK(text.find("\"lanes 8\"") != std::string::npos);
  CHECK(text.find("\"lanes 8\"") == text.rfind("\"lanes 8\""));
  FakeInstance fake;
  fake.world.set_completion(Completion::AtOnce);
  const Device device = fake.open();
  const auto pool = device.create_pool();
  CapturedGraph tuned = make_wide(device, pool, {.tuning_file = file.path()});
  CHECK(tuned.report().lowering_hash == lowering);
  tuned.save_tuning(file.path());
  CHECK(make_wide(device, pool, {.tuning_file = "there is no such file"}).report().lowering_hash != lowering);
  // A graph that the file does not know.
  const auto a = pool->allocate<int>(4, "a");
  CommandBuffer commands = device.create_command_buffer({.label = "other"});
  commands.begin();
  commands.fill(a, 1);
  commands.end();
  CHECK(device.compile(commands, {.tuning_file = file.path()}).report().lanes == 0);
}

TEST_CASE("tuning file: what is no tuning file is refused by name, and never written over") {
  FakeInstance fake;
  fake.world.set_completion(Completion::AtOnce);
  fake.world.set_time_of(likes_8_lanes);
  const Device device = fake.open();
  const Queue queue = device.create_queue({.label = "q"});
  const auto pool = device.create_pool();
  CapturedGraph graph = make_wide(device, pool);
  REQUIRE(graph.tune(queue, kRepeatable).has_changed());
  const TemporaryFile file("broken.json");
  for (const std::string content : {"", "not JSON", "{\"reprise_tuning\": 1}", "{\"reprise_tuning\": 2, \"graphs\": []}", "[1]"}) {
    CAPTURE(content);
    std::ofstream(file.path(), std::ios::binary | std::ios::trunc) << content;
    CHECK(error_of([&] { (void)make_wide(device, pool, {.tuning_file = file.path()}); }).code == ErrorCode::InvalidArgument);
    CHECK(error_of([&] { graph.save_tuning(file.path()); }).code == ErrorCode::InvalidArgument);
    CHECK(text_in(file.path()) == content);
  }
  // An entry for this graph that says nothing sensible.
  std::filesystem::remove(file.path());
  graph.save_tuning(file.path());
  std::string text = text_in(file.path());
  const std::size_t at = text.find("\"lanes\": 8");
  REQUIRE(at != std::string::npos);
  for (const std::string value : {"\"lanes\": 0", "\"lanes\": -1", "\"lanes\": \"x\"", "\"lanes\": 70000"}) {
    CAPTURE(value);
    std::ofstream(file.path(), std::ios::binary | std::ios::trunc) << (text.substr(0, at) + value + text.substr(at + 10));
    CHECK(error_of([&] { (void)make_wide(device, pool, {.tuning_file = file.path()}); }).code == ErrorCode::InvalidArgument);
  }
  CHECK(error_of([&] { graph.save_tuning("/there/is/no/such/folder/tuning.json"); }).code == ErrorCode::NativeFailure);
  device.wait_idle();
}
