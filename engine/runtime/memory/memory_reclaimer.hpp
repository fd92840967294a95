// MemoryReclaimer: releases device memory that nothing uses at the moment, and retries allocations
// that failed for lack of it. Stateless: the device keeps the registries.
// Threads: any thread, without any lock of the engine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <reprise/pool.hpp>

#include "base/failure.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {

class PoolCore;

class MemoryReclaimer {
 public:
  explicit MemoryReclaimer(DeviceCore& device) noexcept : device_(device) {}

  // Unmaps the slabs of idle graphs that were compiled with `pool`; null: of every graph.
  TrimReport trim(const PoolCore* pool);
  // Names the largest holders of the memory of `pool`, for messages; null: of the device.
  [[nodiscard]] std::string largest_holders(const PoolCore* pool);

  // The users of memory that a failed allocation competes with.
  struct Scope {
    enum class Memory : std::uint8_t {
      Device,
      Host  // releases deferred objects only, and names no holders
    } memory = Memory::Device;
    const PoolCore* trimmed = nullptr;  // as trim()
    const PoolCore* holders = nullptr;  // as largest_holders()
  };
  // Returns allocate(). If that lacks memory, destroys deferred objects or waits until another
  // thread has destroyed them, trims idle graphs, and retries once. `scope_of` maps the first error
  // to a Scope. Errors get `where` appended; a second failure for lack of memory also names the
  // largest holders.
  template <class Allocate, class ScopeOf>
  std::invoke_result_t<Allocate&> retry(std::string_view label, const std::string& where,
                                        Allocate allocate, ScopeOf scope_of) {
    Scope scope;
    try {
      return allocate();
    } catch (const Error& error) {
      if (!lacks_memory(error)) rethrow(error, label, where);
      scope = scope_of(error);
    }
    reclaim(scope);
    try {
      return allocate();
    } catch (const Error& error) {
      if (!lacks_memory(error)) rethrow(error, label, where);
      rethrow(error, label, with_holders(where, scope_of(error)));
    }
  }

 private:
  void reclaim(const Scope& scope);
  [[nodiscard]] std::string with_holders(const std::string& where, const Scope& scope);
  [[noreturn]] static void rethrow(const Error& error, std::string_view label,
                                   const std::string& where);

  DeviceCore& device_;
};

}  // namespace reprise::detail
