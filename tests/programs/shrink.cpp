#include "programs/shrink.hpp"

#include <algorithm>
#include <set>

namespace reprise::test::programs {
namespace {

void remove(Recording& recording, std::uint32_t id) {
  std::erase_if(recording.commands, [&](const Command& command) { return command.id == id; });
  for (Command& command : recording.commands)
    for (Recording& body : command.bodies) remove(body, id);
}

void remove_graph(Program& program, std::size_t graph) {
  program.graphs.erase(program.graphs.begin() + static_cast<std::ptrdiff_t>(graph));
  std::erase_if(program.steps, [&](const Step& step) { return step.graph == graph; });
  for (Step& step : program.steps)
    if (step.graph > graph) --step.graph;
}

void simplify_order(Recording& recording) {
  recording.ordering = Ordering::Inferred;
  for (Command& command : recording.commands)
    for (Recording& body : command.bodies) simplify_order(body);
}

}  // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& fails) {
  bool is_smaller = true;
  const auto attempt = [&](const std::function<void(Program&)>& remove_part) {
    Program smaller = program;
    remove_part(smaller);
    if (!fails(smaller)) return false;
    program = std::move(smaller);
    return is_smaller = true;
  };
  const auto attempt_option = [&](auto get, const auto& simplest) {
    if (!(get(program) == simplest))
      static_cast<void>(attempt([&](Program& p) { get(p) = simplest; }));
  };
  while (is_smaller) {
    is_smaller = false;
    for (std::size_t count = program.steps.size(); count != 0; count /= 2) {
      for (std::size_t i = program.steps.size(); i-- != 0;) {
        if (i + count > program.steps.size()) continue;
        const auto first = static_cast<std::ptrdiff_t>(i),
                   last = first + static_cast<std::ptrdiff_t>(count);
        static_cast<void>(attempt(
            [&](Program& p) { p.steps.erase(p.steps.begin() + first, p.steps.begin() + last); }));
      }
    }
    for (std::size_t graph = program.graphs.size(); graph-- != 0;)
      static_cast<void>(attempt([&](Program& p) { remove_graph(p, graph); }));
    for (std::size_t graph = 0; graph < program.graphs.size(); ++graph) {
      while (program.graphs[graph].recordings.size() > 1 &&
             attempt([&](Program& p) { p.graphs[graph].recordings.pop_back(); })) {
      }
      std::set<std::uint32_t> ids;
      for (const Recording& recording : program.graphs[graph].recordings)
        for_each_command(recording, [&](const Command& command) { ids.insert(command.id); });
      for (const std::uint32_t id : ids) {
        static_cast<void>(attempt([&](Program& p) {
          for (Recording& recording : p.graphs[graph].recordings) remove(recording, id);
        }));
      }
      const bool is_inferred = std::ranges::all_of(
          program.graphs[graph].recordings,
          [](const Recording& recording) { return recording.ordering == Ordering::Inferred; });
      if (!is_inferred) {
        static_cast<void>(attempt([&](Program& p) {
          for (Recording& recording : p.graphs[graph].recordings) simplify_order(recording);
        }));
      }
      attempt_option([&](Program& p) -> Lowering& { return p.graphs[graph].lowering; },
                     Lowering::Faithful);
      attempt_option([&](Program& p) -> MemoryGoal& { return p.graphs[graph].goal; },
                     MemoryGoal::Speed);
      attempt_option([&](Program& p) -> std::uint32_t& { return p.graphs[graph].replicas; }, 1u);
    }
    attempt_option([](Program& p) -> SlabSharing& { return p.sharing; }, SlabSharing::None);
    attempt_option([](Program& p) -> std::uint32_t& { return p.queues; }, 1u);
  }
  return program;
}

}  // namespace reprise::test::programs
