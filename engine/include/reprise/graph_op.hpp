// GraphOp: the open extension point of recording: one command that becomes as many kernels, copies
// or library calls as it likes. Recorder::add() takes one; on a GPU it is captured into a graph of
// its own and becomes one child graph, on the host device its steps run one after another. A user's
// op needs nothing of the engine but this header. Threads: an op is immutable once added; declare()
// runs on the recording thread, record() on any, one at a time an op.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/command_buffer.hpp>
#include <reprise/device_info.hpp>
#include <reprise/error.hpp>
#include <reprise/kernel.hpp>

namespace reprise {

namespace detail {
class OpTarget;
struct Recording;
}  // namespace detail

// What an op touches, and on which device it is recorded. Filled in by GraphOp::declare().
class GraphOpDeclaration {
 public:
  struct Workspace {
    std::uint64_t bytes = 0;
    std::uint32_t alignment = 256;  // bytes, a power of two
  };

  GraphOpDeclaration(DeviceKind kind, std::uint32_t ordinal) noexcept
      : kind_(kind), ordinal_(ordinal) {}
  GraphOpDeclaration(const GraphOpDeclaration&) = delete;
  GraphOpDeclaration& operator=(const GraphOpDeclaration&) = delete;

  [[nodiscard]] DeviceKind device_kind() const noexcept { return kind_; }
  [[nodiscard]] std::uint32_t device_ordinal() const noexcept {
    return ordinal_;
  }  // CUDA's number of it; 0 for the host device

  // The op touches these bytes at each replay: use(read(x)).
  void use(AccessedView view) { views_.push_back(std::move(view)); }
  // Memory with undefined contents that is the op's while it runs; placed with the transients. Its
  // number, from 0.
  std::uint32_t workspace(std::uint64_t bytes, std::uint32_t alignment = 256);

  [[nodiscard]] std::span<const AccessedView> views() const noexcept { return views_; }
  [[nodiscard]] std::span<const Workspace> workspaces() const noexcept { return workspaces_; }

 private:
  DeviceKind kind_;
  std::uint32_t ordinal_;
  std::vector<AccessedView> views_;
  std::vector<Workspace> workspaces_;
};

// Where an op puts its work. Lives during one call of GraphOp::record(); on GPUs the device is
// current.
class GraphRecordCtx {
 public:
  GraphRecordCtx(const detail::Recording& recording, std::uint32_t command,
                 detail::OpTarget& target) noexcept
      : recording_(recording), target_(target), command_(command) {}
  GraphRecordCtx(const GraphRecordCtx&) = delete;
  GraphRecordCtx& operator=(const GraphRecordCtx&) = delete;

  [[nodiscard]] DeviceKind device_kind() const noexcept;
  [[nodiscard]] std::uint32_t device_ordinal() const noexcept;

  // Where a declared buffer is in this executable, transients too. Throws InvalidArgument for one
  // that was not declared.
  [[nodiscard]] void* address(const BufferView& view) const;
  template <class T>
  [[nodiscard]] T* address(const GpuRef<T>& ref) const {
    return static_cast<T*>(address(static_cast<const BufferView&>(ref)));
  }
  template <class T>
  [[nodiscard]] T* address(const HostRef<T>& ref) const {
    return static_cast<T*>(address(static_cast<const BufferView&>(ref)));
  }
  // A workspace by its number. Throws OutOfRange for one that was not declared.
  [[nodiscard]] void* workspace(std::uint32_t index = 0) const;

  // A kernel on either device, after the steps before it; arguments as Recorder::dispatch takes
  // them, buffers declared. Throws what that throws; Unsupported for clusters and cooperative
  // launches.
  template <class... Args>
  void dispatch(const Kernel& kernel, const DispatchDesc& desc, const Args&... args) {
    const detail::Argument list[sizeof...(Args) + 1] = {detail::make_argument(args)..., {}};
    dispatch_arguments(kernel, desc, std::span(list, sizeof...(Args)));
  }
  void dispatch_arguments(const Kernel& kernel, const DispatchDesc& desc,
                          std::span<const detail::Argument> args);

  // The host device's: `step(piece)` runs once a replay for each piece, on several threads where
  // that pays, after the steps before it. It waits for no other thread of the application. What it
  // throws, the replay's fence rethrows. Throws Unsupported on a GPU.
  void host(std::function<void(std::uint32_t piece)> step, std::uint32_t pieces = 1);

  // A GPU's: the stream (cudaStream_t, CUstream) that is being captured into this op from the first
  // call on; what allocates or synchronises comes before it, or goes by CUDA's relaxed rules for
  // captures. Memory is not allocated or freed in it. Throws Unsupported on the host device.
  [[nodiscard]] void* native_stream();

  // Held until nothing replays what was recorded any more: library handles, plans, tables.
  void keep(std::shared_ptr<const void> thing);

 private:
  [[noreturn]] void fail(ErrorCode code, const std::string& text) const;

  const detail::Recording& recording_;
  detail::OpTarget& target_;
  std::uint32_t command_;
};

class GraphOp {
 public:
  virtual ~GraphOp();

  // In plans, messages and the viewer: "gemm". Lives as long as the op.
  [[nodiscard]] virtual std::string_view op_name() const noexcept = 0;
  // What tells this op from others of its name, part of the plan and its hash: "m 64, n 64, k 32".
  [[nodiscard]] virtual std::string parameters() const { return {}; }
  // Called once, by Recorder::add(). An Error refuses the op.
  virtual void declare(GraphOpDeclaration& declaration) const = 0;
  // Called for each executable that is made of the graph, the profiler's too, and again when a
  // binding changes: the same work each time.
  virtual void record(GraphRecordCtx& ctx) const = 0;

 protected:
  GraphOp() = default;
  GraphOp(const GraphOp&) = default;
  GraphOp(GraphOp&&) = default;
  GraphOp& operator=(const GraphOp&) = default;
  GraphOp& operator=(GraphOp&&) = default;
};

namespace detail {

// A GraphOpRecord as a GraphOp.
template <GraphOpRecord Op>
class RecordedByValue final : public GraphOp {
 public:
  explicit RecordedByValue(Op op) : op_(std::move(op)) {}
  [[nodiscard]] std::string_view op_name() const noexcept override { return op_.op_name(); }
  [[nodiscard]] std::string parameters() const override {
    if constexpr (requires {
                    { op_.parameters() } -> std::convertible_to<std::string>;
                  }) {
      return op_.parameters();
    } else {
      return {};
    }
  }
  void declare(GraphOpDeclaration& declaration) const override { op_.declare(declaration); }
  void record(GraphRecordCtx& ctx) const override { op_.record(ctx); }

 private:
  Op op_;
};

template <GraphOpRecord Op>
std::shared_ptr<const GraphOp> as_graph_op(Op op) {
  return std::make_shared<const RecordedByValue<Op>>(std::move(op));
}

}  // namespace detail

}  // namespace reprise
