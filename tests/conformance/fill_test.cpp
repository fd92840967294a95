#include <algorithm>

#include "conformance/device_fixture.hpp"

namespace reprise::test::fill_test {
namespace {

template <class T>
void check_fill(const DeviceFixture& f, T before, T value) {
  const auto x = f.buffer(std::vector<T>(1000, before), "x");
  f.run([&](CommandBuffer& cmd) { cmd.fill(x.slice(3, 990), value); });
  std::vector<T> expected(1000, before);
  std::fill(expected.begin() + 3, expected.begin() + 993, value);
  CHECK(f.values(x) == expected);

  // Rows of 5 values with a pitch of 12 values, starting at value 2.
  f.run([&](CommandBuffer& cmd) {
    cmd.fill(x, before);
    cmd.fill(x.slice(2, 900), value, {.width = 5 * sizeof(T), .height = 40},
             {.row = 12 * sizeof(T)});
  });
  expected.assign(1000, before);
  for (std::size_t row = 0; row < 40; ++row)
    std::fill_n(expected.begin() + 2 + static_cast<std::ptrdiff_t>(row * 12), 5, value);
  CHECK(f.values(x) == expected);
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "fill: elements of 8, 16 and 32 bits, flat and in rows") {
  check_fill<std::uint8_t>(*this, 1, 0xab);
  check_fill<std::int16_t>(*this, 1, -12345);
  check_fill<std::uint32_t>(*this, 1, 0xdeadbeef);
  check_fill<float>(*this, 1.0f, -0.375f);
}

TEST_CASE_FIXTURE(DeviceFixture, "fill: a transient and a pinned buffer") {
  const auto t = pool->transient<unsigned>(64, "t");
  const auto h = pool->host<unsigned>(64, "h");
  run([&](CommandBuffer& cmd) {
    cmd.fill(t, 9u);
    cmd.copy(t.slice(0, 32), h.slice(0, 32));
    cmd.fill(h.slice(32, 32), 4u);
    cmd.fill(h.slice(40, 24), 5u, {.width = 4, .height = 3}, {.row = 32});
  });
  for (unsigned i = 0; i < 64; ++i) REQUIRE(h[i] == (i < 32 ? 9 : i >= 40 && i % 8 == 0 ? 5 : 4));
}

TEST_CASE_FIXTURE(DeviceFixture, "fill: the bits above an element change nothing") {
  const auto x = buffer(std::vector<std::uint16_t>(400, 1), "x");
  const auto recorded = [&](std::uint32_t bits) {
    CommandBuffer cmd = recording();
    cmd.fill_bits(x.slice(35, 115), bits, 2, {40, 5, 1}, {46, 0});
    cmd.fill_bits(x.slice(300, 50), bits, 1, {100, 1, 1}, {});
    cmd.end();
    return cmd;
  };
  CommandBuffer low = recorded(0xaacb), all = recorded(0x4d65aacb);
  CapturedGraph graph = compile(all);
  const std::uint64_t hash = graph.report().plan_hash;
  graph.launch(queue).wait();
  std::vector<std::uint16_t> expected(400, 1);
  for (int row = 0; row < 5; ++row) std::fill_n(expected.begin() + 35 + row * 23, 20, 0xaacb);
  std::fill_n(expected.begin() + 300, 50, 0xcbcb);
  CHECK(values(x) == expected);
  CHECK(graph.update(low).method == UpdateMethod::Unchanged);
  CHECK(graph.report().plan_hash == hash);
}

}  // namespace reprise::test::fill_test
