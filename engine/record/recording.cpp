#include "record/recording.hpp"

#include "base/text.hpp"
#include "record/geometry.hpp"

namespace reprise::detail {

namespace {

std::string endpoint_name(const Recording& recording, const Endpoint& side) {
  return side.buffer == kNone ? "host memory" : display_name(*recording.buffers[side.buffer]);
}

Rows rows_of(const Recording& recording, const BufferAccess& access) {
  const AccessShape& shape = recording.shapes[access.shape - 1];
  return {access.begin, shape.extent, shape.pitch};
}

}  // namespace

bool Recording::starts_programmatically(std::uint32_t command) const noexcept {
  if (commands[command].kind != CommandKind::Dispatch) return false;
  const auto& dispatch = payload<DispatchPayload>(command);
  return dispatch.start == DispatchDesc::Start::Programmatic &&
         dispatch.launch == DispatchDesc::Launch::Normal;
}

bool Recording::has_programmatic_dependencies() const noexcept {
  for (const UserEdge& edge : edges) {
    if (edge.dependency == Dependency::Programmatic) return true;
  }
  for (std::uint32_t i = 0; i < commands.size(); ++i) {
    if (commands[i].kind == CommandKind::Barrier &&
        payload<BarrierPayload>(i).dependency == Dependency::Programmatic)
      return true;
  }
  return false;
}

std::string Recording::label_path(std::uint32_t innermost) const {
  std::size_t size = 0;
  for (std::uint32_t at = innermost; at != 0; at = labels[at].parent)
    size += labels[at].name.size() + 1;
  std::string path(size == 0 ? 0 : size - 1, '/');
  for (std::uint32_t at = innermost; at != 0; at = labels[at].parent) {
    size -= labels[at].name.size() + 1;
    labels[at].name.copy(path.data() + size, labels[at].name.size());
  }
  return path;
}

std::string Recording::command_name(std::uint32_t command) const {
  const CommandKind kind = commands[command].kind;
  switch (kind) {
    case CommandKind::Dispatch: {
      const auto& dispatch = payload<DispatchPayload>(command);
      return dispatch.op != kNone ? concat("op ", ops[dispatch.op]->name)
                                  : concat("dispatch ", kernels[dispatch.kernel]->name);
    }
    case CommandKind::Copy: {
      const auto& copy = payload<CopyPayload>(command);
      return concat("copy ", endpoint_name(*this, copy.source), " -> ",
                    endpoint_name(*this, copy.destination));
    }
    case CommandKind::Fill:
      return concat("fill ", display_name(*buffers[payload<FillPayload>(command).buffer]));
    case CommandKind::Update:
      return concat("update ", display_name(*buffers[payload<UpdatePayload>(command).buffer]));
    case CommandKind::Host: return "host callback";
    case CommandKind::Op: {
      // An op of a native graph shows its parameters (event, bytes); a recorded op shows its name
      // only.
      const RecordedOp& op = *ops[payload<OpPayload>(command).op];
      const bool shows_parameters = origin == RecordingOrigin::ReadBack && !op.parameters.empty();
      return concat("op ", op.name, shows_parameters ? ", " : "",
                    shows_parameters ? op.parameters : std::string());
    }
    case CommandKind::Barrier: {
      const auto& barrier = payload<BarrierPayload>(command);
      const char* const name =
          barrier.dependency == Dependency::Programmatic ? "programmatic barrier" : "barrier";
      return barrier.buffer == kNone ? name
                                     : concat(name, ' ', display_name(*buffers[barrier.buffer]));
    }
    case CommandKind::Nested:
      return concat("nested ", bodies[payload<NestedPayload>(command).body.index]->label);
    case CommandKind::Conditional: {
      const auto& conditional = payload<ConditionalPayload>(command);
      std::string name = concat(to_string(conditional.branch), ' ',
                                display_name(*buffers[conditional.condition]), ':');
      for (std::uint32_t i = 0; i < conditional.body_count; ++i)
        name += concat(i == 0 ? " " : ", ", bodies[conditional.bodies[i].index]->label);
      return name;
    }
  }
  return std::string(to_string(kind));
}

std::string Recording::traced_name(std::uint32_t command) const {
  if (commands[command].kind != CommandKind::Dispatch) return command_name(command);
  const auto& dispatch = payload<DispatchPayload>(command);
  return dispatch.op == kNone ? kernels[dispatch.kernel]->name : command_name(command);
}

bool overlaps(const Recording& recording, const BufferAccess& a, const BufferAccess& b) {
  if (a.buffer != b.buffer || a.begin >= b.end || b.begin >= a.end) return false;
  if (a.shape == 0 && b.shape == 0) return a.begin < a.end && b.begin < b.end;
  if (a.shape == 0) return intersects(rows_of(recording, b), a.begin, a.end);
  if (b.shape == 0) return intersects(rows_of(recording, a), b.begin, b.end);
  const Rows rows_a = rows_of(recording, a);
  const Rows rows_b = rows_of(recording, b);
  return !equal_pitches(rows_a, rows_b) || intersects_of_equal_pitch(rows_a, rows_b);
}

}  // namespace reprise::detail
