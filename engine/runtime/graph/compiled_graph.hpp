// CompiledGraph: one or more replicas of one compiled graph: selects the replica of a launch, and
// spreads updates to all of them. Behind CapturedGraph and GraphScalar.
// Threads: any thread. Lock order: update_mutex_, then what a replica takes; mutex_ and
// report_mutex_ are never held while a replica is launched or changed. A launch of a graph with one
// replica takes none of them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/captured_graph.hpp>

#include "lowering/lowering_config.hpp"
#include "runtime/graph/graph_replica.hpp"
#include "runtime/graph/graph_update.hpp"

namespace reprise::detail {

class CompiledGraph {
 public:
  // `replicas` is not empty.
  CompiledGraph(std::vector<std::shared_ptr<GraphReplica>> replicas, CompileReport report);

  [[nodiscard]] const std::string& label() const noexcept { return first().label(); }
  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept {
    return first().device();
  }
  [[nodiscard]] const std::shared_ptr<CapturePool>& pool() const noexcept { return first().pool(); }
  // All replicas, those out of use included. The first one is always in use.
  [[nodiscard]] const std::vector<std::shared_ptr<GraphReplica>>& replicas() const noexcept {
    return replicas_;
  }
  [[nodiscard]] GraphReplica& first() const noexcept { return *replicas_.front(); }

  // The report of the current plan; never null.
  [[nodiscard]] std::shared_ptr<const CompileReport> report() const;
  [[nodiscard]] std::uint32_t replicas_in_use() const;
  [[nodiscard]] std::uint64_t replays() const;    // of all replicas
  [[nodiscard]] bool is_uploaded() const;         // all replicas in use
  [[nodiscard]] std::vector<LoopReport> loops();  // of the replica launched last

  Fence launch(const std::shared_ptr<QueueCore>& queue, const LaunchDesc& desc);
  void upload(const std::shared_ptr<QueueCore>& queue);
  void set_profile(ProfileMode mode);

  // --- Updates. Each reaches all replicas in use. An error or a refusal of the first replica
  // changes none; a later replica that fails is taken out of use, with a warning. ---
  [[nodiscard]] std::uint32_t find_scalar(std::string_view name);
  std::uint32_t set_scalar(std::uint32_t scalar, const void* value);
  [[nodiscard]] UpdateReport rebind(std::span<const BufferBinding> bindings,
                                    const UpdateDesc& desc);
  void switch_command(const CommandRef& command, CommandSwitch to);
  [[nodiscard]] bool is_enabled(const CommandRef& command) {
    return detail::is_enabled(first(), command);
  }
  [[nodiscard]] UpdateReport update(const CommandBuffer& commands, const UpdateDesc& desc);

  // --- Tuning. Under lock_updates(), or before another thread can reach the graph. ---
  // Excludes updates, except those of scalars if there is one replica.
  [[nodiscard]] std::unique_lock<std::mutex> lock_updates() {
    return std::unique_lock(update_mutex_);
  }
  // The lowering that the graph was tuned to or compiled with; empty: neither.
  [[nodiscard]] const std::optional<LoweringConfig>& tuned() const noexcept { return tuned_; }
  void set_tuned(LoweringConfig config) { tuned_ = std::move(config); }
  void set_report(CompileReport report);

  // --- Of the first replica ---
  [[nodiscard]] std::shared_ptr<const Plan> current_plan() const { return first().current_plan(); }
  // Valid until the next update.
  [[nodiscard]] const Plan& plan() const noexcept { return *first().executable().plan(); }
  [[nodiscard]] BackendExec& exec() const noexcept { return first().exec(); }
  [[nodiscard]] ReplayLog* log() const noexcept { return first().executable().log.get(); }
  [[nodiscard]] bool is_shared() const noexcept { return first().is_shared(); }
  void make_resident() { first().make_resident(); }
  // For native handles that the application may launch itself: the slab is never trimmed again.
  void pin_resident() { first().pin_resident(); }

 private:
  // How launches use one replica. Under mutex_.
  struct Slot {
    const QueueCore* queue = nullptr;  // of the last launch; only compared, may be destroyed
    std::uint64_t last_launch = 0;     // number of the launch in the graph; 0: never launched
    std::uint32_t launching = 0;       // threads between selection and submission
    bool in_use = true;
  };
  class Selection;
  [[nodiscard]] bool has_one() const noexcept { return replicas_.size() == 1; }
  [[nodiscard]] std::uint32_t select(const QueueCore* queue, const LaunchDesc& desc);
  [[nodiscard]] std::uint32_t select_any(const QueueCore* queue) const;  // under mutex_
  // The replica that was launched longest ago, in use or not: the same on all ranks. Under mutex_.
  [[nodiscard]] std::uint32_t select_oldest() const;
  // The replicas in use but the first.
  [[nodiscard]] std::vector<std::shared_ptr<GraphReplica>> others() const;
  // Excludes updates of other threads; a graph with one replica orders scalars by its own mutex.
  [[nodiscard]] std::unique_lock<std::mutex> lock_scalars();
  // Calls change(replica) for each replica in use but the first. A replica whose change returns a
  // reason, or throws, is taken out of use. Returns the warnings. Under update_mutex_.
  template <class Change>
  [[nodiscard]] std::vector<Message> spread(Change&& change);
  void report_warnings(const std::vector<Message>& messages) const;

  const std::vector<std::shared_ptr<GraphReplica>> replicas_;
  std::mutex update_mutex_;
  std::optional<LoweringConfig> tuned_;  // under update_mutex_
  mutable std::mutex report_mutex_;
  std::shared_ptr<const CompileReport> report_;  // under report_mutex_
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;     // under mutex_; by replica
  std::uint64_t launches_ = 0;  // under mutex_
  std::uint32_t last_ = 0;      // under mutex_: the replica launched last
  // Under mutex_. A replica's plan is behind its own mutex, which a launch of it holds.
  bool has_collectives_;
};

}  // namespace reprise::detail
