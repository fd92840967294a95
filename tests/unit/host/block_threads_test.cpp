// Cooperation of the threads of one block on the host device.
#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include <block_kernels.shaders.hpp>

#include "unit/host/hand_made_graph.hpp"
#include "unit/host/host_fixture.hpp"

using namespace reprise;
using namespace reprise::test;

TEST_CASE("host block: after a barrier, threads see all writes to shared memory") {
  HostFixture host;
  for (const std::uint32_t block : {1u, 2u, 32u, 1024u}) {
    std::vector<unsigned> in(4 * block), out(4);
    std::iota(in.begin(), in.end(), 5u);
    HandMadeGraph graph(*host.backend);
    graph.dispatch(shaders::tree_sum, {4, block}, graph.buffer(in), graph.buffer(out));
    host.run(*graph.instantiate());
    for (std::uint32_t b = 0; b < 4; ++b) {
      CHECK(out[b] == std::accumulate(in.begin() + b * block, in.begin() + (b + 1) * block, 0u));
    }
  }
}

TEST_CASE("host block: threads may end while others keep using barriers") {
  HostFixture host;
  const Dim3 block{5, 4, 3};
  const auto count = static_cast<int>(block.volume());
  std::vector<int> out(block.volume(), -1);
  HandMadeGraph graph(*host.backend);
  graph.dispatch(shaders::leave_one_by_one, {1, block}, graph.buffer(out));
  host.run(*graph.instantiate());
  // Thread i waits at i barriers; at its last one, threads i, i + 1, ... are present.
  CHECK(out[0] == 0);
  for (int i = 1; i < count; ++i) CHECK(out[static_cast<std::size_t>(i)] == count - i);
}

TEST_CASE("host block: threads without barriers do not block those with barriers") {
  HostFixture host;
  for (const std::uint32_t block : {1u, 2u, 3u, 64u, 65u}) {
    std::vector<unsigned> counter(1), seen(block);
    HandMadeGraph graph(*host.backend);
    graph.dispatch(shaders::odd_threads_meet, {1, block}, graph.buffer(counter),
                   graph.buffer(seen));
    host.run(*graph.instantiate());
    for (std::uint32_t i = 0; i < block; ++i) CHECK(seen[i] == (i % 2 == 1 ? block / 2 : 0));
  }
}

TEST_CASE("host block: votes count, and report all and any") {
  HostFixture host;
  const auto vote = [&](std::vector<int> values) {
    std::vector<int> out(3, -1);
    HandMadeGraph graph(*host.backend);
    graph.dispatch(shaders::vote, {1, static_cast<std::uint32_t>(values.size())},
                   graph.buffer(values), graph.buffer(out));
    host.run(*graph.instantiate());
    return out;
  };
  CHECK(vote({11, 3, 12, 4, 50}) == std::vector{3, 0, 1});
  CHECK(vote({11, 12, 13}) == std::vector{3, 1, 1});
  CHECK(vote({1, 2, 3, 4}) == std::vector{0, 0, 0});
}

TEST_CASE("host block: the active lanes of a warp are those that arrive together") {
  HostFixture host;
  std::vector<unsigned> out(48);
  HandMadeGraph graph(*host.backend);
  graph.dispatch(shaders::active_lanes, {1, 48}, graph.buffer(out));
  host.run(*graph.instantiate());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const unsigned even = i < 32 ? 0x55555555u : 0x5555u;
    CHECK(out[i] == (i % 2 == 0 ? even : ~(even << 1)));
  }
}

TEST_CASE("host block: a warp reduction equals one through shared memory") {
  HostFixture host;
  for (const std::uint32_t block : {32u, 64u, 1024u}) {
    std::vector<unsigned> in(4 * block), out(4);
    std::iota(in.begin(), in.end(), 5u);
    HandMadeGraph graph(*host.backend);
    graph.dispatch(shaders::warp_sum, {4, block}, graph.buffer(in), graph.buffer(out));
    host.run(*graph.instantiate());
    for (std::uint32_t b = 0; b < 4; ++b) {
      CHECK(out[b] == std::accumulate(in.begin() + b * block, in.begin() + (b + 1) * block, 0u));
    }
  }
}

TEST_CASE("host block: atomics of many blocks lose no update") {
  HostFixture host;
  constexpr unsigned kBlocks = 40, kBlock = 64, kThreads = kBlocks * kBlock;
  std::vector<int> i(4);
  std::vector<unsigned> u(9);
  u[3] = ~0u;
  std::vector<unsigned long long> w(2);
  std::vector<float> f(1);
  std::vector<double> d(1);
  HandMadeGraph graph(*host.backend);
  graph.dispatch(shaders::atomics, {kBlocks, kBlock}, graph.buffer(i), graph.buffer(u),
                 graph.buffer(w), graph.buffer(f), graph.buffer(d));
  host.run(*graph.instantiate());
  CHECK(i == std::vector<int>{kThreads, -2 * static_cast<int>(kThreads),
                              1 - static_cast<int>(kThreads), kThreads - 1});
  CHECK(u[0] == 3 * kThreads);
  CHECK(u[1] == kThreads % 10);
  CHECK(u[2] == (10 - kThreads % 10) % 10);
  CHECK(u[3] == 0u);
  CHECK(u[4] == ~0u);
  CHECK(u[5] == 0u);  // an even number of times per bit
  CHECK(u[6] == 77u);
  CHECK(u[7] != 0u);
  CHECK(u[8] == 1u);
  CHECK(w[0] == (1ull << 33) * kThreads);
  CHECK(w[1] == 1ull << 39);
  CHECK(f[0] == 0.5f * kThreads);
  CHECK(d[0] == 0.25 * kThreads);
}

TEST_CASE("host block: math, bit and helper functions equal the GPU's") {
  HostFixture host;
  std::vector<float> out(5);
  std::vector<int> bits(5);
  HandMadeGraph graph(*host.backend);
  graph.dispatch(shaders::math, {1, 1}, graph.buffer(out), graph.buffer(bits));
  host.run(*graph.instantiate());
  CHECK(out == std::vector<float>{0.0f, 1.0f, 0.5f, 10.0f, 99.0f});
  CHECK(bits == std::vector<int>{8, 31, 4, 0x8000, 0x3f800000});
}
