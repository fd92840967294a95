#include "faults/trace_facts.hpp"

#include <algorithm>
#include <utility>

#include "trace/trace_reader.hpp"

namespace reprise::faults {

namespace {

constexpr std::size_t kMaxReplays = 65'536;  // of a graph: more are not outstanding

}  // namespace

void TraceFacts::add(trace::Records records) {
  for (const trace::Session& session : records.sessions) pid = session.pid;
  for (trace::GraphVersion& version : records.graph_versions)
    graphs[version.graph] = std::move(version);
  for (const trace::Queue& queue : records.queues) devices_.insert(queue.device);
  for (const trace::BufferLifetime& one : records.buffer_lifetimes)
    buffers[one.buffer] = one.address;
  for (const trace::Replay& replay : records.replays) {
    std::deque<trace::Replay>& of_graph = replays[replay.graph];
    of_graph.push_back(replay);
    if (of_graph.size() > kMaxReplays) of_graph.pop_front();
  }
  for (trace::HostRange& range : records.host_ranges) {
    if (range.graph != trace::kNone || range.name == kWaitForAll)
      waits_.push_back(std::move(range));
  }
}

void TraceFacts::finish() {
  trace::Time all = 0;                            // launches before it have ended
  std::map<std::uint32_t, trace::Time> of_queue;  // by queue: those until it
  for (const trace::HostRange& wait : waits_) {
    if (wait.name == kWaitForAll) {
      // It waits for the current device, which the record does not state.
      if (devices_.size() <= 1) all = std::max(all, wait.started);
      continue;
    }
    const auto graph = replays.find(wait.graph);
    if (graph == replays.end()) continue;
    const auto replay = std::lower_bound(
        graph->second.begin(), graph->second.end(), wait.replay,
        [](const trace::Replay& one, std::uint64_t number) { return one.replay < number; });
    if (replay == graph->second.end() || replay->replay != wait.replay) continue;
    trace::Time& until = of_queue[replay->queue];
    until = std::max(until, replay->launched);
  }
  waits_.clear();
  for (auto& [graph, of_graph] : replays) {
    std::erase_if(of_graph, [&](const trace::Replay& replay) {
      const auto queue = of_queue.find(replay.queue);
      return replay.launch_returned <= all ||
             (queue != of_queue.end() && replay.launched <= queue->second);
    });
  }
}

TraceFacts read_trace_facts(const std::filesystem::path& file) {
  TraceFacts facts;
  const trace::TraceReader reader(file);
  for (const trace::ChunkEntry& chunk : reader.chunks()) {
    facts.last = std::max(facts.last, chunk.header.last_time);
    facts.add(reader.read(chunk));
  }
  facts.finish();
  return facts;
}

}  // namespace reprise::faults
