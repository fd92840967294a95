// Making errors of this layer, and adding to a backend's error what only this layer knows.
// Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <reprise/error.hpp>

namespace reprise::detail {

[[noreturn]] void fail(ErrorCode code, Stage stage, std::string_view label,
                       const std::string& text);

// Throws NotInitialized: `call` used an empty or moved-from handle of type `type`.
[[noreturn]] void fail_empty(std::string_view type, std::string_view call, Stage stage,
                             std::string_view label = {});

// The object behind a handle; NotInitialized where there is none.
template <class Pointer>
[[nodiscard]] auto& require_handle(const Pointer& core, std::string_view type,
                                   std::string_view call, Stage stage) {
  if (!core) fail_empty(type, call, stage);
  return *core;
}

// What the error was made with: what() without the details behind it.
[[nodiscard]] std::string text_of(const Error& error);

// The device, or a budget, had too little: with less, or later, it may work.
[[nodiscard]] bool lacks_memory(const Error& error) noexcept;

// The same error, `where` after its text; its label is `label` unless it names a command.
[[nodiscard]] Error with_context(const Error& error, std::string_view label,
                                 const std::string& where);

}  // namespace reprise::detail
