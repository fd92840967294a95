// Recording: what end() freezes: the commands of one command buffer, flat, in recorded order. The
// input of every stage. Knows no device. Threads: immutable once made; shared by the command buffer
// and the graphs compiled from it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <reprise/types.hpp>

#include "base/arena.hpp"
#include "record/buffer_core.hpp"
#include "record/command.hpp"
#include "record/kernel_core.hpp"
#include "record/recorded_op.hpp"

namespace reprise::detail {

struct LabelRecord {
  std::uint32_t parent = 0;  // label 0 is the root: empty name, its own parent
  std::string name;
  Color color;
};

// ReadBack: of a graph that the application made or captured: it tells what the nodes do, and
// nothing is made of it again.
enum class RecordingOrigin : std::uint8_t { Recorded, ReadBack };

struct UserEdge {
  std::uint32_t before = 0, after = 0;  // command indices
  SourceLocation where = {};
  Dependency dependency = Dependency::Full;
};

// Where the commands of one recorder went: its commands [first, first + count) are the recording's
// from `command` on.
struct RecordedRun {
  std::uint32_t recorder = 0, first = 0, count = 0, command = 0;
};

struct Recording {
  std::string label;
  Ordering ordering = Ordering::Inferred;
  Level level = Level::Primary;
  RecordingOrigin origin = RecordingOrigin::Recorded;
  std::shared_ptr<DeviceStatus> device;
  std::uint32_t generation = 1;

  std::vector<Command> commands;
  std::vector<BufferAccess> accesses;
  std::vector<AccessShape> shapes;
  std::vector<LabelRecord> labels;  // [0] is the root
  std::vector<UserEdge> edges;      // from edge()
  std::vector<RecordedRun> runs;
  std::vector<std::shared_ptr<BufferCore>> buffers;        // in order of first use
  std::vector<std::shared_ptr<const KernelCore>> kernels;  // in order of first use
  std::vector<std::shared_ptr<const std::function<void()>>> functions;
  std::vector<std::shared_ptr<const void>> owners;  // of what arguments point to, besides buffers
  std::vector<std::shared_ptr<const RecordedOp>> ops;
  std::vector<std::shared_ptr<const Recording>>
      bodies;  // of commands that run a whole recording, one for each use
  std::vector<std::shared_ptr<const Arena>> arenas;  // own the payloads

  template <class Payload>
  [[nodiscard]] const Payload& payload(std::uint32_t command) const {
    return *static_cast<const Payload*>(commands[command].payload);
  }
  // The index of a command that a verb gave; kNone for one of another recording.
  [[nodiscard]] std::uint32_t command_of(const CommandRef& ref) const noexcept;
  // A kernel that waits itself for what it comes after.
  [[nodiscard]] bool starts_programmatically(std::uint32_t command) const noexcept;
  // Whether what has this dependency is ordered before `command`.
  [[nodiscard]] bool orders(Dependency dependency, std::uint32_t command) const noexcept {
    return dependency == Dependency::Full || starts_programmatically(command);
  }
  [[nodiscard]] bool has_programmatic_dependencies() const noexcept;
  // "forward/layer 1"; empty at the root.
  [[nodiscard]] std::string label_path(std::uint32_t label) const;
  // "dispatch saxpy", "copy x -> y", "fill tmp", ... for messages, plans and DOT.
  [[nodiscard]] std::string command_name(std::uint32_t command) const;
};

// True if two accesses touch a byte in common; exact for dense ranges and for shapes with equal
// pitches, else by bounds.
[[nodiscard]] bool overlaps(const Recording& recording, const BufferAccess& a,
                            const BufferAccess& b);

}  // namespace reprise::detail
