#include "viewer/merged_job.hpp"

#include <utility>

#include "model/document_builder.hpp"

namespace reprise::test {

using trace::Records;

Records merged_topology(const HandMadeJob& job, trace::Time error) {
  Records all;
  for (std::uint32_t rank = 0; rank < job.options().ranks; ++rank) {
    Records one = job.topology(rank);
    for (trace::Session& s : one.sessions) all.sessions.push_back(std::move(s));
    for (trace::Clock& c : one.clocks) {
      if (c.device != trace::kNone) c.device = rank;
      all.clocks.push_back(c);
    }
    for (trace::Device& d : one.devices) {
      d.id = d.session = rank;
      all.devices.push_back(std::move(d));
    }
    for (trace::Queue& q : one.queues) {
      q.id = q.device = rank;
      all.queues.push_back(std::move(q));
    }
    for (trace::ThreadName& t : one.thread_names) {
      t.thread = t.session = rank;
      all.thread_names.push_back(std::move(t));
    }
    for (trace::PoolState& p : one.pool_states) {
      p.pool = p.device = rank;
      all.pool_states.push_back(std::move(p));
    }
    for (trace::GraphVersion& g : one.graph_versions) {
      g.graph = g.device = rank;
      all.graph_versions.push_back(std::move(g));
    }
    trace::ClockAlignment alignment{.session = rank};
    if (job.host(rank) != 0) {
      alignment.error = error;
      alignment.exchanges = job.options().replays / job.options().exchange_interval;
    }
    all.clock_alignments.push_back(alignment);
  }
  return all;
}

Records merged_events(const HandMadeJob& job) {
  Records all;
  for (std::uint32_t rank = 0; rank < job.options().ranks; ++rank) {
    Records one = job.events(rank);
    for (trace::Replay& r : one.replays) {
      r.graph = r.queue = r.thread = rank;
      all.replays.push_back(r);
    }
    for (trace::SampleBlock& b : one.sample_blocks) {
      b.graph = rank;
      all.sample_blocks.push_back(std::move(b));
    }
    for (trace::HostRange& h : one.host_ranges) {
      h.thread = h.graph = rank;
      all.host_ranges.push_back(std::move(h));
    }
  }
  return all;
}

std::shared_ptr<const model::Document> merged_document(const HandMadeJob& job, trace::Time error) {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(merged_topology(job, error));
  builder.add(merged_events(job));
  return builder.publish();
}

}  // namespace reprise::test
