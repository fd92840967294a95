// Queue: launches run in order on one (a CUDA stream, or a line of work of the host device). Fence:
// the completion of one launch. Threads: a Queue and a Fence may be used from any thread; both are
// cheap to copy.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

namespace reprise {

namespace detail {
class QueueCore;
class LaunchedGraph;
}  // namespace detail

struct QueueDesc {
  std::string_view label = "queue";
};

class Fence;

class Queue {
 public:
  Queue() = default;
  explicit Queue(std::shared_ptr<detail::QueueCore> core) noexcept : core_(std::move(core)) {}

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] std::string_view label() const noexcept;
  [[nodiscard]] Fence last_fence() const;  // of the last submission; done at once if there was none
  void wait_for(
      const Fence& fence) const;  // later launches here start after `fence`; throws WrongDevice
  void wait_idle() const;         // blocks until all submitted work is done; throws DeviceLost
  [[nodiscard]] const std::shared_ptr<detail::QueueCore>& core() const noexcept { return core_; }
  friend bool operator==(const Queue&, const Queue&) noexcept = default;

 private:
  std::shared_ptr<detail::QueueCore> core_;
};

// Exactly one point on a queue: (queue, serial). A default-constructed fence is done. Timeline
// semantics: once a fence is done, so are all earlier ones of its queue. Dropping a fence waits for
// nothing.
class Fence {
 public:
  Fence() = default;
  Fence(std::shared_ptr<detail::QueueCore> queue, std::uint64_t serial,
        std::shared_ptr<detail::LaunchedGraph> graph, std::uint64_t replay) noexcept
      : queue_(std::move(queue)), graph_(std::move(graph)), serial_(serial), replay_(replay) {}

  // Blocks until the launch has completed. Rethrows what a host callback of that replay threw (each
  // fence of the replay does, until the graph is gone); throws DeviceLost naming graph, replay and
  // queue.
  void wait() const;
  // The same with a limit: false if it is not over by then.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout) const;
  [[nodiscard]] bool done() const;  // never blocks; throws DeviceLost

  [[nodiscard]] std::uint64_t serial() const noexcept {
    return serial_;
  }  // 1 for a queue's first submission
  // 1 for a graph's first replay; 0: no replay. The k-th replay of instance i of n has number (k -
  // 1) n + i + 1.
  [[nodiscard]] std::uint64_t replay() const noexcept { return replay_; }
  [[nodiscard]] std::uint32_t instance()
      const noexcept;  // of the graph, that ran it: which copies of PerReplica buffers it used
  [[nodiscard]] Queue queue() const noexcept { return Queue(queue_); }

 private:
  friend class Queue;
  std::shared_ptr<detail::QueueCore> queue_;
  std::shared_ptr<detail::LaunchedGraph> graph_;
  std::uint64_t serial_ = 0, replay_ = 0;
};

}  // namespace reprise
