#include "record/merge.hpp"

#include <reprise/error.hpp>
#include <reprise/graph_op.hpp>

#include <algorithm>
#include <unordered_map>

#include "base/huge_pages.hpp"
#include "base/text.hpp"
#include "record/payload.hpp"
#include "record/rank_agreement.hpp"

namespace reprise::detail {

namespace {

// One recorder's lists and the maps from its indices to merged indices. Merged indices are assigned
// in order of first use.
struct Source {
  explicit Source(const RecordedLists& recorded)
      : lists(&recorded),
        commands(recorded.commands.cursor()),
        accesses(recorded.accesses.cursor()),
        buffers(recorded.buffers.size(), kNone),
        kernels(recorded.kernels.size(), kNone),
        functions(recorded.functions.size(), kNone),
        ops(recorded.ops.size(), kNone),
        bodies(recorded.bodies.size(), kNone),
        labels(recorded.labels.size(), kNone) {
    label_at.reserve(recorded.labels.size());
    for (auto at = recorded.labels.cursor(); const LocalLabel* label = at.next();)
      label_at.push_back(label);
    shape_at.reserve(recorded.shapes.size());
    for (auto at = recorded.shapes.cursor(); const AccessShape* shape = at.next();)
      shape_at.push_back(shape);
  }
  [[nodiscard]] IndexMaps maps() const { return {buffers, kernels, functions, ops, bodies}; }

  const RecordedLists* lists;
  ChunkList<Command>::Cursor commands;
  ChunkList<BufferAccess>::Cursor accesses;
  std::vector<std::uint32_t> buffers, kernels, functions, ops, bodies, labels;
  std::vector<const LocalLabel*> label_at;
  std::vector<const AccessShape*> shape_at;
  // (first local command, first merged command)
  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;
};

class Merge {
 public:
  Merge(std::span<const CommandRun> runs, Recording& into) : runs_(runs), into_(into) {}

  void run() {
    collect();
    into_.labels.push_back({});
    if (sources_.size() == 1) {
      copy_whole(*sources_.front());
    } else {
      for (const CommandRun& run : runs_) copy_commands(source(run.lists), run.count);
    }
    for (const auto& source : sources_) copy_edges(*source);
    count_nested();
    for (const auto& source : sources_) into_.arenas.push_back(source->lists->arena);
    for (const auto& source : sources_)
      into_.owners.insert(into_.owners.end(), source->lists->owners.begin(),
                          source->lists->owners.end());
    rewrite_payloads();
    into_.places = find_memory_places(into_.buffers);
    into_.has_collectives =
        std::any_of(into_.ops.begin(), into_.ops.end(),
                    [](const auto& recorded) { return ranks_of(*recorded->op) != nullptr; });
  }

 private:
  Source& source(const RecordedLists* lists) { return *sources_[source_of_.at(lists->recorder)]; }

  void collect() {
    std::size_t commands = 0, accesses = 0, edges = 0;
    for (const CommandRun& run : runs_) {
      if (source_of_.try_emplace(run.lists->recorder, sources_.size()).second) {
        sources_.push_back(std::make_unique<Source>(*run.lists));
        accesses += run.lists->accesses.size();
        edges += run.lists->edges.size();
      }
      source(run.lists).runs.emplace_back(run.first, static_cast<std::uint32_t>(commands));
      into_.runs.push_back(
          {run.lists->recorder, run.first, run.count, static_cast<std::uint32_t>(commands)});
      commands += run.count;
    }
    for (const auto& from : sources_) {
      for (RecordedRun run : from->lists->inlined) {
        run.command = merged_command(*from, run.command);
        inlined_[run.recorder].push_back(run);
        into_.runs.push_back(run);
      }
    }
    reserve_huge(into_.commands, commands);
    reserve_huge(into_.accesses, accesses);
    into_.edges.reserve(edges);
  }

