#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <fstream>
#include <vector>

#include "model/replay_statistics.hpp"
#include "model/trace_loader.hpp"
#include "model/trace_summary.hpp"
#include "support/paths.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_file.hpp"
#include "viewer/hand_made_trace.hpp"

using namespace reprise;
using test::HandMadeTrace;

namespace {

std::filesystem::path hand_made() {
  const std::filesystem::path path = test::scratch_folder() / "summary.reprise";
  test::write_hand_made_trace(path);
  return path;
}

}  // namespace

TEST_CASE("trace summary: counts and totals equal those of the trace") {
  const trace::TraceReader reader(hand_made());
  std::uint64_t done = 0, total = 0;
  const model::TraceSummary s = model::summarize(reader, [&](std::uint64_t d, std::uint64_t t) {
    CHECK(d >= done);
    done = d;
    total = t;
  });
  CHECK(total > 0);
  CHECK(done == total);
  CHECK(s.file_bytes == std::filesystem::file_size(reader.path()));
  REQUIRE(s.sessions.size() == 1);
  CHECK(s.sessions[0].application == "digits");
  CHECK(s.losses.at(trace::LossKind::Samples) == 12);
  CHECK(s.messages.at(trace::Severity::Warning) == 1);
  CHECK(s.unknown_replays == 0);
  CHECK(s.unknown_samples == 0);
  CHECK(s.first >= HandMadeTrace::kBegin);
  CHECK(s.last > s.first);

  REQUIRE(s.graphs.size() == 2);
  const model::GraphSummary& step = s.graphs[0];
  CHECK(step.name == "step");
  CHECK(step.device == "host (2 threads)");
  CHECK(step.replays == HandMadeTrace::kStepReplays);
  CHECK(step.sampled_replays == HandMadeTrace::kStepReplays);
  CHECK(step.untimed_replays == 0);
  CHECK(step.samples == HandMadeTrace::kStepReplays * HandMadeTrace::kNodes);
  CHECK(step.lost_samples == 1);
  CHECK(step.launch_call.min() == 901);
  CHECK(step.launch_call.max() == 900 + static_cast<trace::Time>(HandMadeTrace::kStepReplays));
  REQUIRE(step.nodes.size() == HandMadeTrace::kNodes);
  double shares = 0;
  for (const model::NodeSummary& n : step.nodes) {
    trace::Time sum = 0;
    for (std::uint64_t r = 1; r <= HandMadeTrace::kStepReplays; ++r)
      sum += n.node == 4 && r == 3 ? 0 : test::hand_made_time(n.node, r);
    CHECK(n.times.sum() == sum);
    CHECK(n.lost == (n.node == 4 ? 1 : 0));
    shares += n.share;
  }
  CHECK(shares == doctest::Approx(1));
  CHECK(step.nodes[1].name == "saxpy \"a, b\"");
  CHECK(step.nodes[1].label_path == "epoch / forward");
  CHECK(step.nodes[0].label_path.empty());
  CHECK(s.graphs[1].name == "other");
  CHECK(s.graphs[1].replays == HandMadeTrace::kOtherReplays);
}

TEST_CASE("trace summary: made while a document is loaded, it equals that of the file") {
  const std::filesystem::path path = hand_made();
  model::TraceSummarizer summarizer;
  std::vector<std::size_t> replays;
  model::TraceLoader loader({.path = path, .on_records = [&](const trace::Records& records) {
                               summarizer.take(records);
                               replays.push_back(records.replays.size());
                             }});
  while (loader.step()) {
  }
  CHECK(replays.size() == loader.reader().chunks().size());  // each chunk is read once
  const model::TraceSummary a = summarizer.finish(loader.reader()),
                            b = model::summarize(loader.reader());
  CHECK(a.file_bytes == b.file_bytes);
  CHECK(a.sessions == b.sessions);
  CHECK(a.devices == b.devices);
  CHECK(a.first == b.first);
  CHECK(a.last == b.last);
  CHECK(a.pools == b.pools);
  CHECK(a.losses == b.losses);
  REQUIRE(a.graphs.size() == b.graphs.size());
  for (std::size_t i = 0; i < a.graphs.size(); ++i) {
    CHECK(a.graphs[i].device == "host (2 threads)");
    CHECK(a.graphs[i].replays == b.graphs[i].replays);
    CHECK(a.graphs[i].samples == b.graphs[i].samples);
    for (std::size_t n = 0; n < a.graphs[i].nodes.size(); ++n) {
      CHECK(a.graphs[i].nodes[n].times.sum() == b.graphs[i].nodes[n].times.sum());
      CHECK(a.graphs[i].nodes[n].share == b.graphs[i].nodes[n].share);
    }
  }
}

TEST_CASE("trace summary: figures of replays are those of the viewer") {
  const trace::TraceReader reader(hand_made());
  const model::TraceSummary s = model::summarize(reader);
  model::GrowingList<trace::Replay> replays;
  for (const trace::ChunkEntry& chunk : reader.chunks()) {
    for (const trace::Replay& replay : reader.read(chunk).replays)
      if (replay.graph == s.graphs[0].graph) replays.push_back(replay);
  }
  const auto check = [&](const detail::DurationHistogram& times, model::ReplayMeasure what) {
    const model::ReplayStatistics exact = model::replay_statistics(replays.view(), what);
    const auto close = [](double a, trace::Time b) {
      return std::abs(a - static_cast<double>(b)) <=
             static_cast<double>(b) * detail::DurationHistogram::kRelativeError;
    };
    CHECK(times.count() == exact.count);
    CHECK(times.count() == HandMadeTrace::kStepReplays);
    CHECK(close(times.quantile(0.5), exact.median));
    CHECK(close(times.quantile(0.9), exact.p90));
    CHECK(close(times.quantile(0.99), exact.p99));
    CHECK(times.max() == exact.max);
  };
  check(s.graphs[0].device_time, model::ReplayMeasure::DeviceTime);
  check(s.graphs[0].launch_call, model::ReplayMeasure::LaunchCall);
  check(s.graphs[0].launch_latency, model::ReplayMeasure::LaunchLatency);
}

