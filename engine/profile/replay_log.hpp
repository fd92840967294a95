// ReplayLog: what is known of one graph's replays, on its way from the threads that launch and run
// them to the collector, which makes records of it. Rings of fixed size: nobody waits, nothing is
// allocated while replays run; what does not fit is counted. How closely it looks may change at any
// time: the application says what it wants, and a viewer's wish holds while there is one. Knows no
// file. Threads: begin_launch and note_launch from one at a time, the observer's calls as
// ReplayObserver says, collect and finish from one at a time, set_mode and ask from any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/trace.hpp>

#include "backend/backend.hpp"
#include "plan/timing_layout.hpp"
#include "profile/overhead_meter.hpp"
#include "profile/ring.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

// Wakes the collector before its time where a ring fills. Threads: any.
struct CollectorSignal {
  std::atomic<bool> method{false};
  std::condition_variable changed;
  void ring() noexcept {
    method.store(true, std::memory_order_relaxed);
    changed.notify_one();
  }
};

// Which executable of a graph, of so many that replay side by side. Their replays are numbered
// within the graph: the nth of `number`, from 1, is (n - 1) count + number + 1.
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
  ReplicaIndex exec =
      {};  // whose replays these are; all that the log is told counts this one's alone
  std::uint64_t before = 0;               // replays by executables whose place this one took
  std::string label = {};                 // of the graph, for messages
  std::uint32_t nodes = 0;                // of the lowered graph
  TimingLayout slots = {};                // of the plan; none: nothing runs bodies
  ProfileMode mode = ProfileMode::Every;  // to begin with
  std::size_t replays = 16384;            // that the rings hold
  std::size_t node_bytes = std::size_t{8} << 20;  // of times of nodes that wait for the collector
  CollectorSignal* bell = nullptr;  // outlives this; null: the collector comes by itself
};

struct LaunchNote {
  std::uint64_t replay = 0;
  trace::Time launched = 0, returned = 0;
  std::uint32_t queue = 0, thread = 0;
};

class ReplayLog final : public ReplayObserver {
 public:
  explicit ReplayLog(ReplayLogDesc desc);

  // Before the first launch: whether the device tells when replays began and ended.
  void expect_device_times(bool expected) noexcept { has_device_times_ = expected; }
  // Before the first launch: times come from there, whenever they are collected; the log is its
  // observer. Where the nodes of every replay are wanted, those of the first are timed already.
  void follow(std::shared_ptr<ReplaySource> source);

  // What the application wants from the next launch on.
  void set_mode(ProfileMode mode);
  // What a viewer wants before that; the next replay is sampled at once. Empty: nothing any more.
  void ask(std::optional<ProfileMode> mode);
  [[nodiscard]] ProfileMode mode() const noexcept {
    return mode_of(switch_.load(std::memory_order_relaxed));
  }

  // Right before a launch: whether note_launch is to be told of it. All of a replay that was begun
  // so is told, whatever the mode is later.
  [[nodiscard]] bool begin_launch(std::uint64_t replay) noexcept {
    if (mode() == ProfileMode::Off) return false;
    told_.store(replay, std::memory_order_relaxed);
    return true;
  }
  void note_launch(const LaunchNote& note) noexcept;
  [[nodiscard]] NodeTime* begin_replay(std::uint64_t replay) noexcept override;
  void end_replay(std::uint64_t replay, std::int64_t started, std::int64_t ended,
                  NodeTime* nodes) noexcept override;
  // Replays from that one on are of another version of the graph, which the trace has. In the order
  // of replays; one thread at a time.
  void begin_version(std::uint32_t version, std::uint64_t replay);
  // Nothing comes any more.
  void close() noexcept { closed_.store(true, std::memory_order_release); }

  // Appends what can be said since the last call. False: it was closed before, and this was all.
  [[nodiscard]] bool collect(std::vector<trace::Record>& records);
  // Appends the replays whose times did not come, too.
  void finish(std::vector<trace::Record>& records);

  // What its hooks did that was collected since the last call.
  [[nodiscard]] HookCounts take_hooks() noexcept { return std::exchange(hooks_, {}); }

  [[nodiscard]] std::uint32_t graph() const noexcept { return desc_.graph; }

