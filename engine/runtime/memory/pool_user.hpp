// PoolUser: one replica of a graph as pools, buffers and the memory reclaimer see it. Knows no
// executable. Threads: under DeviceCore::order(), except label(), home_pool() and trace_id(), which
// any thread may call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <reprise/types.hpp>

#include "runtime/queue/queue_point.hpp"

namespace reprise::detail {

class PoolBuffer;
struct BufferHistory;
class PoolCore;
class PoolSlab;

enum class TrimResult : std::uint8_t {
  Trimmed,
  AlreadyTrimmed,  // or there is no slab
  Busy,            // a launch is pending, or a caller pins the slab
  NotPageable      // the slab is smaller than a page
};

// The slab behind a graph's transients.
struct HeldSlab {
  std::uint64_t mapped_bytes = 0;
  // Null for a slab of the graph's own.
  std::shared_ptr<PoolBuffer> proxy = nullptr;
  PoolSlab* shared = nullptr;
};

class PoolUser {
 public:
  [[nodiscard]] virtual const std::string& label() const noexcept = 0;
  // The pool that the graph was compiled with; null without.
  [[nodiscard]] virtual const PoolCore* home_pool() const noexcept = 0;
  // Meaningless without a trace.
  [[nodiscard]] virtual std::uint32_t trace_id() const noexcept = 0;
  // The last launch or upload; a null queue if there was none.
  [[nodiscard]] virtual QueuePoint last() const = 0;
  // Records every launch in the buffer's access tracker from now on, and the last launch so far.
  // Call PoolBuffer::prepare() before.
  virtual void track(BufferHistory& buffer, Access access) noexcept = 0;

  [[nodiscard]] virtual HeldSlab held_slab() const = 0;
  // Unmaps a slab of the graph's own; `bytes` receives the bytes released. Throws DeviceLost.
  [[nodiscard]] virtual TrimResult trim_own_slab(std::uint64_t& bytes) = 0;
  // False while a launch is pending or a caller pins the slab.
  [[nodiscard]] virtual bool can_trim() const = 0;
  // Records that the shared slab was unmapped: the next launch maps it again.
  virtual void mark_trimmed() = 0;
  virtual void trace_trim() const = 0;

 protected:
  ~PoolUser() = default;
};

}  // namespace reprise::detail
