// A document with one graph of known memory layout and ordering, for tests of the memory and sync
// panels. Threads: pure functions.
//
// Six nodes in a chain, 10 us each except node 3 with 40 us. Transients in a slab of 9,216 bytes:
//   "a" [0, 4096) nodes 0 to 1, "b" [4096, 8192) nodes 1 to 3, "c" [0, 4096) nodes 2 to 3 (after
//   "a"), "d" [0, 8192) nodes 4 to 5 (after "a", "b" and "c"), "f" [8192, 9216) nodes 0 to 5 (not
//   shared); "unused" [0, 512), not used.
// Persistent: "weights" (device, pool 0), "pinned" (pinned host, pool 0), "lent" (foreign, pool 1,
// not used). Edges 0: 0 -> 1 hazard; 1: 1 -> 2 barrier 0; 2: 0 -> 2 barrier 1, redundant; 3: 2 -> 3
// lane; 4: 3 -> 4 hazard; 5: 4 -> 5 entry/exit. Barrier 0 at step.cpp:12 on "b"; barrier 1 at
// step.cpp:20, global, redundant; barrier 2 at step.cpp:30, without an edge.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "model/document_builder.hpp"

namespace reprise::test {

inline constexpr model::GraphKey kMemoryKey{2, 1};
inline constexpr trace::Time kMemoryBegin = 5'000'000;

enum : std::uint32_t {
  kBufferA,
  kBufferB,
  kBufferC,
  kBufferD,
  kBufferF,
  kBufferUnused,
  kBufferWeights
};

[[nodiscard]] inline trace::GraphVersion memory_record() {
  using namespace trace;
  GraphVersion g;
  g.graph = kMemoryKey.graph;
  g.version = kMemoryKey.version;
  g.label = "step";
  g.lanes = 1;
  g.entry_exit = 1;
  g.ordering = 1;
  g.naive_bytes = 4096 * 3 + 8192 + 1024;
  g.slab_bytes = 9216;
  g.lower_bound_bytes = 9216;
  g.strings = {"",         "a",    "b",     "c",    "d",   "f",     "unused", "weights",
               "step.cpp", "load", "scale", "blur", "sum", "store", "end",    "forward"};
  g.labels = {{0, 0, 0}, {0, 15, 0}};
  const auto transient = [&](std::uint32_t name, std::uint64_t bytes, std::uint64_t offset) {
    g.buffers.push_back({name, BufferKind::Transient, kNone, kNone, bytes, offset});
  };
  transient(1, 4096, 0);
  transient(2, 4096, 4096);
  transient(3, 4096, 0);
  transient(4, 8192, 0);
  transient(5, 1024, 8192);
  transient(6, 512, 0);
  g.buffers.push_back({7, BufferKind::Device, 0, 0, 1 << 20, 0});
  const std::vector<std::vector<std::pair<std::uint32_t, Access>>> touched = {
      {{kBufferA, Access::Write}, {kBufferF, Access::Write}},
      {{kBufferA, Access::Read}, {kBufferB, Access::Write}},
      {{kBufferB, Access::Read}, {kBufferC, Access::Write}, {kBufferWeights, Access::Read}},
      {{kBufferB, Access::Read}, {kBufferC, Access::Read}},
      {{kBufferD, Access::Write}},
      {{kBufferD, Access::Read}, {kBufferF, Access::Read}}};
  for (std::uint32_t n = 0; n < touched.size(); ++n) {
    Node node;
    node.kind = n == 0 || n == 4 ? NodeKind::Copy : NodeKind::Dispatch;
    node.name = 9 + n;
    node.label = n == 0 ? 0 : 1;
    node.command = n * 2;
    node.first_access = static_cast<std::uint32_t>(g.accesses.size());
    for (const auto& [buffer, access] : touched[n])
      g.accesses.push_back({buffer, access, 0, 0, g.buffers[buffer].bytes});
    node.access_count = static_cast<std::uint32_t>(touched[n].size());
    g.nodes.push_back(node);
  }
  g.barriers = {{3, 1, 8, 12, kBufferB, 0, 4096, Access::Write, Access::Read, 1},
                {5, 1, 8, 20, kNone, 0, 0, Access::ReadWrite, Access::ReadWrite, 1},
                {7, 0, 8, 30, kBufferC, 0, 64, Access::Read, Access::Write, 0}};
  g.edges = {{0, 1, EdgeCause::Hazard, Hazard::ReadAfterWrite, kBufferA, kNone, 0, 4096},
             {1, 2, EdgeCause::Barrier, Hazard::None, kBufferB, 0, 0, 4096},
             {0, 2, EdgeCause::Barrier, Hazard::None, kNone, 1, 0, 0},
             {2, 3, EdgeCause::Lane, Hazard::None, kNone, kNone, 0, 0},
             {3, 4, EdgeCause::Hazard, Hazard::WriteAfterRead, kBufferC, kNone, 0, 4096},
             {4, 5, EdgeCause::EntryExit, Hazard::None, kNone, kNone, 0, 0}};
  // The record sorts edges by target, then source.
  std::swap(g.edges[1], g.edges[2]);
  return g;
}

// Edge indices in the record.
enum : std::uint32_t {
  kEdge01,
  kEdge02Redundant,
  kEdge12Barrier,
  kEdge23Lane,
  kEdge34,
  kEdge45EntryExit
};

[[nodiscard]] inline std::shared_ptr<const model::Graph> memory_graph() {
  return std::make_shared<model::Graph>(memory_record());
}

[[nodiscard]] inline std::shared_ptr<const model::Document> memory_document(
    trace::GraphVersion g = memory_record()) {
  using namespace trace;
  Records records;
  records.devices.push_back({0, "host (2 threads)", "host", {}, 1ull << 33, 2});
  const auto count = static_cast<std::uint32_t>(g.nodes.size());
  for (std::uint64_t r = 1; r <= 2; ++r) {
    SampleBlock block{g.graph, g.version, 0, r, SampleSource::Host, {}};
    Time at = kMemoryBegin + static_cast<Time>(r) * 1'000'000;
    const Time started = at;
    for (std::uint32_t n = 0; n < count; ++n) {
      const std::uint32_t duration = n == 3 ? 40'000 : 10'000;
      block.samples.push_back({n, 0, at, duration, 0});
      at += duration + 1'000;  // 1 us gap between nodes
    }
    records.replays.push_back(
        Replay{g.graph, g.version, 0, 0, r, started - 2'000, started - 1'000, started, at, 1, 1});
    records.sample_blocks.push_back(std::move(block));
  }
  records.pool_states = {{0, 0, kMemoryBegin, "model", 0, 0, 0},
                         {0, 0, kMemoryBegin + 100, "model", 1, 1 << 20, 0},
                         {0, 0, kMemoryBegin + 200, "model", 2, 1 << 20, 4096, 4 << 20, 3 << 20,
                          3 << 20, 3 << 20, 1, 0, 0, 1},
                         {0, 0, kMemoryBegin + 250, "model", 2, 1 << 20, 4096, 4 << 20, 3 << 20,
                          1 << 20, 3 << 20, 1, 1, 0, 1},
                         {1, 0, kMemoryBegin + 300, "lent", 1, 0, 0},
                         {1, 0, kMemoryBegin + 400, "lent", 0, 0, 0}};
  records.pool_uses = {{0, g.graph, PoolRole::Holder, kMemoryBegin + 200, 0},
                       {0, g.graph, PoolRole::Sharer, kMemoryBegin + 200, 0},
                       {0, 9, PoolRole::Sharer, kMemoryBegin + 200, 0},
                       {0, 9, PoolRole::Sharer, kMemoryBegin + 200, kMemoryBegin + 250},
                       {1, g.graph, PoolRole::Holder, kMemoryBegin + 300, 0},
                       {1, g.graph, PoolRole::Holder, kMemoryBegin + 300, kMemoryBegin + 400}};
  records.device_totals = {{0, kMemoryBegin + 100, 0, 1 << 20, 1 << 20, 1 << 20, 1 << 20},
                           {0, kMemoryBegin + 210, 0, 5 << 20, 5 << 20, 5 << 20, 1 << 20, 2, 1},
                           {0, kMemoryBegin + 250, 0, 5 << 20, 2 << 20, 5 << 20, 1 << 20, 2, 1, 1}};
  records.buffer_lifetimes = {
      {0, 0, 0, BufferKind::Device, 1 << 20, 0x7f0000, kMemoryBegin + 100, 0, "weights"},
      {1, 0, 0, BufferKind::PinnedHost, 4096, 0x8f0000, kMemoryBegin + 200, 0, "pinned"},
      {2, 1, 0, BufferKind::Foreign, 2048, 0x9f0000, kMemoryBegin + 300, kMemoryBegin + 400,
       "lent"}};
  records.messages = {{kMemoryBegin + 10, Severity::Warning, "barrier-orders-nothing",
                       "it orders nothing", g.graph, g.version, 5, kNone},
                      {kMemoryBegin + 11, Severity::Error, "hazard-unordered",
                       "two of them are not ordered", kNone, 0, 1, 2},
                      {kMemoryBegin + 12, Severity::Info, "no-device-times",
                       "nothing to do with order", g.graph, g.version, kNone, kNone},
                      {kMemoryBegin + 13, Severity::Warning, "barrier-orders-nothing",
                       "of another graph", g.graph + 1, 1, 5, kNone}};
  records.graph_versions.push_back(std::move(g));
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace reprise::test
