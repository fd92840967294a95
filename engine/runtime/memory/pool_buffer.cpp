#include "runtime/memory/pool_buffer.hpp"

#include <algorithm>
#include <cstring>

#include "base/reserve_one.hpp"
#include "profile/nvtx.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/memory/pool_user.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

// The memory of a destroyed or cleared buffer, while launches may still use it.
class DeferredMemory final : public DeferredDelete {
 public:
  DeferredMemory(std::shared_ptr<DeviceCore> owner, BufferKind memory_kind,
                 std::byte* memory) noexcept
      : device(std::move(owner)), kind(memory_kind), address(memory) {}
  ~DeferredMemory() override {
    if (address == nullptr) return;
    device->backend().free(kind, address);
    if (budget) release_buffer(*device, *budget, bytes);
  }

  [[nodiscard]] Pending pending() const noexcept override {
    for (const QueuePoint& point : history->usage.points()) {
      if (!is_complete(point)) return {point.queue->shared_backend(), point.serial};
    }
    return {};
  }

  std::shared_ptr<DeviceCore> device;
  BufferKind kind;
  std::byte* address;                    // null: adopted
  std::shared_ptr<MemoryBudget> budget;  // of the pool; null: not counted
  std::uint64_t bytes = 0;
  std::shared_ptr<void> adopted_owner;
  std::shared_ptr<const BufferHistory> history;  // its last accesses
};

std::shared_ptr<PoolBuffer> PoolBuffer::make(std::shared_ptr<PoolCore> pool,
                                             const BufferDesc& desc) {
  DeviceCore& device = *pool->device();
  device.deferred().prepare();
  auto buffer = std::make_shared<PoolBuffer>(pool);
  buffer->kind = desc.kind;
  buffer->bytes = desc.bytes;
  buffer->alignment = static_cast<std::uint32_t>(desc.alignment);
  buffer->name = desc.name;
  buffer->device = device.status();
  buffer->generation = device.generation();
  buffer->is_adopted = desc.adopted != nullptr;
  buffer->address = desc.adopted;
  if (desc.kind != BufferKind::Transient && desc.adopted == nullptr) {
    buffer->address = pool->allocate(desc.kind, desc.bytes);
    try {
      buffer->deferred_ =
          std::make_unique<DeferredMemory>(pool->device(), desc.kind, buffer->address);
    } catch (...) {
      device.backend().free(desc.kind, buffer->address);
      if (desc.kind == BufferKind::Device) release_buffer(device, *pool->memory(), desc.bytes);
      throw;
    }
    if (desc.kind == BufferKind::Device) {
      buffer->deferred_->budget = pool->memory();
      buffer->deferred_->bytes = desc.bytes;
    }
    if (desc.kind == BufferKind::PinnedHost) std::memset(buffer->address, 0, desc.bytes);
    if (desc.kind == BufferKind::Device && device.info().kind != DeviceKind::Host)
      nvtx_name_memory(buffer->address, pool->label(), buffer->name);
  } else if (desc.owner) {
    buffer->deferred_ = std::make_unique<DeferredMemory>(pool->device(), desc.kind, nullptr);
    buffer->deferred_->adopted_owner = desc.owner;
  }
  if (desc.visibility == BufferDesc::Visibility::Internal) return buffer;
  buffer->id = device.add_buffer(buffer);
  buffer->registered_ = true;
  if (buffer->is_adopted) buffer->find_aliases();
  if (desc.visibility == BufferDesc::Visibility::Borrowed) return buffer;
  pool->count_in(*buffer);
  if (desc.kind == BufferKind::Device && !buffer->is_adopted) device.memory().record_buffer();
  if (PoolTrace* const traced = pool->trace())
    buffer->traced_ = traced->add(*buffer, buffer->memory());
  return buffer;
}

PoolBuffer::PoolBuffer(std::shared_ptr<PoolCore> pool) : pool_(std::move(pool)) {}