 private:
  static constexpr std::uint32_t kNoBlock = 0xffffffffu;
  struct Times {
    std::uint64_t replay = 0;
    std::int64_t started = 0, ended = 0;
    std::uint32_t block = kNoBlock;
    trace::SampleSource source = trace::SampleSource::Host;  // of the block
  };
  // The mode, and how often it was set: who runs sees that it was set again.
  [[nodiscard]] static ProfileMode mode_of(std::uint32_t word) noexcept {
    return static_cast<ProfileMode>(word & 3u);
  }
  void switch_to(ProfileMode mode) noexcept;  // under switch_mutex_
  void pause_source() noexcept;
  [[nodiscard]] bool is_told(std::uint64_t replay) const noexcept {
    return replay <= told_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool wants_nodes(std::uint64_t replay) noexcept;
  void ring_if_half(std::size_t used, std::size_t of) noexcept;
  void fetch(std::vector<trace::Record>& records);
  void plan_window();
  void take_times(std::vector<trace::Record>& records);
  void take_block(const Times& times, std::vector<trace::Record>& records);
  // What a body's slots say, added to the replay's block.
  void take_body(std::uint32_t body, const NodeTime* slots, trace::SampleBlock& block,
                 std::vector<trace::Record>& records);
  [[nodiscard]] std::int64_t timed_nodes(const NodeTime* slots) const noexcept;
  void add_replay(const LaunchNote& launch, const Times& times,
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
  std::size_t ring_at_;  // launches that wait, at which the collector is woken
  std::atomic<bool> closed_{false};

  std::mutex switch_mutex_;
  ProfileMode wanted_;                           // under switch_mutex_
  std::optional<ProfileMode> asked_;             // under switch_mutex_
  std::shared_ptr<ReplaySource> paused_source_;  // under switch_mutex_: what is paused while the
                                                 // mode is Off; null: nothing has to be
  bool is_paused_ = false;                       // under switch_mutex_
  std::atomic<std::uint32_t> switch_;
  std::atomic<std::uint64_t> told_{0};  // the last replay whose launch is noted

  // Replays from `replay` on are of `version`; ascending, with those that all replays to come are
  // after left out.
  struct VersionBegin {
    std::uint64_t replay = 0;
    std::uint32_t version = 0;
  };
  mutable std::mutex versions_mutex_;
  std::vector<VersionBegin> versions_;  // under versions_mutex_; never empty

  // --- from the threads that launch and run ---
  Ring<LaunchNote> launches_;
  Ring<Times> times_;
  Ring<std::uint32_t> free_blocks_;                    // from the collector to who runs
  std::unique_ptr<NodeTime[], FreeBytes> blocks_;      // each of block_slots_
  std::uint64_t next_sampled_ = 1, sample_every_ = 1;  // of who runs
  std::uint32_t seen_switch_ = 0;                      // of who runs
  std::uint32_t spare_block_ = kNoBlock;               // of who runs
  std::atomic<std::uint64_t> lost_launches_{0}, lost_times_{0}, lost_blocks_{0};

  // --- of the collector ---
  HookCounts hooks_;
  std::deque<LaunchNote> waiting_;  // launches whose times did not come yet, ascending
  std::deque<Times> early_;         // times whose launch did not come yet, ascending
  std::uint64_t untimed_ = 0;       // runs of nodes in bodies that left no time
  struct Reported {
    std::uint64_t launches = 0, times = 0, blocks = 0, untimed = 0;
  } reported_;
  std::shared_ptr<ReplaySource> source_;  // null: times come by themselves
  std::uint64_t source_told_ = 0;         // the last replay whose times came from there
  std::uint64_t added_ = 0;               // the last replay that there is a record of
  struct Window {
    std::uint32_t seen_switch = ~0u;  // the mode that it was planned for
    bool is_open = false;
    trace::Time next = 0;  // when the next one may open
    trace::Time last_close =
        0;                  // when the last one by close means opened; before, the first one by any
    trace::Time extra = 0;  // ns that the replays of the last one took beyond `plain`
    double plain = 0;       // ns that a replay takes of which no node is timed; a running mean
  } window_;
  trace::Time clock_reported_ = 0;
};

}  // namespace reprise::detail
