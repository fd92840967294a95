// The stages of a compile, one call each, in the order that they are called in; for what compiles
// anew as well as for what updates. Threads: any thread.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <reprise/captured_graph.hpp>
#include <reprise/command_buffer.hpp>

#include "backend/backend.hpp"
#include "lowering/lowering_config.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

class DeviceCore;
class Slab;

// What is to be compiled. Throws where it is not executable, secondary, or of another device than
// `device` or the pool.
[[nodiscard]] std::shared_ptr<const Recording> checked_recording(const DeviceCore& device,
                                                                 const CommandBuffer& commands,
                                                                 const CompileDesc& desc);

// Reports what was found, gives what is no error, throws the first error.
[[nodiscard]] std::vector<Message> check(const DeviceCore& device, const Recording& recording);

struct PlanDesc {
  Lowering lowering = Lowering::Auto;
  std::uint32_t alignment = 1;  // of transients
  MemoryGoal memory_goal = MemoryGoal::Speed;
  std::chrono::nanoseconds memory_search_budget = {};
  // Null: none. Where `like` is null too, there is a graph of this label in them with commands of
  // the recording, or it throws InvalidArgument.
  const CostProfile* costs = nullptr;
  // Made with the same lowering, alignment and memory goal. The plan is lowered as this one is,
  // node by node, where its schedule has the same structure, and stages that it went through alike
  // are not gone through again. Null: the plan is made for itself.
  const Plan* like = nullptr;
};
// `ahead`: of schedule_ahead(), where it was called.
[[nodiscard]] std::shared_ptr<const Plan> make_plan(std::string label,
                                                    std::shared_ptr<const Recording> recording,
                                                    const PlanDesc& desc,
                                                    std::future<DependencyGraph> ahead = {});

// The schedule of a long recording, made while it is checked.
[[nodiscard]] std::future<DependencyGraph> build_dependencies_async(
    std::shared_ptr<const Recording> recording);

// The same recording and needed edges, lowered as `choice` says, without fault markers.
[[nodiscard]] std::shared_ptr<const Plan> lower_again(const Plan& plan,
                                                      const LoweringConfig& choice,
                                                      std::uint32_t alignment);

// What instance `instance` of a graph gives the nodes.
[[nodiscard]] Bindings bind(const Plan& plan, std::byte* slab, std::uint32_t instance);

// What times the graphs of `device`.
[[nodiscard]] Instrumentation instrumentation_for(const DeviceCore& device);

[[nodiscard]] CompileReport make_report(const Plan& plan, std::vector<Message> messages);

}  // namespace reprise::detail
