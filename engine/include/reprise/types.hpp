// Value types that all public headers share. Must not depend on a device. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <reprise/abi.hpp>

namespace reprise::detail {
struct HandleAccess;  // the engine's access to the objects behind handles
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// A three-dimensional extent or index. Components that are left out are 1.
struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  constexpr Dim3() = default;
  constexpr Dim3(std::uint32_t x_, std::uint32_t y_ = 1, std::uint32_t z_ = 1)
      : x(x_), y(y_), z(z_) {}
  // x * y * z, saturated at 2^64 - 1.
  [[nodiscard]] constexpr std::uint64_t volume() const {
    const std::uint64_t area = std::uint64_t{x} * y;
    return z != 0 && area > ~std::uint64_t{0} / z ? ~std::uint64_t{0} : area * z;
  }
  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

// ceil(n / size): the number of blocks of `size` threads that cover `n` items, saturated at
// 2^32 - 1. Compiling refuses (LaunchLimits) a dispatch of that many blocks, which exceed the
// DeviceLimits::max_grid of every device, and of the 0 blocks that 0 items or blocks of 0 threads
// give.
[[nodiscard]] constexpr std::uint32_t ceil_div(std::uint64_t n, std::uint32_t size) {
  constexpr std::uint64_t kMax = 0xffffffffu;
  const std::uint64_t blocks = size == 0 ? 0 : n / size + (n % size != 0 ? 1 : 0);
  return static_cast<std::uint32_t>(blocks < kMax ? blocks : kMax);
}

// The line of the application that recorded a command. Recording methods capture it in a default
// argument. `file` has static storage duration.
struct SourceLocation {
  const char* file = "";
  std::uint32_t line = 0;
  [[nodiscard]] static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                                        std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

// An sRGB colour of a label in the viewer. (0, 0, 0): the viewer selects one.
struct Color {
  std::uint8_t r = 0, g = 0, b = 0;
  friend constexpr bool operator==(const Color&, const Color&) = default;
};

// How a command uses a range of bytes.
enum class Access : std::uint8_t { Read = 1, Write = 2, ReadWrite = 3 };
[[nodiscard]] constexpr bool reads(Access a) { return (static_cast<int>(a) & 1) != 0; }
[[nodiscard]] constexpr bool writes(Access a) { return (static_cast<int>(a) & 2) != 0; }

// Where the order of commands comes from.
enum class Ordering : std::uint8_t {
  Inferred,  // declared accesses: conflicting commands keep their recorded order
  Explicit,  // barriers and edges only, as in Vulkan; Validation::Full checks every conflict
  Linear     // the recording: each command waits for the previous one, as on a CUDA stream
};

// The strength of a barrier or an edge.
enum class Dependency : std::uint8_t {
  Full,  // the later command starts after the earlier one has completed
  // CUDA's programmatic dependent launch: orders only kernels that are dispatched with
  // DispatchDesc::Start::Programmatic, which wait inside the kernel. Orders no other command.
  Programmatic
};

// A secondary command buffer is executed by others; only a primary one is compiled.
enum class Level : std::uint8_t { Primary, Secondary };

enum class Validation : std::uint8_t {
  Off,    // only checks that protect the process
  Basic,  // and all rules about a single command
  Full    // and hazards, barriers and edges
};
#ifdef NDEBUG
inline constexpr Validation kDefaultValidation = Validation::Basic;
#else
inline constexpr Validation kDefaultValidation = Validation::Full;
#endif

// How dependencies become a CUDA graph. No lowering drops a needed edge.
struct Lowering {
  enum class Mode : std::uint8_t {
    // On a GPU, one segment for a graph of at least 100 dispatches and small transfers, of one
    // block each, or such that each block needs only the same block of earlier ones. Otherwise
    // entry and exit kernels where they reduce the launch cost, and at most 128 lanes.
    Auto,
    Faithful,  // exactly the needed nodes and edges
    Lanes,     // as Auto, with at most `lanes` lanes
    // Dispatches, and fills, device copies and updates of at most 16 KiB, become items of segments:
    // one kernel of resident blocks runs many of them, in lists that wait for one another. All
    // other commands stay nodes, and so do cooperative dispatches, those with clusters or
    // programmatic starts, and with fault markers the commands of bodies. Only for devices with
    // DeviceLimits::max_segment_blocks.
    Persistent
  };
  Mode mode = Mode::Auto;
  std::uint32_t lanes = 0;  // of Mode::Lanes: 1 to 65535
  // Each command records its start and its end in memory that survives a lost device, so that
  // DeviceLost names the commands that were running, and so does the message of a fence whose
  // timeout passes. On a GPU this costs two one-thread kernels for each command, or about a
  // microsecond in a segment; use it to locate a fault.
  bool fault_markers = false;
  bool segments = true;  // Mode::Auto and CapturedGraph::tune() may make them
  // A block of a command in a segment waits only for the blocks of others whose bytes it accesses,
  // as far as its kernel's PTX shows them; otherwise for all. See CompileReport::segments.
  bool block_relations = true;
  static const Lowering Auto, Faithful, Persistent;
  [[nodiscard]] static constexpr Lowering Lanes(std::uint32_t k) { return {Mode::Lanes, k, false}; }
  [[nodiscard]] constexpr Lowering with_fault_markers() const {
    return {mode, lanes, true, segments, block_relations};
  }
  // Auto, where each dispatch stays a node.
  [[nodiscard]] constexpr Lowering without_segments() const {
    return {mode, lanes, fault_markers, false, block_relations};
  }
  // Each command of a segment waits for whole commands: to find out whether a fault comes from
  // relations of blocks. REPRISE_BLOCK_RELATIONS=off does the same for a whole program.
  [[nodiscard]] constexpr Lowering without_block_relations() const {
    return {mode, lanes, fault_markers, segments, false};
  }
  friend constexpr bool operator==(const Lowering&, const Lowering&) = default;
};
inline constexpr Lowering Lowering::Auto{Lowering::Mode::Auto, 0, false};
inline constexpr Lowering Lowering::Faithful{Lowering::Mode::Faithful, 0, false};
inline constexpr Lowering Lowering::Persistent{Lowering::Mode::Persistent, 0, false};

enum class BufferKind : std::uint8_t {
  Device,       // device memory; lives as long as its handles
  Transient,    // device memory inside one replay; no address outside it; may share bytes
  PinnedHost,   // page-locked host memory that the device accesses in each replay
  Condition,    // the value of a Condition; no memory of its own
  BorrowedHost  // host memory of the caller in a recording, see borrowed(); no handle names it
};

// The identity of a buffer on its device. A reused slot gets a new version.
struct BufferId {
  std::uint32_t slot = 0xffffffffu;  // an empty handle has the default value
  std::uint32_t version = 0;
  friend constexpr bool operator==(const BufferId&, const BufferId&) = default;
};

// The name of the enumerator, "ReadWrite", or its term, "whole graph". Every public enumeration has
// such a function.
[[nodiscard]] REPRISE_API std::string_view to_string(Access access) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(Ordering ordering) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(Dependency dependency) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(Level level) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(Validation validation) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(Lowering::Mode mode) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(BufferKind kind) noexcept;

}  // namespace reprise::inline REPRISE_ABI
