// Recording: the frozen commands of one command buffer, flat, in recorded order: the input of every
// stage. Knows no device. Threads: immutable; shared by the command buffer and the graphs compiled
// from it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include <reprise/types.hpp>

#include "base/arena.hpp"
#include "record/buffer_core.hpp"
#include "record/command.hpp"
#include "record/kernel_core.hpp"
#include "record/memory_places.hpp"
#include "record/recorded_op.hpp"

namespace reprise::detail {

struct LabelRecord {
  std::uint32_t parent = 0;  // label 0 is the root: empty name, its own parent
  std::string name;
  Color color;
};

// ReadBack: describes a graph that the application created or captured; it is displayed, never
// compiled.
enum class RecordingOrigin : std::uint8_t { Recorded, ReadBack };

struct UserEdge {
  std::uint32_t before = 0, after = 0;  // command indices
  SourceLocation where = {};
  Dependency dependency = Dependency::Full;
};

// Maps commands [first, first + count) of a recorder to commands [command, command + count) of the
// recording. Recorders of inlined secondaries have a run for each copy.
struct RecordedRun {
  std::uint32_t recorder = 0, first = 0, count = 0, command = 0;
};

// An access in terms of the memory that contains its buffer.
[[nodiscard]] inline BufferAccess moved_to(const MemoryPlace& place, BufferAccess access) noexcept {
  access.buffer = place.memory;
  access.begin += place.offset;
  access.end += place.offset;
  return access;
}

struct Recording {
  std::string label;
  Ordering ordering = Ordering::Inferred;
  Level level = Level::Primary;
  RecordingOrigin origin = RecordingOrigin::Recorded;
  std::shared_ptr<DeviceStatus> device;
  std::uint32_t generation = 1;
  bool has_collectives = false;  // without those of bodies
  std::uint32_t nesting = 0;     // levels of bodies
  // Commands of all bodies and theirs, counted once for each command that runs them.
  std::uint64_t nested_commands = 0;

  std::vector<Command> commands;
  std::vector<BufferAccess> accesses;
  std::vector<AccessShape> shapes;
  std::vector<LabelRecord> labels;  // [0] is the root
  std::vector<UserEdge> edges;      // from edge()
  std::vector<RecordedRun> runs;
  std::vector<std::shared_ptr<BufferCore>> buffers;  // in order of first use
  std::vector<MemoryPlace> places;                   // by buffer; empty: no two buffers share bytes
  std::vector<std::shared_ptr<const KernelCore>> kernels;  // in order of first use
  std::vector<std::shared_ptr<const std::function<void()>>> functions;
  // of objects that arguments point to, except buffers
  std::vector<std::shared_ptr<const void>> owners;
  std::vector<std::shared_ptr<const RecordedOp>> ops;
  std::vector<std::shared_ptr<const Recording>> bodies;  // of nested and conditional commands
  std::vector<std::shared_ptr<const Arena>> arenas;      // own the payloads

  template <class Payload>
  [[nodiscard]] const Payload& payload(std::uint32_t command) const {
    return *static_cast<const Payload*>(commands[command].payload);
  }
  // The access in terms of memory: equal `buffer`s and common bytes mean common memory.
  [[nodiscard]] BufferAccess in_memory(BufferAccess access) const noexcept {
    return places.empty() ? access : moved_to(places[access.buffer], access);
  }
  // Calls visit(index) for each command that the reference names: several for one of a secondary
  // that was inlined several times, none for one of another recording.
  template <class Visit>
  void for_each_command(const CommandRef& ref, Visit&& visit) const {
    for (const RecordedRun& run : runs) {
      if (run.recorder == ref.recorder && ref.index - run.first < run.count)
        visit(run.command + (ref.index - run.first));
    }
  }
  // True for a kernel that waits for its predecessors itself.
  [[nodiscard]] bool starts_programmatically(std::uint32_t command) const noexcept;
  // True if a dependency of this kind orders its predecessor before `command`.
  [[nodiscard]] bool orders(Dependency dependency, std::uint32_t command) const noexcept {
    return dependency == Dependency::Full || starts_programmatically(command);
  }
  [[nodiscard]] bool has_programmatic_dependencies() const noexcept;
  // "forward/layer 1"; empty at the root.
  [[nodiscard]] std::string label_path(std::uint32_t label) const;
  // "dispatch saxpy", "copy x -> y", "fill tmp", ... for messages, plans and DOT.
  [[nodiscard]] std::string command_name(std::uint32_t command) const;
  // The name in traces, by which cost profiles find a command again: that of the kernel of a
  // dispatch that is no op, otherwise command_name().
  [[nodiscard]] std::string traced_name(std::uint32_t command) const;
};

// The first of `recording`, its bodies and theirs, for which `is_wanted` is true; null if there is
// none. Calls it once for a recording that several commands execute.
template <class Predicate>
[[nodiscard]] const Recording* find_recording(const Recording& recording,
                                              const Predicate& is_wanted) {
  if (is_wanted(recording)) return &recording;
  if (recording.bodies.empty()) return nullptr;
  std::vector<const Recording*> open = {&recording};
  std::unordered_set<const Recording*> found;
  while (!open.empty()) {
    const Recording* const next = open.back();
    open.pop_back();
    if (next != &recording && is_wanted(*next)) return next;
    for (auto body = next->bodies.rbegin(); body != next->bodies.rend(); ++body)
      if (found.insert(body->get()).second) open.push_back(body->get());
  }
  return nullptr;
}

// True if two accesses, both in terms of buffers or both in terms of memory, share a byte. Exact
// for dense ranges and for shapes with equal pitches; otherwise conservative, by bounds.
[[nodiscard]] bool overlaps(const Recording& recording, const BufferAccess& a,
                            const BufferAccess& b);

}  // namespace reprise::detail
