#include "viewer/model/small_trace.hpp"

#include <fstream>
#include <memory>

#include "trace/trace_file.hpp"

namespace reprise::test {

using namespace trace;

Records small_topology() {
  Records r;
  r.sessions = {{"node7", 4711, 1, kNone, "digits", "digits", "0.1.0", 0, {}, {}}};
  r.clocks = {{kNone, 1'000, 1'700'000'000'000'000'000, 100}};
  r.devices = {{1, "host (2 threads)", "host", {}, 1 << 30, 2}};
  r.queues = {{4, 1, "main"}};
  r.thread_names = {{77, "trainer"}};
  GraphVersion g;
  g.graph = 3;
  g.version = 1;
  g.device = 1;
  g.label = "step";
  g.lanes = 2;
  g.naive_bytes = 8'192;
  g.slab_bytes = g.lower_bound_bytes = 4'096;
  g.strings = {"", "load", "saxpy", "blur", "x", "y", "epoch", "forward"};
  g.labels = {{0, 0, 0}, {0, 6, 0}, {1, 7, 0}};
  g.kernels = {{2, 2, 32, 0}};
  g.buffers = {{4, BufferKind::Transient, kNone, 0, 4096, 0},
               {5, BufferKind::Device, 9, 0, 1 << 20, 0}};
  g.accesses = {{0, Access::Write, 0, 0, 4096},
                {0, Access::Read, 0, 0, 4096},
                {1, Access::Write, 0, 0, 64},
                {0, Access::Read, 0, 0, 64}};
  g.barriers = {{1, 0, 0, 0, kNone, 0, 0, Access::Write, Access::Read, 1}};
  g.nodes.resize(3);
  g.nodes[0].kind = NodeKind::Copy;
  g.nodes[0].name = 1;
  g.nodes[0].access_count = 1;
  g.nodes[1].kind = NodeKind::Dispatch;
  g.nodes[1].name = 2;
  g.nodes[1].label = 2;
  g.nodes[1].kernel = 0;
  g.nodes[1].first_access = 1;
  g.nodes[1].access_count = 2;
  g.nodes[2] = g.nodes[1];
  g.nodes[2].name = 3;
  g.nodes[2].label = 1;
  g.nodes[2].lane = 1;
  g.nodes[2].first_access = 3;
  g.nodes[2].access_count = 1;
  g.edges = {{0, 1, EdgeCause::Hazard, Hazard::ReadAfterWrite, 0, kNone, 0, 4096},
             {0, 2, EdgeCause::Barrier, Hazard::None, kNone, 0, 0, 0}};
  r.graph_versions = {g};
  return r;
}

Records small_events() {
  Records r;
  // The second replay arrives before the first.
  for (const std::uint64_t n : {2, 1, 3}) {
    const auto at = static_cast<Time>(10'000 * n);
    r.replays.push_back({3, 1, 0, 4, n, at, at + 900, at + 2'000, at + 7'000, 77, 1});
  }
  r.replays.push_back({8, 1, 0, 4, 1, 50'000, 50'100, 0, 0, 77, 0});
  r.host_ranges = {{77, 1, 10'100, 10'800, "batch", 3, 1},
                   {77, 0, 9'000, 19'000, "iteration", kNone, 0}};
  r.pool_states = {
      {0, 1, 9'500, "step", 1, 4'096, 0},
      {0, 1, 9'900, "step", 2, 1 << 20, 0, 4 << 20, 3 << 20, 1 << 20, 3 << 20, 1, 2, 1, 1}};
  r.pool_uses = {{0, 3, PoolRole::Holder, 9'900, 0}, {0, 3, PoolRole::Sharer, 9'900, 0}};
  r.device_totals = {{1, 9'500, 0, 4'096, 4'096, 4'096, 4'096},
                     {1, 9'900, 0, 3 << 20, 1 << 20, 3 << 20, 1 << 20, 1, 1, 2, 1}};
  r.buffer_lifetimes = {{9, 0, 1, BufferKind::Device, 1 << 20, 0x1000, 9'100, 0, "y"},
                        {9, 0, 1, BufferKind::Device, 1 << 20, 0x1000, 9'100, 40'000, "y"}};
  r.messages = {{9'200, Severity::Warning, "barrier-orders-nothing", "barrier 0", 3, 1, 1, kNone}};
  r.updates = {{9'300, 3, 0, 1, "scalar"}};
  r.losses = {{45'000, LossKind::Samples, 12, "queue full"}};
  r.profiling_overheads = {{9'000, 45'000, 3, 120, 40}};
  return r;
}

Records small_samples() {
  Records r;
  for (std::uint64_t n = 1; n <= 3; ++n) {
    const auto at = static_cast<Time>(10'000 * n + 2'000);
    const auto more = static_cast<std::uint32_t>(n);
    r.sample_blocks.push_back({3,
                               1,
                               0,
                               n,
                               SampleSource::Host,
                               {{0, 0, at, 1'000 + more, 0},
                                {1, 0, at + 1'100, 2'000 + more, 0},
                                {2, 0, n == 3 ? 0 : at + 1'100, n == 3 ? 0 : 3'000 + more, 1}}});
  }
  return r;
}

void write_trace(const std::filesystem::path& path, const Chunks& chunks) {
  TraceFile file({.path = path});
  std::uint64_t sequence = 0;
  for (const auto& [kind, records] : chunks)
    file.write(std::make_shared<const Chunk>(make_chunk(kind, records, sequence++)));
}

void append_trace(const std::filesystem::path& path, const Chunks& chunks) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  for (const auto& [kind, records] : chunks) {
    const Chunk chunk = make_chunk(kind, records, 1'000);
    const auto header = encode_header(chunk.header);
    file.write(reinterpret_cast<const char*>(header.data()),
               static_cast<std::streamsize>(header.size()));
    file.write(reinterpret_cast<const char*>(chunk.payload.data()),
               static_cast<std::streamsize>(chunk.payload.size()));
  }
}

}  // namespace reprise::test
