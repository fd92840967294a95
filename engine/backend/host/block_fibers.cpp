// Runs the threads of one block that wait for each other: the engine's side of
// reprise/host_kernel_runtime.hpp.
//
// Each waiting thread is a fiber. A fiber runs until its thread waits, then the next one that can
// run: first those that were released, in that order, then the block's next thread that has not
// started. If there is neither, threads that ended have to be taken into account: what waits for
// nobody else is released. If nothing is, the threads wait for each other for ever.
#include <reprise/host_kernel_runtime.hpp>

#include <bit>
#include <cstddef>
#include <cstdlib>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "backend/host/block_fibers.hpp"
#include "backend/host/checked_dispatch.hpp"
#include "backend/host/fiber.hpp"
#include "backend/host/fiber_stacks.hpp"
#include "base/shown_text.hpp"
#include "base/steady_clock.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

using host_kernel::BlockRun;
using host_kernel::kWarpSize;
using host_kernel::Lane;
using host_kernel::ThreadPosition;
using host_kernel::Vote;
using host_kernel::WarpCall;

struct BlockFiber : Fiber {
  BlockFiber* next = nullptr;  // in its list
  ThreadPosition first;        // the first thread that it runs
  std::uint32_t thread = 0;    // the thread that waited, by its index in the block
  bool has_waited = false;
};

class FiberList {
 public:
  [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }
  void push(BlockFiber& fiber) noexcept {
    fiber.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &fiber;
    last_ = &fiber;
  }
  [[nodiscard]] BlockFiber* pop() noexcept {
    BlockFiber* const fiber = first_;
    if (fiber != nullptr) first_ = fiber->next;
    return fiber;
  }
  // Moves all fibers of `other` behind those of this list.
  void take(FiberList& other) noexcept {
    if (other.is_empty()) return;
    (first_ == nullptr ? first_ : last_->next) = other.first_;
    last_ = other.last_;
    other.first_ = nullptr;
  }
  [[nodiscard]] const BlockFiber* first() const noexcept { return first_; }

 private:
  BlockFiber *first_ = nullptr, *last_ = nullptr;
};

// Lanes that call a function of their warp with one mask.
struct LaneGroup {
  WarpCall call;
  std::uint32_t arrived = 0;
};

struct Warp {
  std::uint32_t live = 0;    // lanes that have waited and have not ended
  std::uint32_t asking = 0;  // lanes in active_lanes()
  Lane lanes[kWarpSize];
  BlockFiber* waiting[kWarpSize] = {};
  std::vector<LaneGroup> groups;
};

// "0-3, 7"
std::string lanes_text(std::uint32_t lanes) {
  std::string text;
  for (std::uint32_t lane = 0; lane < kWarpSize;) {
    if ((lanes >> lane & 1) == 0) {
      ++lane;
      continue;
    }
    std::uint32_t last = lane;
    while (last + 1 < kWarpSize && (lanes >> (last + 1) & 1) != 0) ++last;
    text += concat(text.empty() ? "" : ", ", lane);
    if (last != lane) text += concat("-", last);
    lane = last + 1;
  }
  return concat(std::has_single_bit(lanes) ? "lane " : "lanes ", text);
}

