#include "plan/loops.hpp"

#include "record/payload.hpp"

namespace reprise::detail {

namespace {

bool is_loop(const Recording& recording, std::uint32_t command) {
  return recording.commands[command].kind == CommandKind::Conditional &&
         recording.payload<ConditionalPayload>(command).branch == Branch::While;
}

void collect(const Recording& recording, std::uint32_t outermost, std::vector<Loop>& loops) {
  if (recording.bodies.empty()) return;
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    const std::uint32_t command = outermost == kNone ? i : outermost;
    if (is_loop(recording, i)) loops.push_back({recording.command_name(i), command});
    for (const Body& body : bodies_of(recording.commands[i]))
      collect(*recording.bodies[body.index], command, loops);
  }
}

}  // namespace

std::vector<Loop> loops_of(const Recording& recording) {
  std::vector<Loop> loops;
  collect(recording, kNone, loops);
  return loops;
}

std::uint32_t count_loops(const Recording& recording, std::uint32_t command) {
  std::uint32_t count = is_loop(recording, command) ? 1 : 0;
  for (const Body& body : bodies_of(recording.commands[command]))
    count += count_loops(*recording.bodies[body.index]);
  return count;
}

std::uint32_t count_loops(const Recording& recording) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; !recording.bodies.empty() && i < recording.commands.size(); ++i)
    count += count_loops(recording, i);
  return count;
}

std::vector<std::uint32_t> number_loops(const Recording& recording, std::uint32_t first) {
  std::vector<std::uint32_t> numbers;
  if (recording.bodies.empty()) return numbers;
  numbers.reserve(recording.commands.size());
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    numbers.push_back(first);
    first += count_loops(recording, i);
  }
  return numbers;
}

}  // namespace reprise::detail
