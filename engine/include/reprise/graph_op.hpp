// GraphOp: the extension point of recording. An op is one command (Recorder::add) that consists of
// any kernels, copies and library calls. On a GPU it is captured into a child graph, unless it is
// one kernel; on the host device its steps run one after another. User-defined ops need only this
// header. Threads: an op is immutable after Recorder::add. declare() runs on the recording thread;
// record() runs on any thread, one call at a time for each op.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/command_buffer.hpp>
#include <reprise/device_info.hpp>
#include <reprise/error.hpp>
#include <reprise/kernel.hpp>
#include <reprise/launch_args.hpp>

namespace reprise::detail {
using KernelLoader = std::function<Kernel(const KernelDesc&)>;
class OpTarget;
class RankAgreement;
struct Recording;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// The accesses and workspaces of an op, or the kernel that it consists of. GraphOp::declare() fills
// it in.
class REPRISE_API GraphOpDeclaration {
 public:
  struct Workspace {
    std::uint64_t bytes = 0;
    std::uint32_t alignment = 256;  // bytes, a power of two up to 256
  };

  // With a null `loader`, load_kernel() throws Unsupported. The loader outlives the declaration.
  GraphOpDeclaration(DeviceKind kind, std::uint32_t ordinal,
                     const detail::KernelLoader* loader = nullptr) noexcept
      : kind_(kind), ordinal_(ordinal), loader_(loader) {}
  GraphOpDeclaration(const GraphOpDeclaration&) = delete;
  GraphOpDeclaration& operator=(const GraphOpDeclaration&) = delete;

  [[nodiscard]] DeviceKind device_kind() const noexcept { return kind_; }
  // CUDA's ordinal of the device; 0 for the host device.
  [[nodiscard]] std::uint32_t device_ordinal() const noexcept { return ordinal_; }

  // Declares an access of the op in each replay: use(read(x)).
  void use(AccessedView view) { views_.push_back(std::move(view)); }
  // Requests scratch memory with undefined contents for each execution of the op; placed with the
  // transients. `alignment`: bytes, a power of two up to 256. Returns the index of the workspace,
  // from 0.
  std::uint32_t workspace(std::uint64_t bytes, std::uint32_t alignment = 256);

  // Instead of accesses, workspaces and record(), which is not called: the op is one kernel, with
  // arguments as those of Recorder::dispatch. The command has the op's name and parameters; in all
  // else it is a dispatch, so that it can be in a segment. A second call replaces the first.
  template <class... Args>
  void dispatch(const Kernel& kernel, const DispatchDesc& desc, const Args&... args) {
    dispatch_.emplace(kernel, desc);
    (dispatch_->arguments.push(args), ...);
  }
  // The kernel on the device of the recording, loaded unless something there uses it already.
  // Throws as Device::load_kernel, and InvalidState if the device is closed.
  [[nodiscard]] Kernel load_kernel(const KernelDesc& desc) const;

  struct Dispatch {
    Dispatch(const Kernel& called, const DispatchDesc& how) : kernel(called), desc(how) {}
    Kernel kernel;
    DispatchDesc desc;
    LaunchArgs arguments;
  };
  [[nodiscard]] std::span<const AccessedView> views() const noexcept { return views_; }
  [[nodiscard]] std::span<const Workspace> workspaces() const noexcept { return workspaces_; }
  [[nodiscard]] const std::optional<Dispatch>& dispatched() const noexcept { return dispatch_; }

 private:
  DeviceKind kind_;
  std::uint32_t ordinal_;
  const detail::KernelLoader* loader_;
  std::vector<AccessedView> views_;
  std::vector<Workspace> workspaces_;
  std::optional<Dispatch> dispatch_;
};

// Receives the work of an op. Valid during one call of GraphOp::record(). On GPUs the device is
// current.
class REPRISE_API GraphRecordCtx {
 public:
  GraphRecordCtx(const GraphRecordCtx&) = delete;
  GraphRecordCtx& operator=(const GraphRecordCtx&) = delete;

  [[nodiscard]] DeviceKind device_kind() const noexcept;
  [[nodiscard]] std::uint32_t device_ordinal() const noexcept;

