#include "backend/host/dispatch_node.hpp"

#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "backend/host/checked_dispatch.hpp"
#include "backend/host/elapsed.hpp"
#include "backend/host/worker_arena.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kWorthSplittingNs = 20'000;  // of a whole dispatch
constexpr std::uint64_t kPieceNs = 5'000;
constexpr std::uint32_t kMeasuredAtFirst = 4, kMeasuredEvery = 64;  // runs

}  // namespace

DispatchNode::DispatchNode(HostKernelFunction function, const HostBlock& block)
    : function_(function), block_(block), block_count_(block.grid.volume()) {
  block_.block_index = {0, 0, 0};
}

void DispatchNode::run_range(std::uint64_t first, std::uint64_t last) const noexcept {
  HostBlock block = block_;
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

// Blocks shared by several threads: each takes the next piece until all are taken.
class DispatchNode::SharedBlocks {
 public:
  SharedBlocks(const DispatchNode& node, std::uint64_t piece) : node_(node), piece_(piece) {}
  void begin(std::uint64_t first) noexcept { next_.store(first, std::memory_order_release); }
  void run_pieces() noexcept {
    // Acquires the writes of earlier nodes before running a block.
    static_cast<void>(next_.load(std::memory_order_acquire));
    for (;;) {
      const std::uint64_t begin = next_.fetch_add(piece_, std::memory_order_relaxed);
      if (begin >= node_.block_count_) break;
      node_.run_range(begin, std::min(begin + piece_, node_.block_count_));
    }
    ended_.fetch_add(1, std::memory_order_release);
  }
  void acquire_results() const noexcept {
    static_cast<void>(ended_.load(std::memory_order_acquire));
  }

 private:
  const DispatchNode& node_;
  const std::uint64_t piece_;
  std::atomic<std::uint64_t> next_{0}, ended_{0};
};

void DispatchNode::run_split(WorkerArena& workers, std::uint64_t first) const noexcept {
  const std::uint64_t piece =
      std::max<std::uint64_t>(1, kPieceNs / std::max<std::uint64_t>(1, block_ns_));
  SharedBlocks work{*this, piece};
  const std::uint64_t pieces = (block_count_ - first + piece - 1) / piece;
  const std::uint64_t others = std::min<std::uint64_t>(workers.threads(), pieces) - 1;
  workers.run([&] {
    // Isolated: while this thread waits for the last blocks, it must not run another node.
    tbb::this_task_arena::isolate([&] {
      tbb::task_group group;
      work.begin(first);
      for (std::uint64_t i = 0; i < others; ++i) group.run([&work] { work.run_pieces(); });
      work.run_pieces();
      group.wait();
    });
  });
  work.acquire_results();
}

}  // namespace reprise::detail
