#include "trace_samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace reprise::bench {

namespace {

constexpr std::uint32_t kWidth = 32, kWorkers = 4;
constexpr trace::Time kBegin = 1'000'000'000, kNodeTime = 2'000, kBetween = 150;

std::uint32_t duration(std::mt19937_64& random, Times times) {
  const double part = static_cast<double>(random() >> 11) * 0x1p-53;
  const double factor = times == Times::Steady ? 0.95 + 0.1 * part : std::pow(1'000.0, part);
  return static_cast<std::uint32_t>(static_cast<double>(kNodeTime) * factor);
}

}  // namespace

trace::GraphVersion layered_graph(std::uint32_t nodes) {
  trace::GraphVersion g;
  g.graph = 1;
  g.version = 1;
  g.label = "bench";
  g.lanes = kWorkers;
  g.strings = {"", "work"};
  g.labels = {{}};
  g.nodes.resize(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    g.nodes[n].kind = trace::NodeKind::Dispatch;
    g.nodes[n].name = 1;
    g.nodes[n].lane = n % kWorkers;
    g.nodes[n].command = n;
    if (n < kWidth) continue;
    const std::uint32_t above = n - kWidth,
                        beside = n / kWidth * kWidth - kWidth + (n + 1) % kWidth;
    g.edges.push_back({std::min(above, beside), n});
    g.edges.push_back({std::max(above, beside), n});
  }
  return g;
}

std::vector<trace::SampleBlock> sample_blocks(const trace::GraphVersion& graph, std::uint64_t first,
                                              std::uint32_t count, Times times) {
  std::mt19937_64 random(first);
  const auto nodes = static_cast<std::uint32_t>(graph.nodes.size());
  const trace::Time longest =
      (times == Times::Steady ? kNodeTime + kBetween : 1'000 * kNodeTime) * nodes;
  std::vector<trace::SampleBlock> blocks;
  for (std::uint64_t replay = first; replay < first + count; ++replay) {
    trace::SampleBlock block{graph.graph, graph.version, 0, replay, trace::SampleSource::Host, {}};
    std::array<trace::Time, kWorkers> free{};
    free.fill(kBegin + static_cast<trace::Time>(replay) * longest);
    for (std::uint32_t n = 0; n < nodes; ++n) {
      const auto worker = std::min_element(free.begin(), free.end());
      const trace::Time started = *worker + static_cast<trace::Time>(random() % kBetween);
      const std::uint32_t took = duration(random, times);
      block.samples.push_back(
          {n, 0, started, took, static_cast<std::uint16_t>(worker - free.begin())});
      *worker = started + took;
    }
    std::sort(block.samples.begin(), block.samples.end(),
              [](const trace::Sample& a, const trace::Sample& b) { return a.started < b.started; });
    blocks.push_back(std::move(block));
  }
  return blocks;
}

trace::Replay replay_of(const trace::SampleBlock& block) {
  trace::Replay replay;
  replay.graph = block.graph;
  replay.version = block.version;
  replay.replay = block.replay;
  replay.started = block.samples.front().started;
  replay.launched = replay.started - 5'000;
  replay.launch_returned = replay.started - 4'000;
  for (const trace::Sample& s : block.samples)
    replay.ended = std::max(replay.ended, s.started + s.duration);
  replay.sampled = 1;
  return replay;
}

}  // namespace reprise::bench
