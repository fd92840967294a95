#include <bit>

#include "conformance/device_fixture.hpp"
#include "warps.shaders.hpp"

namespace reprise::test::warps_test {

TEST_CASE_FIXTURE(DeviceFixture, "warps: a reduction by shuffles, within warps and across them") {
  constexpr unsigned kBlocks = 3, kThreads = 256;
  const auto in = buffer(generated<float>(kBlocks * kThreads,
                                          [](std::size_t i) {
                                            return static_cast<float>(i % 89);  // exact sums
                                          }),
                         "in");
  const auto out = pool->allocate<float>(kBlocks, "out");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_warp_sum), {.grid = kBlocks, .block = kThreads}, read(in),
                 write(out));
  });
  std::vector<float> expected(kBlocks, 0);
  for (unsigned i = 0; i < kBlocks * kThreads; ++i)
    expected[i / kThreads] += static_cast<float>(i % 89);
  CHECK(values(out) == expected);
}

TEST_CASE_FIXTURE(DeviceFixture, "warps: shuffles stay within their segments") {
  constexpr std::size_t kShuffles = 7;
  const auto value = [](std::size_t lane) {
    return static_cast<long long>(lane) * 10'000'000'019ll;  // more than 32 bits
  };
  const auto in = buffer(generated<long long>(32, value), "in");
  const auto out = pool->allocate<long long>(32 * kShuffles, "out");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_shuffles), {.grid = 1, .block = 32}, read(in), write(out));
  });
  std::vector<long long> expected;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    expected.push_back(value(5));
    expected.push_back(value(lane / 8 * 8 + lane * 3 % 8));
    expected.push_back(value(lane >= 3 ? lane - 3 : lane));
    expected.push_back(value(lane % 16 >= 3 ? lane - 3 : lane));
    expected.push_back(value(lane % 4 < 2 ? lane + 2 : lane));
    expected.push_back(value(lane ^ 9));
    expected.push_back(value(lane ^ 4));
  }
  CHECK(values(out) == expected);
}

TEST_CASE_FIXTURE(DeviceFixture, "warps: votes, matches and reductions of the lanes of a mask") {
  constexpr std::size_t kResults = 14;
  const auto value = [](std::size_t i) { return static_cast<int>(i * 7 % 11); };
  const auto in = buffer(generated<int>(64, value), "in");
  const auto out = pool->allocate<unsigned>(64 * kResults, "out");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_warp_functions), {.grid = 1, .block = 64}, read(in),
                 write(out));
  });
  const auto found = values(out);
  for (std::size_t warp = 0; warp < 2; ++warp) {
    const unsigned mask = warp == 0 ? 0xaaaaaaaau : 0x000fffffu;
    unsigned ballot = 0, sum = 0, min = ~0u, max = 0, all_bits = ~0u, any_bits = 0, odd_bits = 0;
    unsigned equal[11] = {};
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const auto v = static_cast<unsigned>(value(warp * 32 + lane));
      if (v > 3) ballot |= 1u << lane;
      sum += v;
      min = std::min(min, v);
      max = std::max(max, v);
      all_bits &= v;
      any_bits |= v;
      odd_bits ^= v;
      equal[v] |= 1u << lane;
    }
    for (std::size_t lane = 0; lane < 32; ++lane) {
      CAPTURE(warp);
      CAPTURE(lane);
      const std::size_t thread = warp * 32 + lane;
      std::vector<unsigned> expected(kResults, 0);
      if ((mask >> lane & 1) != 0) {
        expected = {ballot,
                    equal[7] != 0,
                    1,
                    sum,
                    sum,
                    min,
                    0u - min,
                    all_bits,
                    any_bits,
                    odd_bits,
                    equal[static_cast<std::size_t>(value(thread))],
                    mask,
                    1,
                    1};
      }
      const std::vector<unsigned> got(found.begin() + static_cast<long>(thread * kResults),
                                      found.begin() + static_cast<long>((thread + 1) * kResults));
      CHECK(got == expected);
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "warps: halves of a warp that diverged meet again") {
  const auto out = pool->allocate<unsigned>(2 * 64, "out");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_diverged_halves), {.grid = 2, .block = 64}, write(out));
  });
  std::vector<unsigned> lanes(32), expected;
  for (unsigned half = 0; half < 2; ++half) {
    std::vector<unsigned> of(16);
    for (unsigned i = 0; i < 16; ++i) of[i] = half * 16 + i;
    for (unsigned round = 0; round < 3 + 4 * half; ++round) {
      const unsigned added = of[round % 16];
      for (unsigned& v : of) v += added;
    }
    std::copy(of.begin(), of.end(), lanes.begin() + half * 16);
  }
  for (unsigned i = 0; i < 128; ++i) expected.push_back(lanes[i % 32 ^ 16]);
  CHECK(values(out) == expected);
}

TEST_CASE_FIXTURE(DeviceFixture, "warps: threads that ended take no part") {
  constexpr unsigned kThreads = 256;
  for (const unsigned n : {1u, 31u, 33u, 100u, 256u}) {
    CAPTURE(n);
    const auto out = buffer(std::vector<unsigned>(kThreads / 32, 0), "out");
    run([&](CommandBuffer& cmd) {
      cmd.dispatch(kernel(shaders::conf_warp_tail), {.grid = 2, .block = kThreads / 2},
                   read_write(out), n);
    });
    std::vector<unsigned> expected(kThreads / 32, 0);
    for (unsigned i = 0; i < n; ++i) expected[i / 32] += i + 1;
    CHECK(values(out) == expected);
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "warps: tiles of a thread block") {
  constexpr unsigned kThreads = 48;  // the last warp is half full
  const auto out = pool->allocate<unsigned>(4 * kThreads, "out");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_tiles), {.grid = 1, .block = {8, 3, 2}}, write(out));
  });
  std::vector<unsigned> expected;
  for (unsigned i = 0; i < kThreads; ++i) {
    const unsigned first = i / 8 * 8;
    for (const unsigned v : {i % 8, 8 * first + 28, 0xaau, i / 8 + 100 * (kThreads / 8)})
      expected.push_back(v);
  }
  CHECK(values(out) == expected);
}

}  // namespace reprise::test::warps_test
