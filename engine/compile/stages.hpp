// The stages of a compile, in the order in which compiling and updating call them: check(),
// build_dependencies_async(), make_plan(), lower_again(), bind(), make_report(). Knows no device:
// device facts, the validation level and the receiver of messages are arguments.
// Threads: any thread.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include <reprise/captured_graph.hpp>
#include <reprise/device_info.hpp>

#include "backend/backend.hpp"
#include "compile/plan_cache.hpp"
#include "compile/plan_options.hpp"
#include "lowering/lowering_config.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

// Receives the messages of a compile.
class MessageSink {
 public:
  // True for a message to drop.
  [[nodiscard]] virtual bool suppresses(const Message& message) const = 0;
  // May rethrow an exception of the application's handler.
  virtual void report(const Message& message) const = 0;
  // Called after report() for each message of a recording that is refused.
  virtual void record_refusal(const Message& message) const = 0;

 protected:
  ~MessageSink() = default;
};

struct CheckDesc {
  const DeviceInfo& device;
  Validation validation;
  const MessageSink& sink;
};
// Validates the recording and reports the findings. Returns those that are not errors; throws the
// first error.
[[nodiscard]] std::vector<Message> check(const Recording& recording, const CheckDesc& desc);

// Starts to build the dependencies of a long recording, concurrently with check().
[[nodiscard]] std::future<DependencyGraph> build_dependencies_async(
    std::shared_ptr<const Recording> recording);

// True if Lowering::Auto may make a segment of the recording for the device: a GPU that runs
// segments, one replica, and enough commands, of one block each or with relations of blocks.
[[nodiscard]] bool may_have_segments(const Recording& recording, const Lowering& lowering,
                                     MemoryGoal goal, const DeviceInfo& device,
                                     std::uint32_t replicas);

// The stages that make_plan() can skip.
struct EarlierStages {
  // A plan made with the same options. If its dependencies have the same structure, the new plan is
  // lowered node by node as this one; stages whose input is the same are skipped. Null: none.
  const Plan* like = nullptr;
  // Asked for the structure unless `like` has it; receives a new one. Null: none.
  CacheLookup* cache = nullptr;
  // The result of build_dependencies_async(), if it was called.
  std::future<DependencyGraph> dependencies = {};
};
// Throws InvalidArgument if options.costs has no graph of this label with commands of the
// recording, unless there is a plan `like` this one.
[[nodiscard]] std::shared_ptr<const Plan> make_plan(std::string label,
                                                    std::shared_ptr<const Recording> recording,
                                                    const PlanOptions& options,
                                                    EarlierStages earlier = {});

// The same recording and needed edges, lowered as `choice`, which replaces options.lowering except
// for its fault markers.
[[nodiscard]] std::shared_ptr<const Plan> lower_again(const Plan& plan,
                                                      const LoweringConfig& choice,
                                                      const PlanOptions& options);

// The addresses that replica `replica` of a graph passes to its nodes, with transients in `slab`.
[[nodiscard]] Bindings bind(const Plan& plan, std::byte* slab, std::uint32_t replica);

[[nodiscard]] CompileReport make_report(const Plan& plan, std::vector<Message> messages);

}  // namespace reprise::detail
