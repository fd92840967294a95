// ChildGraphOp: a secondary command buffer as an op, for scripts that are lists of ops. Adding one
// equals Recorder::execute(secondary, Nested): the secondary becomes one command, a child graph.
// Threads: values.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <reprise/command_buffer.hpp>
#include <reprise/graph_op.hpp>

namespace reprise::detail {
struct Recording;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

class REPRISE_API ChildGraphOp final : public GraphOp {
 public:
  // Refers to the current recording of `secondary`, which may be recorded again afterwards. Throws
  // InvalidArgument for a primary, InvalidState unless it is executable.
  explicit ChildGraphOp(const CommandBuffer& secondary);

  [[nodiscard]] std::string_view op_name() const noexcept override { return "child_graph"; }
  [[nodiscard]] std::string parameters() const override;
  // Both do nothing: the recorder replaces the op by a nested execution.
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  friend struct detail::HandleAccess;
  std::shared_ptr<const detail::Recording> core_;
};

}  // namespace reprise::inline REPRISE_ABI
