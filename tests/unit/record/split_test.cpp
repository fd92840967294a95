#include <doctest/doctest.h>

#include <random>
#include <thread>

#include "base/handle_access.hpp"
#include "unit/record/record_fixture.hpp"
#include "unit/record/recording_dump.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

// A random command sequence over a few buffers and kernels that any recorder can record.
class Script {
 public:
  Script(RecordFixture& f, std::uint32_t seed) : random_(seed) {
    for (int i = 0; i < 6; ++i)
      buffers_.push_back(f.buffer<std::uint32_t>(64, "b" + std::to_string(i)));
    kernels_ = {f.kernel("one", "vp"), f.kernel("two", "ppv")};
    for (int i = 0; i < 200; ++i) steps_.push_back(random_());
  }
  [[nodiscard]] std::size_t size() const { return steps_.size(); }

  void record(Recorder& to, std::size_t first, std::size_t end) const {
    for (std::size_t i = first; i < end; ++i) step(to, steps_[i]);
  }

 private:
  void step(Recorder& to, std::uint32_t bits) const {
    const auto& x = buffers_[bits % 6];
    const auto& y = buffers_[(bits / 6) % 6];
    const std::uint32_t value = bits >> 8;
    auto scope = value % 3 == 0 ? to.label("group")
                                : to.label("other", {static_cast<std::uint8_t>(value % 7), 0, 0});
    switch ((bits / 36) % 8) {
      case 0: to.dispatch(kernels_[0], {.grid = value % 9 + 1}, value, write(x)); return;
      case 1:
        to.dispatch(kernels_[1], {.block = 32}, read(x.slice(3, 0)), read_write(y), value);
        return;
      case 2: to.copy(x.slice(0, 20), y.slice(30, 20)); return;
      case 3:
        to.copy(x.slice(0, 30), y.slice(32, 30),
                {.extent = {8, 3, 1}, .source = {16, 0}, .destination = {24, 0}});
        return;
      case 4: to.fill(x, value, {.width = 4, .height = 5}, {.row = 12}); return;
      case 5: to.update(y, std::as_bytes(std::span(&value, 1))); return;
      case 6: to.host([] {}, {read(x), write(y)}); return;
      case 7: to.barrier({.buffer = x}); return;
    }
  }

  std::mt19937 random_;
  std::vector<GpuRef<std::uint32_t>> buffers_;
  std::vector<Kernel> kernels_;
  std::vector<std::uint32_t> steps_;
};

}  // namespace

TEST_CASE("split: n recorders on n threads give the same recording as one, including indices") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  RecordFixture f;
  const Script script(f, seed);
  CommandBuffer one = f.recording();
  script.record(one, 0, script.size());
  const std::string expected = dump(*frozen(one));

  CommandBuffer many = f.recording();
  script.record(many, 0, 20);
  std::vector<Recorder> recorders = many.split(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back(
        [&script, &recorders, t] { script.record(recorders[t], 20 + 40 * t, 60 + 40 * t); });
  }
  // Recorded concurrently, ordered after all split recorders.
  script.record(many, 180, script.size());
  for (auto& thread : threads) thread.join();
  CHECK(dump(*frozen(many)) == expected);
}

TEST_CASE("split: repeated splits with commands between them keep the order") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  RecordFixture f;
  const Script script(f, seed);
  CommandBuffer one = f.recording();
  script.record(one, 0, 100);
  const std::string expected = dump(*frozen(one));

  CommandBuffer many = f.recording();
  std::vector<Recorder> first = many.split(2);
  script.record(many, 30, 40);
  std::vector<Recorder> second = many.split(1);
  std::vector<Recorder> third = many.split(1);
  script.record(third[0], 60, 90);
  script.record(many, 90, 100);
  script.record(second[0], 40, 60);
  script.record(first[1], 10, 30);
  script.record(first[0], 0, 10);
  CHECK(dump(*frozen(many)) == expected);
}

