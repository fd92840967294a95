// MemcpyOp: a copy as an op, for scripts that are lists of ops. Elsewhere use Recorder::copy.
// Target reprise::ops. Threads: values.
#pragma once

#include <string_view>

#include <reprise/graph_op.hpp>

namespace reprise::inline REPRISE_ABI {

struct MemcpyDesc {
  BufferView source = {}, destination = {};  // of equal size; device or pinned memory
};

class REPRISE_API MemcpyOp final : public GraphOp {
 public:
  // Throws NotInitialized for an empty buffer, InvalidArgument for different sizes, Overlap.
  explicit MemcpyOp(MemcpyDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "memcpy"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  MemcpyDesc desc_;
};

}  // namespace reprise::inline REPRISE_ABI
