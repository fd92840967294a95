#include <reprise/ops/rng_op.hpp>

#include <cmath>
#include <cstring>

#include "conformance/device_fixture.hpp"
#include "ops/as_on_gpu.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

// The word of value `index` of a stream, from the generator function.
std::uint32_t word(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t index) {
  const std::uint64_t block = index / 4;
  const auto words = philox4x32_10(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
       static_cast<std::uint32_t>(subsequence), static_cast<std::uint32_t>(subsequence >> 32)},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return words[index % 4];
}

std::vector<float> uniform(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t first,
                           std::size_t count) {
  return generated<float>(count, [=](std::size_t i) {
    return static_cast<float>(word(seed, subsequence, first + i) >> 8) / 16777216.0f;
  });
}

std::vector<float> normal(std::uint64_t seed, std::uint64_t first, std::size_t count) {
  return generated<float>(count, [=](std::size_t i) {
    const std::uint64_t pair = (first + i) / 2 * 2;
    const long double radius =
        std::sqrt(-2.0L * std::log((word(seed, 0, pair) + 1.0L) / 4294967296.0L));
    const long double angle = 2 * std::acos(-1.0L) * (word(seed, 0, pair + 1) / 4294967296.0L);
    return static_cast<float>(radius * ((first + i) % 2 == 0 ? std::cos(angle) : std::sin(angle)));
  });
}

std::int64_t ulp_distance(float a, float b) {
  const auto ordered = [](float value) {
    std::int32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<std::int64_t>(bits < 0 ? -(bits & 0x7fffffff) : bits);
  };
  return std::abs(ordered(a) - ordered(b));
}

struct RngFixture : DeviceFixture {
  CapturedGraph fill(const RngStream& stream, const GpuRef<float>& destination) {
    CommandBuffer cmd = recording();
    cmd.add(RngFillUniformOp({.destination = destination, .stream = stream}));
    return compile(cmd);
  }
};

}  // namespace

TEST_CASE("rng: Philox4x32-10 returns its authors' published words") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(philox4x32_10({0, 0, 0, 0}, {0, 0}) ==
        Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE_FIXTURE(RngFixture,
                  "rng: uniform values equal the generator's bit for bit, and every replay "
                  "continues the previous one") {
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{3}, std::size_t{1000}, std::size_t{1023}, std::size_t{5001}}) {
    check_both_ways(device, count <= 4096, [&](const AddOp& add) {
      RngStream stream(device, queue, {.seed = 0x123456789abcdef0, .subsequence = 7});
      const auto x = pool->allocate<float>(count, "x");
      const RngFillUniformOp op({.destination = x, .stream = stream});
      CommandBuffer cmd = recording();
      add(cmd, op);
      CapturedGraph graph = compile(cmd);
      for (std::uint64_t replay = 0; replay < 3; ++replay) {
        graph.launch(queue).wait();
        CHECK(values(x) == uniform(0x123456789abcdef0, 7, replay * count, count));
      }
      CHECK(stream.position(queue) == 3 * count);
    });
  }
}

TEST_CASE_FIXTURE(
    RngFixture,
    "rng: a stream is seekable by a launch and by a command, also past 32-bit positions") {
  RngStream stream(device, queue, {.seed = 5, .position = 17});
  const auto x = pool->allocate<float>(100, "x");
  CapturedGraph graph = fill(stream, x);
  graph.launch(queue).wait();
  CHECK(values(x) == uniform(5, 0, 17, 100));
  const std::uint64_t far = (std::uint64_t{1} << 40) + 2;
  static_cast<void>(stream.seek(queue, far));
  graph.launch(queue).wait();
  CHECK(values(x) == uniform(5, 0, far, 100));
  run([&](CommandBuffer& cmd) {
    stream.seek(cmd, 17);
    cmd.add(RngFillUniformOp({.destination = x, .stream = stream}));
  });
  CHECK(values(x) == uniform(5, 0, 17, 100));
}

TEST_CASE_FIXTURE(
    RngFixture,
    "rng: two fills of one stream in a graph are ordered, fills of two streams are not") {
  RngStream stream(device, queue, {.seed = 9});
  const RngStream other(device, queue, {.seed = 9, .subsequence = 1});
  const auto a = pool->allocate<float>(10, "a"), b = pool->allocate<float>(10, "b"),
             c = pool->allocate<float>(10, "c");
  CommandBuffer cmd = recording();
  cmd.add(RngFillUniformOp({.destination = a, .stream = stream}));
  cmd.add(RngFillUniformOp({.destination = b, .stream = stream}));
  cmd.add(RngFillUniformOp({.destination = c, .stream = other}));
  CapturedGraph graph = compile(cmd);
  CHECK(graph.report().needed_edges == 1);
  graph.launch(queue).wait();
  CHECK(values(a) == uniform(9, 0, 0, 10));
  CHECK(values(b) == uniform(9, 0, 10, 10));
  CHECK(values(c) == uniform(9, 1, 0, 10));
}

