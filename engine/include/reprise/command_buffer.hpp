// Recording: verbs append commands to a command buffer. No verb calls a device, takes a lock, or
// allocates beyond arena blocks. Threads: one thread a Recorder at a time. Several threads fill
// several command buffers, or the recorders of split(). Errors: every verb throws Error
// (Stage::Record) and then leaves the recording as it was before the call.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/command_desc.hpp>
#include <reprise/condition.hpp>
#include <reprise/kernel.hpp>
#include <reprise/launch_args.hpp>
#include <reprise/scalar_slot.hpp>
#include <reprise/types.hpp>

namespace reprise {

namespace detail {
class RecorderCore;
class CommandBufferCore;
}  // namespace detail

struct BarrierDesc {
  BufferView buffer = {};  // empty: a global barrier, all memory
  Access before = Access::ReadWrite;
  Access after = Access::ReadWrite;
  Dependency dependency = Dependency::Full;
};

class CommandBuffer;
class GraphOp;
class GraphOpDeclaration;
class GraphRecordCtx;

// An op that derives from nothing and carries its request itself: any copyable type with op_name(),
// declare() and record() as GraphOp has them.
template <class Op>
concept GraphOpRecord =
    !std::is_base_of_v<GraphOp, Op> && std::is_copy_constructible_v<Op> &&
    requires(const Op& op, GraphOpDeclaration& declaration, GraphRecordCtx& ctx) {
  { op.op_name() } -> std::convertible_to<std::string_view>;
  op.declare(declaration);
  op.record(ctx);
};

namespace detail {
// In <reprise/graph_op.hpp>.
template <GraphOpRecord Op>
[[nodiscard]] std::shared_ptr<const GraphOp> as_graph_op(Op op);
}  // namespace detail

// Of execute(): the secondary becomes one command, a graph of its own inside the graph.
struct NestedExecution {
  explicit constexpr NestedExecution() = default;
};
inline constexpr NestedExecution Nested{};

struct WhileDesc {
  std::uint64_t max_iterations =
      0;  // the loop ends after so many; 0: when the condition says so alone
};

// Closes its label when it dies, if that label is then the innermost open one; end() names those
// that stayed open.
class [[nodiscard]] LabelScope {
 public:
  LabelScope(std::shared_ptr<detail::RecorderCore> recorder, std::uint64_t ticket) noexcept
      : recorder_(std::move(recorder)), ticket_(ticket) {}
  LabelScope(const LabelScope&) = delete;
  LabelScope& operator=(const LabelScope&) = delete;
  LabelScope(LabelScope&& other) noexcept = default;
  LabelScope& operator=(LabelScope&&) = delete;
  ~LabelScope();

 private:
  std::shared_ptr<detail::RecorderCore> recorder_;
  std::uint64_t ticket_ = 0;
};

// The verbs. A command buffer is one; split() gives more for the same command buffer, which
// record under the label that is open where it is called.
class Recorder {
 public:
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  Recorder(Recorder&&) noexcept = default;
  Recorder& operator=(Recorder&&) noexcept = default;

  // Runs a kernel. Arguments in the kernel's order: read(x), write(x), read_write(x) for pointers,
  // values as they are, slot(name, value) for a value that the graph is to be given anew later.
  template <class... Args>
  CommandRef dispatch(const Kernel& kernel, const DispatchDesc& desc, const Args&... args) {
    if constexpr (((DevSliceArg<Args> && !std::is_base_of_v<BufferView, Args>) ||
                   ...)) {  // the application's own: see <reprise/launch_args.hpp>
      static_assert(!(std::is_base_of_v<BufferView, Args> || ...),
                    "say how the kernel uses the buffer: read(x), write(x) or read_write(x)");
      LaunchArgs pushed;
      (pushed.push(args), ...);
      return dispatch_arguments(kernel, desc, pushed.arguments(), pushed.owners());
    } else {
      const detail::Argument list[sizeof...(Args) + 1] = {detail::make_argument(args)..., {}};
      return dispatch_arguments(kernel, desc, std::span(list, sizeof...(Args)));
    }
  }
  CommandRef dispatch_arguments(const Kernel& kernel, const DispatchDesc& desc,
                                std::span<const detail::Argument> args);
  // `owners` are held until the last launch of every graph with this command has completed.
  CommandRef dispatch_arguments(const Kernel& kernel, const DispatchDesc& desc,
                                std::span<const detail::Argument> args,
                                std::span<const std::shared_ptr<const void>> owners);

