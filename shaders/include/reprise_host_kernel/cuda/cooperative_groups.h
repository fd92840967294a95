// Replaces CUDA's header of this name when shader files are compiled for the host device: thread
// blocks, and their partitions into tiles of at most 32 threads.
#pragma once

#include <cstdint>

#include <reprise_host_kernel/device_only.hpp>
#include <reprise_host_kernel/threads.hpp>
#include <reprise_host_kernel/vector_types.hpp>
#include <reprise_host_kernel/warps.hpp>

namespace cooperative_groups {

namespace language = reprise::host_kernel::language;

class thread_block {
 public:
  static void sync() { language::__syncthreads(); }
  [[nodiscard]] static unsigned thread_rank() {
    const auto& at = language::threadIdx;
    const auto& size = language::blockDim;
    return (at.z * size.y + at.y) * size.x + at.x;
  }
  [[nodiscard]] static unsigned num_threads() {
    const auto& size = language::blockDim;
    return size.x * size.y * size.z;
  }
  [[nodiscard]] static unsigned size() { return num_threads(); }
  [[nodiscard]] static language::dim3 group_index() {
    return {language::blockIdx.x, language::blockIdx.y, language::blockIdx.z};
  }
  [[nodiscard]] static language::dim3 thread_index() {
    return {language::threadIdx.x, language::threadIdx.y, language::threadIdx.z};
  }
  [[nodiscard]] static language::dim3 dim_threads() { return language::blockDim; }
  [[nodiscard]] static language::dim3 group_dim() { return language::blockDim; }
};
inline thread_block this_thread_block() { return {}; }

// `Size` consecutive threads of a block.
template <unsigned Size, class Parent = void>
class thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "the host device has tiles of 1, 2, 4, 8, 16 or 32 threads");

 public:
  static void sync() { language::__syncwarp(mask()); }
  [[nodiscard]] static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
  [[nodiscard]] static constexpr unsigned num_threads() { return Size; }
  [[nodiscard]] static constexpr unsigned size() { return Size; }
  [[nodiscard]] static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
  [[nodiscard]] static unsigned meta_group_size() {
    return (thread_block::num_threads() + Size - 1) / Size;
  }

  template <class T>
  [[nodiscard]] T shfl(T value, int source) const {
    return language::__shfl_sync(mask(), value, source, Size);
  }
  template <class T>
  [[nodiscard]] T shfl_up(T value, unsigned delta) const {
    return language::__shfl_up_sync(mask(), value, delta, Size);
  }
  template <class T>
  [[nodiscard]] T shfl_down(T value, unsigned delta) const {
    return language::__shfl_down_sync(mask(), value, delta, Size);
  }
  template <class T>
  [[nodiscard]] T shfl_xor(T value, unsigned lane_mask) const {
    return language::__shfl_xor_sync(mask(), value, static_cast<int>(lane_mask), Size);
  }
  [[nodiscard]] int any(int predicate) const { return language::__any_sync(mask(), predicate); }
  [[nodiscard]] int all(int predicate) const { return language::__all_sync(mask(), predicate); }
  // Bit i: the tile's thread i.
  [[nodiscard]] unsigned ballot(int predicate) const {
    return language::__ballot_sync(mask(), predicate) >> first_lane();
  }
  template <class T>
  [[nodiscard]] unsigned match_any(T value) const {
    return language::__match_any_sync(mask(), value) >> first_lane();
  }
  template <class T>
  [[nodiscard]] unsigned match_all(T value, int& predicate) const {
    return language::__match_all_sync(mask(), value, &predicate) >> first_lane();
  }

 private:
  static unsigned first_lane() { return thread_block::thread_rank() % 32 / Size * Size; }
  static unsigned mask() { return (Size == 32 ? ~0u : (1u << (Size % 32)) - 1) << first_lane(); }
};

template <unsigned Size, class Group>
thread_block_tile<Size, Group> tiled_partition(const Group&) {
  return {};
}
template <class Group>
void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
