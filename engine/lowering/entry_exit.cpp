#include "lowering/entry_exit.hpp"

#include <algorithm>

#include "record/payload.hpp"

namespace reprise::detail {

namespace {

// Resident threads of a GPU with 128 multiprocessors.
constexpr std::uint64_t kGpuThreads = std::uint64_t{1} << 18;
// An entry kernel costs 0.6 us and saves 0.8 us with two roots. An exit kernel costs 0.5 us, which
// fewer leaves do not recover.
constexpr std::uint32_t kMinRoots = 2, kMinLeaves = 8;
// Copies wait for another engine: an extra kernel beside copies costs up to 2 us.
constexpr std::uint32_t kMinRootsWithOthers = 8, kMinLeavesWithOthers = 16;
// Kernels that fill the GPU hide the cost of a few others.
constexpr std::uint32_t kMinKernelsIfFull = 24;

NodeWork work_of(const Recording& recording, std::uint32_t command) {
  switch (recording.commands[command].kind) {
    case CommandKind::Dispatch: {
      const auto& dispatch = recording.payload<DispatchPayload>(command);
      const bool is_full = dispatch.grid.volume() >=
                           kGpuThreads / std::max<std::uint64_t>(dispatch.block.volume(), 1);
      return is_full ? NodeWork::FullKernel : NodeWork::Kernel;
    }
    case CommandKind::Fill: return NodeWork::Fill;
    case CommandKind::Barrier: return NodeWork::Kernel;  // a join runs as an empty kernel
    case CommandKind::Copy:
    case CommandKind::Update:
    case CommandKind::Host:
    case CommandKind::Op:
    case CommandKind::Nested:
    case CommandKind::Conditional: return NodeWork::Other;
  }
  return NodeWork::Other;
}

void add_to_side(GraphSide& side, NodeWork work) {
  switch (work) {
    case NodeWork::Kernel: ++side.kernels; return;
    case NodeWork::FullKernel: ++side.full_kernels; return;
    case NodeWork::Fill: ++side.fills; return;
    case NodeWork::Other: ++side.others; return;
  }
}

bool is_worthwhile(const GraphSide& side, std::uint32_t min, std::uint32_t min_with_others) {
  return side.kernels + side.full_kernels >= kMinKernelsIfFull ||
         side.kernels >= (side.others != 0 ? min_with_others : min);
}

}  // namespace

std::vector<NodeWork> node_works(const Recording& recording, const DependencyGraph& dependencies) {
  std::vector<NodeWork> works;
  works.reserve(dependencies.node_count());
  for (const std::uint32_t command : dependencies.node_command)
    works.push_back(work_of(recording, command));
  return works;
}

GraphEnds count_ends(const DependencyGraph& dependencies, std::span<const std::uint32_t> before,
                     std::span<const NodeWork> works) {
  std::vector<std::uint8_t> has_child(dependencies.node_count(), 0);
  for (const Edge& edge : dependencies.edges) has_child[edge.from] = 1;
  for (const std::uint32_t node : before) {
    if (node != kNone) has_child[node] = 1;
  }
  GraphEnds ends;
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    const NodeWork work = works.empty() ? NodeWork::Kernel : works[node];
    const bool is_first_of_lane = before.empty() || before[node] == kNone;
    if (is_first_of_lane && dependencies.edges_into(node).empty()) add_to_side(ends.roots, work);
    if (has_child[node] == 0) add_to_side(ends.leaves, work);
  }
  return ends;
}

EntryExit choose_entry_exit(const GraphEnds& ends) {
  return {.entry = is_worthwhile(ends.roots, kMinRoots, kMinRootsWithOthers),
          .exit = is_worthwhile(ends.leaves, kMinLeaves, kMinLeavesWithOthers)};
}

}  // namespace reprise::detail
