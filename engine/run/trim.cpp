// Pages that idle graphs give back, and take again; and who holds memory, for messages.
#include <algorithm>
#include <mutex>
#include <utility>

#include "base/text.hpp"
#include "run/device_core.hpp"
#include "run/graph_core.hpp"
#include "run/pool_core.hpp"
#include "run/room.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kNamedHolders = 3;

bool is_of(const GraphCore& graph, const PoolCore* pool) { return pool == nullptr || (graph.pool() && graph.pool()->core().get() == pool); }

}  // namespace

void GraphCore::trim(TrimReport& report) {
  std::lock_guard lock(mutex_);
  Slab* const slab = body_->slab.get();
  if (slab == nullptr || slab->is_given_back() || device()->status()->lost.load(std::memory_order_acquire)) return;
  if (!slab->has_pages()) {
    ++report.without_pages;
  } else if (pages_kept_ != 0 || !is_over(body_->last)) {
    ++report.busy;
  } else {
    slab->give_back();
    trimmed_.store(true, std::memory_order_release);
    ++report.slabs;
    report.bytes += slab->taken_bytes();
    say_memory("slab-trimmed", "gave back");
  }
}

void GraphCore::take_pages() {
  if (!trimmed_.load(std::memory_order_relaxed)) return;
  body_->slab->take(label());
  trimmed_.store(false, std::memory_order_release);
  say_memory("slab-remapped", "took again");
}

void GraphCore::say_memory(std::string_view id, std::string_view did) const {
  DeviceTrace* const trace = device()->trace();
  if (trace == nullptr) return;
  Message message;
  message.severity = Severity::Info;
  message.id = id;
  message.text = concat("graph ", label(), " ", did, " the pages behind the ", body_->slab->taken_bytes(), " bytes of its transient buffers");
  trace->report(body_->trace_id, message);
}

GraphCore::PagesKept::PagesKept(GraphCore& graph) : graph_(graph) { graph.keep_pages(); }

GraphCore::PagesKept::~PagesKept() {
  std::lock_guard lock(graph_.mutex_);
  --graph_.pages_kept_;
}

void GraphCore::keep_pages() {
  {
    std::lock_guard lock(mutex_);
    ++pages_kept_;
  }
  try {
    return_pages();
  } catch (...) {
    std::lock_guard lock(mutex_);
    --pages_kept_;
    throw;
  }
}

std::uint64_t GraphCore::slab_bytes() const {
  std::lock_guard lock(mutex_);
  return body_->slab && !body_->slab->is_given_back() ? body_->slab->taken_bytes() : 0;
}

// Without any lock.
void GraphCore::return_pages() {
  const auto take = [this] {
    std::lock_guard lock(mutex_);
    take_pages();
  };
  take_with_room(*device(), pool_ ? pool_->core().get() : nullptr, label(), concat("for graph ", label(), ", which was trimmed, to be launched again"), take);
}

TrimReport DeviceCore::trim(const PoolCore* pool) {
  TrimReport report;
  const std::lock_guard order(order_);
  for (GraphCore* const graph : graphs_) {
    if (is_of(*graph, pool)) graph->trim(report);
  }
  return report;
}

void DeviceCore::make_room(const PoolCore* pool) {
  retired_.free_what_is_over();
  static_cast<void>(trim(pool));
}

std::string DeviceCore::largest_holders(const PoolCore* pool) {
  std::vector<std::pair<std::uint64_t, std::string>> holders;
  for (const auto& buffer : live_buffers()) {
    if (buffer->kind == BufferKind::Device && !buffer->is_adopted() && (pool == nullptr || buffer->pool().get() == pool)) {
      holders.emplace_back(buffer->bytes, display_name(*buffer));
    }
  }
  {
    const std::lock_guard order(order_);
    for (const GraphCore* const graph : graphs_) {
      const std::uint64_t bytes = is_of(*graph, pool) ? graph->slab_bytes() : 0;
      if (bytes != 0) holders.emplace_back(bytes, concat("graph ", graph->label()));
    }
  }
  std::stable_sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(holders.size(), kNamedHolders); ++i) {
    text += concat(i == 0 ? "most by " : ", ", holders[i].second, " (", holders[i].first, " bytes)");
  }
  return text;
}

}  // namespace reprise::detail
