#include "programs/runner.hpp"

#include <algorithm>
#include <cstring>
#include <deque>

#include "base/text.hpp"
#include "programs/model.hpp"

namespace reprise::test::programs {
namespace {

using detail::concat;

bool can_be_disabled(const Recording& recording, std::uint32_t id) {
  return std::ranges::any_of(recording.commands, [&](const Command& command) {
    if (command.id == id) return command.can_be_disabled();
    return std::ranges::any_of(command.bodies,
                               [&](const Recording& body) { return can_be_disabled(body, id); });
  });
}

class Run {
 public:
  Run(const Device& device, const Kernels& kernels, const Program& program)
      : device_(device),
        program_(program),
        copies_(program.graphs.empty() ? 1 : program.graphs[0].replicas),
        model_(program, copies_),
        pool_(device.create_pool({.label = "program", .sharing = program.sharing})) {
    for (std::uint32_t i = 0; i < program.queues; ++i) queues_.push_back(device.create_queue());
    allocate();
    for (const Graph& graph : program.graphs) {
      recorders_.emplace_back(device, *pool_, kernels, program, graph, memories_);
      commands_.push_back(recorders_.back().record(graph.recordings[0]));
      graphs_.push_back(compile(graph, commands_.back().buffer));
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    try {
      device_.wait_idle();    // before the borrowed memory goes
    } catch (const Error&) {  // the device is lost
    }
  }

  [[nodiscard]] std::optional<Failure> step(const Step& step);
  [[nodiscard]] std::string plans() const {
    std::string text;
    for (std::size_t i = 0; i < graphs_.size(); ++i)
      text += concat("plan of graph ", i, ":\n", graphs_[i].to_text());
    return text;
  }

 private:
  using Kind = Step::Kind;

  void allocate() {
    const PerReplica copies{copies_};
    memories_.views.resize(program_.memories.size());
    memories_.borrowed.resize(program_.memories.size());
    read_.resize(program_.memories.size());
    CommandBuffer upload = device_.create_command_buffer({.label = "upload"}),
                  download = device_.create_command_buffer({.label = "download"});
    upload.begin();
    download.begin();
    for (std::uint32_t memory = 0; memory < program_.memories.size(); ++memory) {
      const std::uint32_t words = program_.memories[memory].bytes / 4;
      const std::string name = concat("memory ", memory);
      BufferView& view = memories_.views[memory];
      switch (program_.memories[memory].kind) {
        case Memory::Kind::Device:

          view = pool_->allocate<unsigned>(words, name, copies);
          read_[memory] = pool_->host<unsigned>(words, "read", copies);
          for (std::uint32_t copy = 0; copy < copies_; ++copy) {
            upload.copy(snapshot(model_.contents(memory, copy)), view.replica(copy));
            download.copy(view.replica(copy), read_[memory].replica(copy));
          }
          break;
        case Memory::Kind::Pinned:
          view = pool_->host<unsigned>(words, name, copies);
          read_[memory] = view;
          break;
        case Memory::Kind::Transient: view = pool_->transient<unsigned>(words, name); break;
        case Memory::Kind::Borrowed: break;
        case Memory::Kind::Scalar:
          scalar_ = DeviceScalar<unsigned>(*pool_, queues_[0], 0);
          view = scalar_;
          upload.copy(snapshot(model_.contents(memory, 0)), view);
          break;
      }
    }
    copy_host_memory();
    upload.end();
    download.end();
    device_.compile(upload).launch(queues_[0]).wait();
    download_ = device_.compile(download);
  }

  [[nodiscard]] CapturedGraph compile(const Graph& graph, const CommandBuffer& commands) const {
    return device_.compile(commands, {.pool = pool_,
                                      .lowering = graph.lowering,
                                      .replicas = graph.replicas,
                                      .memory_goal = graph.goal});
  }

  // The contents of the model's pinned and borrowed memory.
  void copy_host_memory() {
    for (std::uint32_t memory = 0; memory < program_.memories.size(); ++memory) {
      const Memory::Kind kind = program_.memories[memory].kind;
      if (kind == Memory::Kind::Borrowed)
        std::ranges::copy(model_.contents(memory, 0), borrowed(memory).begin());
      if (kind != Memory::Kind::Pinned) continue;
      for (std::uint32_t copy = 0; copy < copies_; ++copy) {
        const Bytes& bytes = model_.contents(memory, copy);
        std::memcpy(memories_.views[memory].replica(copy).data(), bytes.data(), bytes.size());
      }
    }
  }
  // Its address does not change.
  [[nodiscard]] Bytes& borrowed(std::uint32_t memory) {
    memories_.borrowed[memory].resize(program_.memories[memory].bytes);
    return memories_.borrowed[memory];
  }

  [[nodiscard]] const Recording& recording(std::uint32_t graph) {
    return program_.graphs[graph].recordings[model_.graph(graph).recording];
  }
  [[nodiscard]] bool applies(const Step& step);
  [[nodiscard]] bool is_used(std::uint32_t graph, std::uint32_t memory) {
    bool found = false;
    for_each_command(recording(graph), [&](const Command& command) {
      found = found || (command.reads() && command.from.memory == memory) ||
              (command.writes() && command.to.memory == memory);
    });
    return found;
  }
  [[nodiscard]] bool is_used_by_host(std::uint32_t graph, std::uint32_t memory) {
    bool found = false;
    for_each_command(recording(graph), [&](const Command& command) {
      found = found || (command.kind == Command::Kind::Host && command.to.memory == memory);
    });
    return found;
  }
  [[nodiscard]] std::optional<Failure> update(const Step& step);
  [[nodiscard]] std::optional<Failure> compare();

  const Device device_;
  const Program& program_;
  const std::uint32_t copies_;
  Model model_;
  const std::shared_ptr<CapturePool> pool_;
  DeviceMemories memories_;
  std::vector<BufferView> read_;  // by memory: pinned copies
  CapturedGraph download_;
  DeviceScalar<unsigned> scalar_;
  std::vector<Queue> queues_;
  std::deque<GraphRecorder> recorders_;
  std::vector<CapturedGraph> graphs_;
  std::vector<GraphRecorder::Commands> commands_;  // by graph: of its current recording
};

bool Run::applies(const Step& step) {
  if (step.kind == Kind::Sync || step.kind == Kind::Trim || step.kind == Kind::Change) return true;
  if (step.kind == Kind::SetScalar) return step.a < queues_.size();
  if (step.kind == Kind::Wait) return step.a < queues_.size() && step.b < queues_.size();
  if (step.graph >= graphs_.size()) return false;
  const GraphState& state = model_.graph(step.graph);
  switch (step.kind) {
    case Kind::Launch:
      return step.a < queues_.size() &&
             (step.b == kNone || step.b < graphs_[step.graph].replicas());
    case Kind::SetSlot: {
      bool found = false;
      for_each_command(recording(step.graph),
                       [&](const Command& command) { found = found || command.slot == step.a; });
      return found;
    }
    case Kind::Disable:
    case Kind::Enable: return can_be_disabled(recording(step.graph), step.a);
    case Kind::Rebind: {
      const std::vector<Memory>& memories = program_.memories;
      const Memory::Kind kind = memories[step.a].kind;
      if ((kind != Memory::Kind::Device && kind != Memory::Kind::Pinned) ||
          memories[step.b].kind != kind || !is_used(step.graph, step.a) ||
          is_used_by_host(step.graph, step.a))
        return false;
      for (std::uint32_t memory = 0; memory < memories.size(); ++memory)
        if (memory != step.a && state.bound[memory] == step.b && is_used(step.graph, memory))
          return false;
      return true;
    }
    case Kind::Update:
    case Kind::ExecUpdate: return step.a < program_.graphs[step.graph].recordings.size();
    case Kind::Compile: return true;
    default: return step.a < queues_.size();
  }
}

std::optional<Failure> Run::step(const Step& step) {
  if (!applies(step)) return std::nullopt;
  switch (step.kind) {
    case Kind::Launch: {
      LaunchDesc desc;
      if (step.b != kNone) desc.replica = step.b;
      const Fence fence = graphs_[step.graph].launch(queues_[step.a], desc);
      model_.launch(step.graph, fence.replica());
      break;
    }
    case Kind::Sync: return compare();
    case Kind::SetSlot:
      graphs_[step.graph].scalar<unsigned>(concat("slot ", step.a)).set(step.b);
      model_.graph(step.graph).slots[step.a] = step.b;
      break;
    case Kind::SetScalar:
      scalar_.set(queues_[step.a], step.b);
      model_.set_scalar(step.b);
      break;
    case Kind::Disable:
      graphs_[step.graph].disable(commands_[step.graph].refs.at(step.a));
      model_.graph(step.graph).disabled.insert(step.a);
      break;
    case Kind::Enable:
      graphs_[step.graph].enable(commands_[step.graph].refs.at(step.a));
      model_.graph(step.graph).disabled.erase(step.a);
      break;
    case Kind::Rebind: {
      const UpdateReport report =
          graphs_[step.graph].rebind(memories_.views[step.a], memories_.views[step.b]);
      if (!report.done()) return Failure{concat("rebind failed: ", report.reason)};
      model_.graph(step.graph).bound[step.a] = step.b;
      break;
    }
    case Kind::Update:
    case Kind::ExecUpdate: return update(step);
    case Kind::Upload: graphs_[step.graph].upload(queues_[step.a]); break;
    case Kind::Trim: static_cast<void>(pool_->trim()); break;
    case Kind::Compile:
      graphs_[step.graph] = {};
      graphs_[step.graph] = compile(program_.graphs[step.graph], commands_[step.graph].buffer);
      model_.reset(step.graph, model_.graph(step.graph).recording);
      break;
    case Kind::Wait: queues_[step.a].wait(queues_[step.b].last_fence()); break;
    case Kind::Change:
      device_.wait_idle();
      model_.change_host_memory(step.a);
      copy_host_memory();
      break;
  }
  return std::nullopt;
}

// Recordings 0 and 2 are identical.
std::optional<Failure> Run::update(const Step& step) {
  const GraphState before = model_.graph(step.graph);
  const Recording& next = program_.graphs[step.graph].recordings[step.a];
  GraphRecorder::Commands commands = recorders_[step.graph].record(next);
  const bool is_update = step.kind == Kind::Update;
  const UpdateReport report = is_update ? graphs_[step.graph].update(commands.buffer)
                                        : graphs_[step.graph].exec_update(commands.buffer);
  if (report.done()) {
    commands_[step.graph] = std::move(commands);
    model_.reset(step.graph, step.a);
    return std::nullopt;
  }
  const bool is_identical =
      before.recording == step.a || (before.recording + step.a == 2 && before.recording != 1);
  const bool has_bodies = std::ranges::any_of(
      next.commands, [](const Command& command) { return !command.bodies.empty(); });
  const bool is_bound = std::ranges::any_of(before.bound, [&](const std::uint32_t& memory) {
    return memory != static_cast<std::uint32_t>(&memory - before.bound.data());
  });
  if (is_update || (is_identical && !has_bodies && !is_bound))
    return Failure{
        concat("the update was refused: ", to_string(report.outcome), ": ", report.reason)};
  return std::nullopt;
}

std::optional<Failure> Run::compare() {
  for (const Queue& queue : queues_) queue.last_fence().wait();
  download_.launch(queues_[0]).wait();
  for (std::uint32_t memory = 0; memory < program_.memories.size(); ++memory) {
    const bool is_borrowed = program_.memories[memory].kind == Memory::Kind::Borrowed;
    if (!is_borrowed && !read_[memory]) continue;
    for (std::uint32_t copy = 0; copy < (is_borrowed ? 1 : copies_); ++copy) {
      const Bytes& expected = model_.contents(memory, copy);
      const auto* const found =
          is_borrowed ? borrowed(memory).data()
                      : static_cast<const std::uint8_t*>(read_[memory].replica(copy).data());
      std::uint32_t count = 0, first = 0;
      for (std::uint32_t i = 0; i < expected.size(); ++i) {
        if (found[i] != expected[i] && count++ == 0) first = i;
      }
      if (count != 0)
        return Failure{concat("memory ", memory, ", copy ", copy, ": ", count,
                              " bytes differ; byte ", first, " is ", unsigned{found[first]},
                              " and should be ", unsigned{expected[first]})};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Failure> run(const Device& device, const Kernels& kernels, const Program& program) {
  std::string at = "compile";
  try {
    Run run(device, kernels, program);
    try {
      for (std::size_t i = 0; i < program.steps.size(); ++i) {
        at = concat("step ", i, ", ", to_text(program.steps[i]));
        if (const auto failure = run.step(program.steps[i]))
          return Failure{concat(at, ": ", failure->text, "\n", run.plans())};
      }
    } catch (const std::exception& error) {
      return Failure{concat(at, ": ", error.what(), "\n", run.plans())};
    }
  } catch (const std::exception& error) {
    return Failure{concat(at, ": ", error.what())};
  }
  return std::nullopt;
}

}  // namespace reprise::test::programs
