#include "dependencies/describe.hpp"

#include "base/text.hpp"

namespace reprise::detail {

std::string describe_command(const Recording& recording, std::uint32_t command) {
  const Command& c = recording.commands[command];
  std::string text = concat("command ", command, ", ", recording.command_name(command));
  if (const std::string path = recording.label_path(c.label); !path.empty())
    text += concat(" in \"", path, '"');
  if (c.where.line != 0) text += concat(" (", c.where.file, ':', c.where.line, ')');
  return text;
}

std::string describe_buffer(const BufferCore& buffer) {
  return buffer.name.empty() ? display_name(buffer) : concat("buffer \"", buffer.name, '"');
}

std::string describe_range(const BufferCore& buffer, std::uint64_t begin, std::uint64_t end) {
  return concat("bytes [", begin, ", ", end, ") of ", describe_buffer(buffer));
}

}  // namespace reprise::detail
