// Documents with a generated graph of any size, for tests and benchmarks of graph drawing: rows of
// kernels that read neighbours of the previous row, a reduction after each block of rows, nested
// labels, lanes, copies and one kernel that is much slower than all others. Threads: pure
// functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/document_builder.hpp"

namespace reprise::test {

struct GraphDocumentDesc {
  std::uint32_t nodes = 100;
  std::uint32_t width = 10;     // nodes per row
  std::uint32_t rows = 8;       // rows per block, without the reduction
  std::uint32_t replays = 2;    // all with samples
  std::uint32_t far_edges = 0;  // one edge over seven rows per this many nodes; 0: none
  std::uint32_t slow_node = 37;
};

inline constexpr model::GraphKey kGraphDocumentKey{1, 1};

[[nodiscard]] inline trace::GraphVersion graph_record(const GraphDocumentDesc& desc) {
  using namespace trace;
  GraphVersion g;
  g.graph = kGraphDocumentKey.graph;
  g.version = kGraphDocumentKey.version;
  g.label = "large";
  g.lanes = 4;
  g.strings = {"",
               "attention_scores",
               "rms_norm",
               "matmul_tile_128x64",
               "add_residual",
               "copy_cache",
               "reduce_all",
               "block",
               "attention",
               "mlp",
               "model.cpp",
               "cache"};
  const std::vector<std::uint32_t> names = {1, 2, 3, 4};
  g.labels = {{0, 0, 0}};
  for (const std::uint32_t name : names) g.kernels.push_back({name, name, 32, 0});
  g.buffers = {{11, BufferKind::Device, 0, 0, 1u << 20, 0}};
  const auto edge = [&](std::uint32_t from, std::uint32_t to, EdgeCause cause) {
    g.edges.push_back({from, to, cause,
                       cause == EdgeCause::Hazard ? Hazard::ReadAfterWrite : Hazard::None,
                       cause == EdgeCause::Hazard ? 0 : kNone, kNone, 0, 4096});
  };
  std::vector<std::uint32_t> above, row;  // nodes
  std::uint32_t in_block = 0, block_label = 0, inner = 0;
  const auto add = [&](NodeKind kind, std::uint32_t name, std::uint32_t label) {
    const auto n = static_cast<std::uint32_t>(g.nodes.size());
    Node node;
    node.kind = kind;
    node.name = name;
    node.label = label;
    node.kernel = kind == NodeKind::Dispatch
                      ? static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) -
                                                   names.begin())
                      : kNone;
    if (node.kernel == names.size()) node.kernel = kNone;
    node.lane = n % 4;
    node.command = n;
    node.file = 10;
    node.line = 100 + n % 50;
    node.first_access = static_cast<std::uint32_t>(g.accesses.size());
    node.access_count = 1;
    g.accesses.push_back({0, n % 3 == 0 ? Access::Write : Access::Read, 0, 0, 4096});
    if (kind == NodeKind::Dispatch) {
      node.grid[0] = 64 + n % 64;
      node.grid[1] = 4;
      node.grid[2] = 1;
      node.block[0] = 256;
      node.block[1] = node.block[2] = 1;
    } else {
      node.bytes = 4096 * (1 + n % 7);
    }
    g.nodes.push_back(node);
    return n;
  };
  while (g.nodes.size() < desc.nodes) {
    if (in_block == 0) {
      g.strings.push_back("block " + std::to_string(g.labels.size() / 3 + 1));
      block_label = static_cast<std::uint32_t>(g.labels.size());
      g.labels.push_back({0, static_cast<std::uint32_t>(g.strings.size() - 1), 0});
    }
    if (in_block == 0 || in_block == desc.rows / 2) {
      inner = static_cast<std::uint32_t>(g.labels.size());
      g.labels.push_back({block_label, in_block == 0 ? 8u : 9u, 0});
    }
    row.clear();
    if (in_block == desc.rows) {
      row.push_back(add(NodeKind::Dispatch, 6, block_label));
      for (const std::uint32_t from : above) edge(from, row[0], EdgeCause::Hazard);
      in_block = 0;
    } else {
      for (std::uint32_t i = 0; i < desc.width && g.nodes.size() < desc.nodes; ++i) {
        const bool copy = i % 7 == 6;
        const std::uint32_t n = add(copy ? NodeKind::Copy : NodeKind::Dispatch,
                                    copy ? 5 : names[(in_block + i / 3) % names.size()], inner);
        row.push_back(n);
        if (above.empty()) continue;
        std::vector<std::pair<std::uint32_t, EdgeCause>> from;
        const std::uint32_t last = static_cast<std::uint32_t>(above.size()) - 1,
                            column = std::min(i, last);
        from.emplace_back(above[column], EdgeCause::Hazard);
        if (n % 3 == 0 && column > 0)
          from.emplace_back(above[column - 1], n % 2 == 0 ? EdgeCause::Barrier : EdgeCause::User);
        if (n % 5 == 0 && column < last) from.emplace_back(above[column + 1], EdgeCause::Lane);
        if (desc.far_edges != 0 && n % desc.far_edges == 0 && n > 8 * desc.width)
          from.emplace_back(n - 7 * desc.width, EdgeCause::Hazard);
        std::sort(from.begin(), from.end());
        from.erase(std::unique(from.begin(), from.end(),
                               [](const auto& a, const auto& b) { return a.first == b.first; }),
                   from.end());
        for (const auto& [node, cause] : from) edge(node, n, cause);
      }
      ++in_block;
    }
    above = row;
  }
  return g;
}

[[nodiscard]] inline std::shared_ptr<const model::Document> graph_document(
    const GraphDocumentDesc& desc) {
  using namespace trace;
  Records records;
  const GraphVersion g = graph_record(desc);
  const auto count = static_cast<std::uint32_t>(g.nodes.size());
  records.graph_versions.push_back(g);
  Time at = 1'000'000;
  for (std::uint32_t r = 1; r <= desc.replays; ++r) {
    SampleBlock block{g.graph, g.version, 0, r, SampleSource::Host, {}};
    const Time started = at;
    for (std::uint32_t n = 0; n < count; ++n) {
      const std::uint32_t hash = (n * 2654435761u) >> 16;
      const std::uint32_t duration = 2'000 + hash % 9'000 + (hash % 17 == 0 ? 30'000 : 0) + r +
                                     (n == desc.slow_node ? 90'000 : 0);
      block.samples.push_back({n, 0, at, duration, static_cast<std::uint16_t>(n % 4)});
      at += duration / 4 + 50;
    }
    at += 200'000;
    records.replays.push_back(
        Replay{g.graph, g.version, 0, 0, r, started - 2'000, started - 1'000, started, at, 1, 1});
    records.sample_blocks.push_back(std::move(block));
    at += 10'000;
  }
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace reprise::test
