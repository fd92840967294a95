#include <reprise/message.hpp>

namespace reprise::inline REPRISE_ABI {

std::string_view to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::Info: return "info";
    case Severity::Warning: return "warning";
    case Severity::Error: return "error";
  }
  return "unknown";
}

}  // namespace reprise::inline REPRISE_ABI
