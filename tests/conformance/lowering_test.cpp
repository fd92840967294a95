#include <algorithm>
#include <memory>
#include <random>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::lowering_test {
namespace {

constexpr unsigned kCount = 256;

// Which commands follow the first ones, which fill all buffers.
enum class Commands : std::uint8_t { All, Dispatches };

// A random recording over a few buffers, and the contents that a C++ reference implementation
// computes for them.
class RandomProgram {
 public:
  RandomProgram(const DeviceFixture& f, std::uint32_t seed, Commands of = Commands::All)
      : random_(seed), of_(of) {
    const Kernel mix = f.kernel(shaders::conf_mix), churn = f.kernel(shaders::conf_churn);
    for (unsigned b = 0; b < kBuffers; ++b) {
      buffers_.push_back(f.pool->allocate<unsigned>(kCount, "b" + std::to_string(b)));
      expected_.emplace_back(kCount, b);
    }
    commands_ = std::make_unique<CommandBuffer>(f.recording({.label = "random"}));
    for (unsigned b = 0; b < kBuffers; ++b) commands_->fill(buffers_[b], b);
    for (unsigned i = 0; i < 120; ++i) add(mix, churn);
    commands_->end();
  }
  [[nodiscard]] CommandBuffer& commands() { return *commands_; }

  [[nodiscard]] bool is_right(const DeviceFixture& f) const {
    bool right = true;
    for (unsigned b = 0; b < kBuffers; ++b) right = right && f.values(buffers_[b]) == expected_[b];
    return right;
  }

 private:
  static constexpr unsigned kBuffers = 9;

  void add(const Kernel& mix, const Kernel& churn) {
    const unsigned from = below(kBuffers), to = below(kBuffers);
    const unsigned length = 1 + below(kCount / 2), at = below(kCount / 2),
                   other = below(kCount / 2);
    const unsigned value = static_cast<unsigned>(random_());
    const auto source = expected_[from].begin() + other;
    const auto destination = expected_[to].begin() + at;
    switch (of_ == Commands::Dispatches ? 2 + below(3) : below(4)) {
      case 4: {  // of any length, which disturbs the order of what runs beside it
        const unsigned rounds = below(2000);
        commands_->dispatch(churn, {.grid = ceil_div(length, 16), .block = 16},
                            read_write(buffers_[to].slice(at, length)), rounds, length);
        for (unsigned i = 0; i < length; ++i) {
          for (unsigned r = 0; r < rounds; ++r)
            destination[i] = destination[i] * 1664525u + 1013904223u;
        }
        return;
      }
      case 0:
        commands_->fill(buffers_[to].slice(at, length), value);
        std::fill_n(destination, length, value);
        return;
      case 1:
        if (from == to) return;
        commands_->copy(buffers_[from].slice(other, length), buffers_[to].slice(at, length));
        std::copy_n(source, length, destination);
        return;
      default:
        if (from == to) return;
        commands_->dispatch(mix, {.grid = ceil_div(length, 64), .block = 64},
                            read(buffers_[from].slice(other, length)),
                            read_write(buffers_[to].slice(at, length)), value, length);
        for (unsigned i = 0; i < length; ++i)
          destination[i] = destination[i] * 1664525u + (source[i] ^ value) + 1013904223u;
        return;
    }
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

  std::mt19937 random_;
  Commands of_;
  std::vector<GpuRef<unsigned>> buffers_;
  std::vector<std::vector<unsigned>> expected_;
  std::unique_ptr<CommandBuffer> commands_;
};

}  // namespace

TEST_CASE_FIXTURE(
    DeviceFixture,
    "lowering: Faithful, Auto and Lanes match a C++ reference for random recordings") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  for (std::uint32_t round = 0; round < 5; ++round) {
    RandomProgram program(*this, seed + round);
    std::vector<std::uint64_t> plan_hashes;
    for (const Lowering lowering : {Lowering::Faithful, Lowering::Auto, Lowering::Lanes(1),
                                    Lowering::Lanes(3), Lowering::Lanes(64)}) {
      CapturedGraph graph = compile(program.commands(), lowering);
      plan_hashes.push_back(graph.report().plan_hash);
      for (int replay = 0; replay < 2; ++replay) {
        graph.launch(queue).wait();
        REQUIRE(program.is_right(*this));
      }
    }
    for (const std::uint64_t hash : plan_hashes) CHECK(hash == plan_hashes.front());
  }
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "lowering: Auto adds entry and exit kernels around many roots and leaves, "
                  "Faithful adds nothing") {
  std::vector<GpuRef<unsigned>> parts;
  CommandBuffer cmd = recording();
  for (unsigned i = 0; i < 200; ++i) {
    parts.push_back(pool->allocate<unsigned>(16, "part"));
    cmd.dispatch(kernel(shaders::conf_set), {.grid = 1, .block = 16}, write(parts.back()), i, 16u);
  }
  CapturedGraph faithful = compile(cmd, Lowering::Faithful),
                automatic = compile(cmd, Lowering::Auto.without_segments());
  CHECK_FALSE(faithful.report().entry_exit);
  CHECK(faithful.report().added_edges == 0);
  CHECK(faithful.node_count() == 200);
  CHECK(automatic.report().entry_exit);
  CHECK(automatic.report().lanes >= 1);
  CHECK(automatic.report().lanes <= 128);
  CHECK(automatic.node_count() == 202);
  CHECK(automatic.report().needed_edges == 0);
  automatic.launch(queue).wait();
  for (unsigned i = 0; i < 200; i += 33) CHECK(values(parts[i]) == std::vector<unsigned>(16, i));
}

