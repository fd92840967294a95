// Program: a random use of the whole API as a plain value: memories, graphs with the recordings
// that they are compiled from and updated to, and steps. Execution skips steps that do not apply,
// so any part of a program is a program. Knows no device. Threads: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

namespace reprise::test::programs {

inline constexpr std::uint32_t kNone = 0xffffffffu;

struct Memory {
  // Scalar: one word that steps set in queue order, and that commands read.
  enum class Kind : std::uint8_t { Device, Pinned, Transient, Borrowed, Scalar };
  Kind kind = Kind::Device;
  std::uint32_t bytes = 0;
  bool is_spare = false;  // recordings do not use it; rebinds put it in place of others
};

struct Location {
  std::uint32_t memory = kNone;  // in Program::memories; kNone: a snapshot
  std::uint32_t offset = 0;      // bytes
};

struct Recording;

struct Command {
  enum class Kind : std::uint8_t {
    Add,      // to[i] = from[i] + value
    Mix,      // to[i] = to[i] * 1664525 + (from[i] ^ value) + 1013904223
    Reverse,  // to[i] = from in reverse order within each block
    Sum,      // to[0] += the sum of from[i] * value
    MixOp,    // Mix, as an op that is one kernel
    Fill,
    Copy,
    Update,
    Host,  // to[i] = to[i] * 1664525 + value
    Op,    // Mix twice, with value and value + 1
    Execute,
    Nested,
    If,     // bodies[0] if from[0] is odd, otherwise bodies[1]
    While,  // bodies[0] value times
    Switch  // bodies[from[0] % (bodies.size() + 1)]
  };
  Kind kind = Kind::Add;
  std::uint32_t id = 0;  // unique in a recording and its bodies; equal in similar recordings
  Location from, to;
  std::uint32_t words = 0;  // `i` is less than this
  std::uint32_t block = 0;  // threads of a block
  CopyDesc shape = {};      // of Fill (destination), Copy and Update (width)
  std::uint32_t element_bytes = 0;
  std::uint32_t value = 0;     // also the seed of the bytes of snapshots and updates
  std::uint32_t slot = kNone;  // of Add and Mix: the value is that of Recording::slots[slot]
  bool has_label = false;
  bool is_early = false;  // of Mix: Start::Programmatic
  std::vector<Recording> bodies = {};

  [[nodiscard]] bool is_kernel() const { return kind <= Kind::MixOp; }
  // CapturedGraph::disable() accepts it.
  [[nodiscard]] bool can_be_disabled() const { return kind <= Kind::Update; }
  [[nodiscard]] bool has_condition() const { return kind >= Kind::If; }
  [[nodiscard]] bool reads() const {
    return kind != Kind::Fill && kind != Kind::Update && kind != Kind::Host &&
           kind != Kind::Execute && kind != Kind::Nested && kind != Kind::While &&
           from.memory != kNone;
  }
  [[nodiscard]] bool writes() const { return kind < Kind::Execute; }
};

struct Recording {
  Ordering ordering = Ordering::Inferred;
  std::uint32_t recorders = 1;            // of split(); 1: it is not called
  std::vector<std::uint32_t> slots = {};  // initial values; of a body: those of the outermost
  std::vector<Command> commands = {};
};

struct Graph {
  Lowering lowering = Lowering::Auto;
  MemoryGoal goal = MemoryGoal::Speed;
  std::uint32_t replicas = 1;
  std::vector<Recording> recordings = {};  // the first is compiled, the others are for updates
};

struct Step {
  enum class Kind : std::uint8_t {
    Launch,     // on queue a, of replica b (kNone: any)
    Sync,       // waits and compares all memory
    SetSlot,    // slot a to value b
    SetScalar,  // the scalar to value b, on queue a
    Disable,    // the command with id a
    Enable,
    Rebind,      // memory a to memory b; a itself: as recorded
    Update,      // to recording a
    ExecUpdate,  // to recording a
    Upload,      // on queue a
    Trim,
    Compile,  // drops the graph and compiles its recording again, perhaps during replays
    Wait,     // queue a waits for the last launch on queue b
    Change    // waits; the host changes all pinned and borrowed memory; `a` is the seed
  };
  Kind kind = Kind::Launch;
  std::uint32_t graph = 0, a = 0, b = 0;
};

struct Program {
  SlabSharing sharing = SlabSharing::None;
  std::uint32_t queues = 1;
  std::vector<Memory> memories;
  std::vector<Graph> graphs;
  std::vector<Step> steps;
};

// Deterministic. `has_segments`: the device has Lowering::Persistent.
[[nodiscard]] Program generate(std::uint64_t seed, bool has_segments);
[[nodiscard]] std::string to_text(const Program& program);
[[nodiscard]] std::string to_text(const Step& step);

// The bytes of a seed, the same on every platform.
[[nodiscard]] std::vector<std::uint8_t> bytes_of(std::uint32_t seed, std::uint64_t count);
[[nodiscard]] std::uint64_t span_of(const Extent& extent, const Pitch& pitch);
// Calls visit(command) for the commands of `recording` and of its bodies.
template <class Visit>
void for_each_command(const Recording& recording, const Visit& visit) {
  for (const Command& command : recording.commands) {
    visit(command);
    for (const Recording& body : command.bodies) for_each_command(body, visit);
  }
}

}  // namespace reprise::test::programs
