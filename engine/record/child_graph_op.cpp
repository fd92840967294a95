#include <reprise/child_graph_op.hpp>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/command_buffer_core.hpp"

namespace reprise::inline REPRISE_ABI {
namespace {

[[noreturn]] void fail_child_graph(ErrorCode code, const std::string& text) {
  ErrorDetails details;
  details.code = code;
  details.stage = Stage::Record;
  throw Error(std::move(details), detail::concat("op child_graph: ", text));
}

std::shared_ptr<const detail::Recording> executable(const CommandBuffer& secondary) {
  const detail::CommandBufferCore& core = detail::require_handle(
      detail::core_of(secondary), "CommandBuffer", "ChildGraphOp", Stage::Record);
  if (core.level() != Level::Secondary) {
    fail_child_graph(ErrorCode::InvalidArgument,
                     detail::concat("command buffer ", core.label(),
                                    " is a primary; create it with .level = Level::Secondary"));
  }
  auto recording = core.recording();
  if (!recording) {
    fail_child_graph(ErrorCode::InvalidState,
                     detail::concat("secondary ", core.label(), " is in state ",
                                    to_string(core.state()), "; end() it first"));
  }
  return recording;
}

}  // namespace

ChildGraphOp::ChildGraphOp(const CommandBuffer& secondary) : core_(executable(secondary)) {}

std::string ChildGraphOp::parameters() const { return detail::concat("secondary ", core_->label); }

void ChildGraphOp::declare(GraphOpDeclaration&) const {}

void ChildGraphOp::record(GraphRecordCtx&) const {}

}  // namespace reprise::inline REPRISE_ABI
