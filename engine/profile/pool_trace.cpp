#include "profile/pool_trace.hpp"

#include <new>
#include <utility>

#include "profile/process_info.hpp"

namespace reprise::detail {

PoolTrace::PoolTrace(std::shared_ptr<TraceSession> session, std::uint32_t device,
                     std::string_view label, Memory memory)
    : session_(std::move(session)),
      memory_(std::move(memory)),
      lifetimes_(session_->lifetime_rate()) {
  state_.pool = session_->new_id(TraceSession::Id::Pool);
  state_.device = device;
  state_.label = label;
  const std::lock_guard lock(mutex_);
  push_state();
}

PoolTrace::~PoolTrace() {
  session_->forget(*this);
  if (state_waits_) session_->push(std::move(state_));
  session_->end(trace::ObjectKind::Pool, id());
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
  std::vector<trace::Record> records;
  state_waits_ = !state_rate_.take(state_.at);
  if (!state_waits_) records.emplace_back(state_);
  push_records(records);
}

// Schedules what waits.
void PoolTrace::push_records(std::vector<trace::Record>& records) {
  for (trace::Record& record : records) session_->push(std::move(record));
  if (is_scheduled_ || (!state_waits_ && !lifetimes_.has_waiting())) return;
  is_scheduled_ = true;
  session_->collect_later(*this);
}

void PoolTrace::push_waiting(Push push) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    is_scheduled_ = false;
    std::vector<trace::Record> records;
    const trace::Time now = trace_now();
    if (state_waits_ && (push != Push::WithinRate || state_rate_.take(now))) {
      state_waits_ = false;
      records.emplace_back(state_);
    }
    push == Push::All ? lifetimes_.finish(records) : lifetimes_.collect(now, records);
    push_records(records);
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

void PoolTrace::count(const BufferCore& buffer, Change change) {
  const auto apply = [change](auto& total, auto amount) {
    total = change == Change::Added ? total + amount : total - amount;
  };
  apply(state_.buffers, 1u);
  if (change == Change::Removed) {
    ++state_.freed;
    state_.freed_bytes += buffer.bytes;
  }
  switch (buffer.kind) {
    case BufferKind::Device: apply(state_.device_bytes, buffer.bytes); break;
    case BufferKind::PinnedHost: apply(state_.host_bytes, buffer.bytes); break;
    case BufferKind::Transient:
    case BufferKind::Condition:
    case BufferKind::BorrowedHost: break;
  }
  push_state();
}

trace::BufferLifetime PoolTrace::lifetime_of(const BufferCore& buffer,
                                             BufferIdentity::Memory memory,
                                             const TracedBuffer& traced) const {
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
  lifetime.name = buffer.name;
  return lifetime;
}

TracedBuffer PoolTrace::add(const BufferCore& buffer, BufferIdentity::Memory memory) {
  TracedBuffer traced;
  const std::lock_guard lock(mutex_);
  traced.allocated = trace_now();
  if (buffer.kind != BufferKind::Transient) {
    traced.id = session_->new_id(TraceSession::Id::Buffer);
    std::vector<trace::Record> records;
    lifetimes_.add(lifetime_of(buffer, memory, traced), records);
    push_records(records);
  }
  count(buffer, Change::Added);
  return traced;
}

void PoolTrace::remove(const BufferCore& buffer, BufferIdentity::Memory memory,
                       const TracedBuffer& traced) noexcept {
  if (traced.allocated == 0) return;
  try {
    const std::lock_guard lock(mutex_);
    if (traced.id != trace::kNone) {
      std::vector<trace::Record> records;
      trace::BufferLifetime lifetime = lifetime_of(buffer, memory, traced);
      lifetime.freed = trace_now();
      lifetimes_.remove(std::move(lifetime), records);
      push_records(records);
    }
    count(buffer, Change::Removed);
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

void PoolTrace::begin_use(trace::PoolRole role, std::uint32_t graph) {
  Use& use = uses_[{role, graph}];
  if (use.executables++ != 0) return;
  use.from = trace_now();
  session_->push(trace::PoolUse{state_.pool, graph, role, use.from, 0});
}

void PoolTrace::end_use(trace::PoolRole role, std::uint32_t graph) {
  const auto use = uses_.find({role, graph});
  if (use == uses_.end() || --use->second.executables != 0) return;
  session_->push(trace::PoolUse{state_.pool, graph, role, use->second.from, trace_now()});
  uses_.erase(use);
}

void PoolTrace::add_holder(std::uint32_t graph) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    begin_use(trace::PoolRole::Holder, graph);
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

void PoolTrace::remove_holder(std::uint32_t graph) noexcept {
  const std::lock_guard lock(mutex_);
  end_use(trace::PoolRole::Holder, graph);
}

void PoolTrace::add_sharer(std::uint32_t graph) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    begin_use(trace::PoolRole::Sharer, graph);
    push_state();
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

void PoolTrace::remove_sharer(std::uint32_t graph) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    end_use(trace::PoolRole::Sharer, graph);
    push_state();
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