TEST_CASE_FIXTURE(RngFixture, "rng: uniform values lie between the requested bounds") {
  RngStream stream(device, queue, {.seed = 1});
  const auto x = pool->allocate<float>(1000, "x");
  run([&](CommandBuffer& cmd) {
    cmd.add(RngFillUniformOp({.destination = x, .stream = stream, .low = -2, .high = 6}));
  });
  const std::vector<float> plain = uniform(1, 0, 0, 1000);
  CHECK(values(x) ==
        generated<float>(1000, [&](std::size_t i) { return -2.0f + 8.0f * plain[i]; }));
}

TEST_CASE_FIXTURE(RngFixture, "rng: normal values are within 2 units in the last place") {
  RngStream stream(device, queue, {.seed = 42, .position = 3});
  const auto x = pool->allocate<float>(4001, "x");
  run([&](CommandBuffer& cmd) { cmd.add(RngFillNormalOp({.destination = x, .stream = stream})); });
  const std::vector<float> found = values(x), expected = normal(42, 3, 4001);
  std::int64_t most = 0;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    // Near a zero of the sine or cosine the rounding of the argument dominates, so an absolute
    // bound applies.
    if (std::abs(found[i] - expected[i]) > 1e-9f)
      most = std::max(most, ulp_distance(found[i], expected[i]));
    sum += found[i];
    squares += static_cast<double>(found[i]) * found[i];
  }
  CHECK(most <= 2);
  CHECK(std::abs(sum / 4001) < 0.1);
  CHECK(std::abs(squares / 4001 - 1) < 0.15);
  run([&](CommandBuffer& cmd) {
    stream.seek(cmd, 3);
    cmd.add(RngFillNormalOp({.destination = x, .stream = stream, .mean = 100, .deviation = 0}));
  });
  CHECK(values(x) == std::vector<float>(4001, 100.0f));
}

TEST_CASE_FIXTURE(RngFixture, "rng: fills without a stream or without values are refused") {
  check_refused(ErrorCode::NotInitialized, {"rng_fill_uniform", "RngStream"}, [&] {
    static_cast<void>(RngFillUniformOp({.destination = pool->allocate<float>(4)}));
  });
  check_refused(ErrorCode::InvalidArgument, {"rng_fill_normal", "0 values"}, [&] {
    static_cast<void>(RngFillNormalOp({.stream = RngStream(device, queue, {.seed = 1})}));
  });
}

TEST_CASE_FIXTURE(
    RngFixture,
    "rng: replicas of a graph draw from their own subsequences, each continuing its last replay") {
  constexpr std::size_t kValues = 100;
  RngStream stream(device, queue, {.seed = 11, .subsequence = 5, .position = 8, .replicas = 2});
  const auto x = pool->allocate<float>(kValues, "x", PerReplica{2});
  CommandBuffer cmd = recording();
  cmd.add(RngFillUniformOp({.destination = x, .stream = stream}));
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool, .replicas = 2});
  const Queue other = device.create_queue({.label = "other"});
  static_cast<void>(graph.launch(queue));
  static_cast<void>(graph.launch(queue));
  static_cast<void>(graph.launch(other));
  device.wait_idle();
  CHECK(values(x) == uniform(11, 5, 8 + kValues, kValues));
  CHECK(values(x.replica(1)) == uniform(11, 6, 8, kValues));
  CHECK(stream.position(queue) == 8 + 2 * kValues);
  CHECK(stream.replica(1).position(queue) == 8 + kValues);
  stream.replica(1).seek(other, 3).wait();
  graph.launch(other).wait();
  CHECK(values(x.replica(1)) == uniform(11, 6, 3, kValues));
  const RngStream shared(device, queue, {.seed = 1});
  CommandBuffer refused = recording();
  refused.add(RngFillUniformOp({.destination = x, .stream = shared}));
  refused.end();
  check_refused(ErrorCode::NotPerReplica, {"rng"},
                [&] { static_cast<void>(device.compile(refused, {.pool = pool, .replicas = 2})); });
}
