// MpiRuntime: MPI of this process: who initialised it, which threads may call it, and whether it
// can be finalised. Threads: any.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include <reprise/collectives.hpp>

namespace reprise::detail {

class MpiRuntime {
 public:
  [[nodiscard]] static MpiRuntime& instance();
  MpiRuntime(const MpiRuntime&) = delete;
  MpiRuntime& operator=(const MpiRuntime&) = delete;

  // Between MPI_Init and MPI_Finalize.
  [[nodiscard]] static bool is_usable() noexcept;
  // See MpiModule.
  void initialize();

  // Held during calls of MPI: locks only with MPI_THREAD_SERIALIZED.
  [[nodiscard]] std::unique_lock<std::mutex> lock() {
    return is_serialized_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }
  // Locks as lock() does; false if another thread holds the lock.
  [[nodiscard]] bool try_lock(std::unique_lock<std::mutex>& lock) {
    if (!is_serialized_) return true;
    lock = std::unique_lock(mutex_, std::try_to_lock);
    return lock.owns_lock();
  }

  [[nodiscard]] MPI_Datatype datatype(ElementType type) const;
  // Average is a sum here.
  [[nodiscard]] MPI_Op reduction(ElementType type, ReduceOperator reduce) const;

  // Operations that are not complete.
  void add_pending() noexcept { pending_.fetch_add(1); }
  void remove_pending() noexcept { pending_.fetch_sub(1); }
  // From now on the module makes no call that waits for other ranks.
  void set_failed() noexcept { has_failed_.store(true); }
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_.load(); }

 private:
  MpiRuntime() = default;
  void create_types();
  void finalize_at_exit();

  std::mutex mutex_;         // between calls of MPI
  std::mutex initializing_;  // of initialize()
  bool is_initialized_ = false;
  bool is_serialized_ = false;
  std::atomic<std::int64_t> pending_{0};
  std::atomic<bool> has_failed_{false};
  MPI_Datatype half_ = MPI_DATATYPE_NULL, bfloat16_ = MPI_DATATYPE_NULL;
  // By operator, without Average; MPI_OP_NULL where MPI's own operator is used.
  using Reductions = std::array<MPI_Op, 4>;
  Reductions half_ops_{}, bfloat16_ops_{}, float_ops_{}, double_ops_{}, int8_ops_{}, uint8_ops_{};
};

}  // namespace reprise::detail
