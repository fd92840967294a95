#include <algorithm>

#include "programs/program.hpp"
#include "support/random_recording.hpp"

namespace reprise::test::programs {
namespace {

using Kind = Command::Kind;

// Commands of a program that may access one borrowed memory.
constexpr std::uint32_t kCommandsOfBorrowedMemory = 4;
constexpr std::uint32_t kMinBytes = 800, kMaxBytes = 1600, kMaxDepth = 2, kSlots = 3;

class Generator {
 public:
  Generator(std::uint64_t seed, bool has_segments) : random_(seed), has_segments_(has_segments) {}

  Program program() {
    program_.sharing = one_in(3) ? SlabSharing::OneAtATime : SlabSharing::None;
    program_.queues = 1 + below(3);
    add_memories(Memory::Kind::Device, 2 + below(3));
    add_memories(Memory::Kind::Pinned, 1 + below(2));
    for (const auto kind : {Memory::Kind::Device, Memory::Kind::Device, Memory::Kind::Pinned})
      program_.memories.push_back({kind, kMaxBytes, true});
    program_.memories.push_back({Memory::Kind::Scalar, 4});
    scalar_ = static_cast<std::uint32_t>(program_.memories.size()) - 1;
    add_memories(Memory::Kind::Transient, 1 + below(4));
    replicas_ = one_in(4) ? 2 + below(2) : 1;
    for (std::uint32_t i = replicas_ == 1 ? 1 + below(2) : 1; i != 0; --i)
      program_.graphs.push_back(graph());
    for (std::uint32_t i = 4 + below(24); i != 0; --i) program_.steps.push_back(step());
    program_.steps.push_back({Step::Kind::Sync});
    return std::move(program_);
  }

 private:
  struct Scope {
    bool is_conditional = false, is_nested = false;
    std::uint32_t depth = 0;
  };

  std::uint32_t below(std::uint64_t limit) { return random_.below(limit); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  std::uint32_t word() { return static_cast<std::uint32_t>(random_.next()); }

  void add_memories(Memory::Kind kind, std::uint32_t count) {
    for (; count != 0; --count)
      program_.memories.push_back({kind, one_in(2) ? kMaxBytes : kMinBytes + 4 * below(200)});
  }

  Graph graph() {
    Graph made;
    switch (below(has_segments_ ? 6 : 4)) {
      case 0: made.lowering = Lowering::Auto; break;
      case 1: made.lowering = Lowering::Faithful; break;
      case 2:
      case 3: made.lowering = Lowering::Lanes(1 + below(4)); break;
      default: made.lowering = Lowering::Persistent; break;
    }
    if (one_in(6)) made.lowering = made.lowering.with_fault_markers();
    const Lowering::Mode mode = made.lowering.mode;
    if ((mode == Lowering::Mode::Auto || mode == Lowering::Mode::Lanes) && one_in(3))
      made.goal = one_in(2) ? MemoryGoal::Balanced : MemoryGoal::Minimum;
    made.replicas = replicas_;
    next_id_ = 0;
    made.recordings.push_back(outermost());
    made.recordings.push_back(similar(made.recordings[0]));
    made.recordings.push_back(made.recordings[0]);  // identical
    made.recordings.push_back(outermost());
    return made;
  }

  Recording outermost() {
    Recording made = recording({}, ordering(), 2 + below(14));
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) made.slots.push_back(word());
    if (made.ordering != Ordering::Explicit && one_in(4)) made.recorders = 2 + below(2);
    return made;
  }
  Ordering ordering() {
    return one_in(4) ? Ordering::Explicit : one_in(5) ? Ordering::Linear : Ordering::Inferred;
  }
  Recording recording(const Scope& scope, Ordering ordering, std::uint32_t commands) {
    Recording made{.ordering = ordering};
    for (; commands != 0; --commands) made.commands.push_back(command(scope, ordering));
    return made;
  }

  // The same commands with other values.
  Recording similar(Recording recording) {
    for (std::uint32_t& slot : recording.slots) slot = word();
    change_values(recording);
    return recording;
  }
  void change_values(Recording& recording) {
    for (Command& command : recording.commands) {
      if (command.kind != Kind::While && one_in(2)) command.value = word();
      for (Recording& body : command.bodies) change_values(body);
    }
  }

