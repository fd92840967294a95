// PoolCore: one pool: allocates and counts its buffers, and lists the graphs that use it. Held by
// its buffers and by those graphs. Threads: any thread; DeviceCore::order() guards the graphs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/pool.hpp>

#include "base/reserve_one.hpp"
#include "runtime/core/memory_budget.hpp"
#include "runtime/memory/pool_buffer.hpp"
#include "runtime/memory/pool_slabs.hpp"

namespace reprise::detail {

class DeviceCore;
class PoolUser;

// Releases bytes that PoolCore::allocate() reserved, from the device's budget and the pool's.
void release_buffer(DeviceCore& device, MemoryBudget& pool, std::uint64_t bytes) noexcept;

// The buffer that represents borrowed host memory in all graphs of the device that copy it.
[[nodiscard]] std::shared_ptr<PoolBuffer> borrow(const std::shared_ptr<DeviceCore>& device,
                                                 const BufferCore& memory);

class PoolCore : public std::enable_shared_from_this<PoolCore> {
 public:
  PoolCore(std::shared_ptr<DeviceCore> device, const PoolDesc& desc);
  // A pool that the trace does not show.
  explicit PoolCore(std::shared_ptr<DeviceCore> device);

  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return device_; }
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  [[nodiscard]] PoolTrace* trace() const noexcept { return trace_.get(); }  // null: no trace
  [[nodiscard]] const std::shared_ptr<PoolTrace>& shared_trace() const noexcept { return trace_; }
  [[nodiscard]] std::size_t buffer_count() const noexcept {
    return buffers_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t live_graphs() const;
  [[nodiscard]] const std::shared_ptr<MemoryBudget>& memory() const noexcept { return memory_; }
  [[nodiscard]] PoolSlabs& slabs() noexcept { return slabs_; }
  // Memory for a buffer. Device memory is counted; call release_buffer() after freeing it. Reclaims
  // idle memory if there is too little. Throws OutOfMemory, DeviceLost. The caller holds no lock.
  [[nodiscard]] std::byte* allocate(BufferKind kind, std::uint64_t bytes);

  // A view of a new buffer. Throws InvalidArgument for 0 bytes or an unsupported alignment,
  // OutOfMemory, DeviceLost.
  [[nodiscard]] BufferView add(const BufferDesc& desc);
  void clear();

  void count_in(const PoolBuffer& buffer) noexcept;
  void count_out(const PoolBuffer& buffer) noexcept;

  // --- Under order() ---
  // Reserves room for one more graph, so that attach() cannot fail.
  void prepare() { reserve_one(graphs_); }
  // Adds a graph; once, however many buffers it uses.
  void attach(PoolUser& graph) noexcept;
  void detach(PoolUser& graph) noexcept;

 private:
  // Null if the bytes were reserved; else the budget that refuses them.
  [[nodiscard]] const MemoryBudget* reserve(std::uint64_t bytes) noexcept;

  std::shared_ptr<DeviceCore> device_;
  std::string label_;
  std::atomic<std::size_t> buffers_{0};
  std::vector<PoolUser*> graphs_;
  std::shared_ptr<MemoryBudget> memory_;
  std::shared_ptr<PoolTrace> trace_;
  PoolSlabs slabs_;
};

}  // namespace reprise::detail