std::string mask_text(std::uint32_t mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

// One per operating system thread, which runs one block at a time.
class BlockThreads {
 public:
  BlockThreads() = default;
  BlockThreads(const BlockThreads&) = delete;
  BlockThreads& operator=(const BlockThreads&) = delete;
  ~BlockThreads() {
    for (BlockFiber& fiber : all_) end_fiber(fiber);
  }

  Vote meet(BlockRun& run, ThreadPosition me, bool predicate) noexcept;
  std::uint64_t meet_warp(BlockRun& run, ThreadPosition me, const WarpCall& call,
                          std::uint64_t value, std::uint32_t argument) noexcept;
  std::uint32_t active_lanes(BlockRun& run, ThreadPosition me, std::uint32_t line) noexcept;
  void finish() noexcept;
  [[nodiscard]] const FiberStacks& stacks() const noexcept { return stacks_; }

 private:
  static void fiber_main(Fiber& self) noexcept;

  // Notes that the thread at `me` calls.
  void arrive(BlockRun& run, ThreadPosition me) noexcept;
  void begin(BlockRun& run) noexcept;
  Warp& warp_of(std::uint32_t thread);
  // Runs another fiber until the calling one is released.
  void wait() noexcept;
  // The thread of the running fiber has ended. Returns the fiber to run; null if all have ended.
  BlockFiber* leave() noexcept;
  // A fiber that can run; null if all threads have ended. Terminates the program if they wait for
  // each other.
  BlockFiber* next_fiber() noexcept;
  BlockFiber& take_fiber();
  void switch_to(BlockFiber& next) noexcept;

  void release_barrier() noexcept;
  // Releases what waits only for threads that have ended; false if nothing does.
  bool release_waiting() noexcept;
  [[nodiscard]] bool has_all(const Warp& warp, const LaneGroup& group) const noexcept;
  // Removes the group and releases its lanes, but not `running`.
  void exchange(Warp& warp, std::size_t group, const BlockFiber* running) noexcept;
  [[noreturn]] void fail(const std::string& what) const noexcept;
  [[noreturn]] void fail_deadlock() const noexcept;

  FiberStacks stacks_;
  std::list<BlockFiber> all_;      // allocates nothing before the first fiber
  std::vector<BlockFiber*> idle_;  // each waits in fiber_main for its next block

  BlockFiber origin_;  // the stack that the block started on
  BlockRun* run_ = nullptr;
  BlockFiber* current_ = nullptr;
  FiberList ready_, barrier_;
  std::uint32_t fibers_ = 0;      // with a thread that has not ended
  std::uint32_t at_barrier_ = 0;  // of those
  std::uint32_t threads_ = 0;     // of the block
  ThreadPosition last_;           // the last thread that has started
  std::uint32_t started_ = 0;     // threads
  std::uint32_t lap_ = 0;
  Vote votes_[2];            // of this barrier and of the previous one, which is still being read
  std::vector<Warp> warps_;  // empty until the block calls a function of warps
};

void BlockThreads::begin(BlockRun& run) noexcept {
  run_ = &run;
  adopt_current_stack(origin_);
  current_ = &origin_;
  origin_.has_waited = false;
  fibers_ = 1;
  at_barrier_ = 0;
  threads_ = static_cast<std::uint32_t>(run.block.block.volume());
  started_ = 0;
  lap_ = 0;
  votes_[0] = {};
  warps_.clear();
}

void BlockThreads::arrive(BlockRun& run, ThreadPosition me) noexcept {
  if (run.arrivals++ == 0) begin(run);
  if (current_->has_waited) return;
  const Dim3 size = run.block.block;
  current_->thread = (me.z * size.y + me.y) * size.x + me.x;
  current_->has_waited = true;
  started_ = current_->thread + 1;  // threads start in order, and this one calls for the first time
  last_ = me;
  if (!warps_.empty())
    warps_[current_->thread / kWarpSize].live |= 1u << current_->thread % kWarpSize;
}

BlockFiber& BlockThreads::take_fiber() {
  if (idle_.empty()) {
    idle_.reserve(all_.size() + 1);  // so that the return of a fiber does not allocate
    BlockFiber& fiber = all_.emplace_back();
    begin_fiber(fiber, stacks_.take(), &fiber_main);
    return fiber;
  }
  BlockFiber& fiber = *idle_.back();
  idle_.pop_back();
  return fiber;
}

void BlockThreads::switch_to(BlockFiber& next) noexcept {
  BlockFiber& self = *current_;
  current_ = &next;
  if (&self != &next) switch_fiber(self, next);
}

BlockFiber* BlockThreads::next_fiber() noexcept {
  if (BlockFiber* const fiber = ready_.pop(); fiber != nullptr) return fiber;
  if (started_ < threads_) {
    const Dim3 size = run_->block.block;
    ThreadPosition first = last_;
    if (++first.x == size.x) {
      first.x = 0;
      if (++first.y == size.y) {
        first.y = 0;
        ++first.z;
      }
    }
    BlockFiber& fiber = take_fiber();
    fiber.first = first;
    fiber.has_waited = false;
    ++fibers_;
    return &fiber;
  }
  if (fibers_ == 0) return nullptr;
  if (!release_waiting()) fail_deadlock();
  return ready_.pop();
}

void BlockThreads::wait() noexcept { switch_to(*next_fiber()); }

Vote BlockThreads::meet(BlockRun& run, ThreadPosition me, bool predicate) noexcept {
  arrive(run, me);
  Vote& vote = votes_[lap_ & 1];
  ++vote.arrived;
  vote.set += predicate ? 1 : 0;
  barrier_.push(*current_);
  ++at_barrier_;
  if (started_ == threads_ && at_barrier_ == fibers_) release_barrier();
  wait();
  return vote;
}

void BlockThreads::release_barrier() noexcept {
  votes_[++lap_ & 1] = {};
  ready_.take(barrier_);
  at_barrier_ = 0;
}

Warp& BlockThreads::warp_of(std::uint32_t thread) {
  if (warps_.empty()) {
    warps_.resize((threads_ + kWarpSize - 1) / kWarpSize);
    const auto note = [&](const BlockFiber& fiber) {
      warps_[fiber.thread / kWarpSize].live |= 1u << fiber.thread % kWarpSize;
    };
    note(*current_);
    for (const FiberList* list : {&ready_, &barrier_}) {
      for (const BlockFiber* f = list->first(); f != nullptr; f = f->next) note(*f);
    }
  }
  return warps_[thread / kWarpSize];
}

bool BlockThreads::has_all(const Warp& warp, const LaneGroup& group) const noexcept {
  const auto base = static_cast<std::uint32_t>(&warp - warps_.data()) * kWarpSize;
  const auto lanes_below = [&](std::uint32_t thread) {
    return thread <= base ? 0u : thread - base >= kWarpSize ? ~0u : (1u << (thread - base)) - 1;
  };
  const std::uint32_t ended = (lanes_below(started_) & ~warp.live) | ~lanes_below(threads_);
  return (group.call.mask & ~(group.arrived | ended)) == 0;
}

void BlockThreads::exchange(Warp& warp, std::size_t group, const BlockFiber* running) noexcept {
  const LaneGroup done = warp.groups[group];
  warp.groups.erase(warp.groups.begin() + static_cast<std::ptrdiff_t>(group));
  {
    const CheckedDispatch::Pause pause;
    done.call.exchange(warp.lanes, done.arrived);
  }
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((done.arrived >> lane & 1) != 0 && warp.waiting[lane] != running)
      ready_.push(*warp.waiting[lane]);
  }
}