TEST_CASE_FIXTURE(DeviceFixture, "lowering: a number of lanes outside 1 to 65535 is refused") {
  CommandBuffer cmd = recording();
  cmd.host([] {});
  cmd.end();
  check_refused(ErrorCode::InvalidArgument, {},
                [&] { static_cast<void>(device.compile(cmd, {.lowering = Lowering::Lanes(0)})); });
  check_refused(ErrorCode::InvalidArgument, {}, [&] {
    static_cast<void>(device.compile(cmd, {.lowering = Lowering::Lanes(65536)}));
  });
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "lowering: Persistent matches a C++ reference for random recordings") {
  if (device.info().limits.max_segment_blocks == 0) return;
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  for (std::uint32_t round = 0; round < 20; ++round) {
    RandomProgram program(*this, seed + round,
                          round % 4 == 0 ? Commands::All : Commands::Dispatches);
    CapturedGraph faithful = compile(program.commands(), Lowering::Faithful),
                  persistent = compile(program.commands(), Lowering::Persistent);
    CHECK(faithful.report().plan_hash == persistent.report().plan_hash);
    CHECK(faithful.report().lowering_hash != persistent.report().lowering_hash);
    const SegmentsReport& segments = persistent.report().segments;
    CHECK(segments.segments != 0);
    CHECK(segments.items >= segments.commands);
    CHECK(segments.commands + segments.left_out.size() == persistent.report().commands);
    for (int replay = 0; replay < 5; ++replay) {
      persistent.launch(queue).wait();
      REQUIRE(program.is_right(*this));
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "lowering: on a GPU, Auto makes a segment of many dispatches of one block") {
  const auto x = buffer(std::vector<unsigned>(64, 1), "x"),
             y = buffer(std::vector<unsigned>(64, 1), "y");
  const auto record = [&](unsigned dispatches, unsigned last_blocks) {
    CommandBuffer cmd = recording();
    for (unsigned i = 0; i < dispatches; ++i) {
      const auto& of = i % 2 == 0 ? x : y;
      const unsigned blocks = i + 1 == dispatches ? last_blocks : 1;
      cmd.dispatch(kernel(shaders::conf_add), {.grid = blocks, .block = 64}, read(of), write(of),
                   1u, 64u);
    }
    cmd.end();
    return cmd;
  };
  const auto segments_of = [&](const CommandBuffer& commands, Lowering lowering) {
    CapturedGraph graph = device.compile(commands, {.pool = pool, .lowering = lowering});
    graph.launch(queue).wait();
    return graph.report().segments.segments;
  };
  const CommandBuffer many = record(100, 1), few = record(98, 1), wide = record(100, 2);
  const std::uint32_t expected = is_host() || device.info().limits.max_segment_blocks == 0 ? 0 : 1;
  CHECK(segments_of(many, Lowering::Auto) == expected);
  CHECK(segments_of(many, Lowering::Auto.without_segments()) == 0);
  CHECK(segments_of(few, Lowering::Auto) == 0);
  CHECK(segments_of(wide, Lowering::Auto) == 0);
  CHECK(values(x) == std::vector<unsigned>(64, 200));
  CHECK(values(y) == std::vector<unsigned>(64, 200));

  // An update keeps the segment, or gives it up.
  CapturedGraph graph = device.compile(many, {.pool = pool, .lowering = Lowering::Auto});
  CHECK(graph.update(many).done());
  graph.launch(queue).wait();
  CHECK(graph.update(wide).done());
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(64, 300));
}

TEST_CASE_FIXTURE(DeviceFixture, "lowering: the report names the commands outside of segments") {
  if (device.info().limits.max_segment_blocks == 0) return;
  constexpr std::size_t kLarge = 20'000;  // words
  const auto all = pool->allocate<unsigned>(kLarge, "all"), x = all.slice(0, 64);
  CommandBuffer cmd = recording();
  const auto add = [&] {
    cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 64}, read(x), write(x), 1u, 64u);
  };
  cmd.fill(x, 1u);
  add();
  cmd.fill(all, 5u);
  add();
  CapturedGraph graph = compile(cmd, Lowering::Persistent);
  const SegmentsReport& segments = graph.report().segments;
  CHECK(segments.segments == 1);
  CHECK(segments.commands == 2);
  CHECK(segments.items == 2);
  CHECK(segments.lists == 1);
  REQUIRE(segments.left_out.size() == 2);
  CHECK(segments.left_out[0].command == 2);
  CHECK(segments.left_out[0].reason == "transfers more than 16 KiB");
  CHECK(segments.left_out[1].command == 3);
  CHECK(segments.left_out[1].reason == "no other command beside it");
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(64, 6));
}