TEST_CASE("trace summary: replays and samples of undescribed graphs are counted separately") {
  const std::filesystem::path path = test::scratch_folder() / "unknown.reprise";
  {
    trace::Records topology, events, samples;
    trace::GraphVersion g;
    g.strings = {""};
    g.labels = {{}};
    g.nodes.resize(2);
    topology.graph_versions = {g};
    events.replays = {{0, 0, 0, 0, 1, 10, 20, 30, 0, 0, 0}, {5, 0, 0, 0, 1, 10, 20, 30, 40, 0, 0}};
    samples.sample_blocks = {
        {0, 0, 0, 1, trace::SampleSource::Host, {{1, 0, 30, 7, 0}, {2, 0, 40, 7, 0}}},
        {0, 9, 0, 1, trace::SampleSource::Host, {{0, 0, 30, 7, 0}}}};
    trace::TraceFile file({.path = path});
    std::uint64_t sequence = 0;
    for (const auto& [kind, records] : {std::pair{trace::ChunkKind::Topology, topology},
                                        {trace::ChunkKind::Events, events},
                                        {trace::ChunkKind::Samples, samples}}) {
      file.write(
          std::make_shared<const trace::Chunk>(trace::make_chunk(kind, records, sequence++)));
    }
  }
  const model::TraceSummary s = model::summarize(trace::TraceReader(path));
  CHECK(s.unknown_replays == 1);
  CHECK(s.unknown_samples == 2);
  REQUIRE(s.graphs.size() == 1);
  CHECK(s.graphs[0].name == "graph 0");
  CHECK(s.graphs[0].untimed_replays == 1);
  CHECK(s.graphs[0].device_time.count() == 0);
  CHECK(s.graphs[0].launch_call.sum() == 10);
  CHECK(s.graphs[0].nodes[1].times.sum() == 7);
  CHECK(s.graphs[0].nodes[0].times.count() == 0);
}

TEST_CASE("trace summary: pools and device memory have their last state") {
  const std::filesystem::path path = test::scratch_folder() / "pools.reprise";
  {
    trace::Records events;
    events.pool_states = {{7, 0, 20, "step", 2, 4096, 0, 1 << 20, 8192, 8192, 8192, 1, 0, 0},
                          {2, 0, 10, "weights", 1, 64, 0},
                          {7, 0, 40, "step", 1, 2048, 0, 1 << 20, 8192, 2048, 8192, 1, 1, 0},
                          {7, 0, 30, "step", 2, 4096, 0, 1 << 20, 8192, 8192, 8192, 1, 0, 0, 1},
                          {7, 0, 35, "step", 2, 4096, 0, 1 << 20, 8192, 8192, 8192, 1, 0, 0, 1}};
    events.pool_uses = {
        {7, 4, trace::PoolRole::Sharer, 28, 0}, {7, 5, trace::PoolRole::Sharer, 30, 0},
        {7, 6, trace::PoolRole::Holder, 30, 0}, {7, 4, trace::PoolRole::Sharer, 28, 35},
        {7, 6, trace::PoolRole::Sharer, 36, 0}, {7, 6, trace::PoolRole::Sharer, 36, 37}};
    events.device_totals = {{3, 50, 0, 9000, 9000, 9000, 64},
                            {3, 45, 0, 8000, 8000, 8000, 64},
                            {1, 20, 4096, 64, 64, 64, 64}};
    trace::TraceFile file({.path = path});
    file.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Topology, events, 0)));
  }
  const model::TraceSummary s = model::summarize(trace::TraceReader(path));
  REQUIRE(s.device_totals.size() == 2);
  CHECK(s.device_totals[0].budget == 4096);
  CHECK(s.device_totals[1].mapped == 9000);
  REQUIRE(s.pools.size() == 2);
  CHECK(s.pools[0].label == "weights");
  CHECK(s.pools[0].peak == 0);
  CHECK(s.pools[1].mapped == 2048);
  CHECK(s.pools[1].trims == 1);
  CHECK(s.last == 50);
  REQUIRE(s.sharing.size() == 1);
  CHECK(s.sharing.at(7).now == std::set<std::uint32_t>{5});
  CHECK(s.sharing.at(7).most == std::vector<std::uint32_t>{4, 5});
  CHECK(s.sharing.at(7).most_slabs == 1);
}

TEST_CASE("trace summary: a truncated file yields its intact part and reports the damage") {
  const std::filesystem::path path = hand_made(), cut = test::scratch_folder() / "cut.reprise";
  std::filesystem::copy_file(path, cut, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(cut, std::filesystem::file_size(path) - 5);
  const model::TraceSummary s = model::summarize(trace::TraceReader(cut));
  CHECK_FALSE(s.damage.empty());
  CHECK(s.trailing_bytes > 0);
  CHECK(s.file_bytes == std::filesystem::file_size(cut));
  CHECK(s.graphs.size() == 2);
}
