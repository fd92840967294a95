#include "runtime/memory/pool_core.hpp"

#include <algorithm>
#include <mutex>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/memory_reclaimer.hpp"
#include "runtime/memory/pool_user.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kMaxCopies = 1024;  // of a PerReplica buffer

// "graph step, graph eval" or "a recording"; empty if nothing holds the buffer.
std::string holders_of(const PoolBuffer& buffer) {
  std::string text;
  for (const PoolBuffer::Use& use : buffer.uses())
    text += concat(text.empty() ? "" : ", ", "graph ", use.user->label());
  if (text.empty() && buffer.recorded.load(std::memory_order_acquire) != 0) text = "a recording";
  return text;
}

}  // namespace

void release_buffer(DeviceCore& device, MemoryBudget& pool, std::uint64_t bytes) noexcept {
  pool.release(MemoryBudget::Part::Buffer, bytes);
  device.memory().release(MemoryBudget::Part::Buffer, bytes);
}

PoolCore::PoolCore(std::shared_ptr<DeviceCore> device, const PoolDesc& desc)
    : device_(std::move(device)),
      label_(desc.label),
      memory_(std::make_shared<MemoryBudget>(concat("pool ", desc.label), desc.budget)),
      slabs_(desc) {
  DeviceTrace* const traced = device_->trace();
  if (traced == nullptr) return;
  trace_ = traced->add_pool(label_, [budget = memory_.get()] { return budget->statistics(); });
  // The budget outlives the pool, and its observer holds the trace.
  memory_->set_observer([trace = trace_] { trace->record_memory(); });
}

PoolCore::PoolCore(std::shared_ptr<DeviceCore> device)
    : device_(std::move(device)),
      memory_(std::make_shared<MemoryBudget>("borrowed memory", std::nullopt)),
      slabs_(PoolDesc{}) {}

std::size_t PoolCore::live_graphs() const {
  std::lock_guard order(device_->order());
  return graphs_.size();
}

std::byte* PoolCore::allocate(BufferKind kind, std::uint64_t bytes) {
  const MemoryBudget* refused = nullptr;
  const auto allocate = [&] {
    refused = kind == BufferKind::Device ? reserve(bytes) : nullptr;
    if (refused != nullptr) {
      fail(ErrorCode::OutOfMemory, Stage::Allocate, label_,
           concat("cannot allocate ", bytes, " bytes: ", refused->describe()));
    }
    try {
      return device_->backend().allocate(kind, bytes);
    } catch (...) {
      if (kind == BufferKind::Device) release_buffer(*device_, *memory_, bytes);
      throw;
    }
  };
  // Memory of other pools helps if the device is short of it, but not if this pool's budget is.
  return MemoryReclaimer(*device_).retry(label_, "", allocate, [&](const Error&) {
    using Scope = MemoryReclaimer::Scope;
    const PoolCore* const limited = refused == memory_.get() ? this : nullptr;
    return Scope{kind == BufferKind::Device ? Scope::Memory::Device : Scope::Memory::Host, limited,
                 limited};
  });
}

const MemoryBudget* PoolCore::reserve(std::uint64_t bytes) noexcept {
  if (!memory_->reserve(MemoryBudget::Part::Buffer, bytes)) return memory_.get();
  if (device_->memory().reserve(MemoryBudget::Part::Buffer, bytes)) return nullptr;
  memory_->release(MemoryBudget::Part::Buffer, bytes);
  return &device_->memory();
}

std::shared_ptr<PoolBuffer> borrow(const std::shared_ptr<DeviceCore>& device,
                                   const BufferCore& memory) {
  for (auto& known : device->live_buffers()) {
    if (known->kind == BufferKind::BorrowedHost && known->address == memory.address &&
        known->bytes == memory.bytes)
      return std::move(known);
  }
  return PoolBuffer::make(std::make_shared<PoolCore>(device),
                          {.kind = memory.kind,
                           .bytes = memory.bytes,
                           .adopted = memory.address,
                           .visibility = BufferDesc::Visibility::Borrowed});
}

