// The interface of a device backend. It takes plan types and reports capabilities first. Each
// backend is a folder beside this file. No file outside that folder includes its native headers,
// and backends do not include each other. Functions report failures as Error. Threads: stated per
// class.
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
#include <reprise/queue.hpp>

#include "backend/callback_errors.hpp"
#include "backend/exec_update.hpp"
#include "backend/stopwatch.hpp"
#include "plan/plan.hpp"
#include "record/buffer_core.hpp"
#include "record/kernel_core.hpp"

namespace reprise::detail {

// A queue that runs submissions in order. Serials number the submissions 1, 2, 3, ... Any thread.
class BackendQueue {
 public:
  virtual ~BackendQueue() = default;  // the queue is idle, or its device is lost

  [[nodiscard]] virtual std::uint64_t last_serial() const noexcept = 0;
  // Never blocks. May return false for a completed serial in a host callback, where CUDA answers no
  // query. Throws DeviceLost.
  [[nodiscard]] virtual bool done(std::uint64_t serial) = 0;
  // Blocks until `serial` is complete; nullopt: without a time limit. Returns false on a timeout.
  // Throws DeviceLost.
  [[nodiscard]] virtual bool wait(std::uint64_t serial,
                                  std::optional<std::chrono::nanoseconds> timeout) = 0;
  // Later submissions to this queue start after `serial` of `other`, a queue of the same device.
  // Does not block.
  virtual void wait_for(BackendQueue& other, std::uint64_t serial) = 0;
  // Submits a marker and returns its serial, which also covers work that the engine did not submit.
  virtual std::uint64_t mark() = 0;
  // Submits a write of up to kMaxWriteBytes to device memory. Copies `bytes` before returning. Does
  // not block.
  static constexpr std::size_t kMaxWriteBytes = 64;
  virtual std::uint64_t write(std::byte* destination, std::span<const std::byte> bytes) = 0;
  // The application may end the native queue from now on. Unless this queue owns it: submits a
  // last marker, if anything was submitted, never uses the native queue again, and returns the
  // serial that covers all work so far. Then mark() returns that serial, and other submissions
  // throw StaleHandle.
  virtual std::optional<std::uint64_t> drop_native() noexcept { return std::nullopt; }
  // A stopwatch on the device's clock; null on a device without its own clock. The queue outlives
  // the stopwatch.
  [[nodiscard]] virtual std::unique_ptr<QueueStopwatch> make_stopwatch() { return nullptr; }
  [[nodiscard]] virtual void* native() const noexcept { return nullptr; }  // CUstream
  // The same stream for tools that only identify it and submit no work.
  [[nodiscard]] virtual void* identity() const noexcept { return nullptr; }
};

// The time of one node in one replay, in nanoseconds of the steady clock. started 0: the node did
// not run.
struct NodeTime {
  std::int64_t started = 0;
  std::uint32_t duration = 0;  // ns; saturates
  std::uint16_t worker = 0;    // thread or multiprocessor that ran the node, from 1; 0: unknown
};

// The `started` field of a body's slot counts the iterations of the body.
inline void add_iteration(NodeTime& body) noexcept { ++body.started; }
inline void set_iterations(NodeTime& body, std::uint64_t iterations) noexcept {
  body.started = static_cast<std::int64_t>(iterations);
}
[[nodiscard]] inline std::uint64_t iterations_of(const NodeTime& body) noexcept {
  return static_cast<std::uint64_t>(body.started);
}

// One moment on the host's steady clock and on a device's clock.
struct ClockPair {
  std::int64_t host = 0, other = 0;  // ns
  std::int64_t error = 0;            // maximum error, ns
};

// Receives the times of replays and nodes. Calls do not block and do not allocate. One replay at a
// time, on any threads.
class ReplayObserver {
 public:
  virtual ~ReplayObserver() = default;
  // Whether the times of the nodes of an ended replay are wanted.
  [[nodiscard]] virtual bool wants_nodes(std::uint64_t replay, std::int64_t started,
                                         std::int64_t ended) noexcept {
    static_cast<void>(replay), static_cast<void>(started), static_cast<void>(ended);
    return true;
  }
  // Returns zeroed storage for the times of every node in the layout of timing_layout()
  // (plan/timing_layout.hpp), which starts with one slot per node of the lowered graph. Returns
  // null if the times of this replay's nodes are not wanted.
  [[nodiscard]] virtual NodeTime* begin_replay(std::uint64_t replay) noexcept = 0;
  // `nodes` is the result of begin_replay(). ended 0: the replay was abandoned.
  virtual void end_replay(std::uint64_t replay, std::int64_t started, std::int64_t ended,
                          NodeTime* nodes) noexcept = 0;
};

// The source of node times.
enum class TimedBy : std::uint8_t {
  HostClock,  // of the thread that ran the node
  Timestamp,  // a timestamp kernel behind the node on the device, whose own time is included; or
              // the blocks of a command in a segment, which know their multiprocessor
  Cupti       // CUPTI
};

// Times that a device keeps until collect() fetches them. May outlive its exec; it then has no new
// times. One thread at a time, and no thread that launches. Throws DeviceLost and OutOfMemory.
class ReplaySource {
 public:
  static constexpr std::uint64_t kAllReplays = ~std::uint64_t{0};
  struct Lost {
    std::uint64_t replays = 0;  // replays without times
    std::uint64_t nodes = 0;    // replays without node times
  };
  virtual ~ReplaySource() = default;
  // Reports to the observer, in order, the replays that ended since the last call: wants_nodes()
  // and begin_replay() where node times were requested, and end_replay(). Returns the losses.
  [[nodiscard]] virtual Lost collect(ReplayObserver& observer) = 0;
  enum class Precision : std::uint8_t {
    Cheap,  // the cheapest method
    Close   // the most exact method available
  };
  // Times the nodes of the next `replays` launches with a second executable of the same plan, which
  // this call creates unless it is prepared; 0 stops the timing. Has no effect after the exec is
  // destroyed.
  virtual void time_nodes(std::uint64_t replays, Precision precision) = 0;
  // Creates the second executable, which takes as long as thousands of short replays. Any thread,
  // also beside the other calls.
  virtual void prepare() {}
  // False if prepare() would shorten a call of time_nodes() with this precision.
  [[nodiscard]] virtual bool is_prepared(Precision precision) {
    static_cast<void>(precision);
    return true;
  }
  // True if timing costs so little that every replay can be timed.
  [[nodiscard]] virtual bool can_time_every_replay() const noexcept { return false; }
  // True while launches that time_nodes() requested remain to be run or collected.
  [[nodiscard]] virtual bool is_timing_nodes() const = 0;
  // The source of the node times that collect() currently reports.
  [[nodiscard]] virtual TimedBy timed_by() const noexcept { return TimedBy::Timestamp; }
  // A one-time message for the user about how nodes are timed; empty if there is none.
  [[nodiscard]] virtual std::string notice() { return {}; }
  // pause() lets the device skip the cost of timestamps from one of the next launches on, where it
  // can. resume() records times again from the very next launch on. Any thread.
  virtual void pause() noexcept {}
  virtual void resume() noexcept {}
  // Replays whose times, and those of their nodes if all are timed, are kept until they are
  // collected.
  [[nodiscard]] virtual std::uint64_t capacity() const noexcept = 0;
  // The offset of the device's clock to the host's; empty until it is known.
  [[nodiscard]] virtual std::optional<ClockPair> clock() const = 0;
};

// A node of the lowered graph that started in `replay` (1 for the first launch) and did not end; or
// one of a segment, before which blocks wait for another node.
struct UnfinishedNode {
  std::uint32_t node = 0;
  std::uint64_t replay = 0;
  std::uint32_t waits_for = 0xffffffffu;  // a node that did not end; kNone: the node started
  std::uint32_t waiting_blocks = 0;
};

// The iterations of a loop of the plan in the latest replay. plan/loops.hpp numbers the loops.
struct LoopCount {
  std::uint64_t iterations = 0;
  bool reached_limit = false;
};

// An executable graph. One thread at a time: the runtime holds the graph's mutex. Destroyed only
// after its launches have completed.
class BackendExec {
 public:
  virtual ~BackendExec() = default;