PoolBuffer::~PoolBuffer() {
  clear();  // no other thread can reach it
  history_->is_alive.store(false, std::memory_order_release);
}

void PoolBuffer::clear() noexcept {
  cleared.store(true, std::memory_order_release);
  leave_pool();
  free_deferred();
}

void PoolBuffer::leave_pool() noexcept {
  if (!registered_) return;
  registered_ = false;
  pool_->device()->remove_buffer(id);
  if (kind == BufferKind::BorrowedHost) return;
  pool_->count_out(*this);
  if (PoolTrace* const traced = pool_->trace()) traced->remove(*this, memory(), traced_);
}

BufferIdentity PoolBuffer::identity() const noexcept {
  const PoolTrace* const traced = pool_->trace();
  return {traced_.id, traced == nullptr ? trace::kNone : traced->id(), memory()};
}

void PoolBuffer::find_aliases() {
  const auto live = pool_->device()->live_buffers();
  std::lock_guard order(pool_->device()->order());
  const auto is_obsolete = [](const std::shared_ptr<BufferHistory>& history) {
    return !history->is_alive.load(std::memory_order_acquire) &&
           !history->usage.conflicts(Access::ReadWrite);
  };
  for (const auto& other : live) {
    if (other.get() == this || other->is_stale() || !overlaps(*other, address, bytes)) continue;
    std::erase_if(other->aliases_, is_obsolete);
    if (std::find(aliases_.begin(), aliases_.end(), other->history_) != aliases_.end()) continue;
    reserve_one(aliases_);
    reserve_one(other->aliases_);
    aliases_.push_back(other->history_);
    other->aliases_.push_back(history_);
  }
}

void PoolBuffer::free_deferred() noexcept {
  if (!deferred_) return;
  deferred_->history = history_;
  pool_->device()->deferred().push(std::move(deferred_));
}

void PoolBuffer::prepare() {
  reserve_one(history_->uses);
  // One point for each user's launches so far, and one for the next launch.
  history_->usage.reserve(history_->uses.size() + 2);
  for (const auto& alias : aliases_)
    if (!alias->uses.empty()) alias->usage.reserve(alias->uses.size() + 1);
}

bool BufferHistory::conflicts(const PoolUser& user, Access access) const noexcept {
  return usage.conflicts(access) || std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
           return use.user != &user && (writes(use.access) || writes(access));
         });
}

void BufferHistory::share() noexcept {
  if (shared) return;
  shared = true;
  for (const Use& use : uses) use.user->track(*this, use.access);
}

void PoolBuffer::attach(PoolUser& user, Access access) noexcept {
  const bool conflict = history_->conflicts(user, access) ||
                        std::any_of(aliases_.begin(), aliases_.end(), [&](const auto& alias) {
                          return alias->conflicts(user, access);
                        });
  history_->uses.push_back({&user, access});
  if (history_->shared) {
    user.track(*history_, access);
  } else if (conflict) {
    share();
  }
}

void PoolBuffer::detach(PoolUser& user, Access access, const QueuePoint& last) noexcept {
  std::vector<Use>& uses = history_->uses;
  const auto use = std::find_if(uses.begin(), uses.end(), [&](const Use& u) {
    return u.user == &user && u.access == access;
  });
  if (use == uses.end()) return;
  // A shared buffer has recorded every launch already.
  if (!history_->shared && last.queue) history_->usage.add({last.queue, last.serial, access});
  *use = uses.back();
  uses.pop_back();
}

void PoolBuffer::share() noexcept {
  history_->share();
  for (const auto& alias : aliases_) alias->share();
}

void PoolBuffer::wait_for_conflicts(QueueCore& queue, Access access) {
  history_->usage.reserve(1);
  history_->usage.wait_for_conflicts(queue, access);
  for (const auto& alias : aliases_) alias->usage.wait_for_conflicts(queue, access);
}

}  // namespace reprise::detail
