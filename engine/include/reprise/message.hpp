// Message: a warning, remark or error of validation or compilation, for InstanceDesc::on_message
// and, except for errors, CompileReport. Errors are also thrown as Error. Threads: values;
// on_message is called on the thread that records or compiles.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/types.hpp>

namespace reprise::inline REPRISE_ABI {

enum class Severity : std::uint8_t { Info, Warning, Error };
[[nodiscard]] REPRISE_API std::string_view to_string(Severity severity) noexcept;

struct Message {
  std::string_view id;  // stable, for example "hazard-unordered"; static storage duration
  Severity severity = Severity::Warning;
  std::string text;  // both commands with labels and source locations, the range, and the fix
  std::optional<std::uint32_t> command = {};        // index; of a pair: the later command
  std::optional<std::uint32_t> other_command = {};  // of a pair: the earlier command
  std::string label;                                // label path of `command`
  SourceLocation where;                             // of `command`
};

// Called once for each message. Must be safe to call from several threads at once.
using MessageHandler = std::function<void(const Message&)>;

}  // namespace reprise::inline REPRISE_ABI
