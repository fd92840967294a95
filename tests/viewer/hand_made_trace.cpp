#include "viewer/hand_made_trace.hpp"

#include <memory>
#include <string>

#include "trace/trace_file.hpp"
#include "trace/trace_writer.hpp"

namespace reprise::test {

namespace {

using namespace trace;

GraphVersion graph_of(std::uint32_t id, const std::string& label, const HandMadeTrace& options) {
  GraphVersion g;
  g.graph = id;
  g.version = 1;
  g.device = 1;
  g.label = label;
  g.plan_hash = 0xfeedfacecafebeef;
  g.lanes = 2;
  g.strings = {"",      "load",    "saxpy \"a, b\"", "blur", "sum",    "store",
               "epoch", "forward", "main.cpp",       "x<&>", "renamed"};
  g.labels = {{0, 0, 0}, {0, 6, 0x336699}, {1, 7, 0}};
  g.kernels = {{2, 2, 32, 0}};
  g.buffers = {{9, BufferKind::Transient, kNone, 0, 4096, 256},
               {1, BufferKind::Device, 2, 1, 1 << 20, 0}};
  for (std::uint32_t i = 0; i < HandMadeTrace::kNodes; ++i) {
    g.accesses.push_back({0, i == 0 ? Access::Write : Access::Read, 0, 0, 4096});
    Node n;
    n.kind = i == 0 || i == 4 ? NodeKind::Copy : NodeKind::Dispatch;
    n.name = id == HandMadeTrace::kStep && i == options.renamed_node ? 10 : i + 1;
    n.label = i == 0 ? 0 : i < 3 ? 2 : 1;
    n.kernel = n.kind == NodeKind::Dispatch ? 0 : kNone;
    n.lane = i == 2 ? 1 : 0;
    n.command = i;
    n.file = 8;
    n.line = 10 + i;
    n.first_access = i;
    n.access_count = 1;
    n.grid[0] = n.grid[1] = n.grid[2] = 1;
    n.block[0] = 256;
    n.block[1] = n.block[2] = 1;
    g.nodes.push_back(n);
  }
  // load -> saxpy, blur -> sum -> store; blur is the slower of the two middle nodes.
  g.edges = {{0, 1, EdgeCause::Hazard, Hazard::ReadAfterWrite, 0, kNone, 0, 4096},
             {0, 2, EdgeCause::Hazard, Hazard::ReadAfterWrite, 0, kNone, 0, 4096},
             {1, 3, EdgeCause::User, Hazard::None, kNone, kNone, 0, 0},
             {2, 3, EdgeCause::Hazard, Hazard::WriteAfterRead, 0, kNone, 0, 64},
             {3, 4, EdgeCause::Lane, Hazard::None, kNone, kNone, 0, 0}};
  return g;
}

// Adds a replay that starts at `at`: load, then saxpy and blur concurrently, then sum, then store.
// Returns its end.
Time replay(TraceWriter& writer, std::uint32_t graph, std::uint64_t number, Time at,
            const HandMadeTrace& options) {
  const auto time = [&](std::uint32_t node) {
    const Time t = hand_made_time(node, number);
    return graph == HandMadeTrace::kStep && node == options.slow_node ? t + t / 2 : t;
  };
  SampleBlock block{graph, 1, 0, number, SampleSource::Host, {}};
  const auto add = [&](std::uint32_t node, Time started, std::uint16_t worker) {
    const bool lost = graph == HandMadeTrace::kStep && number == 3 && node == 4;
    block.samples.push_back(
        {node, 0, lost ? 0 : started, static_cast<std::uint32_t>(lost ? 0 : time(node)), worker});
    return started + time(node);
  };
  const Time started = at;
  at = add(0, at, 0);
  const Time saxpy = add(1, at, 0);
  at = std::max(saxpy, add(2, at + time(1) / 2, 0));
  at = add(3, at, 1);
  at = add(4, at, 1);
  writer.push(Replay{graph, 1, 0, 4, number, started - 2'500,
                     started - 2'500 + 900 + static_cast<Time>(number), started, at, 77,
                     options.samples ? std::uint8_t{1} : std::uint8_t{0}});
  if (options.samples) writer.push(std::move(block));
  return at;
}

}  // namespace

void write_hand_made_trace(const std::filesystem::path& path, const HandMadeTrace& options) {
  // Small chunks distribute replays and samples over several chunks.
  TraceWriter writer({.chunk_bytes = 4'000});
  writer.add_sink(std::make_shared<TraceFile>(TraceFileDesc{.path = path}));
  writer.push(Session{"node7", 4711, 1'700'000'000'000'000'000, kNone, "digits",
                      "digits --epochs 3", "0.1.0", 0, {}, {}});
  writer.push(Clock{kNone, HandMadeTrace::kBegin, 1'700'000'001'000'000'000, 100});
  writer.push(Device{1, "host (2 threads)", "host", {}, 1ull << 33, 2});
  writer.push(Queue{4, 1, "main"});
  writer.push(ThreadName{77, "trainer"});
  writer.push(graph_of(HandMadeTrace::kStep, "step", options));
  writer.push(graph_of(HandMadeTrace::kOther, "other", options));
  writer.flush();
  Time at = HandMadeTrace::kBegin + 10'000;
  for (std::uint64_t r = 1; r <= HandMadeTrace::kStepReplays; ++r) {
    const Time started = at - 4'000;
    at = replay(writer, HandMadeTrace::kStep, r, at, options) + 5'000;
    if (r <= HandMadeTrace::kOtherReplays)
      at = replay(writer, HandMadeTrace::kOther, r, at, options) + 5'000;
    // The inner range ends first, so it arrives first.
    writer.push(HostRange{77, 1, started + 10, at - 4'500, "batch", HandMadeTrace::kStep, r});
    writer.push(HostRange{77, 0, started, at - 4'400, "iteration", kNone, 0});
  }
  writer.push(PoolState{2, 1, HandMadeTrace::kBegin + 11'000, "step", 2, 6 << 20, 4096, 32 << 20,
                        14 << 20, 14 << 20, 14 << 20, 1, 0, 0});
  writer.push(PoolState{2, 1, at, "step", 2, 6 << 20, 4096, 32 << 20, 14 << 20, 6 << 20, 14 << 20,
                        1, 3, 2, 1, 5, 20'480});
  for (const PoolRole role : {PoolRole::Holder, PoolRole::Sharer})
    writer.push(PoolUse{2, HandMadeTrace::kStep, role, HandMadeTrace::kBegin + 11'000, 0});
  writer.push(DeviceTotals{1, at, 0, 14 << 20, 6 << 20, 14 << 20, 6 << 20, 1, 1, 3, 2});
  writer.push(Message{at, Severity::Warning, "barrier-orders-nothing", "a \"quoted\",\ntext",
                      HandMadeTrace::kStep, 1, 2, kNone});
  writer.push(Loss{at, LossKind::Samples, 12, "queue full"});
}

}  // namespace reprise::test