BufferView PoolCore::add(const BufferDesc& desc) {
  require_enumerator("the kind of the buffer", desc.kind, Stage::Allocate, label_);
  if (desc.kind == BufferKind::Condition) {
    fail(ErrorCode::InvalidArgument, Stage::Allocate, label_,
         concat("pool ", label_, " cannot allocate a condition, which has no memory",
                desc.name.empty() ? "" : ", named ", desc.name,
                "; create one with Device::create_condition"));
  }
  if (desc.kind == BufferKind::BorrowedHost) {
    fail(ErrorCode::InvalidArgument, Stage::Allocate, label_,
         concat("pool ", label_, " cannot allocate borrowed memory, which is the caller's",
                desc.name.empty() ? "" : ", named ", desc.name,
                "; pass borrowed(bytes) to a copy, or allocate PinnedHost memory"));
  }
  if (desc.bytes == 0) {
    fail(ErrorCode::InvalidArgument, Stage::Allocate, label_,
         concat("pool ", label_, " cannot allocate a buffer of 0 bytes",
                desc.name.empty() ? "" : " named ", desc.name));
  }
  const std::uint32_t largest = device_->info().limits.buffer_alignment;
  if (desc.alignment == 0 || (desc.alignment & (desc.alignment - 1)) != 0 ||
      desc.alignment > largest) {
    fail(ErrorCode::InvalidArgument, Stage::Allocate, label_,
         concat("the alignment of a buffer is a power of two up to ", largest, " bytes, not ",
                desc.alignment));
  }
  if (desc.copies == 0) {
    fail(ErrorCode::InvalidArgument, Stage::Allocate, label_,
         concat("pool ", label_, " cannot allocate a buffer of 0 copies",
                desc.name.empty() ? "" : " named ", desc.name));
  }
  if (desc.copies != 1 && desc.kind == BufferKind::Transient) {
    fail(ErrorCode::InvalidArgument, Stage::Allocate, label_,
         concat("pool ", label_, " cannot allocate a transient of ", desc.copies, " copies",
                desc.name.empty() ? "" : ", named ", desc.name,
                "; each replica has its own transients, omit PerReplica"));
  }
  if (desc.copies > kMaxCopies) {
    fail(ErrorCode::InvalidArgument, Stage::Allocate, label_,
         concat("pool ", label_, " cannot allocate a buffer of ", desc.copies,
                " copies; the limit is ", kMaxCopies));
  }
  device_->require_usable(Stage::Allocate);
  device_->deferred().limit_backlog();
  try {
    auto buffer = PoolBuffer::make(shared_from_this(), desc);
    for (std::uint32_t i = 1; i < desc.copies; ++i) {
      BufferDesc copy = desc;
      const std::string name = desc.name.empty() ? std::string() : concat(desc.name, "[", i, "]");
      copy.name = name;
      buffer->copies.push_back(PoolBuffer::make(shared_from_this(), copy));
    }
    return make_handle<BufferView>(std::move(buffer), 0u, desc.bytes);
  } catch (const Error& error) {
    throw with_context(error, desc.name.empty() ? std::string_view(label_) : desc.name,
                       concat("for ", desc.bytes, " bytes", desc.name.empty() ? "" : " of ",
                              desc.name, " in pool ", label_));
  }
}

void PoolCore::clear() {
  // Destroys buffers that only completed launches of dropped graphs still hold.
  device_->deferred().collect_completed();
  auto buffers = device_->live_buffers();
  std::erase_if(buffers, [&](const auto& buffer) { return buffer->pool().get() != this; });
  std::lock_guard order(device_->order());
  for (const auto& buffer : buffers) {
    const std::string holders = holders_of(*buffer);
    if (holders.empty()) continue;
    fail(ErrorCode::PoolInUse, Stage::Allocate, label_,
         concat("pool ", label_, " cannot be cleared: ", display_name(*buffer), " is held by ",
                holders));
  }
  for (const auto& buffer : buffers) buffer->clear();
}

