// Validation messages: warnings reach Instance's on_message and the compile report, errors are
// thrown as Error. Threads: values; on_message is called on the thread that compiles or records.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <reprise/types.hpp>

namespace reprise {

enum class Severity : std::uint8_t { Info, Warning, Error };
[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

struct Message {
  static constexpr std::uint32_t kNoCommand = 0xffffffffu;

  std::string_view id;  // stable, for example "hazard-unordered"; lives for ever
  Severity severity = Severity::Warning;
  std::string text;                    // whole: both commands, labels, places, range, and the fix
  std::uint32_t command = kNoCommand;  // the later command of a pair
  std::uint32_t other_command = kNoCommand;  // the earlier one, where there is one
  std::string label;                         // label path of `command`
  SourceLocation where;                      // of `command`
};

using MessageHandler = std::function<void(const Message&)>;

}  // namespace reprise
