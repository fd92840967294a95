// PoolBuffer: a buffer of a pool, with its memory, the graphs that use it, and who used it last.
// Threads: the members below `Under order()` are guarded by DeviceCore::order(); the rest is
// constant.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "profile/pool_trace.hpp"
#include "record/buffer_core.hpp"
#include "runtime/queue/buffer_access_tracker.hpp"

namespace reprise::detail {

class GraphCore;
class PoolCore;
class DeferredMemory;

struct BufferDesc {
  BufferKind kind = BufferKind::Device;
  std::uint64_t bytes = 0;
  std::uint32_t alignment = 1;
  std::string_view name = {};
  std::byte* adopted = nullptr;  // memory that the caller owns and keeps; null: the device's own
  std::shared_ptr<void> owner = nullptr;  // of adopted memory: held until nothing uses it any more
  std::uint32_t copies = 1;               // see PerReplica; of Device and PinnedHost buffers
  enum class Known : std::uint8_t {
    ToAll,
    ToItsGraphs  // no buffer of the application: neither counted nor listed nor traced
  } known = Known::ToAll;
};

class PoolBuffer final : public BufferCore, public std::enable_shared_from_this<PoolBuffer> {
 public:
  // Throws OutOfMemory, DeviceLost.
  [[nodiscard]] static std::shared_ptr<PoolBuffer> make(std::shared_ptr<PoolCore> pool,
                                                        const BufferDesc& desc);
  // Null where it was not made by a pool.
  [[nodiscard]] static std::shared_ptr<PoolBuffer> of(
      const std::shared_ptr<BufferCore>& core) noexcept {
    return std::dynamic_pointer_cast<PoolBuffer>(core);
  }
  explicit PoolBuffer(std::shared_ptr<PoolCore> pool) noexcept;
  ~PoolBuffer() override;

  [[nodiscard]] const std::shared_ptr<PoolCore>& pool() const noexcept { return pool_; }
  [[nodiscard]] bool is_adopted() const noexcept { return adopted_; }
  // Who it is in the trace.
  [[nodiscard]] BufferIdentity identity() const noexcept;
  [[nodiscard]] bool is_persistent() const noexcept { return kind != BufferKind::Transient; }

  // --- Under order() ---
  struct Use {
    GraphCore* graph;
    Access access;
  };
  // Room for one more use, so that attach() can't fail.
  void prepare();
  // From now on `graph` uses it. Starts sharing where it conflicts with another graph or with
  // pending work.
  void attach(GraphCore& graph, Access access) noexcept;
  // `last`, of a graph that is going, stays known as long as it matters.
  void detach(GraphCore& graph, const QueuePoint& last) noexcept;
  // Every graph on it tracks its uses from now on, the launches so far included. Call prepare()
  // before.
  void share() noexcept;
  // Makes its handles stale and gives its memory back after the uses known so far.
  void clear() noexcept;
  // Its identity ends; its memory stays until it dies.
  void leave_pool() noexcept;

  [[nodiscard]] bool is_shared() const noexcept { return shared_; }
  [[nodiscard]] const std::vector<Use>& uses() const noexcept { return uses_; }
  [[nodiscard]] BufferAccessTracker& usage() noexcept { return usage_; }

 private:
  void give_memory_back() noexcept;
  [[nodiscard]] BufferIdentity::Memory memory() const noexcept {
    return adopted_ ? BufferIdentity::Memory::Adopted : BufferIdentity::Memory::Ours;
  }

  std::shared_ptr<PoolCore> pool_;
  std::unique_ptr<DeferredMemory> deferred_;  // null: there is no memory to give back
  bool adopted_ = false, registered_ = false, shared_ = false;
  TracedBuffer traced_;
  BufferAccessTracker usage_;
  std::vector<Use> uses_;
};

}  // namespace reprise::detail
