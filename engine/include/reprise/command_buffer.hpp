// Recorder and CommandBuffer: methods that append commands to a recording. Must not depend on a
// device: recording calls no driver, takes no lock, and allocates nothing but arena blocks.
// Threads: one thread at a time for each Recorder. Several threads can fill several command
// buffers, or the recorders of one split(). Errors: methods throw Error (Stage::Record) and then
// leave the recording unchanged. InvalidState: the command buffer is not recording.
// NotInitialized: an empty handle. WrongDevice, StaleHandle: a buffer or kernel cannot be used.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/command_desc.hpp>
#include <reprise/condition.hpp>
#include <reprise/fwd.hpp>
#include <reprise/kernel.hpp>
#include <reprise/launch_args.hpp>
#include <reprise/scalar_slot.hpp>
#include <reprise/types.hpp>

namespace reprise::detail {
class RecorderCore;
class CommandBufferCore;
class StreamCaptureCore;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

struct BarrierDesc {
  BufferView buffer = {};  // empty: a global barrier, for all memory
  Access before = Access::ReadWrite;
  Access after = Access::ReadWrite;
  Dependency dependency = Dependency::Full;
};

// A copyable type with the methods op_name(), declare() and record() of GraphOp, which need not
// derive from it.
template <class Op>
concept GraphOpRecord =
    !std::is_base_of_v<GraphOp, Op> && std::is_copy_constructible_v<Op> &&
    requires(const Op& op, GraphOpDeclaration& declaration, GraphRecordCtx& ctx) {
  { op.op_name() } -> std::convertible_to<std::string_view>;
  op.declare(declaration);
  op.record(ctx);
};

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {
// Defined in <reprise/graph_op.hpp>.
template <GraphOpRecord Op>
[[nodiscard]] std::shared_ptr<const GraphOp> as_graph_op(Op op);

// The bytes of a value that fill() sets, as its low bytes.
template <class T>
[[nodiscard]] std::uint32_t bits_of(const T& value) noexcept {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4,
                "fill sets elements of 1, 2 or 4 bytes");
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// Selects the form of execute() that makes the secondary one command: a child graph.
struct NestedExecution {
  explicit constexpr NestedExecution() = default;
};
inline constexpr NestedExecution Nested{};

struct WhileDesc {
  std::optional<std::uint64_t> max_iterations = {};  // default: no limit
};

// Closes its label when it is destroyed, provided that the label is then the innermost open one.
// CommandBuffer::end() reports labels that are still open.
class [[nodiscard]] REPRISE_API LabelScope {
 public:
  LabelScope(const LabelScope&) = delete;
  LabelScope& operator=(const LabelScope&) = delete;
  LabelScope(LabelScope&& other) noexcept = default;
  LabelScope& operator=(LabelScope&&) = delete;
  ~LabelScope();

 private:
  friend class Recorder;
  LabelScope(std::shared_ptr<detail::RecorderCore> recorder, std::uint64_t ticket) noexcept
      : recorder_(std::move(recorder)), ticket_(ticket) {}

  std::shared_ptr<detail::RecorderCore> recorder_;
  std::uint64_t ticket_ = 0;
};

// Appends commands. A CommandBuffer is a Recorder; CommandBuffer::split() returns more for the same
// command buffer, which record under the label that is open at the call.
class REPRISE_API Recorder {
 public:
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  Recorder(Recorder&&) noexcept = default;
  Recorder& operator=(Recorder&&) noexcept = default;

  // Executes a kernel. `args` are in the kernel's order: read(x), write(x) or read_write(x) for a
  // pointer, a Condition for a reprise_condition, and the value itself, or slot(name, value) for a
  // value that can be changed after compiling, for any other parameter. Numbers convert to the
  // parameter's type if it represents their value exactly; buffers and classes need the same type
  // (GpuRef::as). Throws ArgumentCount, ArgumentSize, ArgumentType.
  template <class... Args>
  CommandRef dispatch(CalledKernel kernel, const DispatchDesc& desc, const Args&... args) {
    if constexpr (((DevSliceArg<Args> && !std::is_base_of_v<BufferView, Args>) ||
                   ...)) {  // types of the application: see <reprise/launch_args.hpp>
      static_assert(!(std::is_base_of_v<BufferView, Args> || ...),
                    "say how the kernel uses the buffer: read(x), write(x) or read_write(x)");
      LaunchArgs pushed;
      (pushed.push(args), ...);
      return dispatch(kernel, desc, pushed);
    } else {
      const std::array<detail::Argument, sizeof...(Args)> list{detail::make_argument(args)...};
      return dispatch_arguments(kernel, desc, list);
    }
  }
  // As above, with arguments that only the run decides.
  CommandRef dispatch(CalledKernel kernel, const DispatchDesc& desc, const LaunchArgs& args);

  // Copies all bytes of `source` to `destination`, which must have the same size (OutOfRange) and
  // must not share bytes with it (Overlap).
  CommandRef copy(const BufferView& source, const BufferView& destination,
                  SourceLocation where = SourceLocation::current());
  CommandRef copy(const HostBytes& source, const BufferView& destination,
                  SourceLocation where = SourceLocation::current());
  CommandRef copy(const BufferView& source, const HostBytes& destination,
                  SourceLocation where = SourceLocation::current());
  // 2D and 3D copies. Each view starts at the first byte of its side. Throws OutOfRange if the
  // extent exceeds a view, Overlap.
  CommandRef copy(const BufferView& source, const BufferView& destination, const CopyDesc& desc,
                  SourceLocation where = SourceLocation::current());
  CommandRef copy(const HostBytes& source, const BufferView& destination, const CopyDesc& desc,
                  SourceLocation where = SourceLocation::current());
  CommandRef copy(const BufferView& source, const HostBytes& destination, const CopyDesc& desc,
                  SourceLocation where = SourceLocation::current());

  // Sets all elements to `value`. sizeof(T) is 1, 2 or 4.
  template <class T>
    requires(!std::is_const_v<T>)
  CommandRef fill(const GpuRef<T>& destination, std::type_identity_t<T> value,
                  SourceLocation where = SourceLocation::current()) {
    return fill_bits(destination, detail::bits_of(value), sizeof(T), {destination.bytes(), 1, 1},
                     {}, where);
  }
  template <class T>
    requires(!std::is_const_v<T>)
  CommandRef fill(const HostRef<T>& destination, std::type_identity_t<T> value,
                  SourceLocation where = SourceLocation::current()) {
    return fill_bits(destination, detail::bits_of(value), sizeof(T), {destination.bytes(), 1, 1},
                     {}, where);
  }
  // Sets the elements of a 2D range. `extent.depth` is 1; `extent.width` and `pitch.row` are
  // multiples of sizeof(T). Throws InvalidArgument, OutOfRange.
  template <class T>
    requires(!std::is_const_v<T>)
  CommandRef fill(const GpuRef<T>& destination, std::type_identity_t<T> value, Extent extent,
                  Pitch pitch, SourceLocation where = SourceLocation::current()) {
    return fill_bits(destination, detail::bits_of(value), sizeof(T), extent, pitch, where);
  }
  template <class T>
    requires(!std::is_const_v<T>)
  CommandRef fill(const HostRef<T>& destination, std::type_identity_t<T> value, Extent extent,
                  Pitch pitch, SourceLocation where = SourceLocation::current()) {
    return fill_bits(destination, detail::bits_of(value), sizeof(T), extent, pitch, where);
  }
  // The untyped form: sets elements of `element_bytes` bytes (1, 2 or 4) to the low bytes of
  // `bits`.
  CommandRef fill_bits(const BufferView& destination, std::uint32_t bits,
                       std::uint32_t element_bytes, Extent extent, Pitch pitch,
                       SourceLocation where = SourceLocation::current());

  // Writes `bytes`, which are copied at the call, to the start of the view. At most
  // kMaxUpdateBytes, the limit of vkCmdUpdateBuffer.
  static constexpr std::uint64_t kMaxUpdateBytes = 65536;
  CommandRef update(const BufferView& destination, std::span<const std::byte> bytes,
                    SourceLocation where = SourceLocation::current());

  // Calls `function` on a host thread in each replay. The function must not call CUDA: in it, calls
  // of the engine that use the device or wait for work throw InvalidState, on every device, and
  // change nothing. Other calls may block while another thread launches. If the function throws,
  // the fence of that replay rethrows the exception, and the replay continues. `accesses` declare
  // the pinned memory that the function uses.
  CommandRef host(std::function<void()> function, std::initializer_list<AccessedView> accesses = {},
                  SourceLocation where = SourceLocation::current());
  CommandRef host(std::function<void()> function, std::span<const AccessedView> accesses,
                  SourceLocation where = SourceLocation::current());

  // Appends an op, one command that may consist of many kernels and library calls: from
  // <reprise/ops/ops.hpp>, or user-defined (<reprise/graph_op.hpp>). Throws what
  // GraphOp::declare() throws.
  template <class Op>
    requires std::is_base_of_v<GraphOp, Op> CommandRef
    add(Op op, SourceLocation where = SourceLocation::current()) {
      return add(std::shared_ptr<const GraphOp>(std::make_shared<const Op>(std::move(op))), where);
    }
  CommandRef add(std::shared_ptr<const GraphOp> op,
                 SourceLocation where = SourceLocation::current());
  template <GraphOpRecord Op>
  CommandRef add(Op op, SourceLocation where = SourceLocation::current()) {
    return add(detail::as_graph_op(std::move(op)), where);
  }

  // Orders earlier commands before later ones, within the buffer and accesses of `desc`.
  void barrier(const BarrierDesc& desc = {}, SourceLocation where = SourceLocation::current());

  // Orders `before` before `after`, which may be recorded in either order. A reference of a
  // secondary that this recorder has inlined (execute) names all copies of the command in this
  // command buffer. Throws InvalidArgument for other references. Dependency::Full:
  // `before` completes before `after` starts. Dependency::Programmatic: `before` completes before
  // `after` first accesses memory if `after` is a kernel with Start::Programmatic; otherwise
  // nothing is ordered.
  void edge(CommandRef before, CommandRef after, SourceLocation where = SourceLocation::current());
  void edge(CommandRef before, CommandRef after, Dependency dependency,
            SourceLocation where = SourceLocation::current());

  // Debug labels, which may be nested: at most kMaxLabels are open at once, those around an
  // inlined secondary included (InvalidArgument). Messages, plans, DOT files, NVTX and the viewer
  // show them. `name` is copied.
  static constexpr std::uint32_t kMaxLabels = 256;
  LabelScope label(std::string_view name, Color color = {});
  void begin_label(std::string_view name, Color color = {});
  void end_label();  // throws InvalidState if no label is open

  // Appends the commands of an executable secondary command buffer under the current label. Their
  // order follows from the Ordering of this command buffer. The secondary may be executed any
  // number of times and recorded again afterwards. The CommandRefs that its recorders returned
  // also name the copies.
  void execute(const CommandBuffer& secondary, SourceLocation where = SourceLocation::current());

  // The limits of commands that execute whole secondaries, which may do so again: the levels of
  // secondaries below a command buffer, inlined ones excluded, and the commands in them, counted
  // once for each command that executes them. execute() and conditionals throw InvalidArgument
  // beyond the first, CommandBuffer::end() beyond the second.
  static constexpr std::uint32_t kMaxNesting = 64;
  static constexpr std::uint64_t kMaxNestedCommands = std::uint64_t{1} << 20;

  // Appends one command that executes the whole secondary; its commands keep their own order. The
  // command is ordered with others by all accesses of the secondary. Throws Unsupported if the
  // secondary contains a conditional.
  CommandRef execute(const CommandBuffer& secondary, NestedExecution nested,
                     SourceLocation where = SourceLocation::current());

  // Conditionals execute secondaries depending on the value of `condition` at that point of the
  // replay. A condition decides at most one command. The secondaries may contain conditionals.
  // Throw Unsupported if a secondary contains a host callback or copies borrowed host memory.
  // Executes `then` if the condition is not 0, otherwise `otherwise`.
  CommandRef execute_if(const Condition& condition, const CommandBuffer& then,
                        SourceLocation where = SourceLocation::current());
  CommandRef execute_if(const Condition& condition, const CommandBuffer& then,
                        const CommandBuffer& otherwise,
                        SourceLocation where = SourceLocation::current());
  // Executes `body` while the condition is not 0, which is tested before each iteration.
  CommandRef execute_while(const Condition& condition, const CommandBuffer& body,
                           const WhileDesc& desc = {},
                           SourceLocation where = SourceLocation::current());
  // Executes the case with the condition's value as index, or nothing if there is no such case.
  CommandRef execute_switch(
      const Condition& condition,
      std::initializer_list<std::reference_wrapper<const CommandBuffer>> cases,
      SourceLocation where = SourceLocation::current());

  [[nodiscard]] std::uint32_t command_count() const noexcept;

 private:
  friend class CommandBuffer;
  friend class detail::StreamCaptureCore;
  explicit Recorder(std::shared_ptr<detail::RecorderCore> recorder) noexcept
      : recorder_(std::move(recorder)) {}
  CommandRef dispatch_arguments(const CalledKernel& kernel, const DispatchDesc& desc,
                                std::span<const detail::Argument> args);

  std::shared_ptr<detail::RecorderCore> recorder_;
};

// The states of a Vulkan command buffer.
enum class CommandBufferState : std::uint8_t {
  Initial,
  Recording,
  Executable,
  Pending,  // a graph that was compiled from it is being replayed
  Invalid   // an object that it uses is stale
};
[[nodiscard]] REPRISE_API std::string_view to_string(CommandBufferState state) noexcept;

struct CommandBufferDesc {
  std::string_view label = "commands";
  Ordering ordering = Ordering::Inferred;
  Level level = Level::Primary;
};

// A move-only handle. Each graph keeps its own reference to the recording that it was compiled
// from.
class REPRISE_API CommandBuffer : public Recorder {
 public:
  void begin();  // Initial or Executable -> Recording; discards the previous recording
  // Recording -> Executable; merges the recorders of split() in index order. Throws InvalidState
  // for open labels, InvalidArgument for more than kMaxNestedCommands.
  void end();
  void reset();  // any state but Pending -> Initial

  // Returns `count` recorders, which as many threads can fill at once. Their commands follow
  // everything recorded so far, in index order, and precede everything recorded here later. end()
  // throws InvalidState while one of them has an open label. Throws InvalidArgument unless `count`
  // is 1 to 65,536.
  [[nodiscard]] std::vector<Recorder> split(std::uint32_t count);

  [[nodiscard]] CommandBufferState state() const noexcept;
  using Recorder::label;
  [[nodiscard]] std::string_view label() const noexcept;
  [[nodiscard]] Ordering ordering() const noexcept;
  [[nodiscard]] Level level() const noexcept;

 private:
  friend struct detail::HandleAccess;
  explicit CommandBuffer(std::shared_ptr<detail::CommandBufferCore> core) noexcept;

  std::shared_ptr<detail::CommandBufferCore> core_;
};

}  // namespace reprise::inline REPRISE_ABI
