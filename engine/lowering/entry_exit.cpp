#include "lowering/entry_exit.hpp"

#include <algorithm>

#include "record/payload.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kThreadsOfGpu = std::uint64_t{1}
                                        << 18;  // 128 multiprocessors have room for so many
// A kernel before all takes 0.6 us and saves 0.8 us of two roots; one after all takes 0.5 us, and
// no more than that is saved of fewer leaves.
constexpr std::uint32_t kFewestRoots = 2, kFewestLeaves = 8;
// Copies wait for another engine: a kernel beside them takes up to 2 us.
constexpr std::uint32_t kFewestRootsBesideOthers = 8, kFewestLeavesBesideOthers = 16;
// One that fills a GPU hides what few others cost.
constexpr std::uint32_t kFewestFull = 24;

NodeWork work_of(const Recording& recording, std::uint32_t command) {
  switch (recording.commands[command].kind) {
    case CommandKind::Dispatch: {
      const auto& dispatch = recording.payload<DispatchPayload>(command);
      const bool is_full = dispatch.grid.volume() >=
                           kThreadsOfGpu / std::max<std::uint64_t>(dispatch.block.volume(), 1);
      return is_full ? NodeWork::FullKernel : NodeWork::Kernel;
    }
    case CommandKind::Fill: return NodeWork::Fill;
    case CommandKind::Barrier: return NodeWork::Kernel;  // one that stayed as a join is one
    case CommandKind::Copy:
    case CommandKind::Update:
    case CommandKind::Host:
    case CommandKind::Op:
    case CommandKind::Nested:
    case CommandKind::Conditional: return NodeWork::Other;
  }
  return NodeWork::Other;
}

void count(GraphSide& side, NodeWork work) {
  switch (work) {
    case NodeWork::Kernel: ++side.kernels; return;
    case NodeWork::FullKernel: ++side.full_kernels; return;
    case NodeWork::Fill: ++side.fills; return;
    case NodeWork::Other: ++side.others; return;
  }
}

bool pays(const GraphSide& side, std::uint32_t fewest, std::uint32_t fewest_beside_others) {
  return side.kernels + side.full_kernels >= kFewestFull ||
         side.kernels >= (side.others != 0 ? fewest_beside_others : fewest);
}

}  // namespace

std::vector<NodeWork> works_of(const Recording& recording, const DependencyGraph& dependencies) {
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
    if (is_first_of_lane && dependencies.edges_into(node).empty()) count(ends.roots, work);
    if (has_child[node] == 0) count(ends.leaves, work);
  }
  return ends;
}

EntryExit choose_entry_exit(const GraphEnds& ends) {
  return {.begin = pays(ends.roots, kFewestRoots, kFewestRootsBesideOthers),
          .end = pays(ends.leaves, kFewestLeaves, kFewestLeavesBesideOthers)};
}

}  // namespace reprise::detail
