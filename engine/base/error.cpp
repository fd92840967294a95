#include <reprise/error.hpp>

#include <utility>

#include "base/text.hpp"

namespace reprise::inline REPRISE_ABI {

namespace {

// "<text> [OutOfRange, record, command 3, label forward/layer 1, cudaMalloc(&p, n) returned
// cudaErrorMemoryAllocation (2)]"
std::string compose(const ErrorDetails& d, const std::string& text) {
  std::string result = detail::concat(text, " [", to_string(d.code), ", ", to_string(d.stage));
  if (d.command) result += detail::concat(", command ", *d.command);
  if (!d.label.empty()) result += detail::concat(", label ", d.label);
  if (!d.message_id.empty()) result += detail::concat(", rule ", d.message_id);
  if (!d.native_call.empty()) {
    result += detail::concat(", ", d.native_call, " returned ", d.native_name,
                             d.native_name.empty() ? "" : " ", "(", d.native_code, ")");
  }
  result += ']';
  return result;
}

}  // namespace

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
#define REPRISE_X(name, meaning) \
  case ErrorCode::name: return #name;
    REPRISE_ERROR_CODES(REPRISE_X)
#undef REPRISE_X
  }
  return "unknown";
}

std::string_view describe(ErrorCode code) noexcept {
  switch (code) {
#define REPRISE_X(name, meaning) \
  case ErrorCode::name: return meaning;
    REPRISE_ERROR_CODES(REPRISE_X)
#undef REPRISE_X
  }
  return "unknown";
}

std::string_view to_string(Stage stage) noexcept {
  switch (stage) {
    case Stage::Open: return "open";
    case Stage::Load: return "load";
    case Stage::Allocate: return "allocate";
    case Stage::Record: return "record";
    case Stage::Validate: return "validate";
    case Stage::Dependencies: return "dependencies";
    case Stage::Lowering: return "lowering";
    case Stage::Memory: return "memory";
    case Stage::Plan: return "plan";
    case Stage::Instantiate: return "instantiate";
    case Stage::Upload: return "upload";
    case Stage::Launch: return "launch";
    case Stage::Wait: return "wait";
    case Stage::Profile: return "profile";
  }
  return "unknown";
}

Error::Error(ErrorDetails details, std::string text)
    : std::runtime_error(compose(details, text)),
      details_(std::move(details)),
      text_(std::move(text)) {}

}  // namespace reprise::inline REPRISE_ABI
