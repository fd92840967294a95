// ChildGraphOp: a secondary command buffer as an op, for scripts that are lists of ops.
// Recorder::add() of one is Recorder::execute(secondary, Nested): the secondary becomes one
// command, a graph of its own inside the graph. Threads: values.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <reprise/command_buffer.hpp>
#include <reprise/graph_op.hpp>

namespace reprise {

namespace detail {
struct Recording;
}

class ChildGraphOp final : public GraphOp {
 public:
  // Of what `secondary` holds now: it may be recorded anew afterwards. Throws InvalidArgument for a
  // primary, InvalidState where it has not ended.
  explicit ChildGraphOp(const CommandBuffer& secondary);

  [[nodiscard]] std::string_view op_name() const noexcept override { return "child_graph"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration)
      const override;  // nothing: the recorder looks at the secondary itself
  void record(
      GraphRecordCtx& ctx) const override;  // nothing: it is no op any more once it is recorded

  [[nodiscard]] const std::shared_ptr<const detail::Recording>& recording() const noexcept {
    return recording_;
  }

 private:
  std::shared_ptr<const detail::Recording> recording_;
};

}  // namespace reprise