  Command command(const Scope& scope, Ordering ordering) {
    Command made;
    made.id = next_id_++;
    made.value = word();
    made.has_label = one_in(6);
    made.kind = kind(scope);
    switch (made.kind) {
      case Kind::Fill:
      case Kind::Copy:
      case Kind::Update: set_transfer(made, scope); return made;
      case Kind::Execute: add_bodies(made, scope, 1, ordering); return made;
      case Kind::Nested:
        add_bodies(made, {scope.is_conditional, true, scope.depth}, 1, this->ordering());
        return made;
      case Kind::While: made.value %= 4; [[fallthrough]];
      case Kind::If:
      case Kind::Switch:
        made.from = {one_in(3) ? scalar_ : memory(false), 0};
        add_bodies(made, {true, scope.is_nested, scope.depth},
                   made.kind == Kind::While ? 1
                   : made.kind == Kind::If  ? 1 + below(2)
                                            : 1 + below(3),
                   this->ordering());
        return made;
      default: set_kernel(made); return made;
    }
  }

  Kind kind(const Scope& scope) {
    for (;;) {
      const auto kind = static_cast<Kind>(below(static_cast<std::uint32_t>(Kind::Switch) + 1));
      const bool has_bodies = kind >= Kind::Execute, has_condition = kind >= Kind::If;
      if (has_bodies && (scope.depth == kMaxDepth || one_in(3))) continue;
      if (has_condition && scope.is_nested) continue;
      if (kind == Kind::Host && (scope.is_conditional || replicas_ != 1)) continue;
      return kind;
    }
  }

  void add_bodies(Command& command, Scope scope, std::uint32_t count, Ordering ordering) {
    ++scope.depth;
    for (; count != 0; --count) command.bodies.push_back(recording(scope, ordering, 1 + below(3)));
  }

  // Any memory that kernels access, or only pinned memory.
  std::uint32_t memory(bool is_pinned) {
    for (;;) {
      const std::uint32_t chosen = below(program_.memories.size());
      const auto& [kind, bytes, is_spare] = program_.memories[chosen];
      if (is_spare || kind == Memory::Kind::Borrowed || kind == Memory::Kind::Scalar) continue;
      if (!is_pinned || kind == Memory::Kind::Pinned) return chosen;
    }
  }
  std::uint32_t other_memory(std::uint32_t than) {
    for (;;) {
      const std::uint32_t chosen = memory(false);
      if (chosen != than) return chosen;
    }
  }

  void set_kernel(Command& command) {
    command.to.memory = memory(command.kind == Kind::Host);
    command.from.memory = command.kind == Kind::Host ? kNone : other_memory(command.to.memory);
    command.block = 32u << below(3);
    command.words = 1 + below(one_in(2) ? 300 : 90);
    const auto room = [&](const Location& at) {
      return at.memory == kNone ? kMaxBytes / 4 : program_.memories[at.memory].bytes / 4;
    };
    command.words = std::min({command.words, room(command.from), room(command.to)});
    if (command.kind == Kind::Reverse)
      command.words = std::max(command.words / command.block, 1u) * command.block;
    const auto place = [&](Location& at) {
      if (one_in(2)) at.offset = 4 * below(room(at) - command.words + 1);
    };
    place(command.from);
    place(command.to);
    if ((command.kind == Kind::Add || command.kind == Kind::Mix) && one_in(3))
      command.slot = below(kSlots);
    command.is_early = command.kind == Kind::Mix && one_in(5);
  }