  // Copies of equal size. Two buffers may be one, if the ranges do not overlap.
  CommandRef copy(const BufferView& source, const BufferView& destination,
                  SourceLocation where = SourceLocation::current());
  CommandRef copy(const HostBytes& source, const BufferView& destination,
                  SourceLocation where = SourceLocation::current());
  CommandRef copy(const BufferView& source, const HostBytes& destination,
                  SourceLocation where = SourceLocation::current());
  // Pitched 2D and 3D copies; the views start at the first byte of each side.
  CommandRef copy(const BufferView& source, const BufferView& destination, const CopyDesc& desc,
                  SourceLocation where = SourceLocation::current());
  CommandRef copy(const HostBytes& source, const BufferView& destination, const CopyDesc& desc,
                  SourceLocation where = SourceLocation::current());
  CommandRef copy(const BufferView& source, const HostBytes& destination, const CopyDesc& desc,
                  SourceLocation where = SourceLocation::current());

  // Sets every element of 1, 2 or 4 bytes to `value`; the range is a multiple of the element.
  template <class T>
  CommandRef fill(const GpuRef<T>& destination, std::type_identity_t<T> value,
                  SourceLocation where = SourceLocation::current()) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4,
                  "fill sets elements of 1, 2 or 4 bytes");
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return fill_bits(destination, bits, sizeof(T), {destination.bytes(), 1, 1}, {}, where);
  }
  // `extent.depth` is 1; extent.width and pitch.row are multiples of the element.
  template <class T>
  CommandRef fill(const GpuRef<T>& destination, std::type_identity_t<T> value, Extent extent,
                  Pitch pitch, SourceLocation where = SourceLocation::current()) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4,
                  "fill sets elements of 1, 2 or 4 bytes");
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return fill_bits(destination, bits, sizeof(T), extent, pitch, where);
  }
  CommandRef fill_bits(const BufferView& destination, std::uint32_t bits,
                       std::uint32_t element_bytes, Extent extent, Pitch pitch,
                       SourceLocation where = SourceLocation::current());

  // Writes up to 65,536 bytes, which are taken now, to the start of the view.
  static constexpr std::uint64_t kMaxUpdateBytes = 65536;
  CommandRef update(const BufferView& destination, std::span<const std::byte> bytes,
                    SourceLocation where = SourceLocation::current());

  // Runs `function` on a host thread at each replay. It must not call the engine or CUDA. What it
  // throws, the fence of that replay rethrows; the replay itself goes on. `accesses` name the
  // pinned memory that it touches.
  CommandRef host(std::function<void()> function, std::initializer_list<AccessedView> accesses = {},
                  SourceLocation where = SourceLocation::current());
  CommandRef host(std::function<void()> function, std::span<const AccessedView> accesses,
                  SourceLocation where = SourceLocation::current());

  // One command that is many inside: an op of a library, or one of your own
  // (<reprise/graph_op.hpp>).
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

  // Orders every earlier command that accesses the range as `before` says, before every later one
  // that does as `after` says.
  void barrier(const BarrierDesc& desc = {}, SourceLocation where = SourceLocation::current());

  // `before` completes before `after` starts, whatever the order they were recorded in; with
  // Dependency::Programmatic, before `after` first touches memory, if it is a kernel that starts
  // early, and else nothing is ordered.
  void edge(CommandRef before, CommandRef after, SourceLocation where = SourceLocation::current());
  void edge(CommandRef before, CommandRef after, Dependency dependency,
            SourceLocation where = SourceLocation::current());

  // Nested debug labels, shown in messages, plan, DOT and viewer.
  LabelScope label(std::string_view name, Color color = {});
  void begin_label(std::string_view name, Color color = {});
  void end_label();  // throws InvalidState where none is open

  // Appends the commands of an executable secondary command buffer, under the current label. The
  // secondary may be executed often and recorded anew afterwards. Its commands are ordered as the
  // executing command buffer says.
  void execute(const CommandBuffer& secondary, SourceLocation where = SourceLocation::current());

  // One command that runs the whole secondary, whose commands keep their own order. Other commands
  // wait for all of it, and it for all that it touches. Throws Unsupported for a secondary that
  // holds a conditional.
  CommandRef execute(const CommandBuffer& secondary, NestedExecution nested,
                     SourceLocation where = SourceLocation::current());

  // Conditionals: commands that run secondaries by what `condition` is when their turn comes. A
  // condition decides one of them. What they run holds no host callback and copies no borrowed host
  // memory, and may hold conditionals. Throw Unsupported where it does.
  CommandRef execute_if(const Condition& condition, const CommandBuffer& then,
                        SourceLocation where = SourceLocation::current());
  CommandRef execute_if(const Condition& condition, const CommandBuffer& then,
                        const CommandBuffer& otherwise,
                        SourceLocation where = SourceLocation::current());
  // As long as the condition is not 0, asked before each iteration.
  CommandRef execute_while(const Condition& condition, const CommandBuffer& body,
                           const WhileDesc& desc = {},
                           SourceLocation where = SourceLocation::current());
  // The case whose index the condition is; none where there is no such case.
  CommandRef execute_switch(
      const Condition& condition,
      std::initializer_list<std::reference_wrapper<const CommandBuffer>> cases,
      SourceLocation where = SourceLocation::current());

  [[nodiscard]] std::uint32_t command_count() const noexcept;

 protected:
  explicit Recorder(std::shared_ptr<detail::RecorderCore> core) noexcept : core_(std::move(core)) {}
  std::shared_ptr<detail::RecorderCore> core_;
  friend class CommandBuffer;
};

