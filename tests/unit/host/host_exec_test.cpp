// Replays of hand-made graphs, in each replay mode of the host device.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <block_kernels.shaders.hpp>

#include "backend/host/queue_registry.hpp"
#include "unit/host/hand_made_graph.hpp"
#include "unit/host/host_fixture.hpp"

using namespace reprise;
using namespace reprise::test;
using detail::ReplayMode;

namespace {

constexpr ReplayMode kModes[] = {ReplayMode::Measured, ReplayMode::InOrder, ReplayMode::Parallel};

std::unique_ptr<detail::HostExec> make_exec(HostFixture& host, HandMadeGraph& graph,
                                            ReplayMode mode) {
  return std::make_unique<detail::HostExec>(graph.plan(), graph.bindings(),
                                            detail::DeviceGeneration(host.status),
                                            std::make_shared<detail::QueueRegistry>(), mode);
}

// The node times of the last replay.
class LastTimes final : public detail::ReplayObserver {
 public:
  explicit LastTimes(std::size_t nodes) : times(nodes) {}
  detail::NodeTime* begin_replay(std::uint64_t) noexcept override {
    std::fill(times.begin(), times.end(), detail::NodeTime{});
    return times.data();
  }
  void end_replay(std::uint64_t, std::int64_t started, std::int64_t ended,
                  detail::NodeTime*) noexcept override {
    replay_started = started;
    replay_ended = ended;
  }
  [[nodiscard]] std::int64_t end_of(std::uint32_t node) const {
    return times[node].started + times[node].duration;
  }

  std::vector<detail::NodeTime> times;
  std::int64_t replay_started = 0, replay_ended = 0;
};

std::string message_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("host exec: a chain runs in order in every replay") {
  for (const ReplayMode mode : kModes) {
    HostFixture host;
    std::vector<unsigned> x{1};
    HandMadeGraph graph(*host.backend);
    const BufferAt at = graph.buffer(x);
    for (unsigned k = 1; k <= 20; ++k) graph.dispatch(shaders::step, {1, 1}, at, k);
    const auto exec = make_exec(host, graph, mode);
    unsigned expected = 1;
    for (int replay = 0; replay < 5; ++replay) {
      host.run(*exec);
      for (unsigned k = 1; k <= 20; ++k) expected = expected * 3 + k;
    }
    CHECK(x[0] == expected);
  }
}

TEST_CASE("host exec: on random graphs every node runs once, after all its predecessors") {
  const std::uint32_t seed = 20260401;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const ReplayMode mode : kModes) {
    HostFixture host;
    constexpr std::uint32_t kNodes = 120;
    std::vector<std::atomic<std::uint32_t>> runs(kNodes);
    std::atomic<std::uint32_t> out_of_order{0};
    std::vector<std::vector<std::uint32_t>> before(kNodes);
    HandMadeGraph graph(*host.backend);
    graph.unordered();
    graph.with_entry_exit();
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      for (std::uint32_t k = random() % 4; k > 0 && node > 0; --k) {
        const auto from = static_cast<std::uint32_t>(random() % node);
        if (std::find(before[node].begin(), before[node].end(), from) == before[node].end())
          before[node].push_back(from);
      }
      for (const std::uint32_t from : before[node]) graph.edge(from, node);
      graph.host([&, node] {
        const std::uint32_t mine = runs[node].fetch_add(1, std::memory_order_relaxed) + 1;
        for (const std::uint32_t from : before[node]) {
          if (runs[from].load(std::memory_order_relaxed) != mine) out_of_order.fetch_add(1);
        }
      });
    }
    const auto exec = make_exec(host, graph, mode);
    for (int replay = 0; replay < 3; ++replay) host.run(*exec);
    for (const auto& count : runs) CHECK(count.load() == 3);
    CHECK(out_of_order.load() == 0);
  }
}

TEST_CASE(
    "host exec: by the reported times, no node starts before its predecessors end, and a thread "
    "runs one node at a time") {
  std::mt19937 random(20261122);
  for (const ReplayMode mode : kModes) {
    HostFixture host;
    constexpr std::uint32_t kNodes = 200;
    HandMadeGraph graph(*host.backend);
    graph.unordered();
    graph.with_entry_exit();
    std::atomic<unsigned> sum{0};
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      for (std::uint32_t k = 0; k < 3 && node > 0; ++k) {
        const std::uint32_t from = node - 1 - random() % std::min(node, 12u);
        if (k == 0 || from % 3 == k) graph.edge(from, node);
      }
      const unsigned steps = random() % 400;
      graph.host([&sum, steps] {
        for (unsigned i = 0; i < steps; ++i) sum.fetch_add(i, std::memory_order_relaxed);
      });
    }
    const auto plan = graph.plan();
    const auto exec = make_exec(host, graph, mode);
    const std::vector<detail::LoweredNode>& nodes = plan->lowered.nodes;
    LastTimes last(nodes.size());
    REQUIRE(exec->observe(last));
    for (int replay = 0; replay < 20; ++replay) {
      host.run(*exec);
      std::uint32_t too_early = 0, untimed = 0;
      std::vector<std::uint32_t> by_start(nodes.size());
      std::iota(by_start.begin(), by_start.end(), 0u);
      for (std::uint32_t node = 0; node < nodes.size(); ++node) {
        untimed += last.times[node].started == 0 ? 1 : 0;
        too_early +=
            last.times[node].started < last.replay_started || last.end_of(node) > last.replay_ended
                ? 1
                : 0;
        for (const detail::LoweredEdge& edge : plan->lowered.edges_into(node))
          too_early += last.times[node].started < last.end_of(edge.from) ? 1 : 0;
      }
      std::stable_sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
        return last.times[a].started != last.times[b].started
                   ? last.times[a].started < last.times[b].started
                   : last.end_of(a) < last.end_of(b);
      });
      std::map<std::uint16_t, std::int64_t> busy_until;
      for (const std::uint32_t node : by_start) {
        std::int64_t& until = busy_until[last.times[node].worker];
        too_early += last.times[node].started < until ? 1 : 0;
        until = last.end_of(node);
      }
      CHECK(untimed == 0);
      CHECK(too_early == 0);
    }
  }
}

