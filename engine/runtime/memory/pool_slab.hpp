// PoolSlab: one slab that the transients of several graphs share, each from its first byte on. It
// is as large as the largest of them needs. It does not order the graphs: each writes the slab's
// proxy buffer (runtime/memory/pool_slabs.hpp), so hazard tracking serialises their launches.
// Threads: any thread; unmap() and map() under DeviceCore::order().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/pool_trace.hpp"
#include "runtime/memory/pool_user.hpp"
#include "runtime/memory/slab.hpp"

namespace reprise::detail {

class SlabLease;

class PoolSlab final : public std::enable_shared_from_this<PoolSlab> {
 public:
  struct Owner {
    std::shared_ptr<DeviceCore> device;
    std::shared_ptr<MemoryBudget> pool;
    std::shared_ptr<PoolTrace> trace;  // null without a trace
  };
  // Throws as Slab.
  PoolSlab(Owner owner, const SlabExtent& extent, std::string_view graph);
  PoolSlab(const PoolSlab&) = delete;
  PoolSlab& operator=(const PoolSlab&) = delete;
  ~PoolSlab();

  [[nodiscard]] std::byte* address() const noexcept { return slab_.address(); }
  [[nodiscard]] std::uint64_t max_bytes() const;
  [[nodiscard]] bool is_pageable() const noexcept { return slab_.is_pageable(); }
  [[nodiscard]] std::uint64_t footprint_bytes() const;  // mapped or not
  [[nodiscard]] std::uint64_t mapped_bytes() const;
  // Leases `bytes` to one executable: grows in place if needed, and maps the pages. Null if the
  // slab cannot grow so far. Throws as Slab.
  [[nodiscard]] std::unique_ptr<SlabLease> lease(std::uint64_t bytes, std::string_view graph);

  // --- Under order() ---
  // Requires that no graph on the slab has pending work.
  [[nodiscard]] TrimResult unmap();
  // Maps the pages; true if this call mapped them. Throws as Slab.
  [[nodiscard]] bool map(std::string_view graph);

 private:
  friend class SlabLease;
  [[nodiscard]] std::uint64_t needed() const noexcept;  // by the largest lease; under mutex_
  void end_lease(std::uint64_t bytes) noexcept;

  const Owner owner_;
  mutable std::mutex mutex_;  // of the members below
  Slab slab_;
  std::vector<std::uint64_t> leases_;  // bytes of each
  std::uint32_t unattached_ = 0;       // leases that keep the pages mapped
};

// The part of a shared slab that one executable may use, for as long as a launch of it may run.
// Keeps the pages mapped until mark_attached().
class SlabLease {
 public:
  SlabLease(std::shared_ptr<PoolSlab> slab, std::uint64_t bytes) noexcept
      : slab_(std::move(slab)), bytes_(bytes) {}
  SlabLease(const SlabLease&) = delete;
  SlabLease& operator=(const SlabLease&) = delete;
  ~SlabLease();
  [[nodiscard]] PoolSlab& slab() const noexcept { return *slab_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // Call when the executable's graph is attached to the proxy buffer: from then on pending launches
  // keep the pages mapped.
  void mark_attached() noexcept;
  // Lists the graph as a sharer of the slab in the trace.
  void set_trace_graph(std::uint32_t graph) noexcept;

 private:
  const std::shared_ptr<PoolSlab> slab_;
  const std::uint64_t bytes_;
  bool is_attached_ = false;
  std::uint32_t trace_graph_ = kNone;
};

}  // namespace reprise::detail