// Vulkan's states. Pending: a graph compiled from it is being replayed. Invalid: a thing that it
// names is gone.
enum class CommandBufferState : std::uint8_t { Initial, Recording, Executable, Pending, Invalid };
[[nodiscard]] std::string_view to_string(CommandBufferState state) noexcept;

struct CommandBufferDesc {
  std::string_view label = "commands";
  Ordering ordering = Ordering::Inferred;
  Level level = Level::Primary;
};

class CommandBuffer : public Recorder {
 public:
  explicit CommandBuffer(std::shared_ptr<detail::CommandBufferCore> core) noexcept;

  void begin();  // Initial or Executable (which drops what was recorded) -> Recording
  void end();    // Recording -> Executable; merges what split() gave, in index order
  void reset();  // any state but Pending -> Initial

  // `count` recorders that may be filled by as many threads. Their commands come after everything
  // recorded so far, in the recorders' order, and before everything recorded here later. end()
  // fails with InvalidState while a label is open in one.
  [[nodiscard]] std::vector<Recorder> split(std::uint32_t count);

  [[nodiscard]] CommandBufferState state() const noexcept;
  [[nodiscard]] std::string_view label_name() const noexcept;
  [[nodiscard]] Ordering ordering() const noexcept;
  [[nodiscard]] Level level() const noexcept;
  [[nodiscard]] const std::shared_ptr<detail::CommandBufferCore>& core() const noexcept {
    return buffer_;
  }

 private:
  std::shared_ptr<detail::CommandBufferCore> buffer_;
};

}  // namespace reprise