TEST_CASE("host exec: a node reads the writes of its predecessors, on whatever threads they run") {
  for (const ReplayMode mode : kModes) {
    HostFixture host;
    constexpr std::uint32_t kWidth = 16, kCount = 300;
    std::vector<int> x(kCount), y(kCount), seed(kCount);
    std::iota(seed.begin(), seed.end(), 1);
    std::vector<std::vector<int>> parts(kWidth, std::vector<int>(kCount));
    HandMadeGraph graph(*host.backend);
    const BufferAt to_x = graph.buffer(x), to_y = graph.buffer(y);
    const LaunchShape shape{ceil_div(kCount, 32), 32};
    const std::uint32_t begin = graph.update(to_x, std::as_bytes(std::span(seed)));
    std::vector<std::uint32_t> made;
    std::vector<BufferAt> at;
    for (std::uint32_t i = 0; i < kWidth; ++i) {
      at.push_back(graph.buffer(parts[i]));
      made.push_back(
          graph.dispatch(shaders::add_scaled, shape, static_cast<int>(i), to_x, at[i], kCount));
      graph.edge(begin, made[i]);
    }
    const std::uint32_t join = graph.join();
    for (const std::uint32_t node : made) graph.edge(node, join);
    std::uint32_t last = join;
    for (std::uint32_t i = 0; i < kWidth; ++i) {
      const std::uint32_t add = graph.dispatch(shaders::add_scaled, shape, 1, at[i], to_y, kCount);
      graph.edge(last, add);
      last = add;
    }
    const auto exec = make_exec(host, graph, mode);
    for (int replay = 0; replay < 3; ++replay) host.run(*exec);
    // Replay r adds r times each part to y: 1 + 2 + 3 = 6 times the sum of all factors.
    std::vector<int> expected(kCount);
    for (std::uint32_t i = 0; i < kCount; ++i)
      expected[i] = 6 * static_cast<int>(kWidth * (kWidth - 1) / 2 * (i + 1));
    CHECK(y == expected);
  }
}

TEST_CASE(
    "host exec: an exception of a callback is kept for its replay, and the replay continues") {
  for (const ReplayMode mode : kModes) {
    HostFixture host;
    int replay = 0, after = 0;
    HandMadeGraph graph(*host.backend);
    graph.host([&] { ++replay; });
    graph.host([&] {
      if (replay != 2) throw std::runtime_error("in replay " + std::to_string(replay));
    });
    graph.host([&] {
      ++after;
      if (replay == 3) throw std::runtime_error("too late to be the first");
    });
    const auto exec = make_exec(host, graph, mode);
    for (int i = 0; i < 3; ++i) host.run(*exec);
    CHECK(after == 3);
    CHECK(message_of(exec->callback_error(1)) == "in replay 1");
    CHECK(exec->callback_error(2) == nullptr);
    CHECK(message_of(exec->callback_error(3)) == "in replay 3");
    CHECK(exec->callback_error(4) == nullptr);
  }
}

TEST_CASE("host exec: an empty graph replays") {
  for (const ReplayMode mode : kModes) {
    HostFixture host;
    HandMadeGraph graph(*host.backend);
    const auto exec = make_exec(host, graph, mode);
    CHECK(host.queue->wait(exec->launch(*host.queue), std::nullopt));
  }
}

TEST_CASE("host exec: a dispatch of many slow blocks gives the same results as one of few") {
  HostFixture host;
  constexpr std::uint32_t kBlocks = 200, kBlock = 256;
  std::vector<unsigned> in(kBlocks * kBlock), out(kBlocks);
  std::iota(in.begin(), in.end(), 0u);
  HandMadeGraph graph(*host.backend);
  graph.dispatch(shaders::tree_sum, {kBlocks, kBlock}, graph.buffer(in), graph.buffer(out));
  const auto exec = graph.instantiate();
  for (int replay = 0; replay < 6; ++replay) {
    std::fill(out.begin(), out.end(), 0u);
    host.run(*exec);
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      REQUIRE(out[b] ==
              std::accumulate(in.begin() + b * kBlock, in.begin() + (b + 1) * kBlock, 0u));
    }
  }
}
