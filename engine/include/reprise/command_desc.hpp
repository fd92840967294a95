// Plain descriptions of commands: how a kernel is dispatched, which bytes a copy or a fill covers,
// and a reference to a recorded command. Knows no device and no command buffer. Threads: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include <reprise/types.hpp>

namespace reprise::inline REPRISE_ABI {

struct DispatchDesc {
  Dim3 grid = {};                    // blocks
  Dim3 block = {};                   // threads in a block
  std::uint32_t shared_bytes = 0;    // dynamic shared memory of a block; at most max_shared_bytes
  std::optional<Dim3> cluster = {};  // blocks of a cluster
  enum class Launch : std::uint8_t { Normal, Cooperative } launch = Launch::Normal;
  // Programmatic: every block calls reprise_wait_for_predecessors() before it first accesses
  // memory, so the kernel may start while its predecessors end (CUDA: programmatic dependent
  // launch, from compute capability 9.0; other devices ignore it). Not with Cooperative.
  enum class Start : std::uint8_t { Ordered, Programmatic } start = Start::Ordered;
  // Estimated execution time, for the list schedule. Costs that were measured
  // (CompileDesc::costs) override it. Throws InvalidArgument if it is negative.
  std::optional<std::chrono::duration<float, std::micro>> cost = {};
  SourceLocation where = {};  // overrides the location of the call, for functions that forward it
};

[[nodiscard]] REPRISE_API std::string_view to_string(DispatchDesc::Launch launch) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(DispatchDesc::Start start) noexcept;

// Sizes and pitches of 2D and 3D copies and fills.
struct Extent {
  std::uint64_t width = 0;   // bytes in a row
  std::uint64_t height = 1;  // rows in a slice
  std::uint64_t depth = 1;   // slices
  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};
struct Pitch {
  std::uint64_t row = 0;  // bytes from row to row; 0, as in Vulkan: contiguous rows
  // Bytes from slice to slice, a multiple of the row pitch; 0: contiguous slices.
  std::uint64_t slice = 0;
  friend constexpr bool operator==(const Pitch&, const Pitch&) = default;
};
struct CopyDesc {
  Extent extent = {};
  Pitch source = {}, destination = {};
};

// Identifies a command of the command buffer that returned it, for edge(), enable() and disable().
// If that is a secondary, a reference names all copies of the command, one for each time that
// the secondary was executed.
struct CommandRef {
  std::uint32_t recorder = 0;
  std::uint32_t index = 0xffffffffu;
};

}  // namespace reprise::inline REPRISE_ABI