std::uint64_t BlockThreads::meet_warp(BlockRun& run, ThreadPosition me, const WarpCall& call,
                                      std::uint64_t value, std::uint32_t argument) noexcept {
  arrive(run, me);
  Warp& warp = warp_of(current_->thread);
  const std::uint32_t lane = current_->thread % kWarpSize;
  if ((call.mask >> lane & 1) == 0) {
    fail(concat("thread ", current_->thread, ", lane ", lane, " of its warp, calls ", call.function,
                " with mask ", mask_text(call.mask), ", which does not contain it"));
  }
  std::size_t at = 0;
  while (at < warp.groups.size() && warp.groups[at].call.mask != call.mask) ++at;
  if (at == warp.groups.size()) warp.groups.push_back({call});
  LaneGroup& group = warp.groups[at];
  if (group.call.exchange != call.exchange) {
    fail(concat("thread ", current_->thread, ", lane ", lane, " of its warp, calls ", call.function,
                " with mask ", mask_text(call.mask), " while ", lanes_text(group.arrived),
                " of the mask called ", group.call.function));
  }
  group.arrived |= 1u << lane;
  warp.lanes[lane] = {value, argument, 0};
  warp.waiting[lane] = current_;
  if (has_all(warp, group)) {
    exchange(warp, at, current_);
  } else {
    wait();
  }
  return warp.lanes[lane].result;
}

