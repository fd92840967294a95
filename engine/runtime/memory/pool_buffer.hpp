// PoolBuffer: a buffer of a pool: its memory, the graphs that use it, and their last accesses.
// Buffers whose memory overlaps know each other's, and are one buffer to the order of launches.
// Threads: DeviceCore::order() guards the members below `Under order()`; the others are constant.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "profile/pool_trace.hpp"
#include "record/buffer_core.hpp"
#include "runtime/queue/buffer_access_tracker.hpp"

namespace reprise::detail {

class PoolCore;
class PoolUser;
class DeferredMemory;

struct BufferDesc {
  BufferKind kind = BufferKind::Device;
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
  std::string_view name = {};
  std::byte* adopted = nullptr;           // memory of the caller; null: allocated by the device
  std::shared_ptr<void> owner = nullptr;  // of adopted memory; held until its last use completes
  std::uint32_t copies = 1;               // Device and PinnedHost buffers; see PerReplica
  enum class Visibility : std::uint8_t {
    Public,
    Borrowed,  // registered, but not counted or traced
    Internal   // not registered, counted or traced
  } visibility = Visibility::Public;
};

// The uses of a buffer and its last accesses. Outlives the buffer for those that overlap it, and
// for the end of its memory. Under order(), except `is_alive`; constant once the buffer is cleared
// or gone.
struct BufferHistory {
  struct Use {
    PoolUser* user;
    Access access;
  };
  BufferAccessTracker usage;
  std::vector<Use> uses;
  bool shared = false;  // every user records its accesses in `usage`
  std::atomic<bool> is_alive{true};

  // True if an access by `user` conflicts with another user or with pending work.
  [[nodiscard]] bool conflicts(const PoolUser& user, Access access) const noexcept;
  // Makes every user record its accesses from now on, its last launch included.
  void share() noexcept;
};

class PoolBuffer final : public BufferCore {
 public:
  // Throws OutOfMemory, DeviceLost.
  [[nodiscard]] static std::shared_ptr<PoolBuffer> make(std::shared_ptr<PoolCore> pool,
                                                        const BufferDesc& desc);
  // Null for a buffer that no pool made.
  [[nodiscard]] static std::shared_ptr<PoolBuffer> of(
      const std::shared_ptr<BufferCore>& core) noexcept {
    return std::dynamic_pointer_cast<PoolBuffer>(core);
  }
  explicit PoolBuffer(std::shared_ptr<PoolCore> pool);
  ~PoolBuffer() override;

  [[nodiscard]] const std::shared_ptr<PoolCore>& pool() const noexcept { return pool_; }
  // Its identity in the trace.
  [[nodiscard]] BufferIdentity identity() const noexcept;
  [[nodiscard]] bool is_persistent() const noexcept { return kind != BufferKind::Transient; }

  // --- Under order() ---
  using Use = BufferHistory::Use;
  // Reserves room for one more use, so that attach() cannot fail.
  void prepare();
  // Adds a use; a user may have several, for parts of the buffer. Starts sharing if its access
  // conflicts with another user or with pending work.
  void attach(PoolUser& user, Access access) noexcept;
  // Removes a use of a user, whose last submission was `last`.
  void detach(PoolUser& user, Access access, const QueuePoint& last) noexcept;
  // Makes every user record its accesses in usage() from now on, its last launch included. Call
  // prepare() before.
  void share() noexcept;
  // Makes its handles stale, and frees its memory after its last accesses complete.
  void clear() noexcept;
  // Ends its registration; its memory stays until the destructor.
  void leave_pool() noexcept;

  // Makes later submissions of `queue` wait for the accesses to the memory that conflict with
  // `access`. Reserves room for record().
  void wait_for_conflicts(QueueCore& queue, Access access);
  // Adds an access that waited for all conflicting ones.
  void record(const QueuePoint& point) noexcept { history_->usage.replace(point); }
  [[nodiscard]] bool is_shared() const noexcept { return history_->shared; }
  [[nodiscard]] const std::vector<Use>& uses() const noexcept { return history_->uses; }
  [[nodiscard]] BufferAccessTracker& usage() noexcept { return history_->usage; }

 private:
  // Makes the buffer and the live buffers that overlap it know each other.
  void find_aliases();
  void free_deferred() noexcept;
  [[nodiscard]] BufferIdentity::Memory memory() const noexcept {
    return is_adopted ? BufferIdentity::Memory::Adopted : BufferIdentity::Memory::Ours;
  }

  std::shared_ptr<PoolCore> pool_;
  std::unique_ptr<DeferredMemory> deferred_;  // null: no memory to free
  bool registered_ = false;
  TracedBuffer traced_;
  const std::shared_ptr<BufferHistory> history_ = std::make_shared<BufferHistory>();
  std::vector<std::shared_ptr<BufferHistory>> aliases_;  // of buffers that overlap this one
};

}  // namespace reprise::detail
