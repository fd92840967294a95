// GraphExecutable: what a launch touches, and so what outlives it. Lives in its GraphCore, then in
// the retire queue. Threads: as its owner says.
#pragma once

#include <memory>

#include <reprise/pool.hpp>

#include "backend/backend.hpp"
#include "plan/plan.hpp"
#include "profile/graph_versions.hpp"
#include "profile/replay_log.hpp"
#include "runtime/core/deferred_deletion_queue.hpp"
#include "runtime/graph/binding_state.hpp"
#include "runtime/memory/transient_memory.hpp"
#include "runtime/queue/queue_point.hpp"

namespace reprise::detail {

class DeviceCore;

// Dropped in the reverse order: the executable first, the device last.
class GraphExecutable final : public DeferredDelete {
 public:
  explicit GraphExecutable(std::shared_ptr<DeviceCore> owner) noexcept;
  ~GraphExecutable() override;
  [[nodiscard]] Pending pending() const noexcept override;

  std::shared_ptr<DeviceCore> device;
  QueuePoint
      last;  // the last launch or upload; later ones wait for it, so it stands for all before
  std::shared_ptr<CapturePool> pool;  // null: compiled without
  std::shared_ptr<const Plan> plan;   // holds the recording: buffers, kernels, functions
  TransientMemory memory;
  Lowering lowering = Lowering::Auto;
  MemoryGoal memory_goal = MemoryGoal::Speed;
  std::shared_ptr<const CostProfile> costs;  // null: none were given
  BindingState journal;
  bool is_ours =
      false;  // made of its plan, and so can be made again; false: of a graph of the application
  std::uint64_t replays_before = 0;  // of the instance, by executables before this one
  ReplicaIndex instance;             // which of the graph's instances, and of how many
  // Of the trace; null and 0 without one.
  struct Times {
    trace::Time compiled = 0, compile_time = 0, instantiate_time = 0;
  } times;
  GraphVersions versions;  // what the trace has of the graph
  std::uint32_t trace_id =
      0;  // of an instance after the first, to begin with: the one that its replays are told under
  std::shared_ptr<ReplayLog> log;
  std::unique_ptr<BackendExec> exec;
};

}  // namespace reprise::detail
