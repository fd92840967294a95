// The interface of a device: small, takes plans, says first what it can do. Each backend is a
// folder beside this file; nothing outside it includes its native headers, and no backend includes
// another. Errors: Error only. Threads: as each class says.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/device_info.hpp>
#include <reprise/kernel.hpp>

#include "backend/exec_update.hpp"
#include "backend/stopwatch.hpp"
#include "plan/plan.hpp"
#include "record/buffer_core.hpp"
#include "record/kernel_core.hpp"

namespace reprise::detail {

// A line of work that runs in order. Submissions are numbered 1, 2, 3...: serials. Any thread.
class BackendQueue {
 public:
  virtual ~BackendQueue() = default;  // the queue is idle, or its device lost

  [[nodiscard]] virtual std::uint64_t last_serial() const noexcept = 0;
  [[nodiscard]] virtual bool done(std::uint64_t serial) = 0;  // never blocks; throws DeviceLost
  // Blocks until `serial` is done; nullopt: without limit. False: not over by then. Throws
  // DeviceLost.
  [[nodiscard]] virtual bool wait(std::uint64_t serial,
                                  std::optional<std::chrono::nanoseconds> timeout) = 0;
  // What is submitted here from now on starts after `serial` of `other`, a queue of the same
  // device. Does not block.
  virtual void wait_for(BackendQueue& other, std::uint64_t serial) = 0;
  // A serial of its own for everything in the queue so far, work that the engine did not submit
  // included.
  virtual std::uint64_t mark() = 0;
  // A submission that writes up to kMaxWriteBytes, taken now, to device memory. Does not block.
  static constexpr std::size_t kMaxWriteBytes = 64;
  virtual std::uint64_t write(std::byte* destination, std::span<const std::byte> bytes) = 0;
  // By the device's clock; null where it has none of its own. Outlived by the queue.
  [[nodiscard]] virtual std::unique_ptr<QueueStopwatch> make_stopwatch() { return nullptr; }
  [[nodiscard]] virtual void* native() const noexcept { return nullptr; }  // CUstream
  [[nodiscard]] virtual void* identity() const noexcept {
    return nullptr;
  }  // the same, for tools: nobody submits work to it
};

// When one node ran in one replay. Nanoseconds of the steady clock; started 0: it did not run.
struct NodeTime {
  std::int64_t started = 0;
  std::uint32_t duration = 0;  // saturates
  std::uint16_t worker = 0;    // who ran it, from 1; 0: unknown
};

// The slot of a body counts how often it ran.
inline void add_round(NodeTime& body) noexcept { ++body.started; }
inline void set_rounds(NodeTime& body, std::uint64_t rounds) noexcept {
  body.started = static_cast<std::int64_t>(rounds);
}
[[nodiscard]] inline std::uint64_t rounds_of(const NodeTime& body) noexcept {
  return static_cast<std::uint64_t>(body.started);
}

// One moment on the host's steady clock and on a device's own.
struct ClockPair {
  std::int64_t host = 0, other = 0;  // ns
  std::int64_t error = 0;            // at most so far off
};

// Whoever wants to know when replays and nodes ran. Never blocks, allocates nothing. One replay at
// a time, on whatever threads.
class ReplayObserver {
 public:
  virtual ~ReplayObserver() = default;
  // Room for the times of every node, all zero, as timing_layout() says (plan/timing_layout.hpp):
  // first one for each node of the lowered graph. Null where the nodes of this replay are not
  // wanted.
  [[nodiscard]] virtual NodeTime* begin_replay(std::uint64_t replay) noexcept = 0;
  // `nodes` is what begin_replay gave. ended 0: the replay was abandoned.
  virtual void end_replay(std::uint64_t replay, std::int64_t started, std::int64_t ended,
                          NodeTime* nodes) noexcept = 0;
};

// What told the times of a node.
enum class TimedBy : std::uint8_t {
  HostClock,  // of the thread that ran it
  Timestamp,  // a stamp behind it on the device; the stamp's own time is in it
  Cupti       // the device's profiler
};

// Times that a device keeps until somebody fetches them. May outlive its exec, and has nothing new
// then. One thread at a time, none of those that launch. Throws DeviceLost and OutOfMemory.
class ReplaySource {
 public:
  static constexpr std::uint64_t kAllReplays = ~std::uint64_t{0};
  struct Lost {
    std::uint64_t replays = 0;  // whose times are gone
    std::uint64_t nodes = 0;    // replays whose nodes' times are gone
  };
  virtual ~ReplaySource() = default;
  // Tells the observer of the replays that ended since the last call, in order: begin_replay() and
  // end_replay(), with nodes where their times were asked for. Returns what came too late.
  [[nodiscard]] virtual Lost collect(ReplayObserver& observer) = 0;
  enum class Precision : std::uint8_t {
    Cheap,  // by what costs least to begin with
    Close   // by what is most exact, where it can be had
  };
  // The nodes of the next `replays` launches are timed, by a second executable of the same plan
  // that is made now, if it is not there; 0: of no more. Nothing changes where the exec is gone.
  virtual void time_nodes(std::uint64_t replays, Precision closeness) = 0;
  // Launches that time_nodes() asked for are still to come, or to be collected.
  [[nodiscard]] virtual bool is_timing_nodes() const = 0;
  // What told the times of the nodes that collect() is telling.
  [[nodiscard]] virtual TimedBy timed_by() const noexcept { return TimedBy::Timestamp; }
  // What is to be said of how nodes are timed, in plain words, once; empty: nothing.
  [[nodiscard]] virtual std::string notice() { return {}; }
  // Nobody wants times for now, or somebody does again: from one of the next launches on the device
  // spares what they cost, where that can be spared, and notes them again from the very next launch
  // on. Any thread.
  virtual void pause() noexcept {}
  virtual void resume() noexcept {}
  // Replays that it keeps the times of, until they are collected.
  [[nodiscard]] virtual std::uint64_t capacity() const noexcept = 0;
  // How the device's clock stands to the host's; empty until it is known.
  [[nodiscard]] virtual std::optional<ClockPair> clock() const = 0;
};

// A node of the lowered graph that began in `replay` (1 for the first launch) and did not end.
struct UnfinishedNode {
  std::uint32_t node = 0;
  std::uint64_t replay = 0;
};

// What a loop of the plan did in the replay that ran last. See plan/loops.hpp for its number.
struct LoopCount {
  std::uint64_t iterations = 0;
  bool reached_limit = false;
};

// An executable graph. One thread at a time (run/ holds the graph's mutex). Destroyed only when its
// launches are done.
class BackendExec {
 public:
  virtual ~BackendExec() = default;