  // The indices of a single recorder are already in order of first use. Labels are the exception:
  // labels without commands are dropped.
  void copy_whole(Source& from) {
    from.lists->commands.copy_to(into_.commands);
    std::uint32_t label = 0, merged = 0;  // the root's
    for (Command& command : into_.commands) {
      if (command.label != label) merged = merged_label(from, label = command.label);
      command.label = merged;
    }
    from.lists->accesses.copy_to(into_.accesses);
    from.lists->shapes.copy_to(into_.shapes);
    into_.buffers = from.lists->buffers.list();
    into_.kernels = from.lists->kernels;
    into_.functions = from.lists->functions;
    into_.ops = from.lists->ops;
    into_.bodies = from.lists->bodies;
  }

  void copy_commands(Source& from, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const Command& command = *from.commands.next();
      into_.commands.push_back(command);
      Command& copied = into_.commands.back();
      copied.label = merged_label(from, command.label);
      copied.first_access = static_cast<std::uint32_t>(into_.accesses.size());
      for_each_buffer(command.kind, command.payload,
                      [&](std::uint32_t buffer) { merged_buffer(from, buffer); });
      merge_objects(from, command);
      for (std::uint32_t a = 0; a < command.access_count; ++a) {
        BufferAccess access = *from.accesses.next();
        access.buffer = merged_buffer(from, access.buffer);
        if (access.shape != 0) {
          into_.shapes.push_back(*from.shape_at[access.shape - 1]);
          access.shape = static_cast<std::uint32_t>(into_.shapes.size());
        }
        into_.accesses.push_back(access);
      }
    }
  }

  std::uint32_t merged_buffer(Source& from, std::uint32_t buffer) {
    std::uint32_t& merged = from.buffers[buffer];
    if (merged != kNone) return merged;
    const auto& core = from.lists->buffers.list()[buffer];
    merged = first_use(core.get(), into_.buffers.size());
    if (merged == into_.buffers.size()) into_.buffers.push_back(core);
    return merged;
  }

  void merge_op(Source& from, std::uint32_t op) {
    from.ops[op] = static_cast<std::uint32_t>(into_.ops.size());
    into_.ops.push_back(from.lists->ops[op]);
  }

  void merge_objects(Source& from, const Command& command) {
    if (command.kind == CommandKind::Dispatch) {
      const auto& dispatch = *static_cast<const DispatchPayload*>(command.payload);
      if (dispatch.op != kNone) merge_op(from, dispatch.op);
      std::uint32_t& merged = from.kernels[dispatch.kernel];
      if (merged != kNone) return;
      const auto& kernel = from.lists->kernels[dispatch.kernel];
      merged = first_use(kernel.get(), into_.kernels.size());
      if (merged == into_.kernels.size()) into_.kernels.push_back(kernel);
    } else if (command.kind == CommandKind::Host) {
      const std::uint32_t function = static_cast<const HostPayload*>(command.payload)->function;
      from.functions[function] = static_cast<std::uint32_t>(into_.functions.size());
      into_.functions.push_back(from.lists->functions[function]);
    } else if (command.kind == CommandKind::Op) {
      merge_op(from, static_cast<const OpPayload*>(command.payload)->op);
    }
    for (const Body& body : bodies_of(command)) {
      from.bodies[body.index] = static_cast<std::uint32_t>(into_.bodies.size());
      into_.bodies.push_back(from.lists->bodies[body.index]);
    }
  }

  // The merged index of an object at its first use by one source; `next` if no source has used it.
  std::uint32_t first_use(const void* object, std::size_t next) {
    return merged_objects_.try_emplace(object, static_cast<std::uint32_t>(next)).first->second;
  }

