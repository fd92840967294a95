#include "model/document_builder.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace reprise::model {

using trace::Time;

namespace {

template <class T>
std::uint64_t keep_within(GrowingList<T>& list, std::size_t limit) {
  return list.size() > limit ? list.drop_front(limit - limit / 4) : 0;
}

}  // namespace

DocumentBuilder::DocumentBuilder(std::shared_ptr<SampleStore> samples, DocumentLimits limits)
    : samples_(std::move(samples)), limits_(limits) {}

// A time of 0 means unknown.
void DocumentBuilder::extend(Time from, Time to) {
  for (const Time t : {from, to}) {
    if (t == 0) continue;
    if (first_ == 0 || t < first_) first_ = t;
    if (last_ == 0 || t > last_) last_ = t;
  }
}

void DocumentBuilder::add_graph(trace::GraphVersion record) {
  const GraphKey key{record.graph, record.version};
  // A reattaching viewer receives the topology again.
  if (const auto found = graphs_.find(key);
      found != graphs_.end() && found->second.graph->record() == record)
    return;
  Entry& entry = graphs_[key];
  // With the latest parameters of its nodes, whose samples remain.
  const bool is_again = entry.graph && entry.graph->node_count() == record.nodes.size();
  entry.graph = std::make_shared<const Graph>(std::move(record));
  if (!is_again) entry.statistics.change() = GraphStatistics(entry.graph->node_count());
}

void DocumentBuilder::add_replay(const trace::Replay& replay) {
  extend(replay.launched, replay.launch_returned);
  extend(replay.started, replay.ended);
  const auto found = graphs_.find({replay.graph, replay.version});
  if (found == graphs_.end()) {
    ++unknown_replays_;
    return;
  }
  Entry& entry = found->second;
  entry.replays.insert_sorted(
      replay, [](const trace::Replay& a, const trace::Replay& b) { return a.replay < b.replay; });
  entry.dropped_replays += keep_within(entry.replays, limits_.replays);
}

void DocumentBuilder::add_samples(const trace::SampleBlock& block) {
  const auto found = graphs_.find({block.graph, block.version});
  if (found == graphs_.end()) {
    unknown_samples_ += block.samples.size();
    return;
  }
  add_collectives(found->second, block);
  const Graph& graph = *found->second.graph;
  found->second.statistics.change().add(graph, block);
  for (const trace::Sample& sample : block.samples) {
    if (sample.started != 0 && sample.node < graph.node_count())
      extend(sample.started, sample.started + sample.duration);
  }
}

void DocumentBuilder::add_collectives(Entry& entry, const trace::SampleBlock& block) {
  const trace::GraphVersion& graph = entry.graph->record();
  if (graph.collectives.empty()) return;
  for (const trace::CollectiveRun& run : trace::collective_runs(graph, block)) {
    entry.collectives.insert_sorted(
        run, [](const trace::CollectiveRun& a, const trace::CollectiveRun& b) {
          return a.key.replay < b.key.replay;
        });
  }
  entry.communication.insert_sorted(
      communication(*entry.graph, block),
      [](const Communication& a, const Communication& b) { return a.replay < b.replay; });
  static_cast<void>(keep_within(entry.communication, limits_.replays));
  const std::size_t count = graph.collectives.size();
  if (limits_.replays <= static_cast<std::size_t>(-1) / count)
    static_cast<void>(keep_within(entry.collectives, limits_.replays * count));
}

void DocumentBuilder::add_loop(const trace::LoopRun& run) {
  const auto found = graphs_.find({run.graph, run.version});
  if (found == graphs_.end() || run.body >= found->second.graph->record().bodies.size()) return;
  found->second.loops.insert_sorted(
      run, [](const trace::LoopRun& a, const trace::LoopRun& b) { return a.replay < b.replay; });
  static_cast<void>(keep_within(found->second.loops, limits_.replays));
}