  void set_transfer(Command& command, const Scope& scope) {
    const bool is_copy = command.kind == Kind::Copy;
    const std::uint32_t unit = command.kind == Kind::Fill ? 1u << below(3) : 1;
    command.element_bytes = unit;
    Extent& extent = command.shape.extent;
    extent = {unit * (1 + below(one_in(2) ? 60 : 8)), 1, 1};
    if (command.kind != Kind::Update && one_in(2)) extent.height = 1 + below(4);
    if (is_copy && one_in(3)) extent.depth = 1 + below(3);
    for (Pitch* const pitch : {&command.shape.source, &command.shape.destination}) {
      pitch->row = extent.width + unit * below(one_in(2) ? 1 : 5);
      pitch->slice = pitch->row * (extent.height + (is_copy ? below(2) : 0));
      while (span_of(extent, *pitch) > kMinBytes)
        --(extent.depth > 1 ? extent.depth : extent.height);
    }
    command.to.memory = memory(false);
    if (is_copy) {
      command.from.memory = one_in(4) ? kNone : other_memory(command.to.memory);
      if (!scope.is_conditional && one_in(4)) command.from.memory = borrowed();
      // Replicas share borrowed memory, so they only read it.
      if (!scope.is_conditional && replicas_ == 1 && one_in(6)) {
        command.from.memory = memory(false);
        command.to.memory = borrowed();
      }
    }
    const auto place = [&](Location& at, const Pitch& pitch) {
      if (at.memory == kNone) return;
      const std::uint64_t room = program_.memories[at.memory].bytes - span_of(extent, pitch);
      at.offset = unit * below(room / unit + 1);
    };
    place(command.from, command.shape.source);
    place(command.to, command.shape.destination);
  }

  // A borrowed memory that few enough commands access.
  std::uint32_t borrowed() {
    for (Borrowed& one : borrowed_) {
      if (one.commands == kCommandsOfBorrowedMemory || one_in(2)) continue;
      ++one.commands;
      return one.memory;
    }
    add_memories(Memory::Kind::Borrowed, 1);
    borrowed_.push_back({static_cast<std::uint32_t>(program_.memories.size()) - 1, 1});
    return borrowed_.back().memory;
  }

  Step step() {
    Step made;
    made.graph = below(program_.graphs.size());
    const Graph& graph = program_.graphs[made.graph];
    const auto id = [&] {
      std::vector<std::uint32_t> ids;
      for_each_command(graph.recordings[one_in(4) ? 3 : 0],
                       [&](const Command& command) { ids.push_back(command.id); });
      return ids[below(ids.size())];
    };
    switch (below(29)) {
      case 0:
      case 1: made.kind = Step::Kind::Sync; break;
      case 2:
      case 3: made = {Step::Kind::SetSlot, made.graph, below(kSlots), word()}; break;
      case 4:
      case 5: made = {Step::Kind::Disable, made.graph, id()}; break;
      case 6: made = {Step::Kind::Enable, made.graph, id()}; break;
      case 7:
      case 8: {
        const std::uint32_t from = memory(false);
        made = {Step::Kind::Rebind, made.graph, from, one_in(3) ? from : spare()};
        break;
      }
      case 9:
      case 10: made = {Step::Kind::Update, made.graph, below(graph.recordings.size())}; break;
      case 11:
      case 12: made = {Step::Kind::ExecUpdate, made.graph, below(graph.recordings.size())}; break;
      case 13: made = {Step::Kind::Upload, made.graph, below(program_.queues)}; break;
      case 14: made.kind = Step::Kind::Trim; break;
      case 15: made = {Step::Kind::Change, made.graph, word()}; break;
      case 16: made.kind = Step::Kind::Compile; break;
      case 18:
      case 19: made = {Step::Kind::SetScalar, made.graph, below(program_.queues), word()}; break;
      case 17:
        made = {Step::Kind::Wait, made.graph, below(program_.queues), below(program_.queues)};
        break;
      default:
        made = {Step::Kind::Launch, made.graph, below(program_.queues),
                one_in(2) ? kNone : below(graph.replicas)};
        break;
    }
    return made;
  }
  std::uint32_t spare() {
    for (;;) {
      const std::uint32_t chosen = below(program_.memories.size());
      if (program_.memories[chosen].is_spare) return chosen;
    }
  }

  struct Borrowed {
    std::uint32_t memory = 0, commands = 0;
  };

  Random random_;
  const bool has_segments_;
  Program program_;
  std::uint32_t replicas_ = 1, next_id_ = 0, scalar_ = 0;
  std::vector<Borrowed> borrowed_;
};

}  // namespace

Program generate(std::uint64_t seed, bool has_segments) {
  return Generator(seed, has_segments).program();
}

std::vector<std::uint8_t> bytes_of(std::uint32_t seed, std::uint64_t count) {
  Random random(seed);
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next() >> 32);
  return bytes;
}

std::uint64_t span_of(const Extent& extent, const Pitch& pitch) {
  return (extent.depth - 1) * pitch.slice + (extent.height - 1) * pitch.row + extent.width;
}

}  // namespace reprise::test::programs
