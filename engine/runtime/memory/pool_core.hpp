// PoolCore: counts the buffers of one pool and knows the graphs that hold it. Held by its buffers
// and by those graphs. Threads: any thread; the graphs are guarded by DeviceCore::order().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/pool.hpp>

#include "runtime/core/memory_budget.hpp"
#include "runtime/memory/pool_buffer.hpp"
#include "runtime/memory/pool_slabs.hpp"

namespace reprise::detail {

class DeviceCore;
class GraphCore;

// The end of what PoolCore::allocate() counted.
void uncount(DeviceCore& device, MemoryBudget& pool, std::uint64_t bytes) noexcept;

class PoolCore : public std::enable_shared_from_this<PoolCore> {
 public:
  PoolCore(std::shared_ptr<DeviceCore> device, const PoolDesc& desc);

  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return device_; }
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  [[nodiscard]] PoolTrace* trace() const noexcept { return trace_.get(); }  // null: there is none
  [[nodiscard]] const std::shared_ptr<PoolTrace>& shared_trace() const noexcept { return trace_; }
  [[nodiscard]] std::size_t buffer_count() const noexcept {
    return buffers_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t live_graphs() const;
  [[nodiscard]] const std::shared_ptr<MemoryBudget>& memory() const noexcept { return memory_; }
  [[nodiscard]] PoolSlabs& slabs() noexcept {
    return slabs_;
  }  // that its graphs share, where they do
  // Memory of a buffer, counted where it is Device; uncount() when it is freed. Throws OutOfMemory,
  // DeviceLost.
  [[nodiscard]] std::byte* allocate(BufferKind kind, std::uint64_t bytes);

  // The view of a new buffer. Throws InvalidArgument for no bytes or an alignment that no buffer
  // has, OutOfMemory, DeviceLost.
  [[nodiscard]] BufferView add(const BufferDesc& desc);
  void clear();

  void count_in(const PoolBuffer& buffer) noexcept;
  void count_out(const PoolBuffer& buffer) noexcept;

  // --- Under order() ---
  void prepare() { graphs_.reserve(graphs_.size() + 1); }
  void attach(
      GraphCore& graph) noexcept;  // once, however many buffers it uses; call prepare() before
  void detach(GraphCore& graph) noexcept;

 private:
  [[nodiscard]] const MemoryBudget* try_count(std::uint64_t bytes) noexcept;

  std::shared_ptr<DeviceCore> device_;
  std::string label_;
  std::atomic<std::size_t> buffers_{0};
  std::vector<GraphCore*> graphs_;
  std::shared_ptr<MemoryBudget> memory_;
  std::shared_ptr<PoolTrace> trace_;
  PoolSlabs slabs_;
};

}  // namespace reprise::detail