  // The address of a declared buffer in this executable, which transients have as well. Throws
  // InvalidArgument for an undeclared range.
  [[nodiscard]] void* address(const BufferView& view) const;
  template <class T>
  [[nodiscard]] T* address(const GpuRef<T>& ref) const {
    return static_cast<T*>(address(static_cast<const BufferView&>(ref)));
  }
  template <class T>
  [[nodiscard]] T* address(const HostRef<T>& ref) const {
    return static_cast<T*>(address(static_cast<const BufferView&>(ref)));
  }
  // The address of a workspace. Throws OutOfRange if it was not declared.
  [[nodiscard]] void* workspace(std::uint32_t index = 0) const;

  // Appends a kernel after the previous steps, on any device. Arguments are those of
  // Recorder::dispatch. Throws as Recorder::dispatch, InvalidArgument for a buffer that declare()
  // does not list, or lists as read while the kernel writes it, and Unsupported for clusters and
  // cooperative launches.
  template <class... Args>
  void dispatch(const Kernel& kernel, const DispatchDesc& desc, const Args&... args) {
    const detail::Argument list[sizeof...(Args) + 1] = {detail::make_argument(args)..., {}};
    dispatch_arguments(kernel, desc, std::span(list, sizeof...(Args)));
  }

  // Host device only (otherwise Unsupported): appends a step after the previous steps. Each replay
  // calls step(0) to step(pieces - 1), possibly on several threads at once. The step must not wait
  // for other threads of the application. If it throws, the fence of the replay rethrows. Its
  // accesses cannot be compared with declare(): test the op with find_races().
  void host(std::function<void(std::uint32_t piece)> step, std::uint32_t pieces = 1);

  // Host device only (otherwise Unsupported): appends a step that waits for something outside the
  // process, such as another process, without a thread. Each replay calls start(done), which does
  // not block; the step ends when `done` is called, once and on any thread, with what the fence of
  // the replay rethrows, or null. The op has no other step.
  using StepDone = std::function<void(std::exception_ptr)>;
  void host_async(std::function<void(StepDone done)> start);

  // GPUs only (otherwise Unsupported): the stream (cudaStream_t, CUstream) whose work is captured
  // into this op, from the first call on. Its accesses cannot be compared with declare(): test the
  // op with find_races(). Allocate and synchronise before that call, or as the mode
  // cudaStreamCaptureModeRelaxed allows. The captured work must not allocate or free memory.
  [[nodiscard]] void* native_stream();

  // Holds an object (a library handle, plan or table) as long as the recorded work can be replayed.
  void keep(std::shared_ptr<const void> thing);

 private:
  friend struct detail::HandleAccess;
  GraphRecordCtx(const detail::Recording& recording, std::uint32_t command,
                 detail::OpTarget& target) noexcept
      : recording_(recording), target_(target), command_(command) {}
  void dispatch_arguments(const Kernel& kernel, const DispatchDesc& desc,
                          std::span<const detail::Argument> args);
  [[noreturn]] void fail(ErrorCode code, const std::string& text) const;
  void require_declared_write(const BufferView& view, std::string_view kernel) const;

  const detail::Recording& recording_;
  detail::OpTarget& target_;
  std::uint32_t command_;
};

// Base class of ops.
class REPRISE_API GraphOp {
 public:
  virtual ~GraphOp();

  // The name in plans, messages and the viewer: "gemm". Valid as long as the op.
  [[nodiscard]] virtual std::string_view op_name() const noexcept = 0;
  // Distinguishes ops of one name; part of the plan and its hash: "m 64, n 64, k 32".
  [[nodiscard]] virtual std::string parameters() const { return {}; }
  // Declares accesses and workspaces. Called once, by Recorder::add, which rethrows an Error.
  virtual void declare(GraphOpDeclaration& declaration) const = 0;
  // Records the work. Called for each executable of the graph, including profiling clones, and
  // again when a binding changes. Must record the same work each time.
  virtual void record(GraphRecordCtx& ctx) const = 0;

 protected:
  GraphOp() = default;
  GraphOp(const GraphOp&) = default;
  GraphOp(GraphOp&&) = default;
  GraphOp& operator=(const GraphOp&) = default;
  GraphOp& operator=(GraphOp&&) = default;

 private:
  friend struct detail::HandleAccess;
  // The ranks of a CollectiveOp; null for all other ops. Valid as long as the op.
  [[nodiscard]] virtual detail::RankAgreement* ranks() const noexcept { return nullptr; }
};

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {

// Adapts a GraphOpRecord to GraphOp.
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

}  // namespace reprise::detail
