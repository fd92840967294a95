// DocumentBuilder: consumes trace records chunk by chunk and publishes Documents. publish() copies
// the small parts that changed (device tables, statistics of graphs with new samples) and shares
// lists and graphs. Writers send topology first: replays and samples that precede their graph
// version count as unknown. Threads: one at a time; published Documents are independent of the
// builder.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "model/document.hpp"
#include "trace/codec.hpp"

namespace reprise::model {

// Retention limits for unbounded sessions. On overflow the oldest quarter is dropped.
struct DocumentLimits {
  std::size_t replays = static_cast<std::size_t>(-1);  // per graph version
  std::size_t host_ranges = static_cast<std::size_t>(-1);
};

class DocumentBuilder {
 public:
  // For a file, `samples` reads the file itself; for a live session, add() fills it.
  explicit DocumentBuilder(std::shared_ptr<SampleStore> samples, DocumentLimits limits = {});

  void add(trace::Records records);
  [[nodiscard]] std::shared_ptr<const Document> publish();

 private:
  // Copied for a document only if it changed since the previous one.
  template <class T>
  struct Table {
    T value;
    std::shared_ptr<const T> published;
    T& change() { return published.reset(), value; }
    std::shared_ptr<const T> publish() {
      if (!published) published = std::make_shared<const T>(value);
      return published;
    }
  };
  struct Entry {
    std::shared_ptr<const Graph> graph;
    GrowingList<trace::LoopRun> loops;
    GrowingList<trace::CollectiveRun> collectives;
    GrowingList<Communication> communication;
    GrowingList<trace::Replay> replays;
    std::uint64_t dropped_replays = 0;
    Table<GraphStatistics> statistics;
  };

  void add_graph(trace::GraphVersion record);
  void add_replay(const trace::Replay& replay);
  void add_samples(const trace::SampleBlock& block);
  void add_collectives(Entry& entry, const trace::SampleBlock& block);
  void add_loop(const trace::LoopRun& run);
  void extend(trace::Time from, trace::Time to);

  std::shared_ptr<SampleStore> samples_;
  const DocumentLimits limits_;
  Table<std::vector<trace::Session>> sessions_;
  Table<std::map<std::uint32_t, trace::ClockAlignment>> alignments_;
  Table<std::map<std::uint32_t, trace::Device>> devices_;
  Table<std::map<std::uint32_t, trace::Queue>> queues_;
  Table<std::map<std::uint32_t, trace::ThreadName>> thread_names_;
  Table<std::map<std::uint32_t, trace::PoolState>> pools_;
  Table<Document::PoolUses> pool_uses_;
  Table<std::map<std::uint32_t, trace::DeviceTotals>> device_totals_;
  Table<std::map<std::uint32_t, trace::CreationCost>> creation_costs_;
  Table<std::map<std::uint32_t, trace::BufferLifetime>> buffers_;
  GrowingList<trace::Clock> clocks_;
  GrowingList<trace::PoolState> pool_history_;
  GrowingList<trace::DeviceTotals> device_history_;
  GrowingList<trace::HostRange> host_ranges_;
  GrowingList<trace::Message> messages_;
  GrowingList<trace::Update> updates_;
  GrowingList<trace::Loss> losses_;
  GrowingList<trace::ProfilingOverhead> profile_costs_;
  bool is_observed_ = false;
  std::string observing_cost_;
  std::map<GraphKey, Entry> graphs_;
  std::uint64_t dropped_host_ranges_ = 0, unknown_replays_ = 0, unknown_samples_ = 0;
  trace::Time first_ = 0, last_ = 0;
};

}  // namespace reprise::model