std::uint32_t BlockThreads::active_lanes(BlockRun& run, ThreadPosition me,
                                         std::uint32_t line) noexcept {
  arrive(run, me);
  Warp& warp = warp_of(current_->thread);
  const std::uint32_t lane = current_->thread % kWarpSize;
  warp.asking |= 1u << lane;
  warp.lanes[lane].argument = line;
  warp.waiting[lane] = current_;
  wait();
  return static_cast<std::uint32_t>(warp.lanes[lane].result);
}

bool BlockThreads::release_waiting() noexcept {
  if (at_barrier_ != 0 && at_barrier_ == fibers_) {
    release_barrier();
    return true;
  }
  for (Warp& warp : warps_) {
    for (std::size_t i = warp.groups.size(); i-- > 0;) {
      if (has_all(warp, warp.groups[i])) exchange(warp, i, nullptr);
    }
  }
  if (!ready_.is_empty()) return true;
  for (Warp& warp : warps_) {
    const std::uint32_t asking = std::exchange(warp.asking, 0);
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((asking >> lane & 1) == 0) continue;
      std::uint32_t together = 0;
      for (std::uint32_t other = 0; other < kWarpSize; ++other) {
        if ((asking >> other & 1) != 0 && warp.lanes[other].argument == warp.lanes[lane].argument)
          together |= 1u << other;
      }
      warp.lanes[lane].result = together;
      ready_.push(*warp.waiting[lane]);
    }
  }
  return !ready_.is_empty();
}

BlockFiber* BlockThreads::leave() noexcept {
  const BlockFiber& self = *current_;
  --fibers_;
  if (!self.has_waited) {
    started_ = threads_;  // it ran all threads that were left
  } else if (!warps_.empty()) {
    warps_[self.thread / kWarpSize].live &= ~(1u << self.thread % kWarpSize);
  }
  return next_fiber();
}

void BlockThreads::finish() noexcept {
  if (BlockFiber* const next = leave(); next != nullptr) switch_to(*next);
}

void BlockThreads::fail(const std::string& what) const noexcept {
  const Dim3 at = run_->block.block_index;
  print_message(concat("kernel ", run_->block.kernel, " on the host device, block (", at.x, ", ",
                       at.y, ", ", at.z, "): ", what));
  std::abort();
}

void BlockThreads::fail_deadlock() const noexcept {
  std::string what = "its threads wait for each other for ever";
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    for (const LaneGroup& group : warps_[w].groups) {
      what += concat("; ", lanes_text(group.arrived), " of warp ", w, ": in ", group.call.function,
                     " with mask ", mask_text(group.call.mask));
    }
  }
  if (at_barrier_ != 0) what += concat("; ", at_barrier_, " threads: at a barrier of the block");
  fail(what);
}

thread_local BlockThreads block_threads;

void BlockThreads::fiber_main(Fiber& fiber) noexcept {
  auto& self = static_cast<BlockFiber&>(fiber);
  BlockThreads& threads = block_threads;
  for (;;) {
    threads.run_->run_from(*threads.run_, self.first);
    threads.idle_.push_back(&self);  // may be taken for the next thread
    BlockFiber* const next = threads.leave();
    threads.switch_to(next != nullptr ? *next : threads.origin_);
  }
}

}  // namespace

bool is_fiber_stack(const std::byte* address) noexcept {
  return block_threads.stacks().contains(address);
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI::host_kernel {

Vote meet(BlockRun& run, ThreadPosition me, bool predicate) noexcept {
  return detail::block_threads.meet(run, me, predicate);
}
std::uint64_t meet_warp(BlockRun& run, ThreadPosition me, const WarpCall& call, std::uint64_t value,
                        std::uint32_t argument) noexcept {
  return detail::block_threads.meet_warp(run, me, call, value, argument);
}
std::uint32_t active_lanes(BlockRun& run, ThreadPosition me, std::uint32_t line) noexcept {
  return detail::block_threads.active_lanes(run, me, line);
}
std::int64_t steady_nanoseconds() noexcept { return detail::steady_now(); }
void finish(BlockRun&) noexcept { detail::block_threads.finish(); }

}  // namespace reprise::inline REPRISE_ABI::host_kernel
