// Compiles recordings to graphs: checks that need a device, the stages of compile/stages.hpp in
// their order, and the replicas. Threads: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/captured_graph.hpp>
#include <reprise/command_buffer.hpp>

#include "compile/plan_options.hpp"
#include "lowering/lowering_config.hpp"
#include "plan/collectives.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

class CompiledGraph;
class DeviceCore;
class HostSpan;

// The recording of `commands`. Throws InvalidState if it is not executable, InvalidArgument for a
// secondary command buffer, WrongDevice if it or `pool`, which may be null, is of another device.
[[nodiscard]] std::shared_ptr<const Recording> recording_to_compile(const DeviceCore& device,
                                                                    const CommandBuffer& commands,
                                                                    const CapturePool* pool);

// Validates the recording at the instance's level and reports the findings to the instance and the
// trace. Returns those that are not errors; throws the first error.
[[nodiscard]] std::vector<Message> check(const DeviceCore& device, const Recording& recording);

// Whether check() accepted a recording without collectives, or the engine made it.
enum class IsChecked : std::uint8_t { No, Yes };

struct PlanRequest {
  std::string label = {};
  std::shared_ptr<const Recording> recording = nullptr;
  PlanOptions options = {};  // may_have_segments is ignored
  std::uint32_t replicas = 1;
  IsChecked is_checked = IsChecked::No;
  const Plan* like = nullptr;  // of the graph that is updated; null: a new graph
};

// A recording planned for a graph; the same for all its replicas.
struct PlannedGraph {
  std::shared_ptr<const Plan> plan = nullptr;
  PlanOptions options = {};                  // that the plan was made with
  std::optional<LoweringConfig> tuned = {};  // of the tuning file; empty: it was not applied
  LaunchedCollectives collectives = {};
  std::vector<Message> messages = {};        // of the validation
};

// Makes the plan of a graph. Calls check(), and compares the collectives with those of other ranks.
// Reads the tuning file unless the plan is lowered as request.like.
[[nodiscard]] PlannedGraph plan_recording(DeviceCore& device, PlanRequest request, HostSpan& span);

// If `error` is about segments that Lowering::Auto chose: plans again without them, adds the
// message "no-segments" and returns true.
[[nodiscard]] bool leave_out_segments(DeviceCore& device, PlannedGraph& planned,
                                      const Error& error);

// Calls make(), which uses `planned` and has no effect if it throws; once more if it fails for
// segments that Lowering::Auto chose.
template <class Make>
auto make_or_leave_out_segments(DeviceCore& device, PlannedGraph& planned, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    if (!leave_out_segments(device, planned, error)) throw;
  }
  return make();
}

// See Device::compile.
[[nodiscard]] std::shared_ptr<CompiledGraph> compile(const std::shared_ptr<DeviceCore>& device,
                                                     const CommandBuffer& commands,
                                                     const CompileDesc& desc);

// Compiles a recording that the engine made or that check() accepted.
[[nodiscard]] std::shared_ptr<CompiledGraph> compile_checked(
    const std::shared_ptr<DeviceCore>& device, std::shared_ptr<const Recording> recording,
    const CompileDesc& desc);

}  // namespace reprise::detail
