// DeviceTrace: creates the records of one open device: its queues, pools, graphs and messages.
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <reprise/device_info.hpp>
#include <reprise/message.hpp>

#include "profile/describe_graph.hpp"
#include "profile/pool_trace.hpp"
#include "profile/profile_switch.hpp"
#include "profile/trace_session.hpp"

namespace reprise::detail {

// The executable whose replays are recorded.
struct FollowedGraph {
  std::uint32_t graph = 0, version = 1;
  ReplicaIndex exec = {};
  std::uint64_t replays_before = 0;  // replays of earlier executables that this one replaced
};

class DeviceTrace final : public TraceSession::Source {
 public:
  DeviceTrace(std::shared_ptr<TraceSession> session, std::shared_ptr<ProfileSwitch> profile,
              const DeviceInfo& info);
  DeviceTrace(const DeviceTrace&) = delete;
  DeviceTrace& operator=(const DeviceTrace&) = delete;
  ~DeviceTrace() override;

  [[nodiscard]] std::uint32_t add_queue(std::string_view label);
  void end_queue(std::uint32_t queue) noexcept { session_->end(trace::ObjectKind::Queue, queue); }
  [[nodiscard]] std::shared_ptr<PoolTrace> add_pool(std::string_view label,
                                                    PoolTrace::Memory memory);
  // Records the device's memory totals, obtained from `memory`. Called after they change.
  void record_memory(const PoolTrace::Memory& memory) noexcept;
  // Records a new graph and returns its id. Sets the graph and device of `identity`.
  [[nodiscard]] std::uint32_t add_graph(const Plan& plan, GraphIdentity identity);
  // Called when no launch of the graph follows.
  void end_graph(std::uint32_t graph) noexcept { session_->end(trace::ObjectKind::Graph, graph); }
  // Records another version of an existing graph: identity.graph and identity.version.
  void add_version(const Plan& plan, GraphIdentity identity);
  void record_update(std::uint32_t graph, std::uint32_t from_version, std::uint32_t to_version,
                     std::string what);
  // Starts recording replays. `exec` must not have been launched yet and must be destroyed before
  // the log is closed.
  [[nodiscard]] std::shared_ptr<ReplayLog> follow(const FollowedGraph& graph, const Plan& plan,
                                                  BackendExec& exec);
  [[nodiscard]] const std::shared_ptr<TraceSession>& session() const noexcept { return session_; }
  // `graph`: kNone if the message precedes the graph.
  void report(std::uint32_t graph, const Message& message);
  void push_waiting(Push push) noexcept override;

 private:
  void push_totals(trace::Time now, Push push);  // requires memory_mutex_
  void report_no_device_times();

  std::shared_ptr<TraceSession> session_;
  std::shared_ptr<ProfileSwitch> profile_;
  std::uint32_t id_;
  std::string selector_;
  std::atomic<bool> no_times_reported_{false};  // the message "no-device-times" was sent
  std::mutex memory_mutex_;                     // guards the members below
  trace::DeviceTotals totals_;                  // the latest
  bool totals_wait_ = false;                    // totals_ are newer than their last record
  bool is_scheduled_ = false;                   // the collector will call push_waiting()
  RateLimit totals_rate_{kStateRate};
};

}  // namespace reprise::detail
