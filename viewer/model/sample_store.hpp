// SampleStore: the node samples of replays, by graph version and replay, within a budget of bytes
// whatever a trace holds. Of a file it reads the chunk of a replay when asked, found by the times
// in the chunks' headers, and keeps the chunks used last. Live, it keeps the newest blocks that it
// was given and forgets the oldest. Bytes are those of the samples and 128 for each block; beside
// them stands a directory of 40 bytes for each replay seen in a file, so that it is found at once
// later. Threads: any; find() may read the disk, held() never does and is what a drawing thread
// calls.
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
  std::shared_ptr<const trace::TraceReader> reader =
      nullptr;                           // null: live. Never refreshed: see follow().
  std::uint64_t max_bytes = 256u << 20;  // kept; the newest group stays even if it alone is more
};

struct SampleStoreStats {
  std::uint64_t bytes = 0, blocks = 0;  // held now
  std::uint64_t chunks_read = 0;
  std::uint64_t forgotten = 0;  // blocks that were held once
};

class SampleStore {
 public:
  using Block = std::shared_ptr<const trace::SampleBlock>;

  explicit SampleStore(SampleStoreDesc desc = {})
      : desc_(std::move(desc)), is_live_(desc_.reader == nullptr) {}

  [[nodiscard]] bool is_live() const noexcept { return is_live_; }
  // Live: keeps the blocks.
  void keep(std::vector<trace::SampleBlock> blocks);
  // Of a file: reads from now on with a reader that knows more of it, at the same places
  // (TraceReader::follow).
  void follow(std::shared_ptr<const trace::TraceReader> reader);
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
    std::uint64_t bytes = 0;
    std::vector<Block> blocks;
  };
  using Groups = std::list<Group>;  // used last, first

  // With mutex_ held, but for read().
  void hold(Group group);
  Block use(const Key& key);
  [[nodiscard]] std::optional<std::size_t> chunk_to_look_into(const Key& key,
                                                              const trace::Replay& replay) const;
  void read(std::size_t chunk);

  SampleStoreDesc desc_;
  const bool is_live_;
  std::mutex reading_;  // one reads the disk at a time; taken before mutex_
  mutable std::mutex
      mutex_;  // of the reader above and of what stands below; never held over a read
  Groups groups_;
  std::unordered_map<Key, std::pair<Groups::iterator, std::size_t>, KeyHash>
      blocks_;                                               // held: group and place in it
  std::unordered_map<Key, std::size_t, KeyHash> directory_;  // chunk of a block, once seen
  std::vector<bool> seen_;  // chunk: its blocks stand in the directory
  SampleStoreStats stats_;
};

}  // namespace reprise::model
