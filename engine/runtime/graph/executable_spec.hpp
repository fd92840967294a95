// ExecutableSpec: everything that determines one executable, as one value that is copied whole.
// Threads: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <reprise/pool.hpp>

#include "compile/plan_options.hpp"
#include "plan/collectives.hpp"
#include "plan/plan.hpp"
#include "profile/replay_log.hpp"

namespace reprise::detail {

class DeviceCore;

struct ExecutableSpec {
  enum class Origin : std::uint8_t {
    Compiled,  // from `plan`: another executable can be made from it
    Adopted    // from a graph of the application
  };

  // Members are destroyed in reverse order: the device last.
  std::shared_ptr<DeviceCore> device;
  std::shared_ptr<CapturePool> pool = nullptr;  // null: compiled without one
  std::shared_ptr<const Plan> plan;             // holds the recording: buffers, kernels, functions
  PlanOptions options = {};                     // that `plan` was made with
  LaunchedCollectives collectives = {};         // of the recording
  Origin origin = Origin::Compiled;
  ReplicaIndex replica = {};

  // The same executable for another plan of the same recording.
  [[nodiscard]] ExecutableSpec with_plan(std::shared_ptr<const Plan> next) const {
    ExecutableSpec spec = *this;
    spec.plan = std::move(next);
    return spec;
  }
};

}  // namespace reprise::detail
