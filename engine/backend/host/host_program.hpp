// HostProgram: a plan as the host device runs it: nodes with addresses, in a valid order, with
// their successors. Knows no queue. Threads: the nodes of one replay may run on many threads, each
// node on one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/callback_errors.hpp"
#include "backend/host/body_node.hpp"
#include "backend/host/dispatch_node.hpp"
#include "backend/host/fault_marks.hpp"
#include "backend/host/op_steps.hpp"
#include "backend/host/rows.hpp"

namespace reprise::detail {

class SegmentReplay;

class HostProgram {
 public:
  // Throws Error (Stage::Instantiate) naming the command. `marks` records every node; null: no
  // recording. `marks` and `generation` outlive this object.
  HostProgram(std::shared_ptr<const Plan> plan, const Bindings& bindings,
              const DeviceGeneration& generation, FaultMarks* marks);
  // A body, whose first loop has number `first_loop` and whose first node has number `first_node`
  // in timing_layout().
  HostProgram(std::shared_ptr<const Plan> plan, const Bindings& bindings,
              const BodyNode::Shared& outer, std::uint32_t first_loop, std::uint32_t first_node);
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;
  ~HostProgram();

  [[nodiscard]] std::uint32_t node_count() const noexcept {
    return static_cast<std::uint32_t>(nodes_.size());
  }
  [[nodiscard]] bool has_callbacks() const noexcept { return has_callbacks_; }
  // For the outermost program, before the first node of each replay. `times`: of the bodies' nodes,
  // in the layout of timing(), or null.
  void begin_replay(NodeTime* times) noexcept { state_->begin_replay(times); }
  // For the outermost program.
  [[nodiscard]] const TimingLayout& timing() const noexcept { return timing_; }
  // Called before the first replay. Reports times in `timing`, a layout of the same nodes.
  void set_timing(const TimingLayout& timing) { timing_ = timing; }
  [[nodiscard]] std::vector<LoopCount> loop_counts() const { return state_->counts(); }
  // True if two nodes may run concurrently.
  [[nodiscard]] bool has_parallelism() const noexcept { return has_parallelism_; }
  [[nodiscard]] std::span<const LoweredEdge> edges_into(std::uint32_t node) const noexcept {
    return plan_->lowered.edges_into(node);
  }
  [[nodiscard]] std::span<const std::uint32_t> successors(std::uint32_t node) const noexcept {
    return {successors_.data() + first_successor_[node],
            successors_.data() + first_successor_[node + 1]};
  }
  [[nodiscard]] std::string_view label() const noexcept { return plan_->label; }

  // The contents of a node after a change of bindings, for this program only.
  struct RebuiltNode;
  // Any thread, at any time. Throws the exceptions of ops.
  [[nodiscard]] RebuiltNode rebuild_node(std::uint32_t node, const Bindings& bindings) const;
  // Both are called between replays. `made` receives the previous contents, which the caller
  // destroys.
  void replace(RebuiltNode& made) noexcept;
  void set_disabled(std::uint32_t node, std::uint8_t disabled) noexcept {
    disabled_[node] = disabled;
  }

  [[nodiscard]] bool has_segments() const noexcept { return !segments_.empty(); }
  // For nodes of segments: runs the blocks of an item. end_blocks() follows the last item.
  void run_blocks(const SegmentItem& item, std::uint64_t replay) noexcept;
  void end_blocks(std::uint32_t node, std::uint64_t replay, CallbackErrors& errors) noexcept;

  // Runs all nodes in order, each segment as a whole, until the device is lost. `times`: by node,
  // measured by `worker`; null: not wanted. Adds the exceptions of callbacks to `errors`.
  void run_in_order(WorkerArena& workers, std::uint64_t replay, CallbackErrors& errors,
                    NodeTime* times, std::uint16_t worker) noexcept;
  // True for a node whose work is outside the process. run() blocks until it has ended.
  [[nodiscard]] bool is_async(std::uint32_t node) const noexcept {
    return nodes_[node].kind == Kind::Op && disabled_[node] == 0 &&
           ops_[nodes_[node].index]->is_async();
  }
  // Starts such a node. `done` is called when it has ended, on any thread.
  void start(std::uint32_t node, std::uint64_t replay, CallbackErrors& errors,
             std::function<void()> done) noexcept;
  // Runs one node.
  void run(std::uint32_t node, WorkerArena& workers, std::uint64_t replay,
           CallbackErrors& errors) noexcept;

