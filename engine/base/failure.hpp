// Helpers that create errors of this layer and add context to errors of a backend. Threads: pure
// functions.
#pragma once

#include <string>
#include <string_view>

#include <reprise/error.hpp>

namespace reprise::detail {

[[noreturn]] void fail(ErrorCode code, Stage stage, std::string_view label,
                       const std::string& text);

// The text that the error was constructed with: what() without the trailing details.
[[nodiscard]] std::string text_of(const Error& error);

// True if memory or a budget was exhausted: the call may succeed later or with a smaller size.
[[nodiscard]] bool lacks_memory(const Error& error) noexcept;

// Copies the error and appends `context` to its text. The label becomes `label`, unless the error
// names a command.
[[nodiscard]] Error with_context(const Error& error, std::string_view label,
                                 const std::string& context);

}  // namespace reprise::detail
