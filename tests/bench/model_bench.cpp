#include <malloc.h>
#include <sched.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "model/trace_feed.hpp"
#include "model/trace_loader.hpp"
#include "support/temporary_folder.hpp"
#include "trace/live/live_server.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_writer.hpp"
#include "trace_samples.hpp"

namespace reprise::bench {

namespace {

// Samples per batch: half of the writer's queue.
constexpr std::uint32_t kReplaysAtOnce = 1'000;

// The same replays repeatedly, with increasing times.
class Session {
 public:
  Session()
      : graph_(layered_graph(kTracedNodes)),
        blocks_(sample_blocks(graph_, 1, kReplaysAtOnce, Times::Steady)) {}

  void describe(trace::TraceWriter& writer) const { static_cast<void>(writer.push(graph_)); }
  // Returns after the writer has written them.
  void replay(trace::TraceWriter& writer, std::uint64_t round) const {
    const trace::Time later =
        static_cast<trace::Time>(round) * (blocks_.back().samples.back().started -
                                           blocks_.front().samples.front().started + 1'000'000);
    for (const trace::SampleBlock& block : blocks_) {
      trace::SampleBlock moved = block;
      moved.replay += round * kReplaysAtOnce;
      for (trace::Sample& s : moved.samples) s.started += later;
      static_cast<void>(writer.push(replay_of(moved)));
      static_cast<void>(writer.push(std::move(moved)));
    }
    writer.flush();
  }

 private:
  trace::GraphVersion graph_;
  std::vector<trace::SampleBlock> blocks_;
};

// MiB; 0 if the system does not report it.
double resident(const char* which) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == which && status >> kib) return kib / 1024;
  }
  return 0;
}

// The peak memory of `work` beyond the initial usage, in MiB.
template <class Work>
double peak_of(Work work) {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
  const double before = resident("VmRSS:");
  work();
  return resident("VmHWM:") - before;
}

// The viewer's first view: all graphs, all replays and the samples of the last one.
std::shared_ptr<const model::Document> first_picture(model::TraceLoader& loader) {
  while (!loader.has_replays()) static_cast<void>(loader.step());
  auto document = loader.document();
  const model::GraphEntry& entry = document->graphs.begin()->second;
  if (!document->samples->find(entry.replays.back()))
    throw std::logic_error("the last replay has no samples");
  return document;
}

// Pins this thread, and the threads that it starts, to two cores.
class TwoCores {
 public:
  TwoCores() {
    ::sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t two;
    CPU_ZERO(&two);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu) {
      if (CPU_ISSET(cpu, &all_)) CPU_SET(cpu, &two);
    }
    ::sched_setaffinity(0, sizeof two, &two);
  }
  TwoCores(const TwoCores&) = delete;
  TwoCores& operator=(const TwoCores&) = delete;
  ~TwoCores() { ::sched_setaffinity(0, sizeof all_, &all_); }

 private:
  cpu_set_t all_{};
};

}  // namespace

void run_model_open(const Options& options, Report& report) {
  const std::uint32_t rounds = options.is_quick() ? 1 : 10;
  const double samples = static_cast<double>(rounds) * kReplaysAtOnce * kTracedNodes;
  const test::TemporaryFolder folder;
  const model::TraceLoaderDesc desc{.path = folder.path() / "samples.reprise"};
  {
    const Session session;
    trace::TraceWriter writer;
    writer.add_sink(std::make_shared<trace::TraceFile>(trace::TraceFileDesc{.path = desc.path}));
    session.describe(writer);
    for (std::uint32_t round = 0; round < rounds; ++round) session.replay(writer, round);
  }
  const std::string shape = std::to_string(static_cast<int>(samples / 1e6)) + " M samples";
  Line picture{.what = "first view",
               .shape = shape,
               .nodes = kTracedNodes,
               .unit = "ms",
               .goal = {Goal::Of::Median, 1'000}};
  Line first_peak{
      .what = "first view, memory", .shape = shape, .nodes = kTracedNodes, .unit = "MiB"};
  Line statistics{
      .what = "all statistics", .shape = shape, .nodes = kTracedNodes, .unit = "ns/sample"};
  Line last_peak{
      .what = "all statistics, memory", .shape = shape, .nodes = kTracedNodes, .unit = "MiB"};
  for (std::uint32_t i = 0; i < (options.is_quick() ? 2u : 7u); ++i) {
    std::unique_ptr<model::TraceLoader> loader;
    std::shared_ptr<const model::Document> document;
    first_peak.ours.push_back(peak_of([&] {
      picture.ours.push_back(1e-6 * ns_of([&] {
                               loader = std::make_unique<model::TraceLoader>(desc);
                               document = first_picture(*loader);
                             }));
    }));
    last_peak.ours.push_back(first_peak.ours.back() + peak_of([&] {
                               statistics.ours.push_back(ns_of([&] {
                                                           while (loader->step()) {
                                                           }
                                                           document = loader->document();
                                                         }) /
                                                         samples);
                             }));
  }
  for (const Line& line : {picture, first_peak, statistics, last_peak}) report.add(line);
}

void run_model_live(const Options& options, Report& report) {
  const std::uint32_t rounds = options.is_quick() ? 1 : 24;
  const std::uint64_t samples = std::uint64_t{rounds} * kReplaysAtOnce * kTracedNodes;
  const Session session;
  const TwoCores two_cores;
  Line shown{.what = "queued, packed, sent and shown",
             .shape = "live",
             .nodes = kTracedNodes,
             .unit = "ns/sample",
             .goal = {Goal::Of::Median, 200}};
  Line dropped{.what = "dropped",
               .shape = "live",
               .nodes = kTracedNodes,
               .unit = "chunks",
               .goal = {Goal::Of::Median, 0}};
  Line lost{.what = "lost",
            .shape = "live",
            .nodes = kTracedNodes,
            .unit = "records",
            .goal = {Goal::Of::Median, 0}};
  for (std::uint32_t i = 0; i < (options.is_quick() ? 2u : 5u); ++i) {
    trace::TraceWriter writer;
    auto server =
        std::make_shared<trace::LiveServer>(trace::LiveServerDesc{.application = "reprise_bench"});
    writer.add_sink(server);
    session.describe(writer);
    std::mutex mutex;
    std::condition_variable changed;
    model::TraceFeed feed({.target = server->path(), .on_change = [&] {
                             const std::lock_guard lock(mutex);
                             changed.notify_all();
                           }});
    if (!feed.wait_until_ready(60)) throw std::runtime_error("the live session does not answer");
    shown.ours.push_back(ns_of([&] {
                           for (std::uint32_t round = 0; round < rounds; ++round)
                             session.replay(writer, round);
                           std::unique_lock lock(mutex);
                           changed.wait_for(lock, std::chrono::seconds(60), [&] {
                             return feed.document()->graphs.begin()->second.statistics->samples ==
                                    samples;
                           });
                         }) /
                         static_cast<double>(samples));
    dropped.ours.push_back(static_cast<double>(server->stats().dropped_chunks));
    lost.ours.push_back(static_cast<double>(writer.stats().lost_records));
  }
  for (const Line& line : {shown, dropped, lost}) report.add(line);
}

}  // namespace reprise::bench
