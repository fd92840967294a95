#include "record/command.hpp"

namespace reprise::detail {

std::string_view to_string(CommandKind kind) noexcept {
  switch (kind) {
#define REPRISE_X(row, name) \
  case CommandKind::row: return name;
    REPRISE_COMMANDS(REPRISE_X)
#undef REPRISE_X
  }
  return "unknown";
}

std::string_view to_string(Branch branch) noexcept {
  switch (branch) {
    case Branch::If: return "if";
    case Branch::While: return "while";
    case Branch::Switch: return "switch";
  }
  return "unknown";
}

}  // namespace reprise::detail
