#include "backend/host/dispatch_node.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>

#include <reprise/host_kernel_runtime.hpp>

#include "backend/host/checked_dispatch.hpp"
#include "backend/host/elapsed.hpp"
#include "backend/host/worker_arena.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kWorthSplittingNs = 20'000;  // of a whole dispatch
constexpr std::uint64_t kPieceNs = 5'000;
// The dynamic shared memory of the blocks that this thread runs, allocated by the first call.
std::byte* shared_memory_of_thread() {
  constexpr std::align_val_t kAlignment{host_kernel::kSharedAlignment};
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, kAlignment); }
  };
  thread_local const std::unique_ptr<std::byte, Free> memory(
      static_cast<std::byte*>(::operator new(host_kernel::kMaxSharedBytes, kAlignment)));
  return memory.get();
}

constexpr std::uint32_t kMeasuredAtFirst = 4, kMeasuredEvery = 64;  // runs

}  // namespace

DispatchNode::DispatchNode(HostKernelFunction function, const HostBlock& block)
    : function_(function), block_(block), block_count_(block.grid.volume()) {
  block_.block_index = {0, 0, 0};
}

void DispatchNode::run_range(std::uint64_t first, std::uint64_t last) const noexcept {
  HostBlock block = block_;
  if (block.shared_bytes != 0) block.shared = shared_memory_of_thread();
  const CheckedDispatch::Scope scope(checks_.get());
  const Dim3 grid = block.grid;
  block.block_index = {static_cast<std::uint32_t>(first % grid.x),
                       static_cast<std::uint32_t>(first / grid.x % grid.y),
                       static_cast<std::uint32_t>(first / grid.x / grid.y)};
  Dim3& at = block.block_index;
  for (; first < last; ++first) {
    function_(block);
    if (++at.x < grid.x) continue;
    at.x = 0;
    if (++at.y < grid.y) continue;
    at.y = 0;
    ++at.z;
  }
}

void DispatchNode::run_blocks(WorkerArena& workers) noexcept {
  if (block_count_ == 1 || workers.threads() == 1) return run_range(0, block_count_);
  std::uint64_t first = 0;
  const bool measured = runs_ < kMeasuredAtFirst || runs_ % kMeasuredEvery == 0;
  ++runs_;
  std::chrono::steady_clock::time_point begin;
  if (measured) {
    begin = std::chrono::steady_clock::now();
    run_range(0, 1);
    first = 1;
    block_ns_ = nanoseconds_since(begin);
  }
  if (block_ns_ * (block_count_ - first) >= kWorthSplittingNs) return run_split(workers, first);
  run_range(first, block_count_);
  if (measured) block_ns_ = nanoseconds_since(begin) / block_count_;
}

void DispatchNode::run_split(WorkerArena& workers, std::uint64_t first) const noexcept {
  const std::uint64_t piece =
      std::max<std::uint64_t>(1, kPieceNs / std::max<std::uint64_t>(1, block_ns_));
  const std::uint64_t pieces = (block_count_ - first + piece - 1) / piece;
  const auto threads =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(workers.threads(), pieces));
  // Each thread takes the next piece until all are taken.
  std::atomic<std::uint64_t> next{first};
  workers.run_each(threads, [&](std::uint32_t) {
    for (;;) {
      const std::uint64_t begin = next.fetch_add(piece, std::memory_order_relaxed);
      if (begin >= block_count_) return;
      run_range(begin, std::min(begin + piece, block_count_));
    }
  });
}

}  // namespace reprise::detail
