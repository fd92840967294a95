#include <algorithm>

#include "conformance/device_fixture.hpp"

namespace reprise::test::copy_test {
namespace {

std::vector<unsigned> counting(std::size_t count, unsigned first = 0) {
  return generated<unsigned>(count,
                             [first](std::size_t i) { return first + static_cast<unsigned>(i); });
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "copy: a range of one device buffer to a range of another") {
  const auto x = buffer(counting(100), "x");
  const auto y = buffer(std::vector<unsigned>(100, 7), "y");
  run([&](CommandBuffer& cmd) { cmd.copy(x.slice(10, 20), y.slice(50, 20)); });
  auto expected = std::vector<unsigned>(100, 7);
  for (unsigned i = 0; i < 20; ++i) expected[50 + i] = 10 + i;
  CHECK(values(y) == expected);
}

TEST_CASE_FIXTURE(DeviceFixture, "copy: adjacent ranges of one buffer") {
  const auto x = buffer(counting(64), "x");
  run([&](CommandBuffer& cmd) { cmd.copy(x.slice(0, 32), x.slice(32, 32)); });
  auto expected = counting(64);
  std::copy_n(expected.begin(), 32, expected.begin() + 32);
  CHECK(values(x) == expected);
}

TEST_CASE_FIXTURE(DeviceFixture, "copy: one byte, odd offsets, and a megabyte") {
  const auto bytes = generated<std::uint8_t>(
      1 << 20, [](std::size_t i) { return static_cast<std::uint8_t>(i * 13 + i / 251); });
  const auto x = buffer(bytes, "x");
  const auto y = buffer(std::vector<std::uint8_t>(1 << 20, 0), "y");
  run([&](CommandBuffer& cmd) {
    cmd.copy(x.slice(3, 1), y.slice(77, 1));
    cmd.copy(x.slice(1001, 99999), y.slice(200003, 99999));
  });
  std::vector<std::uint8_t> expected(1 << 20, 0);
  expected[77] = bytes[3];
  std::copy_n(bytes.begin() + 1001, 99999, expected.begin() + 200003);
  CHECK(values(y) == expected);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "copy: megabytes of any length and alignment, by kernels or memcpy nodes") {
  constexpr std::size_t kBytes = (3 << 20) + 64;
  const auto bytes = generated<std::uint8_t>(
      kBytes, [](std::size_t i) { return static_cast<std::uint8_t>(i * 13 + i / 251); });
  const auto x = buffer(bytes, "x"), y = buffer(std::vector<std::uint8_t>(kBytes, 0), "y"),
             other = buffer(std::vector<std::uint8_t>(2 * kBytes, 0), "other");
  struct Range {
    std::size_t from, to, length;
  };
  for (const auto& [from, to, length] :
       {Range{0, 0, 3 << 20}, Range{16, 32, (3 << 20) - 3}, Range{4, 8, (3 << 20) + 7},
        Range{3, 1, 3 << 20}, Range{48, 0, (2 << 20) - 16}}) {
    CAPTURE(from);
    CAPTURE(length);
    CommandBuffer cmd = recording();
    cmd.fill(y, 0);
    cmd.copy(x.slice(from, length), y.slice(to, length));
    CapturedGraph graph = compile(cmd);
    const auto expect = [&](const GpuRef<std::uint8_t>& destination) {
      std::vector<std::uint8_t> expected(kBytes, 0);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), length,
                  expected.begin() + static_cast<std::ptrdiff_t>(to));
      CHECK(values(destination) == expected);
    };
    graph.launch(queue).wait();
    expect(y);
    for (const std::size_t at : {std::size_t{16}, std::size_t{1}, kBytes}) {
      CAPTURE(at);
      const GpuRef<std::uint8_t> now = other.slice(at, kBytes);
      CHECK(graph.rebind({{y, now}}).done());
      graph.launch(queue).wait();
      expect(now);
    }
    expect(y);
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "copy: pinned memory is read and written at each replay") {
  const auto in = pool->host<unsigned>(50, "in");
  const auto out = pool->host<unsigned>(50, "out");
  const auto x = pool->allocate<unsigned>(50, "x");
  CHECK(std::all_of(in.span().begin(), in.span().end(), [](unsigned v) { return v == 0; }));
  CommandBuffer cmd = recording();
  cmd.copy(in, x);
  cmd.copy(x, out);
  CapturedGraph graph = compile(cmd);
  for (unsigned replay = 0; replay < 4; ++replay) {
    for (unsigned i = 0; i < 50; ++i) in[i] = replay * 100 + i;
    graph.launch(queue).wait();
    CHECK(std::equal(in.span().begin(), in.span().end(), out.span().begin()));
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "copy: a snapshot keeps the bytes at the time of recording") {
  auto values_then = counting(32, 5);
  const auto x = pool->allocate<unsigned>(32, "x");
  CommandBuffer cmd = recording();
  cmd.copy(snapshot(values_then), x);
  values_then.assign(32, 0);
  CapturedGraph graph = compile(cmd);
  for (int replay = 0; replay < 2; ++replay) {
    graph.launch(queue).wait();
    CHECK(values(x) == counting(32, 5));
    run([&](CommandBuffer& clear) { clear.fill(x, 0u); });
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "copy: borrowed memory is read and written at each replay") {
  auto in = counting(32);
  std::vector<unsigned> out(32);
  const auto x = pool->allocate<unsigned>(32, "x");
  CommandBuffer cmd = recording();
  cmd.copy(borrowed(in), x);
  cmd.copy(x, borrowed(out));
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  CHECK(out == counting(32));
  // In place, because the graph holds the address.
  std::ranges::copy(counting(32, 1000), in.begin());
  graph.launch(queue).wait();
  CHECK(out == counting(32, 1000));
}

TEST_CASE_FIXTURE(DeviceFixture, "copy: host memory to host memory through a transient") {
  const auto in = counting(17, 3);
  std::vector<unsigned> out(17);
  const auto t = pool->transient<unsigned>(17, "t");
  run([&](CommandBuffer& cmd) {
    cmd.copy(borrowed(in), t);
    cmd.copy(t, borrowed(out));
  });
  CHECK(out == in);
}

TEST_CASE_FIXTURE(DeviceFixture, "copy: invalid arguments are refused and record nothing") {
  const auto x = buffer(counting(16), "x");
  const auto y = pool->allocate<unsigned>(8, "y");
  std::vector<unsigned> host(16);
  CommandBuffer cmd = recording();
  check_refused(ErrorCode::OutOfRange, {"copy at", "x has 64 bytes", "y 32"},
                [&] { cmd.copy(x, y); });
  check_refused(ErrorCode::Overlap, {"copy at", "x"},
                [&] { cmd.copy(x.slice(0, 8), x.slice(7, 8)); });
  check_refused(ErrorCode::InvalidArgument, {"snapshot"}, [&] { cmd.copy(x, snapshot(host)); });
  CHECK(cmd.command_count() == 0);
  run(cmd);  // an empty graph can be launched
  CHECK(values(x) == counting(16));
}

}  // namespace reprise::test::copy_test
