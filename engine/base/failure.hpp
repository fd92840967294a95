// Helpers that create errors of this layer and add context to errors of a backend. Threads: any.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

#include <reprise/error.hpp>

#include "base/text.hpp"

namespace reprise::detail {

[[noreturn]] REPRISE_API void fail(ErrorCode code, Stage stage, std::string_view label,
                                   const std::string& text);

// Throws NotInitialized: `call` used an empty or moved-from handle of type `type`.
[[noreturn]] REPRISE_API void fail_empty(std::string_view type, std::string_view call, Stage stage,
                                         std::string_view label = {});

// Text about a value that its enumeration does not have, "desc.kind is 9, ..."; empty if it has it.
template <class Enum>
[[nodiscard]] std::string enumerator_fault(std::string_view field, Enum value) {
  if (to_string(value) != "unknown") return {};
  return concat(field, " is ", static_cast<std::underlying_type_t<Enum>>(value),
                ", which is none of its enumerators");
}
// Throws InvalidArgument unless the value is one of its enumeration.
template <class Enum>
void require_enumerator(std::string_view field, Enum value, Stage stage,
                        std::string_view label = {}) {
  if (const std::string fault = enumerator_fault(field, value); !fault.empty())
    fail(ErrorCode::InvalidArgument, stage, label, fault);
}

// The object behind a handle; NotInitialized where there is none.
template <class Pointer>
[[nodiscard]] auto& require_handle(const Pointer& core, std::string_view type,
                                   std::string_view call, Stage stage) {
  if (!core) fail_empty(type, call, stage);
  return *core;
}

// True while the calling thread runs a host callback or a host function of an op.
REPRISE_API extern constinit thread_local bool in_host_callback;

[[noreturn]] REPRISE_API void fail_in_callback(std::string_view type, std::string_view call,
                                               Stage stage, std::string_view label);

// Throws InvalidState if the calling thread runs a host callback, in which CUDA allows no call and
// whose end the device may wait for. `type`: the class of member `call`; empty for a function.
inline void require_outside_callback(std::string_view type, std::string_view call, Stage stage,
                                     std::string_view label) {
  if (in_host_callback) [[unlikely]]
    fail_in_callback(type, call, stage, label);
}

// Calls `function` and returns its exception, or null. Holds no reference to the exception then, so
// the last owner may be on another thread.
template <class Function>
[[nodiscard]] std::exception_ptr exception_of(const Function& function) noexcept {
  try {
    function();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// True if memory or a budget was exhausted: the call may succeed later or with a smaller size.
[[nodiscard]] bool lacks_memory(const Error& error) noexcept;

// Copies the error and appends `context` to its text. The label becomes `label`, unless the error
// names a command.
[[nodiscard]] Error with_context(const Error& error, std::string_view label,
                                 const std::string& context);

}  // namespace reprise::detail
