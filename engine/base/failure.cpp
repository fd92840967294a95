#include "base/failure.hpp"

#include "base/text.hpp"

namespace reprise::detail {

constinit thread_local bool in_host_callback = false;

void fail(ErrorCode code, Stage stage, std::string_view label, const std::string& text) {
  throw Error({.code = code, .stage = stage, .label = std::string(label)}, text);
}

void fail_empty(std::string_view type, std::string_view call, Stage stage, std::string_view label) {
  fail(ErrorCode::NotInitialized, stage, label,
       concat(call, ": the ", type, " is empty or was moved from"));
}

void fail_in_callback(std::string_view type, std::string_view call, Stage stage,
                      std::string_view label) {
  fail(ErrorCode::InvalidState, stage, label,
       concat(type, type.empty() ? "" : "::", call, label.empty() ? "" : " of ", label,
              " in a host callback: the device may wait for the callback, and CUDA refuses calls "
              "in it; call it on another thread, or after the replay"));
}

bool lacks_memory(const Error& error) noexcept {
  return error.code() == ErrorCode::OutOfMemory || error.code() == ErrorCode::SlabExhausted;
}

Error with_context(const Error& error, std::string_view label, const std::string& context) {
  ErrorDetails details = error.details();
  if (!details.command && !label.empty()) details.label = label;
  return Error(std::move(details), concat(error.text(), "; ", context));
}

}  // namespace reprise::detail
