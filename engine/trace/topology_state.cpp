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
  for (Session& s : r.sessions) {
    if (std::find(sessions_.begin(), sessions_.end(), s) == sessions_.end())
      sessions_.push_back(std::move(s));
  }
  for (const Clock& c : r.clocks) clocks_[c.device] = c;
  for (const ClockAlignment& a : r.clock_alignments) alignments_[a.session] = a;
  for (Device& d : r.devices) devices_[d.id] = std::move(d);
  for (Queue& q : r.queues) queues_[q.id] = std::move(q);
  for (ThreadName& n : r.thread_names) thread_names_[n.thread] = std::move(n);
  for (GraphVersion& g : r.graph_versions) {
    const std::pair key(g.graph, g.version);
    graphs_[key] = std::move(g);
  }
  for (PoolState& p : r.pool_states) pools_[p.pool] = std::move(p);
  for (const PoolUse& u : r.pool_uses) {
    const std::tuple key(u.pool, u.role, u.graph);
    if (u.to == 0) {
      pool_uses_[key] = u;
    } else {
      pool_uses_.erase(key);
    }
  }
  for (const CreationCost& c : r.creation_costs) creation_costs_[c.graph] = c;
  for (const DeviceTotals& d : r.device_totals) device_totals_[d.device] = d;
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
    case ObjectKind::Queue: queues_.erase(ended.id); break;
    case ObjectKind::Graph:
      creation_costs_.erase(ended.id);
      graphs_.erase(graphs_.lower_bound({ended.id, 0}), graphs_.upper_bound({ended.id, kLast}));
      break;
    case ObjectKind::Pool:
      pools_.erase(ended.id);
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
  } else if (!creation_costs_.empty()) {
    count = erase_half(creation_costs_);
  } else if (!thread_names_.empty()) {
    count = erase_half(thread_names_);
  } else if (graphs_.size() > 1) {
    count = erase_half(graphs_);
  } else if (pools_.size() > 1) {
    count = erase_half(pools_);
  } else if (queues_.size() > 1) {
    count = erase_half(queues_);
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
  for (const Session& s : sessions_) add(s);
  add_all(clocks_);
  add_all(alignments_);
  add_all(devices_);
  add_all(queues_);
  add_all(thread_names_);
  add_all(graphs_);
  add_all(pools_);
  add_all(pool_uses_);
  add_all(creation_costs_);
  add_all(device_totals_);
  add_all(buffers_);
  for (const Message& m : messages_) add(m);
  for (const Update& u : updates_) add(u);
  if (left_out_.count != 0) add(left_out_);
  emit();
  return chunks;
}

}  // namespace reprise::trace
