// Borrowed host memory has accesses like a buffer: overlapping bytes decide.
#include <algorithm>
#include <span>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::borrowed_memory_test {
namespace {

constexpr unsigned kCount = 4096, kRounds = 3000, kReplays = 10;
constexpr DispatchDesc kWords{.grid = kCount / 256, .block = 256};

unsigned churned(unsigned value) {
  for (unsigned r = 0; r < kRounds; ++r) value = value * 1664525u + 1013904223u;
  return value;
}

struct BorrowedFixture : DeviceFixture {
  Queue other = device.create_queue({.label = "other"});
  Kernel churn = kernel(shaders::conf_churn);
  GpuRef<unsigned> x = pool->allocate<unsigned>(kCount, "x"),
                   y = pool->allocate<unsigned>(kCount, "y");
  HostRef<unsigned> input = pool->host<unsigned>(kCount, "input"),
                    result = pool->host<unsigned>(kCount, "result");
  std::vector<unsigned> memory = std::vector<unsigned>(2 * kCount);

  [[nodiscard]] std::span<unsigned> words(std::size_t first, std::size_t count = kCount) {
    return std::span(memory).subspan(first, count);
  }
  // Writes x late, so that a copy that does not wait moves old values.
  void write_late(CommandBuffer& cmd) const {
    cmd.copy(input, x);
    cmd.dispatch(churn, kWords, read_write(x), kRounds, kCount);
  }
  // Copies through `result` under both of its names, to `memory`.
  [[nodiscard]] CapturedGraph through_pinned_memory() {
    CommandBuffer cmd = recording();
    write_late(cmd);
    cmd.copy(x, result);
    cmd.copy(borrowed(result.span()), y);
    cmd.copy(y, borrowed(words(0)));
    return compile(cmd);
  }
  void check_replays(CapturedGraph& graph) {
    for (unsigned replay = 1; replay <= kReplays; ++replay) {
      std::ranges::fill(input.span(), replay);
      std::ranges::fill(memory, 0u);
      graph.launch(queue).wait();
      REQUIRE(std::ranges::count(result.span(), churned(replay)) == kCount);
    }
  }
};

}  // namespace

TEST_CASE_FIXTURE(BorrowedFixture,
                  "borrowed memory: a copy from it waits for the copy to it, in every lowering") {
  for (const Ordering ordering : {Ordering::Inferred, Ordering::Linear}) {
    CommandBuffer cmd = recording({.label = "stage", .ordering = ordering});
    write_late(cmd);
    cmd.copy(x, borrowed(words(0)));
    cmd.copy(borrowed(words(0)), y);
    cmd.copy(y, result);
    cmd.end();
    for (const Lowering lowering : {Lowering::Auto, Lowering::Faithful, Lowering::Lanes(1)}) {
      CapturedGraph graph = compile(cmd, lowering);
      CHECK(graph.report().needed_edges == 4);
      check_replays(graph);
    }
  }
}

TEST_CASE_FIXTURE(BorrowedFixture, "borrowed memory: overlapping ranges are ordered, others not") {
  const auto edges = [&](std::span<unsigned> written, std::span<unsigned> read) {
    CommandBuffer cmd = recording();
    cmd.copy(x.slice(0, written.size()), borrowed(written));
    cmd.copy(borrowed(read), y.slice(0, read.size()));
    return compile(cmd).report().needed_edges;
  };
  CHECK(edges(words(0), words(0)) == 1);
  CHECK(edges(words(0), words(kCount - 1)) == 1);
  CHECK(edges(words(kCount - 1), words(0)) == 1);
  CHECK(edges(words(10, 100), words(50, 1)) == 1);
  CHECK(edges(words(0), words(kCount)) == 0);
  CHECK(edges(words(kCount), words(0)) == 0);
}

TEST_CASE_FIXTURE(BorrowedFixture,
                  "borrowed memory: rows with gaps between them are ordered exactly") {
  const auto edges = [&](std::size_t first) {
    CommandBuffer cmd = recording();
    const CopyDesc rows{.extent = {16, 4, 1}, .source = {64, 0}, .destination = {64, 0}};
    cmd.copy(x, borrowed(words(0)), rows);
    cmd.copy(borrowed(words(first)), y, rows);
    return compile(cmd).report().needed_edges;
  };
  CHECK(edges(0) == 1);
  CHECK(edges(3) == 1);
  CHECK(edges(4) == 0);
  CHECK(edges(16) == 1);
}