void PoolCore::count_in(const PoolBuffer& buffer) noexcept {
  buffers_.fetch_add(1, std::memory_order_relaxed);
  if (buffer.kind != BufferKind::PinnedHost || buffer.is_adopted) return;
  memory_->add_pinned(buffer.bytes);
  device_->memory().add_pinned(buffer.bytes);
}

void PoolCore::count_out(const PoolBuffer& buffer) noexcept {
  buffers_.fetch_sub(1, std::memory_order_relaxed);
  if (buffer.kind != BufferKind::PinnedHost || buffer.is_adopted) return;
  memory_->remove_pinned(buffer.bytes);
  device_->memory().remove_pinned(buffer.bytes);
}

void PoolCore::attach(PoolUser& graph) noexcept {
  graphs_.push_back(&graph);
  if (trace_) trace_->add_holder(graph.trace_id());
}

void PoolCore::detach(PoolUser& graph) noexcept {
  std::erase(graphs_, &graph);
  if (trace_) trace_->remove_holder(graph.trace_id());
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

BufferView CapturePool::allocate_bytes(BufferKind kind, std::uint64_t count,
                                       std::uint64_t element_bytes, std::uint64_t alignment,
                                       std::string_view name, PerReplica replicas) {
  detail::require_outside_callback("CapturePool", "allocate", Stage::Allocate, core_->label());
  if (element_bytes != 0 && count > ~std::uint64_t{0} / element_bytes) {
    detail::fail(
        ErrorCode::OutOfMemory, Stage::Allocate,
        name.empty() ? std::string_view(core_->label()) : name,
        detail::concat(count, " elements of ", element_bytes, " bytes exceed every memory"));
  }
  return core_->add({.kind = kind,
                     .bytes = count * element_bytes,
                     .alignment = alignment,
                     .name = name,
                     .copies = replicas.copies});
}

std::size_t CapturePool::buffer_count() const noexcept { return core_->buffer_count(); }
std::size_t CapturePool::live_graphs() const noexcept { return core_->live_graphs(); }
std::string_view CapturePool::label() const noexcept { return core_->label(); }
MemoryStatistics CapturePool::statistics() const noexcept { return core_->memory()->statistics(); }

void CapturePool::clear() {
  detail::require_outside_callback("CapturePool", "clear", Stage::Allocate, core_->label());
  core_->clear();
}

BufferView Device::constant_memory(const ConstantDesc& desc, const ValueType& type) const {
  detail::DeviceCore& device = detail::require_handle(core_, "Device", "constant", Stage::Allocate);
  detail::require_named("ConstantDesc", desc.name, desc.source);
  detail::require_outside_callback("Device", "constant", Stage::Load, desc.name);
  device.require_usable(Stage::Load);
  if (desc.type != nullptr && *desc.type != type) {
    detail::fail(ErrorCode::ArgumentType, Stage::Load, desc.name,
                 detail::concat("constant ", desc.name, " has values of type ", desc.type->name,
                                ", not ", type.name));
  }
  detail::ConstantMemory memory = device.backend().find_constant(desc);
  // One buffer for all callers, whose uses are ordered with each other.
  for (const auto& known : device.live_buffers()) {
    if (known->kind == BufferKind::Device && known->address == memory.address &&
        known->bytes == memory.bytes && !known->is_stale())
      return detail::make_handle<BufferView>(known, 0, known->bytes);
  }
  const auto pool = std::make_shared<detail::PoolCore>(core_, PoolDesc{.label = "constants"});
  return pool->add({.kind = BufferKind::Device,
                    .bytes = memory.bytes,
                    .alignment = type.alignment,
                    .name = desc.name,
                    .adopted = memory.address,
                    .owner = std::move(memory.owner)});
}

std::shared_ptr<CapturePool> Device::create_pool(const PoolDesc& desc) const {
  detail::require_handle(core_, "Device", "create_pool", Stage::Allocate)
      .require_usable(Stage::Allocate);
  detail::require_enumerator("PoolDesc::sharing", desc.sharing, Stage::Allocate, desc.label);
  return detail::HandleAccess::make_shared<CapturePool>(
      std::make_shared<detail::PoolCore>(core_, desc));
}

}  // namespace reprise::inline REPRISE_ABI
