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
    for (const QueuePoint& point : uses) {
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
  std::vector<QueuePoint> uses;
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
  pool->count_in(*buffer);
  if (desc.kind == BufferKind::Device && !buffer->is_adopted) device.memory().record_buffer();
  if (PoolTrace* const traced = pool->trace())
    buffer->traced_ = traced->add(*buffer, buffer->memory());
  return buffer;
}

PoolBuffer::PoolBuffer(std::shared_ptr<PoolCore> pool) noexcept : pool_(std::move(pool)) {}

PoolBuffer::~PoolBuffer() {
  clear();  // no other thread can reach it
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
  pool_->count_out(*this);
  if (PoolTrace* const traced = pool_->trace()) traced->remove(*this, memory(), traced_);
}

BufferIdentity PoolBuffer::identity() const noexcept {
  const PoolTrace* const traced = pool_->trace();
  return {traced_.id, traced == nullptr ? trace::kNone : traced->id(), memory()};
}

void PoolBuffer::free_deferred() noexcept {
  if (!deferred_) return;
  deferred_->uses = usage_.take();
  pool_->device()->deferred().push(std::move(deferred_));
}

void PoolBuffer::prepare() {
  reserve_one(uses_);
  // One point for each user's launches so far, and one for the next launch.
  usage_.reserve(uses_.size() + 2);
}

void PoolBuffer::attach(PoolUser& user, Access access) noexcept {
  const auto conflicts = [&](const Use& use) {
    return use.user != &user && (writes(use.access) || writes(access));
  };
  const bool conflict =
      usage_.conflicts(access) || std::any_of(uses_.begin(), uses_.end(), conflicts);
  uses_.push_back({&user, access});
  if (shared_) {
    user.track(*this, access);
  } else if (conflict) {
    share();
  }
}

void PoolBuffer::detach(PoolUser& user, Access access, const QueuePoint& last) noexcept {
  const auto use = std::find_if(uses_.begin(), uses_.end(), [&](const Use& u) {
    return u.user == &user && u.access == access;
  });
  if (use == uses_.end()) return;
  // A shared buffer has recorded every launch already.
  if (!shared_ && last.queue) usage_.add({last.queue, last.serial, access});
  *use = uses_.back();
  uses_.pop_back();
}

void PoolBuffer::share() noexcept {
  if (shared_) return;
  shared_ = true;
  for (const Use& use : uses_) use.user->track(*this, use.access);
}

}  // namespace reprise::detail
