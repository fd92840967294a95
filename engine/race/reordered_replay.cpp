#include "race/reordered_replay.hpp"

#include <utility>

#include "base/handle_access.hpp"
#include "lowering/lowered_graph.hpp"
#include "memory/placement.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compile_graph.hpp"

namespace reprise::detail {

ReorderedReplay::ReorderedReplay(Device device, Queue queue,
                                 std::shared_ptr<const Recording> recording, const RaceDesc& desc)
    : device_(std::move(device)),
      queue_(std::move(queue)),
      recording_(std::move(recording)),
      dependencies_(build_dependencies(*recording_)) {
  // From needed edges only: valid for every order that they allow.
  const Placement placement = place_transients(
      *recording_, dependencies_, build_lowered_graph(dependencies_, Lowering::Faithful),
      device_.info().limits.buffer_alignment);
  if (placement.slab_bytes != 0) {
    pool_ = device_.create_pool({.label = "find_races"});
    slab_ = pool_->allocate<std::byte>(placement.slab_bytes, "transient buffers");
  }
  poisoned_.emplace(recording_, dependencies_, placement, core_of(slab_));
  memory_.emplace(device_, queue_, *recording_, desc);
}

void ReorderedReplay::replay(std::span<const std::uint32_t> order, std::uint32_t count,
                             const Poison& poison) {
  memory_->restore();
  auto recording = poisoned_->make(order, count, poison);
  if (recording->commands.empty()) return;
  auto graph = make_handle<CapturedGraph>(
      compile_checked(core_of(device_), std::move(recording), {.lowering = Lowering::Faithful}));
  graph.launch(queue_).wait();
  ++replays_;
}

MemoryCheckpoint::Image ReorderedReplay::run(std::span<const std::uint32_t> order,
                                             const Poison& poison) {
  replay(order, static_cast<std::uint32_t>(order.size()), poison);
  return memory_->read();
}

ReorderedReplay::PartialResult ReorderedReplay::run_until(std::span<const std::uint32_t> order,
                                                          std::uint32_t count,
                                                          const Poison& poison) {
  replay(order, count, poison);
  PartialResult found;
  found.memory = memory_->read();
  if (has_transients()) found.slab = read_slab();
  return found;
}

MemoryCheckpoint::Image ReorderedReplay::read_slab() {
  if (!save_slab_) {
    slab_stage_ = pool_->host<std::byte>(slab_.bytes(), "saved transient buffers");
    CommandBuffer commands =
        device_.create_command_buffer({.label = "find_races: save transient buffers"});
    commands.begin();
    commands.copy(slab_, slab_stage_);
    commands.end();
    save_slab_ = device_.compile(commands);
  }
  save_slab_.launch(queue_).wait();
  return {slab_stage_.data(), slab_stage_.data() + slab_stage_.size()};
}

}  // namespace reprise::detail
