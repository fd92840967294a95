#include "runtime/memory/memory_reclaimer.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/memory/pool_slab.hpp"
#include "runtime/memory/pool_user.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kNamedHolders = 3;

// "graphs a, b and 3 more". Under order().
std::string names_of(const PoolBuffer& proxy) {
  const auto& uses = proxy.uses();
  std::string text = uses.size() == 1 ? "graph " : "graphs ";
  for (std::size_t i = 0; i < std::min(uses.size(), kNamedHolders); ++i)
    text += concat(i == 0 ? "" : ", ", uses[i].user->label());
  if (uses.size() > kNamedHolders) text += concat(" and ", uses.size() - kNamedHolders, " more");
  return text;
}

bool is_in(const PoolUser& user, const PoolCore* pool) {
  return pool == nullptr || user.home_pool() == pool;
}

void add(TrimResult result, std::uint64_t bytes, TrimReport& report) {
  switch (result) {
    case TrimResult::AlreadyTrimmed: return;
    case TrimResult::Busy: ++report.busy; return;
    case TrimResult::NotPageable: ++report.without_pages; return;
    case TrimResult::Trimmed: break;
  }
  ++report.slabs;
  report.bytes += bytes;
}

// Under order(), which every launch of a graph on a shared slab takes: no launch can start here.
void trim_shared(PoolBuffer& proxy, PoolSlab& slab, TrimReport& report) {
  const std::uint64_t bytes = slab.mapped_bytes();
  if (bytes == 0) return;
  const auto& uses = proxy.uses();
  const bool is_idle =
      std::all_of(uses.begin(), uses.end(), [](const auto& use) { return use.user->can_trim(); }) &&
      proxy.usage().is_complete();
  const TrimResult result = is_idle              ? slab.unmap()
                            : slab.is_pageable() ? TrimResult::Busy
                                                 : TrimResult::NotPageable;
  add(result, bytes, report);
  if (result != TrimResult::Trimmed) return;
  for (const auto& use : uses) use.user->mark_trimmed();
  if (!uses.empty()) uses.front().user->trace_trim();
}

}  // namespace

TrimReport MemoryReclaimer::trim(const PoolCore* pool) {
  TrimReport report;
  std::vector<const PoolSlab*> done;  // shared slabs
  const std::lock_guard order(device_.order());
  for (PoolUser* const user : device_.users()) {
    if (!is_in(*user, pool) || device_.status()->lost.load(std::memory_order_acquire)) continue;
    const HeldSlab held = user->held_slab();
    if (held.shared == nullptr) {
      std::uint64_t bytes = 0;
      const TrimResult result = user->trim_own_slab(bytes);
      add(result, bytes, report);
    } else if (std::find(done.begin(), done.end(), held.shared) == done.end()) {
      done.push_back(held.shared);
      trim_shared(*held.proxy, *held.shared, report);
    }
  }
  return report;
}

void MemoryReclaimer::reclaim(const Scope& scope) {
  device_.deferred().collect_completed();
  switch (scope.memory) {
    case Scope::Memory::Host: return;
    case Scope::Memory::Device: static_cast<void>(trim(scope.trimmed)); return;
  }
}

std::string MemoryReclaimer::largest_holders(const PoolCore* pool) {
  std::vector<std::pair<std::uint64_t, std::string>> holders;  // bytes, name
  for (const auto& buffer : device_.live_buffers()) {
    if (buffer->kind == BufferKind::Device && !buffer->is_adopted &&
        (pool == nullptr || buffer->pool().get() == pool)) {
      holders.emplace_back(buffer->bytes, display_name(*buffer));
    }
  }
  {
    std::vector<const PoolBuffer*> done;
    const std::lock_guard order(device_.order());
    for (const PoolUser* const user : device_.users()) {
      const HeldSlab held = is_in(*user, pool) ? user->held_slab() : HeldSlab{};
      if (held.mapped_bytes == 0) continue;
      if (!held.proxy) {
        holders.emplace_back(held.mapped_bytes, concat("graph ", user->label()));
      } else if (std::find(done.begin(), done.end(), held.proxy.get()) == done.end()) {
        done.push_back(held.proxy.get());
        holders.emplace_back(held.mapped_bytes,
                             concat("the slab shared by ", names_of(*held.proxy)));
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

std::string MemoryReclaimer::with_holders(const std::string& where, const Scope& scope) {
  std::string holders;
  switch (scope.memory) {
    case Scope::Memory::Host: break;
    case Scope::Memory::Device: holders = largest_holders(scope.holders); break;
  }
  if (where.empty() || holders.empty()) return where + holders;
  return concat(where, "; ", holders);
}

void MemoryReclaimer::rethrow(const Error& error, std::string_view label,
                              const std::string& where) {
  if (where.empty()) throw Error(error);
  throw with_context(error, label, where);
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

TrimReport Device::trim() {
  detail::DeviceCore& core = detail::require_handle(core_, "Device", "trim", Stage::Allocate);
  detail::require_outside_callback("Device", "trim", Stage::Allocate, core.status()->selector);
  core.require_usable(Stage::Allocate);
  return detail::MemoryReclaimer(core).trim(nullptr);
}

TrimReport CapturePool::trim() {
  detail::require_outside_callback("CapturePool", "trim", Stage::Allocate, core_->label());
  core_->device()->require_usable(Stage::Allocate);
  return detail::MemoryReclaimer(*core_->device()).trim(core_.get());
}

}  // namespace reprise::inline REPRISE_ABI
