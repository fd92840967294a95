// Runs the threads of one block that call __syncthreads(): the engine's side of
// reprise/host_kernel_runtime.hpp.
//
// The fibers of a block form a ring in thread order. Each fiber runs until its thread arrives at
// the barrier and then switches to the next, so one lap of the ring is one barrier. A thread that
// ends leaves the ring. During the first lap the last fiber of the ring switches to a new one,
// which starts with the next thread.
#include <reprise/host_kernel_runtime.hpp>

#include <cstddef>
#include <deque>
#include <vector>

#include "backend/host/fiber.hpp"
#include "backend/host/fiber_stacks.hpp"

namespace reprise::detail {

namespace {

using host_kernel::BlockRun;
using host_kernel::ThreadPosition;
using host_kernel::Vote;

struct BlockFiber : Fiber {
  BlockFiber* before = nullptr;  // in the ring
  BlockFiber* after = nullptr;
  ThreadPosition first;  // the first thread that it runs
};

// One per operating system thread, which runs one block at a time.
class Ring {
 public:
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    for (BlockFiber& fiber : all_) end_fiber(fiber);
  }

  Vote meet(BlockRun& run, ThreadPosition me, bool predicate) noexcept;
  void finish() noexcept;

 private:
  static void fiber_main(Fiber& self) noexcept;

  void begin(BlockRun& run) noexcept;
  // Removes the running fiber from the ring. Returns the next one to run; null if it was the last.
  BlockFiber* leave() noexcept;
  BlockFiber& take_fiber();
  void switch_to(BlockFiber& next) noexcept;
  void start_lap() noexcept {
    ++lap_;
    votes_[lap_ & 1] = {};
  }
  // Moves `me` to the next thread, x fastest; false if `me` is the block's last.
  bool advance(ThreadPosition& me) const noexcept;

  FiberStacks stacks_;
  std::deque<BlockFiber> all_;
  std::vector<BlockFiber*> idle_;  // each waits in fiber_main for its next block

  BlockFiber origin_;  // the stack that the block started on
  BlockRun* run_ = nullptr;
  BlockFiber* current_ = nullptr;
  BlockFiber* head_ = nullptr;
  bool starting_ = false;  // some threads have not started
  std::uint32_t lap_ = 0;
  Vote votes_[2];  // of this lap and of the previous one, which its threads have not read yet
};

bool Ring::advance(ThreadPosition& me) const noexcept {
  if (++me.x < run_->block.x) return true;
  me.x = 0;
  if (++me.y < run_->block.y) return true;
  me.y = 0;
  return ++me.z < run_->block.z;
}

void Ring::begin(BlockRun& run) noexcept {
  run_ = &run;
  adopt_current_stack(origin_);
  origin_.before = origin_.after = head_ = current_ = &origin_;
  starting_ = true;
  lap_ = 0;
  votes_[0] = {};
}

BlockFiber& Ring::take_fiber() {
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

void Ring::switch_to(BlockFiber& next) noexcept {
  BlockFiber& self = *current_;
  current_ = &next;
  switch_fiber(self, next);
}

Vote Ring::meet(BlockRun& run, ThreadPosition me, bool predicate) noexcept {
  if (run.arrivals++ == 0) begin(run);
  Vote& vote = votes_[lap_ & 1];
  ++vote.arrived;
  vote.set += predicate ? 1 : 0;

  BlockFiber* next = current_->after;
  if (next == head_) {
    starting_ = starting_ && advance(me);
    if (starting_) {
      next = &take_fiber();
      next->first = me;
      next->before = current_;
      next->after = head_;
      current_->after = head_->before = next;
    } else {
      start_lap();
    }
  }
  if (next != current_) switch_to(*next);
  return vote;
}

BlockFiber* Ring::leave() noexcept {
  BlockFiber& self = *current_;
  if (self.after == &self) return nullptr;
  if (self.after == head_) {  // the last fiber of its lap; no later threads remain
    starting_ = false;
    start_lap();
  }
  if (head_ == &self) head_ = self.after;
  self.before->after = self.after;
  self.after->before = self.before;
  return self.after;
}

void Ring::finish() noexcept {
  if (BlockFiber* next = leave(); next != nullptr) switch_to(*next);
}

thread_local Ring ring;

void Ring::fiber_main(Fiber& fiber) noexcept {
  auto& self = static_cast<BlockFiber&>(fiber);
  for (;;) {
    ring.run_->run_from(*ring.run_, self.first);
    BlockFiber* next = ring.leave();
    ring.idle_.push_back(&self);
    ring.switch_to(next != nullptr ? *next : ring.origin_);
  }
}

}  // namespace

}  // namespace reprise::detail

namespace reprise::host_kernel {

Vote meet(BlockRun& run, ThreadPosition me, bool predicate) noexcept {
  return detail::ring.meet(run, me, predicate);
}
void finish(BlockRun&) noexcept { detail::ring.finish(); }

}  // namespace reprise::host_kernel