  std::uint32_t merged_label(Source& from, std::uint32_t label) {
    if (from.labels[label] != kNone) return from.labels[label];
    const LocalLabel& local = *from.label_at[label];
    std::uint32_t merged = 0;
    if (label != 0) {
      const std::uint32_t parent = merged_label(from, local.parent->index);
      merged = static_cast<std::uint32_t>(into_.labels.size());
      into_.labels.push_back({parent, std::string(local.name), local.color});
    } else if (local.parent != nullptr) {
      // the label that was open at split()
      merged = merged_label(*sources_.front(), local.parent->index);
    }
    return from.labels[label] = merged;
  }

  void copy_edges(const Source& from) {
    for (auto at = from.lists->edges.cursor(); const LocalEdge* edge = at.next();) {
      for_each_merged(edge->before, edge->where, [&](std::uint32_t before) {
        for_each_merged(edge->after, edge->where, [&](std::uint32_t after) {
          into_.edges.push_back({before, after, edge->where, edge->dependency});
        });
      });
    }
  }

  static std::uint32_t merged_command(const Source& from, std::uint32_t command) {
    std::size_t run = from.runs.size() - 1;
    while (from.runs[run].first > command) --run;
    return from.runs[run].second + (command - from.runs[run].first);
  }

  // Calls visit(command) for each merged command that the reference names.
  template <class Visit>
  void for_each_merged(const CommandRef& ref, const SourceLocation& where,
                       const Visit& visit) const {
    const auto found = source_of_.find(ref.recorder);
    if (found != source_of_.end() && ref.index < sources_[found->second]->lists->commands.size())
      return visit(merged_command(*sources_[found->second], ref.index));
    if (const auto copies = inlined_.find(ref.recorder); copies != inlined_.end()) {
      for (const RecordedRun& run : copies->second) {
        if (ref.index - run.first < run.count) visit(run.command + (ref.index - run.first));
      }
      return;
    }
    refuse(concat("the edge recorded at ", where.file, ':', where.line, " in ", into_.label,
                  " names a command that was never recorded"));
  }

  // Bodies are in the order of the commands that run them; most recordings have none.
  void count_nested() {
    auto body = into_.bodies.begin();
    for (const Command& command : into_.commands) {
      if (body == into_.bodies.end()) break;
      for (std::size_t i = bodies_of(command).size(); i > 0; --i, ++body) {
        into_.nesting = std::max(into_.nesting, (*body)->nesting + 1);
        into_.nested_commands += (*body)->commands.size() + (*body)->nested_commands;
        if (into_.nested_commands <= Recorder::kMaxNestedCommands) continue;
        refuse(concat("with secondary ", (*body)->label, ", which the command recorded at ",
                      command.where.file, ':', command.where.line, " executes, ", into_.label,
                      " executes ", into_.nested_commands,
                      " commands in secondaries; the limit is ", Recorder::kMaxNestedCommands));
      }
    }
  }

  [[noreturn]] static void refuse(const std::string& text) {
    ErrorDetails details;
    details.code = ErrorCode::InvalidArgument;
    throw Error(std::move(details), concat("end: ", text));
  }

  void rewrite_payloads() noexcept {
    if (sources_.size() == 1) return;
    auto command = into_.commands.begin();
    for (const CommandRun& run : runs_) {
      const IndexMaps maps = source(run.lists).maps();
      for (std::uint32_t i = 0; i < run.count; ++i, ++command) {
        remap_payload(command->kind, const_cast<void*>(command->payload), maps);
      }
    }
  }

  std::span<const CommandRun> runs_;
  Recording& into_;
  std::vector<std::unique_ptr<Source>> sources_;  // the command buffer's own recorder first
  std::unordered_map<std::uint32_t, std::size_t> source_of_;
  std::unordered_map<const void*, std::uint32_t> merged_objects_;
  // By recorder of an inlined secondary: its runs in the merged recording.
  std::unordered_map<std::uint32_t, std::vector<RecordedRun>> inlined_;
};

}  // namespace

void merge(std::span<const CommandRun> runs, Recording& into) { Merge(runs, into).run(); }

}  // namespace reprise::detail
