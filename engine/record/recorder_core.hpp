// RecorderCore: the implementation of Recorder. Each method validates its arguments, reserves
// memory (which may throw) and then commits (which does not): a call that throws records nothing.
// Knows no device except its DeviceStatus. Threads: one thread at a time. Recorders of one command
// buffer share only their RecorderFamily.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/command_buffer.hpp>
#include <reprise/error.hpp>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/reserve_one.hpp"
#include "record/geometry.hpp"
#include "record/recorded_lists.hpp"
#include "record/recorder_family.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

// The API call that messages refer to.
struct Verb {
  std::string_view name;
  SourceLocation where;
};

// One side of a copy before it is recorded: a view, or host bytes.
struct CopySide {
  const BufferView* view = nullptr;
  const HostBytes* host = nullptr;
};

// The condition and the limits of a conditional.
struct Decision {
  Branch branch = Branch::If;
  const BufferView* condition = nullptr;
  std::uint64_t max_iterations = 0;  // of While; 0: no limit
};

class RecorderCore {
 public:
  explicit RecorderCore(std::shared_ptr<const RecorderFamily> family) noexcept
      : family_(std::move(family)) {}
  RecorderCore(const RecorderCore&) = delete;
  RecorderCore& operator=(const RecorderCore&) = delete;

  // Starts a recording under `outer`, the label that was open at split(); null for the command
  // buffer's own recorder.
  void start(std::shared_ptr<Arena> arena, std::uint32_t recorder, const LocalLabel* outer);
  // Ends the recording and returns its lists. command_count() then returns `commands`.
  [[nodiscard]] RecordedLists stop(std::uint32_t commands) noexcept;

  // `op`: the index of the op that consists of this dispatch.
  CommandRef dispatch(const CalledKernel& called, const DispatchDesc& desc,
                      std::span<const Argument> args, std::uint32_t op = kNone);
  CommandRef copy(const CopySide& source, const CopySide& destination, SourceLocation where);
  CommandRef copy(const CopySide& source, const CopySide& destination, const CopyDesc& desc,
                  SourceLocation where);
  CommandRef fill(const BufferView& destination, std::uint32_t bits, std::uint32_t element_bytes,
                  Extent extent, Pitch pitch, SourceLocation where);
  CommandRef update(const BufferView& destination, std::span<const std::byte> bytes,
                    SourceLocation where);
  CommandRef host(std::function<void()> function, std::span<const AccessedView> accesses,
                  SourceLocation where);
  CommandRef add(std::shared_ptr<const GraphOp> op, SourceLocation where);
  void barrier(const BarrierDesc& desc, SourceLocation where);
  void edge(CommandRef before, CommandRef after, Dependency dependency, SourceLocation where);
  void execute(const std::shared_ptr<const Recording>& secondary, SourceLocation where);
  CommandRef nested(const std::shared_ptr<const Recording>& secondary, SourceLocation where);
  CommandRef conditional(const Decision& decision,
                         std::span<const std::shared_ptr<const Recording>> bodies,
                         SourceLocation where);

  // keep(): the recording and graphs compiled from it hold `owners`. Does not throw if
  // reserve_owners() reserved the space.
  void reserve_owners(std::size_t count) { reserve_more(lists_.owners, count); }
  void keep(std::span<const std::shared_ptr<const void>> owners) noexcept {
    lists_.owners.insert(lists_.owners.end(), owners.begin(), owners.end());
  }

  // Returns a ticket for close_label() that identifies this label of this recording.
  std::uint64_t begin_label(std::string_view name, Color color);
  void end_label();
  // Ends the label if it is the innermost open one of its recording; otherwise does nothing.
  void close_label(std::uint64_t ticket) noexcept;

  [[nodiscard]] std::uint32_t command_count() const noexcept {
    return active_ ? lists_.commands.size() : stopped_count_;
  }
  [[nodiscard]] const LocalLabel* current_label() const noexcept { return label_; }
  [[nodiscard]] bool has_open_label() const noexcept { return active_ && label_->index != 0; }
  [[nodiscard]] std::string label_path() const;
  [[nodiscard]] const RecordedLists& lists() const noexcept { return lists_; }
  [[nodiscard]] const RecorderFamily& family() const noexcept { return *family_; }

  // Throws an Error of Stage::Record for the next command: "copy at main.cpp:12: <text>".
  [[noreturn]] void fail(const Verb& verb, ErrorCode code, const std::string& text) const;
  // Throws InvalidState unless recording, InvalidArgument for a location without a file.
  void require_recording(const Verb& verb) const {
    if (!active_ || verb.where.file == nullptr) [[unlikely]]
      fail_state(verb);
  }
  // Throws InvalidArgument unless the value is one of its enumeration. `field` names it: ".before".
  template <class Enum>
  void check_enumerator(const Verb& verb, std::string_view field, Enum value) const {
    if (const std::string fault = enumerator_fault(field, value); !fault.empty())
      fail(verb, ErrorCode::InvalidArgument, fault);
  }

 private:
  struct Mark {
    std::size_t buffers, kernels, functions, ops, bodies;
  };

  CommandRef add_dispatch(const Verb& verb, const GraphOpDeclaration& declared,
                          std::shared_ptr<const RecordedOp> op);

  [[noreturn]] void fail_state(const Verb& verb) const;
  [[noreturn]] void fail_view(const Verb& verb, const BufferView& view,
                              std::string_view role) const;
  [[noreturn]] void fail_kernel(const Verb& verb, const KernelCore* kernel) const;
  [[noreturn]] void fail_argument(const Verb& verb, const KernelCore& kernel,
                                  std::span<const Argument> args) const;
  // The complete checks of what a dispatch has found to be unusual. Throw the error, if it is one.
  void check_dispatch(const Verb& verb, const KernelCore& kernel, const DispatchDesc& desc) const;
  void check_view_argument(const Verb& verb, const KernelCore& kernel,
                           std::span<const Argument> args, std::size_t index) const;

