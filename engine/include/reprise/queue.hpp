// Queue: executes launches in order (a CUDA stream, or a work queue of the host device). Fence: the
// completion of one launch. Threads: all calls are safe from any thread; both types are cheap to
// copy.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <reprise/abi.hpp>
#include <reprise/fwd.hpp>

namespace reprise::detail {
class QueueCore;
class LaunchedGraph;
struct HandleAccess;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

struct QueueDesc {
  std::string_view label = "queue";
  // The device prefers the work of queues with a lower number when it chooses what to start next,
  // and does not interrupt what runs (as cudaStreamCreateWithPriority). From
  // DeviceLimits::highest_queue_priority, which is not positive, to lowest_queue_priority.
  std::int32_t priority = 0;
};

// A reference-counted handle. Members of an empty handle throw NotInitialized. A queue is stale
// after its device was lost or shut down.
class REPRISE_API Queue {
 public:
  Queue() = default;

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] std::string_view label() const noexcept;  // empty for an empty handle
  // The fence of the last submission; an empty fence if there was none.
  [[nodiscard]] Fence last_fence() const;
  // Orders work: later launches on this queue start after `fence`. Does not block. Throws
  // WrongDevice, StaleHandle, and InvalidState in a host callback.
  void wait(const Fence& fence);
  // Blocks until all submitted work has completed. Throws DeviceLost while the device is lost,
  // otherwise StaleHandle for a stale queue, and InvalidState in a host callback.
  void wait_idle() const;
  friend bool operator==(const Queue&, const Queue&) noexcept = default;

 private:
  friend class Fence;
  friend struct detail::HandleAccess;
  explicit Queue(std::shared_ptr<detail::QueueCore> core) noexcept : core_(std::move(core)) {}

  std::shared_ptr<detail::QueueCore> core_;
};

// A point on a queue: (queue, serial). A fence has timeline semantics: when it is done, all earlier
// fences of its queue are done. An empty fence is done. Destroying a fence does not wait. A fence
// keeps neither its graph nor the graph's memory, and is no handle of its queue.
class REPRISE_API Fence {
 public:
  Fence() = default;

  // Blocks until the launch has completed. Rethrows the exception of a host callback of the
  // replay; each fence of that replay does so, for the last 1,024 replays that threw, and after the
  // graph for those of its last 4,096 replays. Throws DeviceLost with the graph, replay and queue,
  // and InvalidState in a host callback.
  void wait() const;
  // As wait(), for at most `timeout`. Returns false if the launch has not completed by then; of a
  // graph with fault markers, a message then names the commands that started and did not end,
  // while the graph exists.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout) const;
  // Returns whether the launch has completed, without blocking. Throws DeviceLost, and InvalidState
  // in a host callback.
  [[nodiscard]] bool done() const;

  // Number of the submission on its queue, from 1. 0 for an empty fence.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
  // Number of the replay of its graph, from 1. Empty if the submission is not a replay. Of n
  // replicas, replica i's k-th replay has the number (k - 1) * n + i + 1.
  [[nodiscard]] std::optional<std::uint64_t> replay() const noexcept {
    return graph_ ? std::optional(replay_) : std::nullopt;
  }
  // Index of the replica that executed the replay: the copy of PerReplica buffers that it used.
  [[nodiscard]] std::uint32_t replica() const noexcept;
  // A handle of the queue. If the application had dropped all of a queue on an adopted stream, only
  // the work submitted before can be waited for; later submissions throw StaleHandle.
  [[nodiscard]] Queue queue() const;

 private:
  friend class Queue;
  friend struct detail::HandleAccess;
  Fence(std::shared_ptr<detail::QueueCore> queue, std::uint64_t serial,
        std::shared_ptr<const detail::LaunchedGraph> graph, std::uint64_t replay) noexcept
      : queue_(std::move(queue)), graph_(std::move(graph)), serial_(serial), replay_(replay) {}

  std::shared_ptr<detail::QueueCore> queue_;            // null: empty; no handle
  std::shared_ptr<const detail::LaunchedGraph> graph_;  // null: not a replay
  std::uint64_t serial_ = 0, replay_ = 0;
};

}  // namespace reprise::inline REPRISE_ABI
