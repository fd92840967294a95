// ReplayLog: passes data about the replays of one executable from the threads that launch and run
// them to the collector, which converts it to records. Uses bounded rings, which grow from 0 bytes
// to the size that the replays need: no thread waits during a replay, a thread allocates only while
// its ring grows, and data that does not fit is counted as lost. The profile mode may change at any
// time; a viewer's request takes precedence over the application's setting. Knows nothing about
// files. Threads: begin_launch and record_launch from one thread at a time; the observer's calls as
// ReplayObserver states; collect and finish from one thread at a time; set_mode and request_mode
// from any thread.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <reprise/trace.hpp>

#include "backend/backend.hpp"
#include "plan/timing_layout.hpp"
#include "profile/overhead_meter.hpp"
#include "profile/ring.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

// Wakes the collector early when a ring fills. Threads: any.
struct CollectorSignal {
  std::atomic<bool> is_set{false};
  std::condition_variable changed;
  void notify() noexcept {
    is_set.store(true, std::memory_order_relaxed);
    changed.notify_one();
  }
};

// Identifies one of `count` executables of a graph that replay concurrently. Replays are numbered
// within the graph: the nth replay of executable `number`, n from 1, has number (n - 1) count +
// number + 1.
struct ReplicaIndex {
  std::uint32_t number = 0, count = 1;
  [[nodiscard]] std::uint64_t replay_of(std::uint64_t nth) const noexcept {
    return (nth - 1) * count + number + 1;
  }
  [[nodiscard]] std::uint64_t nth_of(std::uint64_t replay) const noexcept {
    return (replay - 1) / count + 1;
  }
};

struct ReplayLogDesc {
  std::uint32_t graph = 0, version = 1, device = 0;
  // The executable; replay numbers in calls count this executable's replays only.
  ReplicaIndex exec = {};
  std::uint64_t before = 0;               // replays of earlier executables that this one replaced
  std::string label = {};                 // of the graph, for messages
  std::uint32_t nodes = 0;                // number of nodes in the lowered graph
  TimingLayout slots = {};                // of the plan; empty: the graph has no bodies
  ProfileMode mode = ProfileMode::Every;  // initial mode
  std::size_t replays = 16384;            // capacity of the rings
  std::size_t node_bytes = std::size_t{8} << 20;  // limit of node times that await collection
  CollectorSignal* signal = nullptr;  // must outlive the log; null: the collector only polls
};

struct LaunchRecord {
  std::uint64_t replay = 0;
  trace::Time launched = 0, returned = 0;
  std::uint32_t queue = 0, thread = 0;
};

class ReplayLog final : public ReplayObserver {
 public:
  explicit ReplayLog(ReplayLogDesc desc);

  // Called before the first launch: whether the device reports when replays start and end.
  void expect_device_times(bool expected) noexcept { has_device_times_ = expected; }
  // Called before the first launch: sets the source of times; the log becomes its observer. With
  // ProfileMode::Every, node times start with the first replay.
  void follow(std::shared_ptr<ReplaySource> source);

  // Sets the application's mode, from the next launch on.
  void set_mode(ProfileMode mode);
  // Sets a viewer's mode, which takes precedence; the next replay is sampled. Empty: no request.
  void request_mode(std::optional<ProfileMode> mode);
  [[nodiscard]] ProfileMode mode() const noexcept {
    return mode_of(switch_.load(std::memory_order_relaxed));
  }

  // Called immediately before a launch: whether to call record_launch. A replay for which this
  // returns true is recorded completely, even if the mode changes.
  [[nodiscard]] bool begin_launch(std::uint64_t replay) noexcept {
    if (mode() == ProfileMode::Off) return false;
    last_announced_.store(replay, std::memory_order_relaxed);
    return true;
  }
  void record_launch(const LaunchRecord& note) noexcept;
  // For a source that times every replay: those of the interval of samples, and the slowest one of
  // each second.
  [[nodiscard]] bool wants_nodes(std::uint64_t replay, std::int64_t started,
                                 std::int64_t ended) noexcept override;
  [[nodiscard]] NodeTime* begin_replay(std::uint64_t replay) noexcept override;
  void end_replay(std::uint64_t replay, std::int64_t started, std::int64_t ended,
                  NodeTime* nodes) noexcept override;
  // The replays from `replay` on belong to another version of the graph, which is in the trace.
  // Called in the order of replays, by one thread at a time.
  void begin_version(std::uint32_t version, std::uint64_t replay);
  // Called after the last event.
  void close() noexcept { closed_.store(true, std::memory_order_release); }

  // Appends the records that are complete since the last call. Returns false if the log was closed
  // before the call: no more records follow.
  [[nodiscard]] bool collect(std::vector<trace::Record>& records);
  // Also appends the replays whose times are missing.
  void finish(std::vector<trace::Record>& records);

  // Hook executions collected since the last call.
  [[nodiscard]] HookCounts take_hooks() noexcept { return std::exchange(hooks_, {}); }

  [[nodiscard]] std::uint32_t graph() const noexcept { return desc_.graph; }

