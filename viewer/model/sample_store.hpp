// SampleStore: node samples by graph version and replay, within a byte budget. For a file, find()
// reads the chunk that contains a replay, located by the chunk headers' times, and caches the most
// recently used chunks. For a live session, the store keeps the newest blocks that keep() received.
// The budget counts the samples and 128 bytes per block. A directory of 40 bytes per replay seen in
// a file comes on top. Threads: any; find() may read the disk, held() never does and is safe on the
// UI thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/graph.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::model {

struct SampleStoreDesc {
  // null: live. The reader is never refreshed; follow() replaces it.
  std::shared_ptr<const trace::TraceReader> reader = nullptr;
  // cache budget; the newest group stays even if it exceeds the budget
  std::uint64_t max_bytes = 256u << 20;
};

struct SampleStoreStats {
  std::uint64_t bytes = 0, blocks = 0;  // currently held
  std::uint64_t chunks_read = 0;
  std::uint64_t evicted = 0;  // blocks evicted since the start
};

class SampleStore {
 public:
  using Block = std::shared_ptr<const trace::SampleBlock>;

  explicit SampleStore(SampleStoreDesc desc = {})
      : desc_(std::move(desc)), is_live_(desc_.reader == nullptr) {}

  [[nodiscard]] bool is_live() const noexcept { return is_live_; }
  // Live only: adds the blocks.
  void keep(std::vector<trace::SampleBlock> blocks);
  // File only: replaces the reader with one that covers more of the same file (see
  // TraceReader::follow). Existing chunk indices stay valid.
  void follow(std::shared_ptr<const trace::TraceReader> reader);
  // The samples of a replay; null if the trace has none, they were evicted, or their chunk is
  // damaged (TraceLoader::damage() reports it). Throws TraceError if the file is unreadable.
  [[nodiscard]] Block find(const trace::Replay& replay);
  // As find(), from the cache alone; never reads the disk.
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
  // The unit of eviction: a chunk of a file, or one block of a live session.
  struct Group {
    std::uint64_t bytes = 0;
    std::vector<Block> blocks;
  };
  using GroupList = std::list<Group>;  // most recently used first

  // These require mutex_, except read().
  void hold(Group group);
  Block find_held(const Key& key);
  [[nodiscard]] std::optional<std::size_t> next_chunk_to_read(const Key& key,
                                                              const trace::Replay& replay) const;
  void read(std::size_t chunk);

  SampleStoreDesc desc_;
  const bool is_live_;
  std::mutex reading_;  // serialises disk reads; acquired before mutex_
  // guards desc_.reader and every member below; never held during a disk read
  mutable std::mutex mutex_;
  GroupList groups_;
  // group and index of each held block
  std::unordered_map<Key, std::pair<GroupList::iterator, std::size_t>, KeyHash> blocks_;
  std::unordered_map<Key, std::size_t, KeyHash> directory_;  // chunk of each block seen so far
  std::vector<bool> indexed_;  // per chunk: the directory has its blocks
  SampleStoreStats stats_;
};

}  // namespace reprise::model