 private:
  enum class Kind : std::uint8_t { Nothing, Dispatch, Copy, Fill, Callback, Op, Bodies };
  struct Node {
    Kind kind = Kind::Nothing;
    std::uint32_t index = 0;  // in the vector of its kind
  };
  struct CopyNode {
    RowsAt source, destination;
    Extent extent;
  };
  struct FillNode {
    RowsAt destination;
    Extent extent;
    std::uint32_t bits, element_bytes;
  };

  [[nodiscard]] CopyNode copy_node(std::uint32_t command, const Bindings& bindings) const;
  [[nodiscard]] FillNode fill_node(std::uint32_t command, const Bindings& bindings) const;
  [[nodiscard]] BodyNode body_node(std::uint32_t node, const Bindings& bindings) const;
  // Conditions are already bound.
  [[nodiscard]] RebuiltNode rebuild_bound_node(std::uint32_t node, const Bindings& bindings) const;
  [[nodiscard]] std::unique_ptr<OpSteps> record_steps(std::uint32_t command,
                                                      const Bindings& bindings) const;
  void mark_written(std::uint32_t node, WrittenBytes& written) const noexcept;
  // Reports the faults of a checked dispatch.
  void end_dispatch(std::uint32_t node, std::uint64_t replay, CallbackErrors& errors) noexcept;
  void run_copy(std::uint32_t index) noexcept;
  void run_fill(std::uint32_t index) noexcept;
  void run_unmarked(std::uint32_t node, WorkerArena& workers, std::uint64_t replay,
                    CallbackErrors& errors) noexcept;
  [[nodiscard]] Node make_node(std::uint32_t node, const Bindings& bindings);
  [[nodiscard]] Node make_dispatch(std::uint32_t command, const Bindings& bindings);
  [[nodiscard]] Node make_op(std::uint32_t command, const Bindings& bindings);
  [[nodiscard]] Node make_bodies(std::uint32_t node, const Bindings& bindings);
  void make_nodes(const Bindings& bindings);
  void link();

  std::shared_ptr<const Plan> plan_;
  FaultMarks* marks_;                   // null: not recorded
  std::unique_ptr<ReplayState> state_;  // null in a body, which uses the outermost program's
  TimingLayout timing_;                 // empty in a body
  BodyNode::Shared shared_;
  const std::uint32_t first_node_ = 0;     // of this program, in the timing layout
  std::vector<std::uint32_t> first_loop_;  // by command; empty for a plan without bodies
  std::vector<Node> nodes_;
  std::vector<std::uint8_t> disabled_;  // by node
  std::vector<DispatchNode> dispatches_;
  std::vector<std::byte*> blocks_;  // by dispatch: its parameters
  std::vector<CopyNode> copies_;
  std::vector<FillNode> fills_;
  std::vector<const std::function<void()>*> callbacks_;
  std::vector<std::unique_ptr<OpSteps>> ops_;
  std::vector<BodyNode> bodies_;
  std::vector<std::unique_ptr<SegmentReplay>> segments_;  // in their order
  std::vector<std::uint32_t> first_successor_, successors_;
  bool has_parallelism_ = false, has_callbacks_ = false;
  Arena parameters_;
};

struct HostProgram::RebuiltNode {
  std::uint32_t node = 0;
  std::vector<std::byte> parameters;        // of a dispatch
  std::shared_ptr<CheckedDispatch> checks;  // of a dispatch
  CopyNode copy = {};
  FillNode fill = {};
  std::unique_ptr<OpSteps> op;
  std::unique_ptr<BodyNode> body;
};

}  // namespace reprise::detail