 private:
  // The node times of one replay: block_slots_ slots follow the block.
  struct Block {
    Block* next = nullptr;
    [[nodiscard]] NodeTime* slots() noexcept { return reinterpret_cast<NodeTime*>(this + 1); }
    [[nodiscard]] static Block* of(NodeTime* slots) noexcept {
      return reinterpret_cast<Block*>(slots) - 1;
    }
  };
  struct Times {
    std::uint64_t replay = 0;
    std::int64_t started = 0, ended = 0;
    Block* block = nullptr;                                  // null: no node times
    trace::SampleSource source = trace::SampleSource::Host;  // of the node times in `block`
  };
  // The word holds the mode in its low bits and a change counter above, so the running thread
  // detects that the mode was set again.
  [[nodiscard]] static ProfileMode mode_of(std::uint32_t word) noexcept {
    return static_cast<ProfileMode>(word & 3u);
  }
  void switch_to(ProfileMode mode) noexcept;  // requires switch_mutex_
  void pause_source() noexcept;
  [[nodiscard]] bool is_announced(std::uint64_t replay) const noexcept {
    return replay <= last_announced_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_sampled(std::uint64_t replay) noexcept;
  [[nodiscard]] Block* take_block() noexcept;  // null: none is free
  void notify_if_half(std::size_t used, std::size_t of) noexcept;
  void collect_source(std::vector<trace::Record>& records);
  // WhenPrepared: starts the window at a later call if the source must prepare itself. The source
  // prepares on its own thread while the calling thread collects times.
  enum class Start : std::uint8_t { Now, WhenPrepared };
  void plan_window(Start start);
  [[nodiscard]] bool prepare(ReplaySource::Precision precision);
  // As plan_window(); records that it failed, after which it is tried again half a minute later.
  void try_window(std::vector<trace::Record>& records);
  void take_times(std::vector<trace::Record>& records);
  void append_block(const Times& times, std::vector<trace::Record>& records);
  // Appends the samples of a body to the replay's block.
  void append_body(std::uint32_t body, const NodeTime* slots, trace::SampleBlock& block,
                   std::vector<trace::Record>& records);
  [[nodiscard]] std::int64_t timed_nodes(const NodeTime* slots) const noexcept;
  void add_replay(const LaunchRecord& launch, const Times& times,
                  std::vector<trace::Record>& records);
  void join(std::vector<trace::Record>& records);
  [[nodiscard]] std::uint64_t number_of(std::uint64_t replay) const noexcept {
    return desc_.exec.replay_of(replay + desc_.before);
  }
  [[nodiscard]] std::uint32_t version_of(std::uint64_t replay) const;
  void forget_versions();
  void add_losses(std::vector<trace::Record>& records);

  const ReplayLogDesc desc_;
  const std::size_t block_slots_;
  const std::uint32_t block_count_;
  bool has_device_times_ = false;
  std::atomic<std::size_t>
      notify_at_;  // number of waiting launches at which the collector is woken
  std::atomic<bool> closed_{false};

  std::mutex switch_mutex_;
  ProfileMode configured_mode_;                // guarded by switch_mutex_
  std::optional<ProfileMode> requested_mode_;  // guarded by switch_mutex_
  std::shared_ptr<ReplaySource>
      paused_source_;  // guarded by switch_mutex_; paused while the mode is Off; null: no source
  bool is_paused_ = false;  // guarded by switch_mutex_
  std::atomic<std::uint32_t> switch_;
  std::atomic<std::uint64_t> last_announced_{
      0};  // the last replay for which begin_launch() returned true

  // Replays from `replay` on have `version`. Ascending; entries that no future replay needs are
  // removed.
  struct VersionStart {
    std::uint64_t replay = 0;
    std::uint32_t version = 0;
  };
  mutable std::mutex versions_mutex_;
  std::vector<VersionStart> versions_;  // guarded by versions_mutex_; never empty

  // --- Written by the launching and running threads ---
  Ring<LaunchRecord> launches_;
  Ring<Times> times_;
  std::atomic<Block*> returned_blocks_{nullptr};  // from the collector to the running thread
  // Used by the running thread:
  Block* free_blocks_ = nullptr;
  std::array<std::unique_ptr<std::byte[]>, 32> slabs_;  // of blocks; each doubles their number
  std::uint32_t slab_blocks_ = 0;                       // in all slabs; at most block_count_
  std::byte* unused_ = nullptr;                         // the part of the last slab without blocks
  std::uint32_t unused_blocks_ = 0;
  std::uint64_t next_sampled_ = 1, sample_every_ = 1;
  std::uint32_t seen_switch_ = 0;
  std::atomic<std::uint64_t> lost_launches_{0}, lost_times_{0}, lost_blocks_{0};

  // --- Used by the collector ---
  HookCounts hooks_;
  std::vector<LaunchRecord> waiting_;  // launches without times, ascending
  std::vector<Times> early_;           // times without a launch, ascending
  std::uint64_t untimed_nodes_ = 0;    // executions of nodes in bodies without a time
  struct Reported {
    std::uint64_t launches = 0, times = 0, blocks = 0, untimed = 0;
  } reported_;
  std::shared_ptr<ReplaySource> source_;  // null: the running threads deliver times
  std::uint64_t source_delivered_ = 0;    // the last replay whose times the source delivered
  std::uint64_t added_ = 0;               // the last replay with a record
  struct Slowest {
    trace::Time since = 0, took = 0;
  } slowest_;  // of the current second
  static constexpr std::uint32_t kNotPlanned = ~0u;
  struct Window {
    // The change counter and mode for which the window was planned.
    std::uint32_t seen_switch = kNotPlanned;
    bool is_open = false;
    bool has_failed = false;  // the last attempt, which was reported
    trace::Time next = 0;     // earliest start of the next window
    trace::Time retry = 0;    // the same, after a failure
    // Start of the last window with Precision::Close; initially of the first window.
    trace::Time last_close = 0;
    trace::Time extra =
        0;             // additional time of the last window's replays compared with `plain`, ns
    double plain = 0;  // running mean of the time of a replay without node times, ns
  } window_;
  trace::Time clock_reported_ = 0;
  struct Preparation {
    explicit Preparation(const std::shared_ptr<ReplaySource>& source);
    ~Preparation() { thread.join(); }
    std::future<void> done;
    std::thread thread;
  };
  std::optional<Preparation> preparation_;
};

}  // namespace reprise::detail