  // Throws NotInitialized, WrongDevice or StaleHandle. `role` names the view in messages:
  // "source".
  void check_view(const Verb& verb, const BufferView& view, std::string_view role) const {
    const BufferCore* const core = core_of(view).get();
    if (core == nullptr || core->device.get() != device_ || core->is_stale()) [[unlikely]]
      fail_view(verb, view, role);
  }

  [[noreturn]] void fail_memory(const Verb& verb, const BufferView& view,
                                std::string_view role) const;
  // As check_view; also throws InvalidArgument for a condition, which has no memory.
  void check_memory(const Verb& verb, const BufferView& view, std::string_view role) const {
    const BufferCore* const core = core_of(view).get();
    if (core == nullptr || core->device.get() != device_ || core->is_stale() ||
        core->kind == BufferKind::Condition) [[unlikely]]
      fail_memory(verb, view, role);
  }
  void check_access(const Verb& verb, const AccessedView& access, std::string_view role) const;

  void check_secondary(const Verb& verb, const Recording& secondary) const;
  // As check_secondary; also throws InvalidArgument beyond Recorder::kMaxNesting.
  void check_nested(const Verb& verb, const Recording& secondary) const;
  void check_condition(const Verb& verb, const BufferView& condition) const;
  void check_body(const Verb& verb, const Decision& decision, const Recording& body) const;
  // Interns the buffers of `body` and appends it to lists_.bodies.
  [[nodiscard]] Body add_body(const std::shared_ptr<const Recording>& body);
  CommandRef record_copy(const Verb& verb, const CopySide& source, const CopySide& destination,
                         CopyPayload payload);
  void check_copy_side(const Verb& verb, const CopySide& side, std::string_view role,
                       const Extent& extent, Pitch& pitch) const;
  void check_no_overlap(const Verb& verb, const CopySide& source, const CopySide& destination,
                        const CopyPayload& payload) const;
  std::uint64_t checked_span(const Verb& verb, std::string_view role, const Extent& extent,
                             Pitch& pitch) const;

  // The local index of a buffer or kernel; assigned at first use. May throw; transact() rolls back.
  [[nodiscard]] std::uint32_t intern(const std::shared_ptr<BufferCore>& buffer) {
    const std::uint32_t known = index_of_.find(buffer.get());
    return known != kNone ? known : intern_new(buffer);
  }
  [[nodiscard]] std::uint32_t intern(const std::shared_ptr<const KernelCore>& kernel) {
    const std::uint32_t known = index_of_.find(kernel.get());
    return known != kNone ? known : intern_new(kernel);
  }
  // Borrowed host memory as a buffer; equal ranges are one buffer.
  [[nodiscard]] std::uint32_t intern(const HostBytes& borrowed);
  [[nodiscard]] std::uint32_t intern_new(const std::shared_ptr<BufferCore>& buffer);
  [[nodiscard]] std::uint32_t intern_new(const std::shared_ptr<const KernelCore>& kernel);
  [[nodiscard]] Mark mark() const noexcept {
    return {lists_.buffers.size(), lists_.kernels.size(), lists_.functions.size(),
            lists_.ops.size(), lists_.bodies.size()};
  }
  void roll_back(const Mark& to) noexcept;

  // Reserves commands, calls reserve_and_intern(arena), and undoes its interning if it throws.
  template <class Function>
  void transact(std::uint32_t commands, Function&& reserve_and_intern) {
    const Mark before = mark();
    try {
      static_cast<void>(lists_.commands.reserve(*lists_.arena, commands));
      reserve_and_intern(*lists_.arena);
    } catch (...) {
      roll_back(before);
      throw;
    }
  }

  // Writes one access to the reserved slot `at`. Reserves its shape if it has one.
  void write_access(BufferAccess* at, std::uint32_t buffer, Access access, std::uint64_t begin,
                    const Extent& extent, const Pitch& pitch);
  // Appends the command with the last reservation. Does not throw.
  CommandRef commit(CommandKind kind, const void* payload, std::uint32_t access_count,
                    const SourceLocation& where) noexcept {
    const CommandRef ref{lists_.recorder, lists_.commands.size()};
    lists_.commands.reserved() = {kind,         label_->index, lists_.accesses.size(),
                                  access_count, payload,       where};
    lists_.commands.commit(1);
    if (access_count != 0) lists_.accesses.commit(access_count);
    return ref;
  }

  // Whether the reference names a command of an inlined secondary.
  [[nodiscard]] bool inlines(const CommandRef& ref) const noexcept;

  // Throws InvalidArgument beyond Recorder::kMaxLabels.
  void check_label_depth(const Verb& verb, std::string_view label, std::uint32_t depth) const {
    if (depth > Recorder::kMaxLabels) [[unlikely]]
      fail_label_depth(verb, label);
  }
  [[noreturn]] void fail_label_depth(const Verb& verb, std::string_view label) const;
  void leave_label() noexcept;

  std::shared_ptr<const RecorderFamily> family_;
  const DeviceStatus* device_ = nullptr;
  RecordedLists lists_;
  PointerMap index_of_;  // BufferCore and KernelCore to local index
  // Buffers of borrowed memory, by address and size in bytes.
  std::map<std::pair<const void*, std::uint64_t>, std::shared_ptr<BufferCore>> borrowed_;
  const LocalLabel* label_ = nullptr;
  std::uint32_t stopped_count_ = 0;
  bool active_ = false;
};

}  // namespace reprise::detail
