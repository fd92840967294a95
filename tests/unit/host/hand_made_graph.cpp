#include "unit/host/hand_made_graph.hpp"

#include <algorithm>

namespace reprise::test {

using namespace detail;

HandMadeGraph::HandMadeGraph(Backend& backend)
    : backend_(backend),
      recording_(std::make_shared<Recording>()),
      arena_(std::make_shared<Arena>()) {
  recording_->label = "hand-made";
  recording_->labels.push_back({});
}

std::uint32_t HandMadeGraph::add_buffer(std::span<std::byte> memory) {
  addresses_.push_back(memory.data());
  return static_cast<std::uint32_t>(addresses_.size() - 1);
}

std::uint32_t HandMadeGraph::add(CommandKind kind, const void* payload) {
  Command command;
  command.kind = kind;
  command.payload = payload;
  recording_->commands.push_back(command);
  return static_cast<std::uint32_t>(recording_->commands.size() - 1);
}

std::uint32_t HandMadeGraph::add_dispatch(const KernelDesc& kernel, const LaunchShape& shape,
                                          std::span<const std::byte> parameters,
                                          std::span<const BufferArgument> buffers) {
  auto core = std::make_shared<KernelCore>(backend_.load_kernel(kernel));
  auto* payload = arena_->make<DispatchPayload>();
  payload->kernel = static_cast<std::uint32_t>(recording_->kernels.size());
  payload->grid = shape.grid;
  payload->block = shape.block;
  payload->shared_bytes = shape.shared_bytes;
  payload->parameter_bytes = core->parameter_bytes;
  payload->parameters = arena_->copy_bytes(parameters.data(), core->parameter_bytes);
  payload->buffer_argument_count = static_cast<std::uint32_t>(buffers.size());
  payload->buffer_arguments = arena_->make_array<BufferArgument>(buffers.size());
  std::copy(buffers.begin(), buffers.end(), payload->buffer_arguments);
  recording_->kernels.push_back(std::move(core));
  return add(CommandKind::Dispatch, payload);
}

std::uint32_t HandMadeGraph::update(BufferAt destination, std::span<const std::byte> bytes) {
  auto* payload = arena_->make<UpdatePayload>();
  *payload = {destination.buffer, destination.offset, bytes.size(),
              arena_->copy_bytes(bytes.data(), bytes.size())};
  return add(CommandKind::Update, payload);
}

std::uint32_t HandMadeGraph::host(std::function<void()> function) {
  auto* payload = arena_->make<HostPayload>();
  payload->function = static_cast<std::uint32_t>(recording_->functions.size());
  recording_->functions.push_back(
      std::make_shared<const std::function<void()>>(std::move(function)));
  return add(CommandKind::Host, payload);
}

std::uint32_t HandMadeGraph::join() {
  return add(CommandKind::Barrier, arena_->make<BarrierPayload>());
}

std::shared_ptr<const Plan> HandMadeGraph::plan() {
  const auto count = static_cast<std::uint32_t>(recording_->commands.size());
  if (chain_ && edges_.empty()) {
    for (std::uint32_t i = 1; i < count; ++i) edge(i - 1, i);
  }
  recording_->arenas.push_back(arena_);
  auto plan = std::make_shared<Plan>();
  plan->label = recording_->label;
  const std::uint32_t shift = entry_exit_ ? 1 : 0;
  LoweredGraph& lowered = plan->lowered;
  const auto add_node = [&](LoweredKind kind, std::uint32_t dependency_node) {
    lowered.nodes.push_back(
        {kind, dependency_node, 0, static_cast<std::uint32_t>(lowered.edges.size()), 0});
  };
  const auto add_edge = [&](std::uint32_t from) {
    lowered.edges.push_back({from, EdgeOrigin::Needed});
    ++lowered.nodes.back().edge_count;
  };
  if (entry_exit_) add_node(LoweredKind::Entry, kNone);
  for (std::uint32_t i = 0; i < count; ++i) {
    plan->dependencies.node_command.push_back(i);
    plan->dependencies.is_join.push_back(recording_->commands[i].kind == CommandKind::Barrier ? 1
                                                                                              : 0);
    add_node(LoweredKind::Work, i);
    if (entry_exit_) add_edge(0);
    for (const auto& [before, after] : edges_) {
      if (after == i) add_edge(before + shift);
    }
  }
  if (entry_exit_) {
    add_node(LoweredKind::Exit, kNone);
    for (std::uint32_t i = 0; i < count; ++i) add_edge(i + shift);
  }
  plan->recording = recording_;
  return plan;
}

}  // namespace reprise::test
