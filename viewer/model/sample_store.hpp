// SampleStore: the node samples of replays, by graph version and replay, within a budget of bytes whatever a trace holds.
// Of a file it reads the chunk of a replay when asked, found by the times in the chunks' headers, and keeps the chunks used last.
// Live, it keeps the newest blocks that it was given and forgets the oldest. Bytes are those of the samples and 128 for each block;
// beside them stands a directory of 40 bytes for each replay seen in a file, so that it is found at once later.
// Threads: any; find() may read the disk, held() never does and is what a drawing thread calls.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/graph.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::model {

struct SampleStoreDesc {
  std::shared_ptr<const trace::TraceReader> reader = nullptr;  // null: live. Not refreshed while the store may read.
  std::uint64_t max_bytes = 256u << 20;                        // kept; the newest group stays even if it alone is more
};

struct SampleStoreStats {
  std::uint64_t bytes = 0, blocks = 0;  // held now
  std::uint64_t chunks_read = 0;
  std::uint64_t forgotten = 0;  // blocks that were held once
};

class SampleStore {
 public:
  using Block = std::shared_ptr<const trace::SampleBlock>;

  explicit SampleStore(SampleStoreDesc desc = {}) : desc_(std::move(desc)) {}

  [[nodiscard]] bool is_live() const noexcept { return desc_.reader == nullptr; }
  // Live: keeps the blocks.
  void keep(const std::vector<trace::SampleBlock>& blocks);
  // The samples of a replay; null where the trace has none, or forgot them. Throws TraceError.
  [[nodiscard]] Block find(const trace::Replay& replay);
  [[nodiscard]] Block held(GraphKey graph, std::uint64_t replay);
  [[nodiscard]] SampleStoreStats stats() const;

 private:
  struct Key {
    GraphKey graph;
    std::uint64_t replay = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  // What comes and goes together: a chunk of a file, or one block of a live trace.
  struct Group {
    std::size_t chunk = 0;  // in the reader
    std::uint64_t bytes = 0;
    std::vector<Block> blocks;
  };
  using Groups = std::list<Group>;  // used last, first

  void hold(Group group);
  Block use(const Key& key);
  void read(std::size_t chunk);
  [[nodiscard]] bool is_held(std::size_t chunk) const { return chunks_.count(chunk) != 0; }

  const SampleStoreDesc desc_;
  mutable std::mutex mutex_;
  Groups groups_;
  std::unordered_map<Key, std::pair<Groups::iterator, std::size_t>, KeyHash> blocks_;  // held: group and place in it
  std::unordered_map<std::size_t, Groups::iterator> chunks_;                           // held
  std::unordered_map<Key, std::size_t, KeyHash> directory_;                            // chunk of a block, once seen
  std::vector<bool> seen_;                                                             // chunk: its blocks stand in the directory
  SampleStoreStats stats_;
};

}  // namespace reprise::model
