#include "profile/pool_trace.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "profile/process_info.hpp"

namespace reprise::detail {

PoolTrace::PoolTrace(std::shared_ptr<TraceSession> session, std::uint32_t device,
                     std::string_view label, Memory memory)
    : session_(std::move(session)), memory_(std::move(memory)) {
  state_.pool = session_->new_id(TraceSession::Id::Pool);
  state_.device = device;
  state_.label = label;
  const std::lock_guard lock(mutex_);
  push_state();
}

void PoolTrace::push_state() {
  const MemoryStatistics memory = memory_();
  state_.budget = memory.budget.value_or(0);
  state_.reserved = memory.reserved;
  state_.mapped = memory.mapped;
  state_.peak = memory.peak;
  state_.slabs = memory.slabs;
  state_.trims = memory.trims;
  state_.remaps = memory.remaps;
  state_.shared_slabs = memory.shared_slabs;
  state_.at = trace_now();
  session_->push(state_);
}

void PoolTrace::count(const BufferCore& buffer, Change change) {
  const std::lock_guard lock(mutex_);
  const auto apply = [change](auto& total, auto amount) {
    total = change == Change::Added ? total + amount : total - amount;
  };
  apply(state_.buffers, 1u);
  switch (buffer.kind) {
    case BufferKind::Device: apply(state_.device_bytes, buffer.bytes); break;
    case BufferKind::PinnedHost: apply(state_.host_bytes, buffer.bytes); break;
    case BufferKind::Transient:
    case BufferKind::Condition: break;
  }
  push_state();
}

void PoolTrace::push_lifetime(const BufferCore& buffer, BufferIdentity::Memory memory,
                              const TracedBuffer& traced, trace::Time freed) {
  trace::BufferLifetime lifetime;
  lifetime.buffer = traced.id;
  lifetime.pool = state_.pool;
  lifetime.device = state_.device;
  lifetime.kind = memory == BufferIdentity::Memory::Adopted ? trace::BufferKind::Foreign
                  : buffer.kind == BufferKind::PinnedHost   ? trace::BufferKind::PinnedHost
                                                            : trace::BufferKind::Device;
  lifetime.bytes = buffer.bytes;
  lifetime.address = reinterpret_cast<std::uintptr_t>(buffer.address);
  lifetime.allocated = traced.allocated;
  lifetime.freed = freed;
  lifetime.name = buffer.name;
  session_->push(std::move(lifetime));
}

TracedBuffer PoolTrace::add(const BufferCore& buffer, BufferIdentity::Memory memory) {
  TracedBuffer traced;
  traced.allocated = trace_now();
  if (buffer.kind != BufferKind::Transient) {
    traced.id = session_->new_id(TraceSession::Id::Buffer);
    push_lifetime(buffer, memory, traced, 0);
  }
  count(buffer, Change::Added);
  return traced;
}

void PoolTrace::remove(const BufferCore& buffer, BufferIdentity::Memory memory,
                       const TracedBuffer& traced) noexcept {
  if (traced.allocated == 0) return;
  try {
    if (traced.id != trace::kNone) push_lifetime(buffer, memory, traced, trace_now());
    count(buffer, Change::Removed);
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

void PoolTrace::add_holder(std::uint32_t graph) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    state_.holders.push_back(graph);
    push_state();
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

void PoolTrace::remove_holder(std::uint32_t graph) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    std::erase(state_.holders, graph);
    push_state();
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

void PoolTrace::push_sharers() {
  state_.sharers = sharers_;
  std::sort(state_.sharers.begin(), state_.sharers.end());
  state_.sharers.erase(std::unique(state_.sharers.begin(), state_.sharers.end()),
                       state_.sharers.end());
  push_state();
}

void PoolTrace::add_sharer(std::uint32_t graph) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    sharers_.push_back(graph);
    push_sharers();
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

void PoolTrace::remove_sharer(std::uint32_t graph) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (const auto found = std::find(sharers_.begin(), sharers_.end(), graph);
        found != sharers_.end())
      sharers_.erase(found);
    push_sharers();
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

void PoolTrace::record_memory() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    push_state();
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

}  // namespace reprise::detail
