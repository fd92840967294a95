// RecorderCore::execute: appends a deep copy of a secondary's commands to the recorder.
#include <numeric>

#include "base/text.hpp"
#include "record/payload.hpp"
#include "record/recorder_core.hpp"

namespace reprise::detail {

void RecorderCore::check_secondary(const Verb& verb, const Recording& secondary) const {
  if (secondary.device != family_->device) {
    fail(verb, ErrorCode::WrongDevice,
         concat("secondary ", secondary.label, " belongs to ",
                name_beside(*secondary.device, *device_), ", and this command buffer records for ",
                family_->device->selector));
  }
  for (const auto& buffer : secondary.buffers) {
    if (!buffer->is_stale()) continue;
    fail(verb, ErrorCode::StaleHandle,
         concat("secondary ", secondary.label, " names ", display_name(*buffer),
                ", which is stale; record it again"));
  }
}

void RecorderCore::execute(const std::shared_ptr<const Recording>& secondary,
                           SourceLocation where) {
  const Verb verb{"execute", where};
  require_recording(verb);
  const Recording& from = *secondary;
  check_secondary(verb, from);
  const auto command_count = static_cast<std::uint32_t>(from.commands.size());
  const auto access_count = static_cast<std::uint32_t>(from.accesses.size());
  const auto shape_count = static_cast<std::uint32_t>(from.shapes.size());
  const auto edge_count = static_cast<std::uint32_t>(from.edges.size());
  const auto label_count = static_cast<std::uint32_t>(from.labels.size()) - 1;  // excludes the root
  const std::uint32_t first_command = lists_.commands.size();
  const std::uint32_t first_access = lists_.accesses.size();
  const std::uint32_t first_shape = lists_.shapes.size();
  const std::uint32_t first_label = lists_.labels.size();

  transact(command_count, [&](Arena& arena) {
    std::vector<std::uint32_t> buffers, kernels, functions(from.functions.size()),
        ops(from.ops.size()), bodies(from.bodies.size());
    buffers.reserve(from.buffers.size());
    kernels.reserve(from.kernels.size());
    for (const auto& buffer : from.buffers) buffers.push_back(intern(buffer));
    for (const auto& kernel : from.kernels) kernels.push_back(intern(kernel));
    std::iota(functions.begin(), functions.end(),
              static_cast<std::uint32_t>(lists_.functions.size()));
    lists_.functions.insert(lists_.functions.end(), from.functions.begin(), from.functions.end());
    reserve_more(lists_.owners, from.owners.size());
    reserve_more(lists_.inlined, from.runs.size());
    std::iota(ops.begin(), ops.end(), static_cast<std::uint32_t>(lists_.ops.size()));
    lists_.ops.insert(lists_.ops.end(), from.ops.begin(), from.ops.end());
    std::iota(bodies.begin(), bodies.end(), static_cast<std::uint32_t>(lists_.bodies.size()));
    lists_.bodies.insert(lists_.bodies.end(), from.bodies.begin(), from.bodies.end());
    const IndexMaps maps{buffers, kernels, functions, ops, bodies};

    LocalLabel* const labels = lists_.labels.reserve(arena, label_count);
    for (std::uint32_t i = 0; i < label_count; ++i) {
      const LabelRecord& label = from.labels[i + 1];
      const std::string_view name(
          reinterpret_cast<const char*>(arena.copy_bytes(label.name.data(), label.name.size(), 1)),
          label.name.size());
      const LocalLabel* const parent = label.parent == 0 ? label_ : labels + (label.parent - 1);
      check_label_depth(verb, name, parent->depth + 1);
      labels[i] = {parent, name, label.color, first_label + i, parent->depth + 1};
    }
    AccessShape* const shapes = lists_.shapes.reserve(arena, shape_count);
    for (std::uint32_t i = 0; i < shape_count; ++i) shapes[i] = from.shapes[i];
    BufferAccess* const accesses = lists_.accesses.reserve(arena, access_count);
    for (std::uint32_t i = 0; i < access_count; ++i) {
      accesses[i] = from.accesses[i];
      accesses[i].buffer = buffers[accesses[i].buffer];
      if (accesses[i].shape != 0) accesses[i].shape += first_shape;
    }
    Command* const commands = lists_.commands.reserve(arena, command_count);
    for (std::uint32_t i = 0; i < command_count; ++i) {
      commands[i] = from.commands[i];
      commands[i].label =
          commands[i].label == 0 ? label_->index : first_label + commands[i].label - 1;
      commands[i].first_access += first_access;
      void* const payload = clone_payload(commands[i].kind, commands[i].payload, arena);
      remap_payload(commands[i].kind, payload, maps);
      commands[i].payload = payload;
    }
    LocalEdge* const edges = lists_.edges.reserve(arena, edge_count);
    for (std::uint32_t i = 0; i < edge_count; ++i) {
      const UserEdge& edge = from.edges[i];
      edges[i] = {{lists_.recorder, first_command + edge.before},
                  {lists_.recorder, first_command + edge.after},
                  edge.where,
                  edge.dependency};
    }
  });
  lists_.labels.commit(label_count);
  lists_.shapes.commit(shape_count);
  lists_.accesses.commit(access_count);
  lists_.commands.commit(command_count);
  lists_.edges.commit(edge_count);
  for (RecordedRun run : from.runs) {
    run.command += first_command;
    lists_.inlined.push_back(run);
  }
  keep(from.owners);
}

}  // namespace reprise::detail
