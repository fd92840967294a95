#include "support/edited_recording.hpp"

#include <utility>
#include <vector>

#include "support/random_recording.hpp"

namespace reprise::test {

namespace {

struct Edited {
  detail::Command command;
  std::vector<BufferAccess> accesses;
};

BufferAccess& any_access(std::vector<Edited>& commands, Random& random) {
  Edited* edited = nullptr;
  do {
    edited = &commands[random.below(commands.size())];
  } while (edited->accesses.empty());
  return edited->accesses[random.below(edited->accesses.size())];
}

}  // namespace

RecordingPtr edited(const RecordingPtr& recording, const EditDesc& desc) {
  Random random(desc.seed);
  std::vector<Edited> commands;
  for (const detail::Command& command : recording->commands) {
    const auto first = recording->accesses.begin() + command.first_access;
    commands.push_back({command, {first, first + command.access_count}});
  }
  for (std::uint32_t i = 0; i < desc.changed; ++i) {
    BufferAccess& access = any_access(commands, random);
    const std::uint64_t bytes = recording->buffers[access.buffer]->bytes;
    access.begin = random.below(bytes);
    access.end = access.begin + 1 + random.below(bytes - access.begin);
  }
  for (std::uint32_t i = 0; i < desc.moved; ++i)
    any_access(commands, random).buffer = random.below(recording->buffers.size());
  for (std::uint32_t i = 0; i < desc.removed; ++i)
    commands.erase(commands.begin() + random.below(commands.size()));
  for (std::uint32_t i = 0; i < desc.added; ++i) {
    Edited copy = commands[random.below(commands.size())];
    commands.insert(commands.begin() + random.below(commands.size() + 1), std::move(copy));
  }
  auto result = std::make_shared<Recording>(*recording);
  result->commands.clear();
  result->accesses.clear();
  for (Edited& edited : commands) {
    edited.command.first_access = static_cast<std::uint32_t>(result->accesses.size());
    result->commands.push_back(edited.command);
    result->accesses.insert(result->accesses.end(), edited.accesses.begin(), edited.accesses.end());
  }
  return result;
}

}  // namespace reprise::test