TEST_CASE_FIXTURE(BorrowedFixture,
                  "borrowed memory: explicit order must cover it, and a global barrier does") {
  CommandBuffer cmd = recording({.ordering = Ordering::Explicit});
  cmd.copy(x, borrowed(words(0)));
  cmd.copy(borrowed(words(0)), y);
  cmd.end();
  check_refused(ErrorCode::MissingBarrier,
                {"borrowed host memory", "read after write", "barrier({.before = "},
                [&] { static_cast<void>(compile(cmd)); });
  cmd.begin();
  cmd.copy(x, borrowed(words(0)));
  cmd.barrier();
  cmd.copy(borrowed(words(0)), y);
  CHECK(compile(cmd).report().needed_edges == 1);
}

TEST_CASE_FIXTURE(BorrowedFixture, "borrowed memory: a pinned buffer and its span are one memory") {
  CapturedGraph graph = through_pinned_memory();
  CHECK(graph.report().needed_edges == 4);
  check_replays(graph);
  CHECK(memory[0] == churned(kReplays));
  CommandBuffer refused = recording();
  check_refused(ErrorCode::Overlap, {"result", "borrowed host memory", "copy through another"},
                [&] { refused.copy(result, borrowed(result.span())); });
}

TEST_CASE_FIXTURE(BorrowedFixture, "borrowed memory: graphs on two queues wait for each other") {
  CommandBuffer first = recording({.label = "first"}), second = recording({.label = "second"});
  write_late(first);
  first.copy(x, borrowed(words(0)));
  second.copy(borrowed(words(100)), y);
  second.copy(y, result);
  CapturedGraph writer = compile(first), reader = compile(second);
  for (unsigned replay = 1; replay <= kReplays; ++replay) {
    std::ranges::fill(input.span(), replay);
    std::ranges::fill(memory, 0u);
    static_cast<void>(writer.launch(queue));
    reader.launch(other).wait();
    REQUIRE(result[0] == churned(replay));
    REQUIRE(result[kCount - 101] == churned(replay));
    REQUIRE(result[kCount - 1] == 0);
  }
}

TEST_CASE_FIXTURE(BorrowedFixture, "borrowed memory: an update can change the bytes it shares") {
  const auto record = [&](CommandBuffer& cmd, std::size_t first) {
    cmd.begin();
    write_late(cmd);
    cmd.copy(x, borrowed(words(first)));
    cmd.copy(borrowed(words(0)), y);
    cmd.copy(y, result);
    cmd.end();
  };
  CommandBuffer cmd = device.create_command_buffer({.label = "step"});
  record(cmd, kCount);
  CapturedGraph graph = compile(cmd);
  CHECK(graph.report().needed_edges == 3);
  std::ranges::fill(input.span(), 1u);
  graph.launch(queue).wait();
  CHECK(std::ranges::count(result.span(), 0u) == kCount);
  record(cmd, 0);
  CHECK(graph.update(cmd).done());
  check_replays(graph);
}

TEST_CASE_FIXTURE(BorrowedFixture, "borrowed memory: a rebind keeps the order of shared bytes") {
  CapturedGraph graph = through_pinned_memory();
  static_cast<void>(graph.rebind(y, pool->allocate<unsigned>(kCount, "z")));
  check_replays(graph);
  CHECK(memory[0] == churned(kReplays));
}

TEST_CASE_FIXTURE(BorrowedFixture,
                  "replicas: a buffer and one of its copies in one recording are refused") {
  const auto a = pool->allocate<unsigned>(kCount, "a", PerReplica{2});
  CommandBuffer cmd = recording({.label = "step"});
  cmd.fill(a, 1u);
  cmd.copy(a.replica(1), y);
  cmd.end();
  static_cast<void>(device.compile(cmd));
  check_refused(ErrorCode::NotPerReplica, {"step", "copy 1 of a"},
                [&] { static_cast<void>(device.compile(cmd, {.replicas = 2})); });
}

}  // namespace reprise::test::borrowed_memory_test
