#include "programs/recorder.hpp"

#include <algorithm>

#include "conditions.shaders.hpp"
#include "kernels.shaders.hpp"
#include "words.shaders.hpp"

namespace reprise::test::programs {
namespace {

using Kind = Command::Kind;

constexpr std::uint32_t kCounters = 512, kMaxIterations = 3;

// Kind::MixOp.
struct MixOnce {
  Kernel mix;
  DispatchDesc desc;
  GpuRef<const unsigned> from;
  GpuRef<unsigned> to;
  unsigned salt = 0;

  [[nodiscard]] std::string_view op_name() const { return "mix once"; }
  void declare(GraphOpDeclaration& declaration) const {
    declaration.dispatch(mix, desc, read(from), read_write(to), salt,
                         static_cast<unsigned>(to.size()));
  }
  void record(GraphRecordCtx&) const {}
};

// Kind::Op.
struct MixTwice {
  Kernel mix;
  GpuRef<const unsigned> from;
  GpuRef<unsigned> to;
  unsigned salt = 0, block = 1;

  [[nodiscard]] std::string_view op_name() const { return "mix twice"; }
  [[nodiscard]] std::string parameters() const { return "salt " + std::to_string(salt); }
  void declare(GraphOpDeclaration& declaration) const {
    declaration.use(read(from));
    declaration.use(read_write(to));
  }
  void record(GraphRecordCtx& ctx) const {
    const auto n = static_cast<unsigned>(to.size());
    const DispatchDesc desc{.grid = ceil_div(n, block), .block = block};
    ctx.dispatch(mix, desc, read(from), read_write(to), salt, n);
    ctx.dispatch(mix, desc, read(from), read_write(to), salt + 1, n);
  }
};

bool is_disjoint(const std::set<std::uint32_t>& a, const std::set<std::uint32_t>& b) {
  return std::ranges::none_of(a, [&](std::uint32_t memory) { return b.contains(memory); });
}

}  // namespace

Kernels::Kernels(const Device& device)
    : add(device.load_kernel(shaders::conf_add)),
      mix(device.load_kernel(shaders::conf_mix)),
      mix_early(device.load_kernel(shaders::conf_mix_early)),
      reverse(device.load_kernel(shaders::program_reverse)),
      sum(device.load_kernel(shaders::program_sum)),
      decide(device.load_kernel(shaders::program_decide)),
      count_down(device.load_kernel(shaders::conf_count_down)) {}

GraphRecorder::GraphRecorder(const Device& device, CapturePool& pool, const Kernels& kernels,
                             const Program& program, const Graph& graph, DeviceMemories& memories)
    : device_(device),
      kernels_(kernels),
      program_(program),
      memories_(memories),
      counters_(pool.allocate<unsigned>(kCounters, "counters", PerReplica{graph.replicas})) {}

GraphRecorder::Commands GraphRecorder::record(const Recording& recording) {
  Commands made{
      device_.create_command_buffer({.label = "program", .ordering = recording.ordering})};
  CommandBuffer& cmd = made.buffer;
  cmd.begin();
  Scope scope{cmd, made.refs, recording.ordering, recording.slots};
  std::set<std::uint32_t> transients;
  for_each_command(recording, [&](const Command& command) {
    for (const std::uint32_t memory : {command.from.memory, command.to.memory}) {
      if (memory != kNone && program_.memories[memory].kind == Memory::Kind::Transient)
        transients.insert(memory);
    }
  });
  for (const std::uint32_t memory : transients) {
    const BufferView& whole = memories_.views[memory];
    const Uses uses{.read = {}, .written = {memory}};
    scope.unordered.push_back({uses, cmd.fill_bits(whole, 0, 4, {whole.bytes(), 1, 1}, {})});
  }
  if (recording.recorders == 1) {
    record(scope, recording);
  } else {
    std::vector<Recorder> recorders = cmd.split(recording.recorders);
    const std::size_t count = recording.commands.size();
    for (std::size_t i = 0; i < count; ++i) {
      Scope part{recorders[i * recorders.size() / count], made.refs, recording.ordering,
                 recording.slots};
      record(part, recording.commands[i]);
    }
  }
  cmd.end();
  return made;
}

void GraphRecorder::record(Scope& scope, const Recording& recording) {
  for (const Command& command : recording.commands) record(scope, command);
}

CommandBuffer GraphRecorder::secondary(const Scope& scope, const Recording& body) {
  CommandBuffer cmd = device_.create_command_buffer(
      {.label = "body", .ordering = body.ordering, .level = Level::Secondary});
  cmd.begin();
  Scope inside{cmd, scope.refs, body.ordering, scope.slots};
  record(inside, body);
  return cmd;
}

void GraphRecorder::record(Scope& scope, const Command& command) {
  std::optional<LabelScope> label;
  if (command.has_label) label.emplace(scope.into.label("label " + std::to_string(command.id)));
  if (command.has_condition()) return record_conditional(scope, command);
  if (command.kind == Kind::Execute) {
    CommandBuffer body = secondary(scope, command.bodies[0]);
    body.end();
    barrier(scope);
    scope.into.execute(body);
    barrier(scope);
    return;
  }
  Uses uses;
  const auto add_uses = [&](const Command& of) {
    if (of.reads()) uses.read.insert(of.from.memory);
    if (of.writes()) uses.written.insert(of.to.memory);
  };
  add_uses(command);
  for (const Recording& body : command.bodies) for_each_command(body, add_uses);
  const std::vector<CommandRef> before = order(scope, command.id, uses);
  CommandRef ref;
  const std::uint32_t words = command.words;
  const DispatchDesc desc{
      .grid = ceil_div(std::max(words, 1u), std::max(command.block, 1u)),
      .block = command.block,
      .shared_bytes = command.kind == Kind::Reverse ? 4 * command.block : 0,
      .start = command.is_early ? DispatchDesc::Start::Programmatic : DispatchDesc::Start::Ordered};
  const auto dispatch = [&](const Kernel& kernel, const auto& to) {
    if (command.slot == kNone)
      return scope.into.dispatch(kernel, desc, read(source(command, words)), to, command.value,
                                 words);
    const std::string name = "slot " + std::to_string(command.slot);
    return scope.into.dispatch(kernel, desc, read(source(command, words)), to,
                               slot(name, scope.slots[command.slot]), words);
  };
  switch (command.kind) {
    case Kind::Add: ref = dispatch(kernels_.add, write(destination(command, words))); break;
    case Kind::Mix:
      ref = dispatch(command.is_early ? kernels_.mix_early : kernels_.mix,
                     read_write(destination(command, words)));
      break;
    case Kind::Reverse:
      ref = scope.into.dispatch(kernels_.reverse, desc, read(source(command, words)),
                                write(destination(command, words)));
      break;
    case Kind::MixOp:
      ref = scope.into.add(MixOnce{kernels_.mix, desc, source(command, words),
                                   destination(command, words), command.value});
      break;
    case Kind::Sum: ref = dispatch(kernels_.sum, read_write(destination(command, 1))); break;
    case Kind::Fill:
    case Kind::Copy:
    case Kind::Update: ref = record_transfer(scope, command); break;
    case Kind::Host: {
      const BufferView to = view(command.to, 4 * std::uint64_t{words});
      ref = scope.into.host(
          [data = static_cast<unsigned*>(to.data()), words, value = command.value] {
            for (std::uint32_t i = 0; i < words; ++i) data[i] = data[i] * 1664525u + value;
          },
          {read_write(to)});
      break;
    }
    case Kind::Op:
      ref = scope.into.add(MixTwice{kernels_.mix, source(command, words),
                                    destination(command, words), command.value, command.block});
      break;
    case Kind::Nested: {
      CommandBuffer body = secondary(scope, command.bodies[0]);
      body.end();
      ref = scope.into.execute(body, Nested);
      break;
    }
    case Kind::Execute:
    case Kind::If:
    case Kind::While:
    case Kind::Switch: break;  // above
  }
  for (const CommandRef& earlier : before) scope.into.edge(earlier, ref);
  scope.refs[command.id] = ref;
  scope.unordered.push_back({uses, ref});
}

void GraphRecorder::record_conditional(Scope& scope, const Command& command) {
  const bool is_loop = command.kind == Kind::While;
  Condition& condition = conditions_[command.id];
  if (!condition)
    condition = device_.create_condition({.name = "condition " + std::to_string(command.id)});
  const GpuRef<unsigned> counter = counters_.slice(command.id % kCounters, 1);
  const auto modulus =
      static_cast<unsigned>(command.kind == Kind::Switch ? command.bodies.size() + 1 : 2);
  std::vector<CommandBuffer> bodies;
  for (const Recording& body : command.bodies) {
    CommandBuffer made = secondary(scope, body);
    if (is_loop) {
      if (body.ordering == Ordering::Explicit) made.barrier();
      made.dispatch(kernels_.count_down, {.grid = 1, .block = 1}, read_write(counter), condition);
    }
    made.end();
    bodies.push_back(std::move(made));
  }
  barrier(scope);
  if (is_loop) {
    scope.into.fill(counter, command.value);
    barrier(scope);
    scope.into.dispatch(kernels_.decide, {.grid = 1, .block = 1}, read(counter), kMaxIterations + 1,
                        condition);
  } else {
    scope.into.dispatch(kernels_.decide, {.grid = 1, .block = 1}, read(source(command, 1)), modulus,
                        condition);
  }
  barrier(scope);
  switch (command.kind) {
    case Kind::If:
      bodies.size() == 1 ? scope.into.execute_if(condition, bodies[0])
                         : scope.into.execute_if(condition, bodies[0], bodies[1]);
      break;
    case Kind::While: scope.into.execute_while(condition, bodies[0]); break;
    default:
      switch (bodies.size()) {
        case 1: scope.into.execute_switch(condition, {bodies[0]}); break;
        case 2: scope.into.execute_switch(condition, {bodies[0], bodies[1]}); break;
        default: scope.into.execute_switch(condition, {bodies[0], bodies[1], bodies[2]}); break;
      }
      break;
  }
  barrier(scope);
}

CommandRef GraphRecorder::record_transfer(Scope& scope, const Command& command) const {
  const auto& [extent, source, destination] = command.shape;
  const std::uint64_t to_bytes = span_of(extent, destination), from_bytes = span_of(extent, source);
  const auto borrowed_bytes = [&](const Location& at, std::uint64_t bytes) {
    return borrowed(std::span(memories_.borrowed[at.memory]).subspan(at.offset, bytes));
  };
  const auto is_borrowed = [&](const Location& at) {
    return at.memory != kNone && program_.memories[at.memory].kind == Memory::Kind::Borrowed;
  };
  if (is_borrowed(command.to))
    return scope.into.copy(view(command.from, from_bytes), borrowed_bytes(command.to, to_bytes),
                           command.shape);
  const BufferView to = view(command.to, to_bytes);
  switch (command.kind) {
    case Kind::Fill:
      return scope.into.fill_bits(to, command.value, command.element_bytes, extent,
                                  {destination.row, 0});
    case Kind::Update: {
      const std::vector<std::uint8_t> bytes = bytes_of(command.value, extent.width);
      return scope.into.update(to, std::as_bytes(std::span(bytes)));
    }
    default: break;
  }
  if (command.from.memory == kNone)
    return scope.into.copy(snapshot(bytes_of(command.value, from_bytes)), to, command.shape);
  if (is_borrowed(command.from))
    return scope.into.copy(borrowed_bytes(command.from, from_bytes), to, command.shape);
  return scope.into.copy(view(command.from, from_bytes), to, command.shape);
}

std::vector<CommandRef> GraphRecorder::order(Scope& scope, std::uint32_t id,
                                             const Uses& uses) const {
  if (scope.ordering != Ordering::Explicit) return {};
  std::vector<CommandRef> conflicts;
  std::set<std::uint32_t> memories;
  for (const auto& [earlier, ref] : scope.unordered) {
    if (is_disjoint(earlier.written, uses.read) && is_disjoint(earlier.written, uses.written) &&
        is_disjoint(earlier.read, uses.written))
      continue;
    conflicts.push_back(ref);
    memories.insert(earlier.read.begin(), earlier.read.end());
    memories.insert(earlier.written.begin(), earlier.written.end());
  }
  if (conflicts.empty() || id % 3 == 0) return conflicts;
  const bool has_borrowed =
      std::ranges::any_of(memories, [&](std::uint32_t memory) { return !memories_.views[memory]; });
  if (has_borrowed || id % 3 == 1) {
    barrier(scope);
  } else {
    for (const std::uint32_t memory : memories)
      scope.into.barrier({.buffer = memories_.views[memory]});
  }
  return {};
}

void GraphRecorder::barrier(Scope& scope) {
  if (scope.ordering == Ordering::Explicit) scope.into.barrier();
  scope.unordered.clear();
}

BufferView GraphRecorder::view(const Location& at, std::uint64_t bytes) const {
  return memories_.views[at.memory].subview(at.offset, bytes);
}

GpuRef<const unsigned> GraphRecorder::source(const Command& command, std::uint32_t words) const {
  return GpuRef<const unsigned>(view(command.from, 4 * std::uint64_t{words}));
}

GpuRef<unsigned> GraphRecorder::destination(const Command& command, std::uint32_t words) const {
  return GpuRef<unsigned>(view(command.to, 4 * std::uint64_t{words}));
}

}  // namespace reprise::test::programs
