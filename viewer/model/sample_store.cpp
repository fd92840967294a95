#include "model/sample_store.hpp"

#include <functional>
#include <iterator>

#include "trace/trace_error.hpp"

namespace reprise::model {

using trace::ChunkEntry;
using trace::ChunkKind;
using trace::SampleBlock;

std::size_t SampleStore::KeyHash::operator()(const Key& key) const noexcept {
  const std::uint64_t graph = (std::uint64_t{key.graph.graph} << 32) | key.graph.version;
  return std::hash<std::uint64_t>{}((graph * 0x9e3779b97f4a7c15u) ^
                                    (key.replay * 0xc2b2ae3d27d4eb4fu));
}

namespace {

std::uint64_t bytes_of(const SampleBlock& block) {
  return block.samples.size() * sizeof(trace::Sample) + 128;
}

}  // namespace

void SampleStore::hold(Group group) {
  stats_.bytes += group.bytes;
  stats_.blocks += group.blocks.size();
  groups_.push_front(std::move(group));
  const auto newest = groups_.begin();
  for (std::size_t i = 0; i < newest->blocks.size(); ++i) {
    const SampleBlock& b = *newest->blocks[i];
    blocks_.insert_or_assign(Key{{b.graph, b.version}, b.replay}, std::pair{newest, i});
  }
  while (stats_.bytes > desc_.max_bytes && groups_.size() > 1) {
    const auto oldest = std::prev(groups_.end());
    for (const Block& b : oldest->blocks) {
      const auto found = blocks_.find(Key{{b->graph, b->version}, b->replay});
      if (found != blocks_.end() && found->second.first == oldest) blocks_.erase(found);
    }
    stats_.bytes -= oldest->bytes;
    stats_.blocks -= oldest->blocks.size();
    stats_.evicted += oldest->blocks.size();
    groups_.erase(oldest);
  }
}

void SampleStore::keep(std::vector<SampleBlock> blocks) {
  const std::lock_guard lock(mutex_);
  for (SampleBlock& b : blocks) {
    const std::uint64_t bytes = bytes_of(b);
    hold({bytes, {std::make_shared<const SampleBlock>(std::move(b))}});
  }
}

void SampleStore::follow(std::shared_ptr<const trace::TraceReader> reader) {
  const std::lock_guard lock(mutex_);
  desc_.reader = std::move(reader);
}

SampleStore::Block SampleStore::find_held(const Key& key) {
  const auto found = blocks_.find(key);
  if (found == blocks_.end()) return nullptr;
  const auto [group, place] = found->second;
  if (!is_live_) groups_.splice(groups_.begin(), groups_, group);  // live groups are evicted by age
  return group->blocks[place];
}

void SampleStore::read(std::size_t chunk) {
  std::shared_ptr<const trace::TraceReader> reader;
  {
    const std::lock_guard lock(mutex_);
    reader = desc_.reader;
  }
  trace::Records records;
  try {
    records = reader->read(reader->chunks()[chunk]);
  } catch (const trace::TraceError& error) {
    if (error.code() == trace::TraceErrorCode::Io) throw;
  }
  Group group{0, {}};
  for (SampleBlock& b : records.sample_blocks) {
    group.bytes += bytes_of(b);
    group.blocks.push_back(std::make_shared<const SampleBlock>(std::move(b)));
  }
  const std::lock_guard lock(mutex_);
  ++stats_.chunks_read;
  for (const Block& b : group.blocks)
    directory_.insert_or_assign(Key{{b->graph, b->version}, b->replay}, chunk);
  if (indexed_.size() <= chunk) indexed_.resize(chunk + 1);
  indexed_[chunk] = true;
  hold(std::move(group));
}

std::optional<std::size_t> SampleStore::next_chunk_to_read(const Key& key,
                                                           const trace::Replay& replay) const {
  if (const auto known = directory_.find(key); known != directory_.end()) return known->second;
  // Considers the chunks not indexed yet; those that cover the replay's start have priority.
  const std::vector<ChunkEntry>& chunks = desc_.reader->chunks();
  const trace::Time at = replay.started != 0 ? replay.started : replay.launched;
  std::optional<std::size_t> other;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const trace::ChunkHeader& c = chunks[i].header;
    if (c.kind != ChunkKind::Samples || (i < indexed_.size() && indexed_[i])) continue;
    if (c.first_time <= at && at <= c.last_time) return i;
    // If the start is known, the samples start with it: chunks outside its range qualify only if
    // the replay's times are unknown.
    const bool is_later = c.first_time > (replay.ended != 0 ? replay.ended : at),
               is_earlier = c.last_time < at;
    if (!other && (at == 0 || (!is_later && !is_earlier))) other = i;
  }
  return other;
}

SampleStore::Block SampleStore::find(const trace::Replay& replay) {
  const Key key{{replay.graph, replay.version}, replay.replay};
  if (Block block = held(key.graph, key.replay); block || is_live_) return block;
  const std::lock_guard reading(reading_);
  for (std::optional<std::size_t> chunk, before;; before = chunk) {
    {
      const std::lock_guard lock(mutex_);
      if (Block block = find_held(key)) return block;
      chunk = next_chunk_to_read(key, replay);
    }
    // the file was overwritten if the same chunk comes up twice
    if (!chunk || chunk == before) return nullptr;
    read(*chunk);
  }
}

SampleStore::Block SampleStore::held(GraphKey graph, std::uint64_t replay) {
  const std::lock_guard lock(mutex_);
  return find_held({graph, replay});
}

SampleStoreStats SampleStore::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace reprise::model
