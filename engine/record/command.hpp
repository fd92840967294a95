// The table of commands and the payload of each: plain structs in an arena that name buffers and
// kernels by index. To add a command, add a row; every switch over CommandKind then fails to
// compile until it handles the command. Knows no device. Threads: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <reprise/buffer.hpp>
#include <reprise/command_desc.hpp>
#include <reprise/types.hpp>

namespace reprise::detail {

// kind, name in plans, DOT and messages
#define REPRISE_COMMANDS(X) \
  X(Dispatch, "dispatch")   \
  X(Copy, "copy")           \
  X(Fill, "fill")           \
  X(Update, "update")       \
  X(Host, "host")           \
  X(Op, "op")               \
  X(Barrier, "barrier")     \
  X(Nested, "nested")       \
  X(Conditional, "conditional")

enum class CommandKind : std::uint8_t {
#define REPRISE_X(kind, name) kind,
  REPRISE_COMMANDS(REPRISE_X)
#undef REPRISE_X
};
[[nodiscard]] std::string_view to_string(CommandKind kind) noexcept;

inline constexpr std::uint32_t kNone = 0xffffffffu;

// One command. `payload` is the struct of its kind below; accesses are
// recording.accesses[first_access, +access_count).
struct Command {
  CommandKind kind = CommandKind::Barrier;
  std::uint32_t label = 0;  // in recording.labels; 0 is the root
  std::uint32_t first_access = 0, access_count = 0;
  const void* payload = nullptr;
  SourceLocation where;
};

// A byte range of one buffer that a command accesses. shape 0: the access covers [begin, end).
// Otherwise the range bounds the rows of recording.shapes[shape - 1].
struct BufferAccess {
  std::uint32_t buffer = 0;  // in recording.buffers
  Access access = Access::Read;
  std::uint32_t shape = 0;
  std::uint64_t begin = 0, end = 0;  // bytes
  friend bool operator==(const BufferAccess&, const BufferAccess&) = default;
};

struct AccessShape {
  Extent extent;
  Pitch pitch;  // never 0: tight pitches are explicit
  friend bool operator==(const AccessShape&, const AccessShape&) = default;
};

// An address in a dispatch's parameter block: block[parameter_offset] = address of buffer + offset.
struct BufferArgument {
  std::uint32_t parameter_offset = 0;
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0;
};

// What the blocks of a dispatch access through a buffer argument: block b accesses at most bytes
// [bytes * b - around, bytes * (b + 1) + around) from the address on, within the view.
struct BlockSlice {
  std::uint64_t bytes = 0, around = 0;  // bytes 0: not declared
  std::uint64_t view_bytes = 0;
};

// A value in a dispatch's parameter block that can be updated in a compiled graph.
struct SlotArgument {
  std::uint32_t parameter_offset = 0;
  const ValueType* type = nullptr;
  std::string_view name;  // in the arena
};

struct DispatchPayload {
  std::uint32_t kernel = 0;  // in recording.kernels
  Dim3 grid = {}, block = {};
  std::optional<Dim3> cluster = {};
  std::uint32_t shared_bytes = 0;
  DispatchDesc::Launch launch = DispatchDesc::Launch::Normal;
  DispatchDesc::Start start = DispatchDesc::Start::Ordered;
  std::uint32_t op = kNone;  // in recording.ops; kNone: the dispatch is no op
  float cost = 0;            // us; 0: unknown
  std::uint32_t parameter_bytes = 0;
  std::uint32_t buffer_argument_count = 0, slot_argument_count = 0;
  const std::byte* parameters = nullptr;  // values are filled in, addresses are zero
  BufferArgument* buffer_arguments = nullptr;
  const SlotArgument* slot_arguments = nullptr;
  const BlockSlice* block_slices = nullptr;  // by buffer argument; null: none is declared
};

// One side of a copy: a buffer of the recording, or host memory.
struct Endpoint {
  std::uint32_t buffer = kNone;  // kNone: host memory
  std::uint64_t offset = 0;      // bytes into the buffer
  void* host = nullptr;          // snapshot: bytes in the recording's arena; borrowed: the caller's
  HostBytes::Lifetime lifetime = HostBytes::Lifetime::Snapshot;

  [[nodiscard]] bool is_snapshot() const noexcept {
    return buffer == kNone && lifetime == HostBytes::Lifetime::Snapshot;
  }
  [[nodiscard]] bool is_borrowed() const noexcept {
    return buffer == kNone && lifetime == HostBytes::Lifetime::Borrowed;
  }
};

struct CopyPayload {
  Endpoint source, destination;
  Extent extent;                          // 1D: height = depth = 1
  Pitch source_pitch, destination_pitch;  // never 0: tight pitches are explicit

  [[nodiscard]] bool is_pitched() const noexcept { return extent.height != 1 || extent.depth != 1; }
};

struct FillPayload {
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0;
  std::uint32_t bits = 0;           // one element; the bits above it are zero
  std::uint32_t element_bytes = 4;  // 1, 2 or 4
  Extent extent;                    // width in bytes
  Pitch pitch;                      // never 0
};

struct UpdatePayload {
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  const std::byte* data = nullptr;  // in the recording's arena
};

struct HostPayload {
  std::uint32_t function = 0;  // in recording.functions
};

struct OpPayload {
  std::uint32_t op = 0;  // in recording.ops
  std::uint32_t buffer_count = 0;
  // recording.buffers indices: declared views in order, then workspaces
  std::uint32_t* buffers = nullptr;
};

struct BarrierPayload {
  std::uint32_t buffer = kNone;      // kNone: global
  std::uint64_t begin = 0, end = 0;  // bytes
  Access before = Access::ReadWrite;
  Access after = Access::ReadWrite;
  Dependency dependency = Dependency::Full;
  friend bool operator==(const BarrierPayload&, const BarrierPayload&) = default;
};

// A whole recording that a command runs: recording.bodies[index]. Its buffer i is this recording's
// buffer buffers[i].
struct Body {
  std::uint32_t index = 0;
  std::uint32_t buffer_count = 0;
  std::uint32_t* buffers = nullptr;
};

struct NestedPayload {
  Body body;
};

// If: bodies[0] if the condition is not 0, otherwise bodies[1] if present. While: bodies[0] until
// the condition is 0. Switch: bodies[condition]; no body runs if the value is out of range.
enum class Branch : std::uint8_t { If, While, Switch };
[[nodiscard]] std::string_view to_string(Branch branch) noexcept;

struct ConditionalPayload {
  Branch branch = Branch::If;
  std::uint32_t condition = 0;  // in recording.buffers
  std::uint32_t body_count = 0;
  Body* bodies = nullptr;
  std::uint64_t max_iterations = 0;  // of While; 0: no limit
};

}  // namespace reprise::detail
