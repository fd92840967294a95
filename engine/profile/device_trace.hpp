// DeviceTrace: one opened device in the trace: makes the records of its queues, pools, graphs and
// messages. Threads: any thread.
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

// Whose replays are followed.
struct FollowedGraph {
  std::uint32_t graph = 0, version = 1;
  ReplicaIndex exec = {};
  std::uint64_t replays_before = 0;  // by executables whose place this one took
};

class DeviceTrace {
 public:
  DeviceTrace(std::shared_ptr<TraceSession> session, std::shared_ptr<ProfileSwitch> profile,
              const DeviceInfo& info);

  [[nodiscard]] std::uint32_t add_queue(std::string_view label);
  [[nodiscard]] std::shared_ptr<PoolTrace> add_pool(std::string_view label,
                                                    PoolTrace::Memory memory);
  // What the device's memory comes to has changed; `memory` is asked for it.
  void note_memory(const PoolTrace::Memory& memory) noexcept;
  // The graph's id; `identity` gets it, and the device's.
  [[nodiscard]] std::uint32_t add_graph(const Plan& plan, GraphIdentity identity);
  // Another version of a graph that has an id: identity.graph and identity.version.
  void add_version(const Plan& plan, GraphIdentity identity);
  void record_update(std::uint32_t graph, std::uint32_t from_version, std::uint32_t to_version,
                     std::string what);
  // Replays of a graph from now on. `exec` has not been launched, and goes before the log is
  // closed.
  [[nodiscard]] std::shared_ptr<ReplayLog> follow(const FollowedGraph& graph, const Plan& plan,
                                                  BackendExec& exec);
  [[nodiscard]] const std::shared_ptr<TraceSession>& session() const noexcept { return session_; }
  // graph kNone: it did not become one.
  void report(std::uint32_t graph, const Message& message);

 private:
  void say_no_device_times();

  std::shared_ptr<TraceSession> session_;
  std::shared_ptr<ProfileSwitch> profile_;
  std::uint32_t id_;
  std::string selector_;
  std::atomic<bool> said_{false};  // that this device has no times
  std::mutex telling_;             // what its memory comes to: later records are of later states
};

}  // namespace reprise::detail
