#include "base/text.hpp"
#include "programs/program.hpp"

namespace reprise::test::programs {
namespace {

using detail::concat;

std::string_view name_of(Memory::Kind kind) {
  switch (kind) {
    case Memory::Kind::Device: return "device";

    case Memory::Kind::Pinned: return "pinned";
    case Memory::Kind::Transient: return "transient";
    case Memory::Kind::Borrowed: return "borrowed";
    case Memory::Kind::Scalar: return "scalar";
  }
  return "";
}

std::string_view name_of(Command::Kind kind) {
  constexpr std::string_view kNames[] = {"add",     "mix",    "reverse", "sum",   "mix op",
                                         "fill",    "copy",   "update",  "host",  "op",
                                         "execute", "nested", "if",      "while", "switch"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Step::Kind kind) {
  constexpr std::string_view kNames[] = {"launch", "sync",    "set slot", "set scalar",  "disable",
                                         "enable", "rebind",  "update",   "exec update", "upload",
                                         "trim",   "compile", "wait",     "change"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string text_of(const Location& at) {
  return at.memory == kNone ? "snapshot" : concat("memory ", at.memory, " + ", at.offset);
}

std::string text_of(const Pitch& pitch) { return concat(pitch.row, '/', pitch.slice); }

void add(std::string& text, const Recording& recording, const std::string& indent) {
  text += concat(indent, to_string(recording.ordering), ", ", recording.recorders, " recorders:\n");
  for (const Command& command : recording.commands) {
    text += concat(indent, "  #", command.id, ' ', name_of(command.kind), ' ');
    if (command.reads() || command.kind == Command::Kind::Copy)
      text += concat("from ", text_of(command.from), ' ');
    if (command.writes()) text += concat("to ", text_of(command.to), ' ');
    const auto& [extent, source, destination] = command.shape;
    if (extent.width != 0)
      text += concat("extent ", extent.width, " x ", extent.height, " x ", extent.depth,
                     ", pitches ", text_of(source), " and ", text_of(destination), ", elements of ",
                     command.element_bytes, ' ');
    if (command.words != 0) text += concat(command.words, " words by ", command.block, ' ');
    text += command.slot == kNone ? concat("value ", command.value) : concat("slot ", command.slot);
    text += concat(command.is_early ? " early" : "", command.has_label ? " labelled\n" : "\n");
    for (const Recording& body : command.bodies) add(text, body, indent + "    ");
  }
}

}  // namespace

std::string to_text(const Step& step) {
  std::string text(name_of(step.kind));
  switch (step.kind) {
    case Step::Kind::Sync:
    case Step::Kind::SetScalar:
    case Step::Kind::Trim:
    case Step::Kind::Wait:
    case Step::Kind::Change: break;
    default: text += concat(" of graph ", step.graph); break;
  }
  if (step.a != 0) text += concat(", ", step.a);
  if (step.b != 0 && step.b != kNone) text += concat(", ", step.b);
  return text;
}

std::string to_text(const Program& program) {
  std::string text =
      concat("sharing ", to_string(program.sharing), ", ", program.queues, " queues\n");
  for (std::size_t i = 0; i < program.memories.size(); ++i)
    text += concat("memory ", i, ": ", name_of(program.memories[i].kind), ", ",
                   program.memories[i].bytes,
                   program.memories[i].is_spare ? " bytes, spare\n" : " bytes\n");
  for (std::size_t i = 0; i < program.graphs.size(); ++i) {
    const Graph& graph = program.graphs[i];
    text += concat("graph ", i, ": ", to_string(graph.lowering.mode), ' ', graph.lowering.lanes,
                   graph.lowering.fault_markers ? ", fault markers" : "", ", memory goal ",
                   to_string(graph.goal), ", ", graph.replicas, " replicas\n");
    for (std::size_t k = 0; k < graph.recordings.size(); ++k) {
      text += concat("  recording ", k, ", slots");
      for (const std::uint32_t slot : graph.recordings[k].slots) text += concat(' ', slot);
      text += '\n';
      add(text, graph.recordings[k], "    ");
    }
  }
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    text += concat("step ", i, ": ", to_text(program.steps[i]), '\n');
  return text;
}

}  // namespace reprise::test::programs
