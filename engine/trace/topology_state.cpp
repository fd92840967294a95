#include "trace/topology_state.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>

namespace reprise::trace {

namespace {

constexpr std::size_t kChunkBytes = 1u << 20;  // before compression

std::size_t text_bytes(const Message& m) { return sizeof m + m.id.size() + m.text.size(); }
std::size_t text_bytes(const Update& u) { return sizeof u + u.description.size(); }

// Keeps the newest elements within kHistoryBytes.
template <class T>
void append_history(std::vector<T>& history, std::vector<T>& added) {
  std::move(added.begin(), added.end(), std::back_inserter(history));
  std::size_t bytes = 0;
  auto first = history.end();
  while (first != history.begin()) {
    bytes += text_bytes(*std::prev(first));
    if (bytes > TopologyState::kHistoryBytes) break;
    --first;
  }
  history.erase(history.begin(), first);
}

// Erases the older half; returns the number erased.
template <class Map>
std::uint64_t erase_half(Map& map) {
  const std::size_t count = (map.size() + 1) / 2;
  map.erase(map.begin(), std::next(map.begin(), static_cast<std::ptrdiff_t>(count)));
  return count;
}

}  // namespace

void TopologyState::add(Records r) {
  latest_.add(r);
  for (const Clock& c : r.clocks) clocks_[c.device] = c;
  for (const PoolUse& u : r.pool_uses) {
    const std::tuple key(u.pool, u.role, u.graph);
    if (u.to == 0) {
      pool_uses_[key] = u;
    } else {
      pool_uses_.erase(key);
    }
  }
  for (BufferLifetime& b : r.buffer_lifetimes) {
    if (b.freed == 0) {
      buffers_[b.buffer] = std::move(b);
    } else {
      buffers_.erase(b.buffer);
    }
  }
  append_history(messages_, r.messages);
  append_history(updates_, r.updates);
  for (const Loss& l : r.losses) {  // of an earlier state
    left_out_.at = l.at;
    left_out_.count += l.count;
  }
  for (const Ended& e : r.ended) add(e);
}

void TopologyState::add(const Ended& ended) {
  constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();
  switch (ended.kind) {
    case ObjectKind::Queue: latest_.queues.erase(ended.id); break;
    case ObjectKind::Graph:
      latest_.creation_costs.erase(ended.id);
      latest_.graphs.erase(latest_.graphs.lower_bound({ended.id, 0}),
                           latest_.graphs.upper_bound({ended.id, kLast}));
      break;
    case ObjectKind::Pool:
      latest_.pools.erase(ended.id);
      pool_uses_.erase(pool_uses_.lower_bound({ended.id, PoolRole::Holder, 0}),
                       pool_uses_.upper_bound({ended.id, PoolRole::Sharer, kLast}));
      break;
  }
}

bool TopologyState::drop_oldest() {
  std::uint64_t count = messages_.size() + updates_.size();
  if (count != 0) {
    messages_.clear();
    updates_.clear();
  } else if (!buffers_.empty()) {
    count = erase_half(buffers_);
  } else if (!pool_uses_.empty()) {
    count = erase_half(pool_uses_);
  } else if (!latest_.creation_costs.empty()) {
    count = erase_half(latest_.creation_costs);
  } else if (!latest_.thread_names.empty()) {
    count = erase_half(latest_.thread_names);
  } else if (latest_.graphs.size() > 1) {
    count = erase_half(latest_.graphs);
  } else if (latest_.pools.size() > 1) {
    count = erase_half(latest_.pools);
  } else if (latest_.queues.size() > 1) {
    count = erase_half(latest_.queues);
  } else {
    return false;
  }
  left_out_.at = std::chrono::steady_clock::now().time_since_epoch().count();
  left_out_.count += count;
  return true;
}

std::vector<std::shared_ptr<const Chunk>> TopologyState::chunks(std::uint64_t sequence,
                                                                std::uint64_t max_bytes) {
  for (;;) {
    auto chunks = encode(sequence);
    std::uint64_t bytes = 0;
    for (const auto& chunk : chunks) bytes += chunk->size();
    if (bytes <= max_bytes || !drop_oldest()) return chunks;
  }
}

std::vector<std::shared_ptr<const Chunk>> TopologyState::encode(std::uint64_t sequence) const {
  std::vector<std::shared_ptr<const Chunk>> chunks;
  Records records;
  std::size_t bytes = 0;
  const auto emit = [&] {
    if (records.empty()) return;
    chunks.push_back(
        std::make_shared<const Chunk>(make_chunk(ChunkKind::Topology, records, sequence)));
    records.clear();
    bytes = 0;
  };
  const auto add = [&](const Record& record) {
    const std::size_t added = memory_bytes(record);
    if (bytes != 0 && bytes + added > kChunkBytes) emit();
    bytes += added;
    records.add(record);
  };
  const auto add_all = [&](const auto& map) {
    for (const auto& [key, record] : map) add(record);
  };
  for (const Session& s : latest_.sessions) add(s);
  add_all(clocks_);
  add_all(latest_.alignments);
  add_all(latest_.devices);
  add_all(latest_.queues);
  add_all(latest_.thread_names);
  add_all(latest_.graphs);
  add_all(latest_.pools);
  add_all(pool_uses_);
  add_all(latest_.creation_costs);
  add_all(latest_.device_totals);
  add_all(buffers_);
  for (const Message& m : messages_) add(m);
  for (const Update& u : updates_) add(u);
  if (left_out_.count != 0) add(left_out_);
  emit();
  return chunks;
}

}  // namespace reprise::trace
