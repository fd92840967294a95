// Records of every kind with distinct values, for tests of the trace.
#pragma once

#include "trace/codec.hpp"

namespace reprise::test {

// A graph of `nodes` nodes in a chain, with labels, a kernel, a buffer, accesses and a barrier.
[[nodiscard]] inline trace::GraphVersion sample_graph(std::uint32_t graph, std::uint32_t nodes) {
  trace::GraphVersion g;
  g.graph = graph;
  g.version = 1;
  g.device = 2;
  g.label = "step";
  g.plan_hash = 0x1122334455667788u;
  g.lowering_hash = 42;
  g.lanes = 3;
  g.entry_exit = 1;
  g.ordering = 1;
  g.naive_bytes = 1000;
  g.slab_bytes = 600;
  g.lower_bound_bytes = 500;
  g.compiled = 77;
  g.compile_time = 5;
  g.instantiate_time = 6;
  g.strings = {"", "saxpy", "forward", "x", "main.cpp", "_Z5saxpyPf"};
  g.labels = {{0, 0, 0}, {0, 2, 0xff8800}};
  g.kernels = {{1, 5, 32, 1024}};
  g.buffers = {{3, trace::BufferKind::Transient, trace::kNone, 0, 4096, 256}};
  g.barriers = {{9, 1, 4, 12, 0, 0, 4096, trace::Access::Write, trace::Access::Read, 1,
                 trace::Dependency::Programmatic}};
  for (std::uint32_t i = 0; i < nodes; ++i) {
    g.accesses.push_back({0, trace::Access::ReadWrite, 0, 16, 32});
    trace::Node node;
    node.kind = trace::NodeKind::Dispatch;
    node.name = 1;
    node.label = 1;
    node.kernel = 0;
    node.lane = i % 3;
    node.command = i;
    node.file = 4;
    node.line = 100 + i;
    node.first_access = i;
    node.access_count = 1;
    node.grid[0] = 7;
    node.block[1] = 8;
    node.shared_bytes = 9;
    node.bytes = 10;
    g.nodes.push_back(node);
    if (i > 0)
      g.edges.push_back({i - 1, i, trace::EdgeCause::Hazard, trace::Hazard::WriteAfterRead, 0,
                         trace::kNone, 16, 32});
  }
  return g;
}

[[nodiscard]] inline trace::SampleBlock sample_block(std::uint64_t replay, std::uint32_t nodes) {
  trace::SampleBlock block{3, 1, 0, replay, trace::SampleSource::Timestamp, {}};
  trace::Time at = 1'000'000 + static_cast<trace::Time>(replay) * 10'000;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    block.samples.push_back(
        {i, i % 5 == 4 ? 1u : 0u, at, 1'800 + i % 7, static_cast<std::uint16_t>(i % 2)});
    at += 2'000;
  }
  return block;
}

[[nodiscard]] inline trace::Records one_of_each() {
  trace::Records r;
  r.sessions = {{"node7", 4711, 1'700'000'000'000'000'000, 3, "digits", "digits --epochs 3",
                 "0.1.0", 4, "job 12", "boot 7"}};
  r.clocks = {{1, 100, 200, 32}};
  r.devices = {{1,
                "NVIDIA H200",
                "cuda:0",
                {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
                1ull << 37,
                132,
                0}};
  r.queues = {{4, 1, "main"}};
  r.graph_versions = {sample_graph(3, 4)};
  r.graph_versions[0].frames = {{trace::kNone, 2, 4, 40, 0}, {0, 5, 3, 0, 0x1234}};
  r.graph_versions[0].stacks = {{1, 1}, {2, 0}};
  r.graph_versions[0].stack = 0;
  r.graph_versions[0].segments = {{0, 4, 2, 6}};
  r.graph_versions[0].block_relations = {
      {0, 1, 1, 1, -1, 1}, {0, 3, 0, 0, 0, 0}, {1, 3, 2, 1, 0, 1}};
  r.replays = {{3, 1, 0, 4, 9, 1'000, 1'100, 1'200, 1'900, 77, 1}};
  r.sample_blocks = {sample_block(9, 12)};
  r.host_ranges = {{77, 2, 900, 1'500, "epoch", 3, 9}};
  r.thread_names = {{77, "trainer", 0}};
  r.pool_states = {
      {1, 1, 1'300, "step", 5, 4096, 128, 1 << 20, 9216, 6144, 8192, 2, 4, 3, 1, 7, 8192}};
  r.pool_uses = {{1, 3, trace::PoolRole::Holder, 1'300, 0},
                 {1, 8, trace::PoolRole::Sharer, 1'310, 1'340}};
  r.ended = {{1'400, trace::ObjectKind::Graph, 8}};
  r.creation_costs = {{3, 1'450, 120, 30, 1 << 20, -(1 << 21)}};
  r.buffer_lifetimes = {
      {2, 1, 1, trace::BufferKind::PinnedHost, 4096, 0xdeadbeef, 400, 500, "weights"}};
  r.messages = {{600, trace::Severity::Warning, "barrier-orders-nothing", "text", 3, 1, 5, 4, 0}};
  r.updates = {{700, 3, 1, 2, "scalar lr"}};
  r.losses = {{800, trace::LossKind::Samples, 12, "queue full", 0}};
  r.profiling_overheads = {{100, 900, 3, 40, 50}};
  r.loop_runs = {{3, 1, 0, 9, 12, 10}};
  r.device_totals = {{1, 1'350, 1 << 21, 10240, 7168, 9216, 4096, 2, 1, 4, 3}};
  r.clock_exchanges = {{0, 100, 180, 5'140}};
  r.clock_alignments = {{1, 0, 140, 5'000, 2.5e-5, 40, 12, 3'000}};
  r.inspections = {{7, 3, 1, 1'500, 9, 2, 1, "too large"}};
  trace::InspectedRange range;
  range.inspection = 7;
  range.node = 1;
  range.begin = 8;
  range.end = 8 + 2 * 16 + 12;
  range.width = 12;
  range.height = 3;
  range.row_pitch = range.slice_pitch = 16;
  range.type = trace::ContentType::F32;
  range.state = trace::ContentState::Stored;
  range.count = 9;
  range.nans = 2;
  range.min = -1.5;
  range.hash = 0x123456789abcdef0;
  range.histogram[63] = 4;
  r.inspected_ranges = {range};
  r.content_blocks = {{7, 0, 4, {1, 2, 250}}};
  return r;
}

// 4 MB of names that compress extremely well.
[[nodiscard]] inline trace::Records long_thread_names() {
  trace::Records names;
  for (std::uint32_t i = 0; i < 40; ++i) {
    std::string name(100'000, 'x');
    name[i] = 'y';
    names.thread_names.push_back({i, name});
  }
  return names;
}

}  // namespace reprise::test
