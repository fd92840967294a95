#include "viewer/window/large_trace.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "trace/trace_file.hpp"
#include "trace/trace_writer.hpp"

namespace reprise::test {

namespace {

using namespace trace;

// per graph; per label
constexpr std::uint32_t kLanes = 4, kPartNodes = 400;
constexpr Time kBegin = 5'000'000'000'000;

std::uint32_t add_string(GraphVersion& graph, std::string text) {
  graph.strings.push_back(std::move(text));
  return static_cast<std::uint32_t>(graph.strings.size() - 1);
}

GraphVersion graph_of(std::uint32_t id, const LargeTraceDesc& desc, std::mt19937& random) {
  const auto [graphs, nodes, width, replays] = desc;
  GraphVersion g;
  g.graph = id;
  g.version = 1;
  g.device = 1;
  g.label = "large " + std::to_string(id);
  g.lanes = kLanes;
  g.strings = {""};
  g.labels = {{0, 0, 0}};
  const std::uint32_t file = add_string(g, "model.cpp");
  constexpr const char* kKernels[] = {"gemm_128x128", "softmax_rows", "layer_norm", "gelu",
                                      "add_bias",     "transpose",    "reduce_sum", "rope"};
  constexpr auto kernels = static_cast<std::uint32_t>(std::size(kKernels));
  for (const char* kernel : kKernels) {
    const std::uint32_t name = add_string(g, kernel);
    g.kernels.push_back({name, name, 64, 0});
  }
  const bool is_wide = width > kPartNodes;
  // A buffer is read up to four layers after it was written.
  const std::uint64_t slots = std::min<std::uint64_t>(std::uint64_t{5} * width, nodes);
  g.naive_bytes = std::uint64_t{nodes} << 16;
  g.slab_bytes = g.lower_bound_bytes = slots << 16;
  const std::uint32_t copy = add_string(g, "copy");
  const auto pick = [&](std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
  };
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const std::uint32_t layer = i / width;
    if (!is_wide && i % kPartNodes == 0) {
      g.labels.push_back({0, add_string(g, "block " + std::to_string(i / kPartNodes)), 0});
    }
    Node n;
    n.kind = i % 17 == 0 ? NodeKind::Copy : NodeKind::Dispatch;
    n.kernel = n.kind == NodeKind::Dispatch ? (is_wide ? layer : i) % kernels : kNone;
    n.name = n.kernel != kNone ? g.kernels[n.kernel].name
             : is_wide         ? copy
                               : add_string(g, "copy " + std::to_string(i));
    n.label = static_cast<std::uint32_t>(g.labels.size() - 1);
    n.lane = i % kLanes;
    n.command = i;
    n.file = file;
    n.line = 20 + i % 300;
    n.grid[0] = 64;
    n.grid[1] = n.grid[2] = 1;
    n.block[0] = 256;
    n.block[1] = n.block[2] = 1;
    g.buffers.push_back({add_string(g, "t" + std::to_string(i)), BufferKind::Transient, kNone,
                         kNone, 1 << 16, (std::uint64_t{i} % slots) << 16});
    n.first_access = static_cast<std::uint32_t>(g.accesses.size());
    g.accesses.push_back({i, Access::Write, 0, 0, 1 << 16});
    std::vector<std::uint32_t> parents;
    for (std::uint32_t p = 0; layer > 0 && p < 1 + pick(2); ++p)
      parents.push_back((layer - 1) * width + (i + pick(3)) % width);
    if (layer > 4 && pick(12) == 0) parents.push_back((layer - 4) * width + pick(width));
    std::sort(parents.begin(), parents.end());
    parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
    for (const std::uint32_t parent : parents) {
      g.edges.push_back(
          {parent, i, EdgeCause::Hazard, Hazard::ReadAfterWrite, parent, kNone, 0, 1 << 16});
      g.accesses.push_back({parent, Access::Read, 0, 0, 1 << 16});
    }
    n.access_count = static_cast<std::uint32_t>(g.accesses.size()) - n.first_access;
    g.nodes.push_back(n);
  }
  std::sort(g.edges.begin(), g.edges.end(), [](const auto& a, const auto& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  return g;
}

struct LargeReplay {
  std::uint32_t graph;
  std::uint64_t number;
  std::uint32_t nodes;
  Time started;
};

// Returns its end.
Time write_replay(TraceWriter& writer, const LargeReplay& replay, std::mt19937& random) {
  const auto& [graph, number, nodes, started] = replay;
  const bool sampled = number % 10 == 0;
  SampleBlock block{graph, 1, 0, number, SampleSource::Host, {}};
  std::vector<Time> free(kLanes, started);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const Time time = 800 + static_cast<Time>(i % 13) * 150 + static_cast<Time>(random() % 400) +
                      (i % 997 == 0 ? 20'000 : 0);
    if (sampled)
      block.samples.push_back({i, 0, free[i % kLanes], static_cast<std::uint32_t>(time),
                               static_cast<std::uint16_t>(i % kLanes)});
    free[i % kLanes] += time;
  }
  const Time ended = *std::max_element(free.begin(), free.end());
  writer.push(Replay{graph, 1, 0, 4, number, started - 3'000, started - 1'000, started, ended, 1,
                     sampled ? std::uint8_t{1} : std::uint8_t{0}});
  if (sampled) writer.push(std::move(block));
  return ended;
}

}  // namespace

void write_large_trace(const std::filesystem::path& path, const LargeTraceDesc& desc) {
  std::mt19937 random(7);
  TraceWriter writer;
  writer.add_sink(std::make_shared<TraceFile>(TraceFileDesc{.path = path}));
  writer.push(Session{
      "node7", 4711, 1'700'000'000'000'000'000, kNone, "large", "large", "0.1.0", 0, {}, {}});
  writer.push(Clock{kNone, kBegin, 1'700'000'001'000'000'000, 100});
  writer.push(Device{1, "host (4 threads)", "host", {}, 1ull << 34, 4});
  writer.push(Queue{4, 1, "main"});
  for (std::uint32_t graph = 1; graph <= desc.graphs; ++graph)
    writer.push(graph_of(graph, desc, random));
  Time at = kBegin;
  for (std::uint64_t number = 1; number <= desc.replays; ++number) {
    for (std::uint32_t graph = 1; graph <= desc.graphs; ++graph)
      at = write_replay(writer, {graph, number, desc.nodes, at}, random) + 20'000;
  }
}

}  // namespace reprise::test