TEST_CASE_FIXTURE(DeviceFixture, "lowering: segments follow updates, also of the grid") {
  if (device.info().limits.max_segment_blocks == 0) return;
  constexpr unsigned kWords = 4096;
  const auto x = pool->allocate<unsigned>(kWords, "x"), y = pool->allocate<unsigned>(kWords, "y");
  const auto record = [&](unsigned value, unsigned block) {
    CommandBuffer cmd = recording();
    cmd.dispatch(kernel(shaders::conf_set), {.grid = kWords / block, .block = block}, write(x),
                 slot("value", value), kWords);
    cmd.dispatch(kernel(shaders::conf_add), {.grid = kWords / block, .block = block}, read(x),
                 write(y), 1u, kWords);
    cmd.end();
    return cmd;
  };
  CommandBuffer first = record(3, 64);
  CapturedGraph graph = compile(first, Lowering::Persistent);
  const auto check = [&](unsigned expected) {
    graph.launch(queue).wait();
    CHECK(values(y) == std::vector<unsigned>(kWords, expected));
  };
  check(4);
  graph.scalar<unsigned>("value").set(7);
  check(8);
  for (const unsigned block : {16u, 1024u, 64u}) {
    static_cast<void>(graph.update(record(20 + block, block)));
    check(21 + block);
  }
  const auto z = pool->allocate<unsigned>(kWords, "z");
  static_cast<void>(graph.rebind(y, z));
  graph.launch(queue).wait();
  CHECK(values(z) == std::vector<unsigned>(kWords, 85));
}

TEST_CASE_FIXTURE(DeviceFixture, "lowering: a MemoryGoal and Persistent exclude each other") {
  if (device.info().limits.max_segment_blocks == 0) return;
  CommandBuffer cmd = recording();
  cmd.host([] {});
  cmd.end();
  check_refused(ErrorCode::InvalidArgument, {"Lowering::Persistent"}, [&] {
    static_cast<void>(device.compile(
        cmd, {.lowering = Lowering::Persistent, .memory_goal = MemoryGoal::Minimum}));
  });
}

}  // namespace reprise::test::lowering_test
