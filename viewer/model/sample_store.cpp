#include "model/sample_store.hpp"

#include <functional>
#include <iterator>

namespace reprise::model {

using trace::ChunkEntry;
using trace::ChunkKind;
using trace::SampleBlock;

std::size_t SampleStore::KeyHash::operator()(const Key& key) const noexcept {
  const std::uint64_t graph = (std::uint64_t{key.graph.graph} << 32) | key.graph.version;
  return std::hash<std::uint64_t>{}((graph * 0x9e3779b97f4a7c15u) ^ (key.replay * 0xc2b2ae3d27d4eb4fu));
}

namespace {

std::uint64_t bytes_of(const SampleBlock& block) { return block.samples.size() * sizeof(trace::Sample) + 128; }

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
  if (!is_live()) chunks_.insert_or_assign(newest->chunk, newest);
  while (stats_.bytes > desc_.max_bytes && groups_.size() > 1) {
    const auto oldest = std::prev(groups_.end());
    for (const Block& b : oldest->blocks) {
      const auto found = blocks_.find(Key{{b->graph, b->version}, b->replay});
      if (found != blocks_.end() && found->second.first == oldest) blocks_.erase(found);
    }
    if (!is_live()) chunks_.erase(oldest->chunk);
    stats_.bytes -= oldest->bytes;
    stats_.blocks -= oldest->blocks.size();
    stats_.forgotten += oldest->blocks.size();
    groups_.erase(oldest);
  }
}

void SampleStore::keep(const std::vector<SampleBlock>& blocks) {
  const std::lock_guard lock(mutex_);
  for (const SampleBlock& b : blocks) hold({0, bytes_of(b), {std::make_shared<const SampleBlock>(b)}});
}

SampleStore::Block SampleStore::use(const Key& key) {
  const auto found = blocks_.find(key);
  if (found == blocks_.end()) return nullptr;
  const auto [group, place] = found->second;
  if (!is_live()) groups_.splice(groups_.begin(), groups_, group);  // live ones go by age
  return group->blocks[place];
}

void SampleStore::read(std::size_t chunk) {
  trace::Records records = desc_.reader->read(desc_.reader->chunks()[chunk]);
  ++stats_.chunks_read;
  Group group{chunk, 0, {}};
  for (SampleBlock& b : records.sample_blocks) {
    group.bytes += bytes_of(b);
    directory_.insert_or_assign(Key{{b.graph, b.version}, b.replay}, chunk);
    group.blocks.push_back(std::make_shared<const SampleBlock>(std::move(b)));
  }
  if (seen_.size() <= chunk) seen_.resize(chunk + 1);
  seen_[chunk] = true;
  hold(std::move(group));
}

SampleStore::Block SampleStore::find(const trace::Replay& replay) {
  const Key key{{replay.graph, replay.version}, replay.replay};
  const std::lock_guard lock(mutex_);
  if (Block block = use(key)) return block;
  if (is_live()) return nullptr;
  if (const auto known = directory_.find(key); known != directory_.end()) {
    read(known->second);
    return use(key);
  }
  // Chunks that were not looked into yet, those that cover the replay's start first.
  const std::vector<ChunkEntry>& chunks = desc_.reader->chunks();
  const trace::Time at = replay.started != 0 ? replay.started : replay.launched;
  const auto covers = [&](const ChunkEntry& c) { return c.header.first_time <= at && at <= c.header.last_time; };
  for (const bool nearby : {true, false}) {
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (chunks[i].header.kind != ChunkKind::Samples || (i < seen_.size() && seen_[i]) || covers(chunks[i]) != nearby) continue;
      // With a start, the samples begin with it: other chunks can have them only if the replay's times are unknown.
      if (!nearby && at != 0 && chunks[i].header.first_time > (replay.ended != 0 ? replay.ended : at)) continue;
      if (!nearby && at != 0 && chunks[i].header.last_time < at) continue;
      read(i);
      if (Block block = use(key)) return block;
    }
  }
  return nullptr;
}

SampleStore::Block SampleStore::held(GraphKey graph, std::uint64_t replay) {
  const std::lock_guard lock(mutex_);
  return use({graph, replay});
}

SampleStoreStats SampleStore::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace reprise::model