  virtual void upload(BackendQueue& queue) = 0;
  // Starts a replay; returns its serial on `queue`. Allocates nothing, logs nothing. Throws
  // CapturingStream, DeviceLost.
  [[nodiscard]] virtual std::uint64_t launch(BackendQueue& queue) = 0;
  // Changes what nodes are given, from the next launch on; launches so far are not touched. Where
  // it is refused, nothing has changed. A disabled node does nothing and comes between the same
  // others. Throws DeviceLost.
  [[nodiscard]] virtual ExecUpdate change(const BindingChange& change) {
    static_cast<void>(change);
    return {.outcome = GraphExecUpdateOutcome::NotSupported};
  }
  // The same for everything at once. All nodes of the new plan are enabled but those that its
  // bindings disable.
  [[nodiscard]] virtual ExecUpdate change(const PlanChange& change) {
    static_cast<void>(change);
    return {.outcome = GraphExecUpdateOutcome::NotSupported};
  }
  // What a host callback threw in replay `replay` (1 for the first launch); null if none did. Any
  // thread, after that replay is done.
  [[nodiscard]] virtual std::exception_ptr callback_error(std::uint64_t replay) const = 0;
  // Where plan.lowered has fault markers: who was running when the device was lost, ascending. Any
  // thread, once it is lost.
  [[nodiscard]] virtual std::vector<UnfinishedNode> unfinished_nodes() const { return {}; }
  // By loop. Of a replay that still runs: as far as it is. Throws DeviceLost.
  [[nodiscard]] virtual std::vector<LoopCount> loop_counts() { return {}; }
  // From now on `observer`, which outlives this, is told of every replay. Before the first launch.
  // False: this device has no times.
  [[nodiscard]] virtual bool observe(ReplayObserver& observer) {
    static_cast<void>(observer);
    return false;
  }
  // Of a device that keeps its times itself, where instantiate() was told to; null otherwise.
  [[nodiscard]] virtual std::shared_ptr<ReplaySource> replay_source() const { return nullptr; }
  [[nodiscard]] virtual void* native() const noexcept { return nullptr; }  // CUgraphExec
  [[nodiscard]] virtual void* native_graph() const noexcept {
    return nullptr;
  }  // CUgraph it was made from
};

// Device memory at an address that stays, whose pages may be given back to the system and taken
// again; their contents are lost, and while they are gone nothing may use the address. Frees all of
// it. One thread at a time; nothing uses the memory in give_back() and take().
class VirtualAllocation {
 public:
  virtual ~VirtualAllocation() = default;
  [[nodiscard]] virtual std::byte* address() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t reserved() const noexcept = 0;  // addresses
  [[nodiscard]] virtual std::uint64_t bytes() const
      noexcept = 0;  // whole pages, from the first address on, that are there, or that take() takes
  virtual void give_back() = 0;  // they are there; throws DeviceLost
  virtual void take() = 0;       // they are not; throws OutOfMemory, DeviceLost
  // Whole pages for `bytes`, up to reserved(), from now on, or from the next take() on; when it
  // gets smaller, a few more may stay. Pages that were there and are still wanted are not touched,
  // and may be in use; those beyond are not. Throws OutOfMemory, and nothing has changed;
  // DeviceLost.
  virtual void resize(std::uint64_t bytes) = 0;
};

// What is built into an exec besides the plan's nodes. The order and the placement are the plan's
// in any case.
enum class Instrumentation : std::uint8_t {
  None,
  Timestamps,  // begin and end of every replay, on devices that keep times themselves; nodes by
               // stamps in a twin
  Cupti  // the same, and nodes by CUPTI where it can be had: no graphs but the engine's run in the
         // process
};

// One opened device. Any thread.
class Backend {
 public:
  virtual ~Backend() = default;  // everything made from it is gone

  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
  // Device or PinnedHost memory, aligned to info().limits.buffer_alignment. Throws OutOfMemory,
  // DeviceLost.
  [[nodiscard]] virtual std::byte* allocate(BufferKind kind, std::uint64_t bytes) = 0;
  virtual void free(BufferKind kind, std::byte* address) noexcept = 0;  // nothing uses it any more
  // Device memory with pages that can be given back; goes before this. Null where there is no such
  // memory, or it takes much more than `bytes`.
  [[nodiscard]] virtual std::unique_ptr<VirtualAllocation> allocate_pages(std::uint64_t bytes) {
    static_cast<void>(bytes);
    return nullptr;
  }
  // Addresses for `bytes`, no pages behind them yet; goes before this. Null where there is no such
  // memory, or there are not so many addresses.
  [[nodiscard]] virtual std::unique_ptr<VirtualAllocation> reserve_pages(std::uint64_t bytes) {
    static_cast<void>(bytes);
    return nullptr;
  }
  [[nodiscard]] virtual std::unique_ptr<BackendQueue> create_queue(std::string_view label) = 0;
  // Fills every field of the result but `device` and `generation`, which run/ sets.
  [[nodiscard]] virtual KernelCore load_kernel(const KernelDesc& desc) = 0;
  // Nodes and edges as plan.lowered says, in that order. `plan` and the bindings' memory outlive
  // the exec. Failures name the command (Stage::Instantiate).
  [[nodiscard]] virtual std::unique_ptr<BackendExec> instantiate(
      std::shared_ptr<const Plan> plan, const Bindings& bindings,
      Instrumentation instrumentation) = 0;
  virtual void lose() = 0;     // as a sticky error would; Unsupported where it can't be simulated
  virtual void rebuild() = 0;  // makes a lost device work again; queues and execs of before stay
                               // dead; Unsupported where the driver can't
};

// A kind of device. Any thread.
class BackendProvider {
 public:
  virtual ~BackendProvider() = default;
  [[nodiscard]] virtual std::vector<DeviceInfo>
  devices() = 0;  // empty if there is none; throws nothing for want of a driver
  [[nodiscard]] virtual std::string
  unavailable_reason() = 0;  // plain words where devices() is empty
  // `index` into devices(). `status` is marked lost by the backend when it sees a sticky error.
  [[nodiscard]] virtual std::unique_ptr<Backend> open(std::uint32_t index,
                                                      std::shared_ptr<DeviceStatus> status) = 0;
  // Throws NoDriver or DriverTooOld if that is why there is no device; called when a device of this
  // kind was asked for by name.
  virtual void require_driver() = 0;
};

[[nodiscard]] BackendProvider& host_provider();
[[nodiscard]] BackendProvider& cuda_provider();  // only in builds with CUDA (REPRISE_HAS_CUDA)

}  // namespace reprise::detail