  // Transfers the executable to the device for launches on `queue`, and waits for that.
  virtual void upload(BackendQueue& queue) = 0;
  // Starts a replay and returns its serial on `queue`. Allocates nothing and logs nothing. Throws
  // CapturingStream, DeviceLost.
  [[nodiscard]] virtual std::uint64_t launch(BackendQueue& queue) = 0;
  // Changes node parameters from the next launch on; earlier launches are not affected. A refused
  // change has no effect. A disabled node does nothing and keeps its dependencies. Throws
  // DeviceLost.
  [[nodiscard]] virtual ExecUpdate change(const BindingChange& change) {
    static_cast<void>(change);
    return {.outcome = GraphExecUpdateOutcome::NotSupported};
  }
  // Replaces the whole plan. All nodes of the new plan are enabled except those that its bindings
  // disable.
  [[nodiscard]] virtual ExecUpdate change(const PlanChange& change) {
    static_cast<void>(change);
    return {.outcome = GraphExecUpdateOutcome::NotSupported};
  }
  // The exception that a host callback threw in replay `replay` (1 for the first launch), or null.
  // Any thread, after that replay has completed.
  [[nodiscard]] virtual std::exception_ptr callback_error(std::uint64_t replay) = 0;
  // The exceptions of host callbacks that callback_error() was not asked for. Any thread.
  [[nodiscard]] virtual CallbackErrors::Unseen take_unseen_errors() = 0;
  // With fault markers in plan.lowered: the nodes that run, or ran when the device was lost. Any
  // thread, but not concurrently with changes.
  [[nodiscard]] virtual std::vector<UnfinishedNode> unfinished_nodes() const { return {}; }
  // Counts by loop; partial for a replay that still runs. Throws DeviceLost.
  [[nodiscard]] virtual std::vector<LoopCount> loop_counts() { return {}; }
  // Reports every later replay to `observer`, which outlives this object. Called before the first
  // launch. Returns false if this device reports no times.
  [[nodiscard]] virtual bool observe(ReplayObserver& observer) {
    static_cast<void>(observer);
    return false;
  }
  // Non-null only on a device that keeps times itself, if instantiate() requested instrumentation.
  [[nodiscard]] virtual std::shared_ptr<ReplaySource> replay_source() const { return nullptr; }
  [[nodiscard]] virtual void* native() const noexcept { return nullptr; }  // CUgraphExec
  // The CUgraph from which the exec was instantiated.
  [[nodiscard]] virtual void* native_graph() const noexcept { return nullptr; }
};

// Device memory at a stable address. Its pages can be unmapped, which loses their contents, and
// mapped again; the address must not be used in between. The destructor frees pages and addresses.
// One thread at a time; nothing uses the memory during unmap() and map_pages().
class VirtualAllocation {
 public:
  virtual ~VirtualAllocation() = default;
  [[nodiscard]] virtual std::byte* address() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t reserved() const noexcept = 0;  // size of the address range
  // Whole pages from the first address on that are mapped or that map_pages() maps.
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
  virtual void unmap() = 0;      // requires mapped pages; throws DeviceLost
  virtual void map_pages() = 0;  // requires unmapped pages; throws OutOfMemory, DeviceLost
  // Changes bytes() to whole pages for `bytes`, up to reserved(), now or at the next map_pages(). A
  // shrink may keep a few more pages. Mapped pages within the new size are not touched and may be
  // in use; pages beyond it must not be in use. Throws OutOfMemory, which leaves the allocation
  // unchanged, and DeviceLost.
  virtual void resize(std::uint64_t bytes) = 0;
};

// The instrumentation that an exec contains besides the plan's nodes. It changes neither the order
// nor the placements of the plan.
enum class Instrumentation : std::uint8_t {
  None,
  // Start and end of every replay, on devices that keep times; a timestamped profiling clone times
  // nodes.
  Timestamps,
  // The same, but CUPTI times nodes where available: the process runs only graphs of the engine.
  Cupti
};

// The memory of a variable in constant memory.
struct ConstantMemory {
  std::byte* address = nullptr;
  std::uint64_t bytes = 0;
  std::shared_ptr<void> owner;  // keeps it loaded; null: it always is
};

// One opened device. Any thread.
class Backend {
 public:
  virtual ~Backend() = default;  // after the destruction of every object made from the backend

  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
  // Allocates Device or PinnedHost memory, aligned to info().limits.buffer_alignment. Throws
  // OutOfMemory, DeviceLost.
  [[nodiscard]] virtual std::byte* allocate(BufferKind kind, std::uint64_t bytes) = 0;
  virtual void free(BufferKind kind, std::byte* address) noexcept = 0;  // no work uses the memory
  // Device memory whose pages can be unmapped; destroyed before the backend. Null if the device has
  // no such memory or would need much more than `bytes`.
  [[nodiscard]] virtual std::unique_ptr<VirtualAllocation> allocate_pages(std::uint64_t bytes) {
    static_cast<void>(bytes);
    return nullptr;
  }
  // An address range for `bytes` without pages; destroyed before the backend. Null if the device
  // has no such memory or too few addresses.
  [[nodiscard]] virtual std::unique_ptr<VirtualAllocation> reserve_pages(std::uint64_t bytes) {
    static_cast<void>(bytes);
    return nullptr;
  }
  // The priority is within the range of info().
  [[nodiscard]] virtual std::unique_ptr<BackendQueue> create_queue(const QueueDesc& desc) = 0;
  // Fills every field of the result except `device` and `generation`, which the runtime sets.
  [[nodiscard]] virtual KernelCore load_kernel(const KernelDesc& desc) = 0;
  // Throws KernelNotFound.
  [[nodiscard]] virtual ConstantMemory find_constant(const ConstantDesc& desc) = 0;
  // Creates the nodes and edges of plan.lowered in its order. `plan` and the memory of the bindings
  // outlive the exec. Errors name the command (Stage::Instantiate).
  [[nodiscard]] virtual std::unique_ptr<BackendExec> instantiate(
      std::shared_ptr<const Plan> plan, const Bindings& bindings,
      Instrumentation instrumentation) = 0;
  // As a sticky error would; Unsupported if the device cannot simulate a loss.
  virtual void simulate_loss() = 0;
  // Restores a lost device; old queues and execs stay lost; Unsupported if the driver can't.
  virtual void rebuild() = 0;
};

// A kind of device. Any thread.
class BackendProvider {
 public:
  virtual ~BackendProvider() = default;
  // Empty if there is no device. A missing driver is not an error.
  [[nodiscard]] virtual std::vector<DeviceInfo> devices() = 0;
  // A message for the user where devices() is empty.
  [[nodiscard]] virtual std::string unavailable_reason() = 0;
  // `index` into devices(). The backend marks `status` lost on a sticky error.
  [[nodiscard]] virtual std::unique_ptr<Backend> open(std::uint32_t index,
                                                      std::shared_ptr<DeviceStatus> status) = 0;
  // Throws NoDriver or DriverTooOld if that is the reason for having no device. Called when the
  // user selects a device of this kind by name.
  virtual void require_driver() = 0;
};

[[nodiscard]] BackendProvider& host_provider();
[[nodiscard]] BackendProvider& cuda_provider();  // only in builds with CUDA (REPRISE_HAS_CUDA)

}  // namespace reprise::detail
