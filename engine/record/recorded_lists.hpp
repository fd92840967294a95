// RecordedLists: the output of one recorder: commands, accesses and payloads in an arena, with
// recorder-local indices. end() merges the lists of all recorders of a command buffer into one
// Recording. Threads: one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/arena.hpp"
#include "record/chunk_list.hpp"
#include "record/command.hpp"
#include "record/held_buffers.hpp"
#include "record/kernel_core.hpp"
#include "record/pointer_map.hpp"
#include "record/recorded_op.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

// A recorder-local label. Index 0 is the recorder's root; its parent is the label that was open at
// split().
struct LocalLabel {
  const LocalLabel* parent = nullptr;
  std::string_view name;  // in the arena
  Color color;
  std::uint32_t index = 0;
  std::uint32_t depth = 0;     // labels open at it, itself included
  std::uint64_t observed = 0;  // the observer's id of the label
};

struct LocalEdge {
  CommandRef before, after;
  SourceLocation where;
  Dependency dependency = Dependency::Full;
};

struct RecordedLists {
  std::uint32_t recorder = 0;  // id in the recorder's CommandRefs
  std::shared_ptr<Arena> arena;
  ChunkList<Command> commands;
  ChunkList<BufferAccess> accesses;
  ChunkList<AccessShape> shapes;
  ChunkList<LocalLabel> labels;  // [0] is the root
  ChunkList<LocalEdge> edges;
  std::vector<RecordedRun> inlined;  // of secondaries, to local commands
  HeldBuffers buffers;  // in order of first use
  std::vector<std::shared_ptr<const KernelCore>> kernels;
  std::vector<std::shared_ptr<const std::function<void()>>> functions;
  std::vector<std::shared_ptr<const void>> owners;  // of objects that arguments point to
  std::vector<std::shared_ptr<const RecordedOp>> ops;
  std::vector<std::shared_ptr<const Recording>> bodies;
};

}  // namespace reprise::detail
