// Pages that idle graphs give back, and take again; and who holds memory, for messages.
#include <algorithm>
#include <mutex>
#include <utility>

#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/graph_core.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/memory/retry_after_reclaim.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kNamedHolders = 3;

// Under order(): "graphs a, b and 3 more".
std::string names_of(const PoolBuffer& shared) {
  const auto& uses = shared.uses();
  std::string text = uses.size() == 1 ? "graph " : "graphs ";
  for (std::size_t i = 0; i < std::min(uses.size(), kNamedHolders); ++i)
    text += concat(i == 0 ? "" : ", ", uses[i].graph->label());
  if (uses.size() > kNamedHolders) text += concat(" and ", uses.size() - kNamedHolders, " more");
  return text;
}

bool is_of(const GraphCore& graph, const PoolCore* pool) {
  return pool == nullptr || (graph.pool() && core_of(*graph.pool()).get() == pool);
}

}  // namespace

void GraphCore::trim(TrimReport& report, std::vector<const PoolSlab*>& seen) {
  std::unique_lock lock(mutex_);
  if (device()->status()->lost.load(std::memory_order_acquire)) return;
  if (PoolSlab* const slab = body_->memory.share ? &body_->memory.share->slab() : nullptr) {
    const std::shared_ptr<PoolBuffer> shared = body_->memory.shared;
    lock.unlock();
    if (std::find(seen.begin(), seen.end(), slab) != seen.end()) return;
    seen.push_back(slab);
    return trim_shared(*shared, *slab, report);
  }
  Slab* const slab = body_->memory.own.get();
  if (slab == nullptr || slab->is_given_back()) return;
  if (!slab->has_pages()) {
    ++report.without_pages;
  } else if (pages_kept_ != 0 || !is_complete(body_->last)) {
    ++report.busy;
  } else {
    report.bytes += slab->taken_bytes();
    slab->give_back();
    trimmed_.store(true, std::memory_order_release);
    ++report.slabs;
    say_memory("slab-trimmed", "gave back");
  }
}

// Launches of graphs that share are submitted under order(), so that none is between.
void GraphCore::trim_shared(PoolBuffer& shared, PoolSlab& slab, TrimReport& report) {
  const auto& uses = shared.uses();
  const bool are_idle = std::all_of(uses.begin(), uses.end(),
                                    [](const auto& use) { return use.graph->may_be_trimmed(); });
  const std::uint64_t bytes = slab.mapped_bytes();
  if (bytes == 0) return;
  switch (are_idle && shared.usage().is_complete() ? slab.give_back()
          : slab.has_pages()                       ? PoolSlab::Given::Busy
                                                   : PoolSlab::Given::NoPages) {
    case PoolSlab::Given::Before: return;
    case PoolSlab::Given::Busy: ++report.busy; return;
    case PoolSlab::Given::NoPages: ++report.without_pages; return;
    case PoolSlab::Given::Back: break;
  }
  ++report.slabs;
  report.bytes += bytes;
  for (const auto& use : uses)
    use.graph->note_trimmed(use.graph == uses.front().graph ? Says::Yes : Says::No);
}

bool GraphCore::may_be_trimmed() const {
  std::lock_guard lock(mutex_);
  return pages_kept_ == 0 && is_complete(body_->last);
}

void GraphCore::note_trimmed(Says says) {
  std::lock_guard lock(mutex_);
  trimmed_.store(true, std::memory_order_release);
  switch (says) {
    case Says::No: return;
    case Says::Yes: say_memory("slab-trimmed", "gave back");
  }
}

// Under order() too, where graphs share the slab. It may have been another of them that needed the
// pages first.
void GraphCore::take_pages() {
  if (!trimmed_.load(std::memory_order_relaxed)) return;
  const TransientMemory& memory = body_->memory;
  bool took = true;
  if (memory.share) {
    took = memory.share->slab().take(label());
  } else {
    memory.own->take(label());
  }
  trimmed_.store(false, std::memory_order_release);
  if (took) say_memory("slab-remapped", "took again");
}

void GraphCore::say_memory(std::string_view id, std::string_view did) const {
  DeviceTrace* const trace = device()->trace();
  if (trace == nullptr) return;
  const TransientMemory& memory = body_->memory;
  Message message;
  message.severity = Severity::Info;
  message.id = id;
  message.text =
      concat("graph ", label(), " ", did, " the pages behind the ",
             memory.share ? memory.share->slab().taken_bytes() : memory.own->taken_bytes(),
             " bytes of ", memory.share ? "the slab that it shares" : "its transient buffers");
  trace->report(body_->trace_id, message);
}

GraphCore::ResidencyPin::ResidencyPin(GraphCore& graph) : graph_(graph) { graph.pin_resident(); }

GraphCore::ResidencyPin::~ResidencyPin() {
  std::lock_guard lock(graph_.mutex_);
  --graph_.pages_kept_;
}

void GraphCore::pin_resident() {
  {
    std::lock_guard lock(mutex_);
    ++pages_kept_;
  }
  try {
    make_resident();
  } catch (...) {
    std::lock_guard lock(mutex_);
    --pages_kept_;
    throw;
  }
}

GraphCore::Held GraphCore::held_slab() const {
  std::lock_guard lock(mutex_);
  const TransientMemory& memory = body_->memory;
  if (memory.share) return {memory.share->slab().mapped_bytes(), memory.shared};
  return {memory.own && !memory.own->is_given_back() ? memory.own->taken_bytes() : 0, nullptr};
}

// Without any lock.
void GraphCore::make_resident() {
  const auto take = [this] {
    std::lock_guard order(device()->order());
    std::lock_guard lock(mutex_);
    take_pages();
  };
  retry_after_reclaim(*device(), pool_ ? core_of(*pool_).get() : nullptr, label(),
                      concat("for graph ", label(), ", which was trimmed, to be launched again"),
                      take);
}

TrimReport DeviceCore::trim(const PoolCore* pool) {
  TrimReport report;
  std::vector<const PoolSlab*> seen;
  const std::lock_guard order(order_);
  for (GraphCore* const graph : graphs_) {
    if (is_of(*graph, pool)) graph->trim(report, seen);
  }
  return report;
}

void DeviceCore::make_room(const PoolCore* pool) {
  retired_.collect_completed();
  static_cast<void>(trim(pool));
}

std::string DeviceCore::largest_holders(const PoolCore* pool) {
  std::vector<std::pair<std::uint64_t, std::string>> holders;
  for (const auto& buffer : live_buffers()) {
    if (buffer->kind == BufferKind::Device && !buffer->is_adopted() &&
        (pool == nullptr || buffer->pool().get() == pool)) {
      holders.emplace_back(buffer->bytes, display_name(*buffer));
    }
  }
  {
    std::vector<const PoolBuffer*> seen;
    const std::lock_guard order(order_);
    for (const GraphCore* const graph : graphs_) {
      const GraphCore::Held held = is_of(*graph, pool) ? graph->held_slab() : GraphCore::Held{};
      if (held.bytes == 0) continue;
      if (!held.shared) {
        holders.emplace_back(held.bytes, concat("graph ", graph->label()));
      } else if (std::find(seen.begin(), seen.end(), held.shared.get()) == seen.end()) {
        seen.push_back(held.shared.get());
        holders.emplace_back(held.bytes, concat("the slab shared by ", names_of(*held.shared)));
      }
    }
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(holders.size(), kNamedHolders); ++i) {
    text +=
        concat(i == 0 ? "most by " : ", ", holders[i].second, " (", holders[i].first, " bytes)");
  }
  return text;
}

}  // namespace reprise::detail
