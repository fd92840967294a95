// Small value types that every public header shares. Knows no device.
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reprise {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  constexpr Dim3() = default;
  constexpr Dim3(std::uint32_t x_, std::uint32_t y_ = 1, std::uint32_t z_ = 1)
      : x(x_), y(y_), z(z_) {}
  [[nodiscard]] constexpr std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

// Blocks of `per_block` threads that cover `n` items; 0 items need 0 blocks, which a dispatch
// refuses.
[[nodiscard]] constexpr std::uint32_t blocks(std::uint64_t n, std::uint32_t per_block) {
  return static_cast<std::uint32_t>((n + per_block - 1) / per_block);
}

// Where in the application a command was recorded. Made at the call by its default arguments.
struct SourceLocation {
  const char* file = "";
  std::uint32_t line = 0;
  [[nodiscard]] static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                                        std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

struct Color {
  std::uint8_t r = 0, g = 0, b = 0;  // 0,0,0: the viewer picks one
  friend constexpr bool operator==(const Color&, const Color&) = default;
};

enum class Access : std::uint8_t { Read = 1, Write = 2, ReadWrite = 3 };
[[nodiscard]] constexpr bool reads(Access a) { return (static_cast<int>(a) & 1) != 0; }
[[nodiscard]] constexpr bool writes(Access a) { return (static_cast<int>(a) & 2) != 0; }

// Inferred: from accesses. Explicit: only what barriers and edges say, as in Vulkan. Linear:
// recorded order.
enum class Ordering : std::uint8_t { Inferred, Explicit, Linear };

// How a barrier or an edge orders what comes after it. Full: it starts when all before it has
// ended. Programmatic (programmatic dependent launch): orders only kernels dispatched with
// DispatchDesc::Start::Early, which wait themselves; whatever else comes after is not ordered by
// it.
enum class Dependency : std::uint8_t { Full, Programmatic };

enum class Level : std::uint8_t { Primary, Secondary };

// Off: nothing but what keeps the process safe. Basic: every rule about one command. Full: hazards
// and barriers too.
enum class Validation : std::uint8_t { Off, Basic, Full };
#ifdef NDEBUG
inline constexpr Validation kDefaultValidation = Validation::Basic;
#else
inline constexpr Validation kDefaultValidation = Validation::Full;
#endif

// How the schedule becomes a graph. Auto: a frame, a kernel before several roots and one after many
// leaves, each where it pays, and at most 128 lanes.
struct Lowering {
  enum class Mode : std::uint8_t { Auto, Faithful, Lanes };
  Mode mode = Mode::Auto;
  std::uint32_t lanes = 0;  // of Mode::Lanes, 1..65535
  // Each command notes its begin and end where the CPU finds it, so that DeviceLost names those
  // that were running. On a GPU that is two kernels of one thread a command: for looking for a
  // fault.
  bool fault_markers = false;
  static const Lowering Auto, Faithful;
  [[nodiscard]] static constexpr Lowering Lanes(std::uint32_t k) { return {Mode::Lanes, k, false}; }
  [[nodiscard]] constexpr Lowering with_fault_markers() const { return {mode, lanes, true}; }
  friend constexpr bool operator==(const Lowering&, const Lowering&) = default;
};
inline constexpr Lowering Lowering::Auto{Lowering::Mode::Auto, 0, false};
inline constexpr Lowering Lowering::Faithful{Lowering::Mode::Faithful, 0, false};

enum class BufferKind : std::uint8_t {
  Device,      // lives as long as its handles
  Transient,   // lives inside one replay, has no address outside it, may share bytes with others
  PinnedHost,  // host memory that the device reaches, read and written at each replay
  Condition    // no memory: what a Condition is in a recording
};

// A buffer's identity on its device. A slot that is used again gets another version.
struct BufferId {
  std::uint32_t slot = 0xffffffffu;
  std::uint32_t version = 0;
  friend constexpr bool operator==(const BufferId&, const BufferId&) = default;
};

}  // namespace reprise