TEST_CASE("split: recorders start under the label that is open at split()") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  std::vector<Recorder> recorders;
  {
    auto scope = cmd.label("forward");
    recorders = cmd.split(2);
  }
  recorders[0].host([] {});
  {
    auto scope = recorders[1].label("layer");
    recorders[1].host([] {});
    const Error error = thrown_by([&] { recorders[1].host({}); });
    CHECK(error.details().label == "forward/layer");
  }
  cmd.host([] {});
  const auto r = frozen(cmd);
  CHECK(r->label_path(r->commands[0].label) == "forward");
  CHECK(r->label_path(r->commands[1].label) == "forward/layer");
  CHECK(r->label_path(r->commands[2].label).empty());
}

TEST_CASE("split: end() with an open label in a recorder is InvalidState and can be retried") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  auto recorders = cmd.split(2);
  recorders[1].begin_label("open");
  recorders[1].host([] {});
  const Error error = thrown_by([&] { cmd.end(); });
  CHECK(error.code() == ErrorCode::InvalidState);
  CHECK(std::string(error.what()).find("label open is still open in recorder 1") !=
        std::string::npos);
  recorders[1].end_label();
  CHECK(frozen(cmd)->commands.size() == 1);
}

TEST_CASE("split: end_label in a recorder does not close the label that was open at split()") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  auto scope = cmd.label("outer");
  auto recorders = cmd.split(1);
  CHECK(thrown_by([&] { recorders[0].end_label(); }).code() == ErrorCode::InvalidState);
}

TEST_CASE("split: recorders of an ended recording are InvalidState") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  auto recorders = cmd.split(1);
  recorders[0].host([] {});
  cmd.end();
  const Error after_end = thrown_by([&] { recorders[0].host([] {}); });
  CHECK(after_end.code() == ErrorCode::InvalidState);
  CHECK(recorders[0].command_count() == 1);
  cmd.begin();
  const Error after_begin = thrown_by([&] { recorders[0].host([] {}); });
  CHECK(after_begin.code() == ErrorCode::InvalidState);
  CHECK(std::string(after_begin.what()).find("earlier recording") != std::string::npos);
}

TEST_CASE("split: a count of 0 or of a thousand million is InvalidArgument") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  CHECK(thrown_by([&] { static_cast<void>(cmd.split(1'000'000'000)); }).code() ==
        ErrorCode::InvalidArgument);
  CHECK(thrown_by([&] { static_cast<void>(cmd.split(0)); }).code() == ErrorCode::InvalidArgument);
}

TEST_CASE("split: edges between recorders become edges between merged commands") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  const CommandRef first = cmd.host([] {});
  auto recorders = cmd.split(2);
  const CommandRef late = cmd.host([] {});
  const CommandRef a = recorders[0].host([] {});
  recorders[1].host([] {});
  const CommandRef b = recorders[1].host([] {});
  recorders[0].edge(b, a);
  recorders[1].edge(first, b);
  cmd.edge(late, a);
  const auto r = frozen(cmd);
  REQUIRE(r->edges.size() == 3);
  const auto has = [&r](std::uint32_t before, std::uint32_t after) {
    for (const auto& edge : r->edges) {
      if (edge.before == before && edge.after == after) return true;
    }
    return false;
  };
  CHECK(has(3, 1));
  CHECK(has(0, 3));
  CHECK(has(4, 1));
}

TEST_CASE("split: end() refuses an edge to a command that was never recorded") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  const CommandRef first = cmd.host([] {});
  auto recorders = cmd.split(1);
  const CommandRef real = recorders[0].host([] {});
  cmd.edge(first, CommandRef{real.recorder, 5});
  const Error error = thrown_by([&] { cmd.end(); });
  CHECK(error.code() == ErrorCode::InvalidArgument);
  CHECK(std::string(error.what()).find("split_test.cpp:") != std::string::npos);
  CHECK(cmd.state() == CommandBufferState::Recording);
}

TEST_CASE("split: several threads record several command buffers of one device") {
  RecordFixture f;
  const Script script(f, 7);
  CommandBuffer one = f.recording();
  script.record(one, 0, script.size());
  const std::string expected = dump(*frozen(one));
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < found.size(); ++t) {
    threads.emplace_back([&, t] {
      CommandBuffer cmd = f.recording();
      script.record(cmd, 0, script.size());
      cmd.end();
      found[t] = dump(*detail::core_of(cmd)->recording());
    });
  }
  for (auto& thread : threads) thread.join();
  for (const std::string& text : found) CHECK(text == expected);
}
