#include "runtime/memory/pool_core.hpp"

#include <algorithm>
#include <mutex>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/graph_core.hpp"

namespace reprise::detail {

namespace {

// "graph step uses w" or "a recording holds w"; empty where nobody does.
std::string holders_of(const PoolBuffer& buffer) {
  std::string text;
  for (const PoolBuffer::Use& use : buffer.uses())
    text += concat(text.empty() ? "" : ", ", "graph ", use.graph->label());
  if (text.empty() && buffer.recorded.load(std::memory_order_acquire) != 0) text = "a recording";
  return text;
}

}  // namespace

void uncount(DeviceCore& device, MemoryBudget& pool, std::uint64_t bytes) noexcept {
  pool.give_back(MemoryBudget::Part::Buffer, bytes);
  device.memory().give_back(MemoryBudget::Part::Buffer, bytes);
}

PoolCore::PoolCore(std::shared_ptr<DeviceCore> device, const PoolDesc& desc)
    : device_(std::move(device)),
      label_(desc.label),
      memory_(std::make_shared<MemoryBudget>(concat("pool ", desc.label), desc.budget)),
      slabs_(desc) {
  DeviceTrace* const traced = device_->trace();
  if (traced == nullptr) return;
  trace_ = traced->add_pool(label_, [account = memory_.get()] { return account->statistics(); });
  memory_->watch([trace = trace_] {
    trace->note_memory();
  });  // as long as the account is there, which outlives the pool
}

std::size_t PoolCore::live_graphs() const {
  std::lock_guard order(device_->order());
  return graphs_.size();
}

std::byte* PoolCore::allocate(BufferKind kind, std::uint64_t bytes) {
  if (kind != BufferKind::Device) return device_->allocate(kind, bytes);
  const MemoryBudget* refused = try_count(bytes);
  if (refused != nullptr) {
    device_->make_room(refused == memory_.get() ? this : nullptr);
    refused = try_count(bytes);
  }
  if (refused != nullptr) {
    const std::string holders = device_->largest_holders(refused == memory_.get() ? this : nullptr);
    fail(ErrorCode::OutOfMemory, Stage::Allocate, label_,
         concat(bytes, " bytes were asked, and ", refused->why_not(), holders.empty() ? "" : "; ",
                holders));
  }
  try {
    return device_->allocate(kind, bytes);
  } catch (...) {
    uncount(*device_, *memory_, bytes);
    throw;
  }
}

// Whose budget refuses; null: they are counted.
const MemoryBudget* PoolCore::try_count(std::uint64_t bytes) noexcept {
  if (!memory_->take(MemoryBudget::Part::Buffer, bytes)) return memory_.get();
  if (device_->memory().take(MemoryBudget::Part::Buffer, bytes)) return nullptr;
  memory_->give_back(MemoryBudget::Part::Buffer, bytes);
  return &device_->memory();
}

BufferView PoolCore::add(const BufferDesc& desc) {
  if (desc.bytes == 0) {
    fail(ErrorCode::InvalidArgument, Stage::Allocate, label_,
         concat("a buffer of 0 bytes was asked of pool ", label_, desc.name.empty() ? "" : " as ",
                desc.name));
  }
  const std::uint32_t largest = device_->info().limits.buffer_alignment;
  if (desc.alignment == 0 || (desc.alignment & (desc.alignment - 1)) != 0 ||
      desc.alignment > largest) {
    fail(ErrorCode::InvalidArgument, Stage::Allocate, label_,
         concat("buffers are aligned to powers of two up to ", largest, " bytes, not to ",
                desc.alignment));
  }
  if (desc.copies == 0) {
    fail(ErrorCode::InvalidArgument, Stage::Allocate, label_,
         concat("a buffer of 0 copies was asked of pool ", label_, desc.name.empty() ? "" : " as ",
                desc.name));
  }
  device_->require_usable(Stage::Allocate);
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
  // Buffers that nothing but a finished launch of a dropped graph holds are let go first.
  device_->retired().collect_completed();
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
  if (buffer.kind != BufferKind::PinnedHost || buffer.is_adopted()) return;
  memory_->add_pinned(buffer.bytes);
  device_->memory().add_pinned(buffer.bytes);
}

void PoolCore::count_out(const PoolBuffer& buffer) noexcept {
  buffers_.fetch_sub(1, std::memory_order_relaxed);
  if (buffer.kind != BufferKind::PinnedHost || buffer.is_adopted()) return;
  memory_->remove_pinned(buffer.bytes);
  device_->memory().remove_pinned(buffer.bytes);
}

void PoolCore::attach(GraphCore& graph) noexcept {
  graphs_.push_back(&graph);
  if (trace_) trace_->add_holder(graph.trace_id());
}

void PoolCore::detach(GraphCore& graph) noexcept {
  std::erase(graphs_, &graph);
  if (trace_) trace_->remove_holder(graph.trace_id());
}

}  // namespace reprise::detail

namespace reprise {

BufferView CapturePool::allocate_bytes(BufferKind kind, std::uint64_t count,
                                       std::uint64_t element_bytes, std::uint64_t alignment,
                                       std::string_view name, PerReplica replicas) {
  if (element_bytes != 0 && count > ~std::uint64_t{0} / element_bytes) {
    detail::fail(ErrorCode::OutOfMemory, Stage::Allocate,
                 name.empty() ? std::string_view(core_->label()) : name,
                 detail::concat(count, " elements of ", element_bytes,
                                " bytes are more than any memory holds"));
  }
  const auto power = static_cast<std::uint32_t>(std::min<std::uint64_t>(alignment, 0xffffffffu));
  return core_->add({.kind = kind,
                     .bytes = count * element_bytes,
                     .alignment = power,
                     .name = name,
                     .copies = replicas.copies});
}

std::size_t CapturePool::buffer_count() const noexcept { return core_->buffer_count(); }
std::size_t CapturePool::live_graphs() const noexcept { return core_->live_graphs(); }
std::string_view CapturePool::label() const noexcept { return core_->label(); }
MemoryStatistics CapturePool::statistics() const noexcept { return core_->memory()->statistics(); }

TrimReport CapturePool::trim() {
  core_->device()->require_usable(Stage::Allocate);
  return core_->device()->trim(core_.get());
}

void CapturePool::clear() { core_->clear(); }

}  // namespace reprise
