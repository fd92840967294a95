// Documents of a merged trace: in every replay, each rank computes and then meets the others in a
// collective, which one rank reaches late. Threads: pure functions.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "model/document_builder.hpp"

namespace reprise::test {

struct RankDocument {
  std::uint32_t ranks = 4, late = 2;
  std::uint64_t replays = 3;
  trace::Time clock_error = 2'000;  // of each rank but the first, which is the reference
  bool has_collectives = true;
  trace::CollectiveKind kind = trace::CollectiveKind::AllReduce;
  std::uint32_t root = trace::kNone;
};

// Times since the start of a replay, which is the same on all ranks.
inline constexpr trace::Time kRankPeriod = 1'000'000, kRankFirst = 5'000'000'000;
inline constexpr trace::Time kLateArrival = 60'000, kReplayEnd = 80'000;
constexpr trace::Time arrival_of(const RankDocument& desc, std::uint32_t rank) {
  return rank == desc.late ? kLateArrival : 20'000 + rank % 8 * 1'000;
}
constexpr trace::Time start_of(std::uint64_t replay) {
  return kRankFirst + static_cast<trace::Time>(replay) * kRankPeriod;
}
constexpr model::GraphKey graph_of_rank(std::uint32_t rank) { return {10 + rank, 1}; }

inline trace::GraphVersion make_rank_graph(const RankDocument& desc, std::uint32_t rank) {
  trace::GraphVersion graph;
  graph.graph = graph_of_rank(rank).graph;
  graph.version = 1;
  graph.device = rank;
  graph.label = "train";
  graph.lanes = 2;
  graph.strings = {"", "compute", "gradients"};
  graph.labels = {{}};
  graph.nodes.resize(2);
  for (std::uint32_t n = 0; n < 2; ++n) {
    graph.nodes[n].kind = trace::NodeKind::Dispatch;
    graph.nodes[n].name = n + 1;
    graph.nodes[n].lane = n;
  }
  graph.edges = {{0, 1, trace::EdgeCause::User}};
  if (desc.has_collectives) {
    trace::Collective call;
    call.node = 1;
    call.kind = desc.kind;
    call.peer = desc.root;
    call.ranks = desc.ranks;
    call.rank = rank;
    call.communicator = 77;
    call.bytes = 4096;
    graph.collectives = {call};
  }
  return graph;
}

// Session s is rank s; its thread, queue and device have the numbers 1000 + s, 100 + s and s.
inline trace::Records make_rank_records(const RankDocument& desc) {
  trace::Records records;
  for (std::uint32_t rank = 0; rank < desc.ranks; ++rank) {
    trace::Session session;
    session.host = "node" + std::to_string(rank);
    session.application = "train";
    session.pid = 4000 + rank;
    session.rank = rank;
    session.ranks = desc.ranks;
    session.job = "job-7";
    records.sessions.push_back(session);
    trace::ClockAlignment alignment;
    alignment.session = rank;
    alignment.offset = rank * 1'000;
    alignment.drift = 12e-6;
    alignment.error = rank == 0 ? 0 : desc.clock_error;
    alignment.exchanges = rank == 0 ? 0 : 9;
    records.clock_alignments.push_back(alignment);
    trace::Device device;
    device.id = device.session = rank;
    device.name = "GPU";
    records.devices.push_back(device);
    records.queues.push_back({100 + rank, rank, "main"});
    records.thread_names.push_back({1000 + rank, "trainer", rank});
    records.graph_versions.push_back(make_rank_graph(desc, rank));
    const model::GraphKey graph = graph_of_rank(rank);
    for (std::uint64_t number = 1; number <= desc.replays; ++number) {
      const trace::Time start = start_of(number), arrival = arrival_of(desc, rank);
      records.replays.push_back({graph.graph, graph.version, 0, 100 + rank, number, start - 5'000,
                                 start - 1'000, start, start + kReplayEnd, 1000 + rank, 1});
      records.sample_blocks.push_back(
          {graph.graph,
           graph.version,
           0,
           number,
           trace::SampleSource::Timestamp,
           {{0, 0, start, static_cast<std::uint32_t>(arrival), 1},
            {1, 0, start + arrival, static_cast<std::uint32_t>(kReplayEnd - arrival), 2}}});
    }
  }
  return records;
}

inline std::shared_ptr<const model::Document> make_rank_document(const RankDocument& desc = {}) {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(make_rank_records(desc));
  return builder.publish();
}

}  // namespace reprise::test