void DocumentBuilder::add(trace::Records records) {
  for (trace::Session& s : records.sessions) {
    const auto& known = sessions_.value;
    if (std::find(known.begin(), known.end(), s) == known.end())
      sessions_.change().push_back(std::move(s));
  }
  for (const trace::ClockAlignment& a : records.clock_alignments)
    alignments_.change().insert_or_assign(a.session, a);
  for (trace::Device& d : records.devices) devices_.change().insert_or_assign(d.id, std::move(d));
  for (trace::Queue& q : records.queues) queues_.change().insert_or_assign(q.id, std::move(q));
  for (trace::ThreadName& n : records.thread_names)
    thread_names_.change().insert_or_assign(n.thread, std::move(n));
  for (const trace::Clock& c : records.clocks) clocks_.push_back(c);
  for (trace::GraphVersion& g : records.graph_versions) add_graph(std::move(g));
  for (const trace::Replay& r : records.replays) add_replay(r);
  for (const trace::SampleBlock& b : records.sample_blocks) add_samples(b);
  for (const trace::LoopRun& l : records.loop_runs) add_loop(l);
  if (samples_->is_live()) samples_->keep(std::move(records.sample_blocks));
  for (trace::HostRange& r : records.host_ranges) {
    extend(r.started, r.ended);
    host_ranges_.push_back(std::move(r));
    dropped_host_ranges_ += keep_within(host_ranges_, limits_.host_ranges);
  }
  for (trace::PoolState& p : records.pool_states) {
    extend(p.at, p.at);
    pools_.change().insert_or_assign(p.pool, p);
    pool_history_.push_back(std::move(p));
  }
  for (const trace::PoolUse& u : records.pool_uses) {
    extend(u.from, u.to);
    pool_uses_.change().insert_or_assign({u.pool, u.role, u.graph}, u);
  }
  for (const trace::DeviceTotals& t : records.device_totals) {
    extend(t.at, t.at);
    device_totals_.change().insert_or_assign(t.device, t);
    device_history_.push_back(t);
  }
  for (const trace::CreationCost& c : records.creation_costs) {
    extend(c.at, c.at);
    creation_costs_.change().insert_or_assign(c.graph, c);
  }
  for (trace::BufferLifetime& b : records.buffer_lifetimes) {
    extend(b.allocated, b.freed);
    buffers_.change().insert_or_assign(b.buffer, std::move(b));
  }
  for (trace::Message& m : records.messages) {
    extend(m.at, m.at);
    is_observed_ = is_observed_ || m.id == "run.cupti";
    if (m.id == "run.cost") observing_cost_ = m.text;
    messages_.push_back(std::move(m));
  }
  for (trace::Update& u : records.updates) {
    extend(u.at, u.at);
    updates_.push_back(std::move(u));
  }
  for (trace::Loss& l : records.losses) losses_.push_back(std::move(l));
  for (const trace::ProfilingOverhead& c : records.profiling_overheads) profile_costs_.push_back(c);
}

std::shared_ptr<const Document> DocumentBuilder::publish() {
  static std::atomic<std::uint64_t> revision = 0;
  auto d = std::make_shared<Document>();
  d->sessions = sessions_.publish();
  d->alignments = alignments_.publish();
  d->devices = devices_.publish();
  d->queues = queues_.publish();
  d->thread_names = thread_names_.publish();
  d->pools = pools_.publish();
  d->pool_uses = pool_uses_.publish();
  d->device_totals = device_totals_.publish();
  d->creation_costs = creation_costs_.publish();
  d->buffers = buffers_.publish();
  d->clocks = clocks_.view();
  d->pool_history = pool_history_.view();
  d->device_history = device_history_.view();
  d->host_ranges = host_ranges_.view();
  d->messages = messages_.view();
  d->updates = updates_.view();
  d->losses = losses_.view();
  d->profiling_overheads = profile_costs_.view();
  d->is_observed = is_observed_;
  d->observing_cost = observing_cost_;
  for (auto& [key, entry] : graphs_)
    d->graphs.emplace(key, GraphEntry{entry.graph, entry.replays.view(), entry.dropped_replays,
                                      entry.loops.view(), entry.collectives.view(),
                                      entry.communication.view(), entry.statistics.publish()});
  d->dropped_host_ranges = dropped_host_ranges_;
  d->unknown_replays = unknown_replays_;
  d->unknown_samples = unknown_samples_;
  d->first = first_;
  d->last = last_;
  d->revision = ++revision;
  d->samples = samples_;
  return d;
}

}  // namespace reprise::model
