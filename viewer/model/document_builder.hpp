// DocumentBuilder: takes the records of a trace chunk by chunk, of a file or as they arrive, and
// publishes Documents. publish() copies what is small and changed (tables of devices, statistics of
// the graphs that got samples); lists and graphs are shared. Replays and samples may come before
// the version that they name: they are counted as unknown then, because writers send topology
// first. Threads: one at a time; the Documents are free of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "model/document.hpp"
#include "trace/codec.hpp"

namespace reprise::model {

// What is kept of a trace without an end. Beyond it, the oldest quarter goes.
struct DocumentLimits {
  std::size_t replays = static_cast<std::size_t>(-1);  // of a version of a graph
  std::size_t host_ranges = static_cast<std::size_t>(-1);
};

class DocumentBuilder {
 public:
  // The store of a file reads its samples itself; a live one gets them from add().
  explicit DocumentBuilder(std::shared_ptr<SampleStore> samples, DocumentLimits limits = {});

  void add(trace::Records records);
  [[nodiscard]] std::shared_ptr<const Document> publish();

 private:
  // A table that is copied for a document only if it changed since the last one.
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
    GrowingList<trace::Replay> replays;
    std::uint64_t forgotten_replays = 0;
    Table<GraphStatistics> statistics;
  };

  void add_graph(trace::GraphVersion record);
  void add_replay(const trace::Replay& replay);
  void add_samples(const trace::SampleBlock& block);
  void add_loop(const trace::LoopRun& run);
  void extend(trace::Time from, trace::Time to);

  std::shared_ptr<SampleStore> samples_;
  const DocumentLimits limits_;
  Table<std::vector<trace::Session>> sessions_;
  Table<std::map<std::uint32_t, trace::Device>> devices_;
  Table<std::map<std::uint32_t, trace::Queue>> queues_;
  Table<std::map<std::uint32_t, std::string>> thread_names_;
  Table<std::map<std::uint32_t, trace::PoolState>> pools_;
  Table<std::map<std::uint32_t, trace::DeviceTotals>> device_totals_;
  Table<std::map<std::uint32_t, trace::BufferLife>> buffers_;
  GrowingList<trace::Clock> clocks_;
  GrowingList<trace::PoolState> pool_history_;
  GrowingList<trace::DeviceTotals> device_history_;
  GrowingList<trace::HostRange> host_ranges_;
  GrowingList<trace::Message> messages_;
  GrowingList<trace::Update> updates_;
  GrowingList<trace::Loss> losses_;
  GrowingList<trace::ProfileCost> profile_costs_;
  std::map<GraphKey, Entry> graphs_;
  std::uint64_t forgotten_host_ranges_ = 0, unknown_replays_ = 0, unknown_samples_ = 0;
  trace::Time first_ = 0, last_ = 0;
};

}  // namespace reprise::model
