// Slowdown: why one replay took longer, or shorter, than the median replay. Its time starts with
// the launch call, or with the end of the previous replay on its queue if that is later: time in
// the queue belongs to the replays before it. The time is split into consecutive parts along the
// measured critical path: launch latency, gaps and nodes. Each part is compared with its own
// median. The excesses of all parts and the remainder add up to the difference. Threads: pure
// functions, except replay_baseline(), which may read the disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/critical_path.hpp"
#include "model/document.hpp"
#include "model/edge_gaps.hpp"
#include "model/replay_statistics.hpp"

namespace reprise::model {

enum class SlowdownKind : std::uint8_t {
  LaunchLatency,  // without the time in the queue
  DeviceTime,     // of a replay without samples
  BeforeNodes,    // from the start on the device to the start of the first node
  Gap,            // before `node`, since the end of its last predecessor
  Node,
  AfterNodes  // from the end of the last node to the end on the device
};

struct SlowdownPart {
  SlowdownKind kind = SlowdownKind::Node;
  std::uint32_t node = trace::kNone;
  std::uint32_t edge = trace::kNone;  // of a gap; kNone: the node has no predecessor
  double time = 0, median = 0;        // ns
  [[nodiscard]] double excess() const noexcept { return time - median; }
};

struct Slowdown {
  std::uint64_t replay = 0;
  // ns, until the end on the device; without known device times, from the start of the first node
  // to the end of the last.
  double time = 0, median = 0;
  std::vector<SlowdownPart> parts;  // by absolute excess, largest first
  // The sum of the parts' medians minus the median of the whole. The two differ because the medians
  // are from different replays.
  double remainder = 0;
  [[nodiscard]] double difference() const noexcept { return time - median; }
};

// The medians of a range of replays, ns.
struct ReplayBaseline {
  double total = 0, launch_latency = 0, device_time = 0;
  double node_span = 0, before_nodes = 0, after_nodes = 0;
  std::vector<double> nodes;    // by node
  std::vector<MedianGap> gaps;  // by node
  // Launch latency of each replay of the graph, without the time in the queue, ns; negative:
  // unknown.
  std::vector<trace::Time> latencies;
};

// `node_medians`: as in the range's node statistics. Throws TraceError.
[[nodiscard]] ReplayBaseline replay_baseline(const Document& document, const GraphEntry& entry,
                                             ReplayRange range, std::vector<double> node_medians);

// `times`: of this replay; without a measured node if the replay has no samples.
// `entry`: as for replay_baseline().
[[nodiscard]] Slowdown slowdown(const GraphEntry& entry, const ReplayBaseline& baseline,
                                const trace::Replay& replay, const ReplayTimes& times);

// "blur", "gap before blur", "launch latency without queueing".
[[nodiscard]] std::string part_name(const Graph& graph, const SlowdownPart& part);

// Indices of the replays with the longest device time, longest first.
[[nodiscard]] std::vector<std::size_t> slowest_replays(const ListView<trace::Replay>& replays,
                                                       std::size_t count);

}  // namespace reprise::model
