// Inspection: the values that each command of one replay wrote, with statistics of them; and the
// comparison of two inspections. CapturedGraph::inspect makes them. Threads: values; functions are
// safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/command_buffer.hpp>
#include <reprise/types.hpp>

namespace reprise::inline REPRISE_ABI {

// How bytes of a buffer are read as values. Bytes: the type is unknown.
enum class ContentType : std::uint8_t {
  Bytes,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  F16,
  BF16,
  F32,
  F64
};
// "f32", "bytes".
[[nodiscard]] REPRISE_API std::string_view to_string(ContentType type) noexcept;
// Bytes of one value: 1 for Bytes.
[[nodiscard]] REPRISE_API std::uint32_t bytes_of(ContentType type) noexcept;

// Statistics of the values of one range. Of 64-bit integers, min, max, mean and norm are rounded to
// doubles. All but `mean` and `norm`, whose last digits depend on the device, are exact.
struct ContentStatistics {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::size_t kBins = 64;

  std::uint64_t count = 0;  // values
  std::uint64_t zeros = 0, denormals = 0, infinities = 0, nans = 0;
  // Indices of values, in the order of rows; kNone: there is none.
  std::uint64_t first_nan = kNone, first_infinity = kNone;
  // Of the finite values; min > max if there are none.
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double mean = 0, norm = 0;  // norm: the root of the sum of squares
  std::uint64_t hash = 0;     // of indices and bits; equal contents, equal hash
  // Finite values other than 0, by sign and power of two: bins 0 to 31 hold negative values and 32
  // to 63 positive ones, ascending. Bin 32 + i: 2^(i - 16) <= value < 2^(i - 15), bin 31 - i the
  // same of -value; the outermost and innermost bins hold what is beyond.
  std::array<std::uint32_t, kBins> histogram{};
  friend bool operator==(const ContentStatistics&, const ContentStatistics&) = default;
};

struct InspectDesc {
  std::uint32_t replica = 0;  // whose replay it is
  // StatisticsOnly: no contents are read.
  enum class Contents : std::uint8_t { Stored, StatisticsOnly } contents = Contents::Stored;
  // Stored contents are of these buffers alone; empty: of all.
  std::vector<BufferView> buffers = {};
  // Pinned host memory for contents, in bytes. What exceeds it is read in further passes over the
  // commands, for which the memory that they write is saved and restored. Graphs with host
  // callbacks or collectives run once: their effects cannot be undone. 0: as StatisticsOnly.
  std::uint64_t budget = std::uint64_t{256} << 20;
  std::uint64_t max_contents = std::uint64_t{1} << 30;  // bytes of all passes
  // Kept: memory has the results of the replay afterwards. Restored: the contents from before it,
  // which host callbacks and collectives do not allow (Unsupported).
  enum class Effect : std::uint8_t { Kept, Restored } effect = Effect::Kept;
  // Called after each pass, on the calling thread. Must not update the graph.
  std::function<void(std::uint32_t done, std::uint32_t passes)> on_progress = {};
};

// Values in one range of a buffer at one moment.
struct InspectedRange {
  static constexpr std::uint32_t kBefore = ~std::uint32_t{0};
  // The command that wrote them: its index in the command buffer. kBefore: they are from before the
  // replay, and a command reads them.
  std::uint32_t command = kBefore;
  std::string buffer;  // its name
  // Bytes of the buffer, from the first row to the end of the last one.
  std::uint64_t begin = 0, end = 0;
  Extent extent;  // rows; width in bytes
  Pitch pitch;    // of the rows, never 0
  // The element type of the kernels' parameters; of a buffer that no kernel has as a parameter, and
  // where `begin` is not a multiple of its size: Bytes.
  ContentType type = ContentType::Bytes;
  ContentStatistics statistics;
  enum class State : std::uint8_t {
    Stored,         // `contents` holds all bytes from `begin` to `end`
    NotWanted,      // by InspectDesc
    OverLimit,      // beyond max_contents, or beyond the memory for further passes
    NotRepeatable,  // would need another pass over a graph that has host callbacks or collectives
    Removed         // no longer in the trace
  } state = State::NotWanted;
  std::vector<std::byte> contents;
};
[[nodiscard]] REPRISE_API std::string_view to_string(InspectDesc::Contents contents) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(InspectDesc::Effect effect) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(InspectedRange::State state) noexcept;

struct InspectedCommand {
  std::uint32_t index = 0;  // in the command buffer
  std::string name;         // "dispatch scale"
  std::string label;        // "forward/layer 1"
  SourceLocation where;
  // In Inspection::ranges: of each declared read, the latest values that share bytes with it.
  std::vector<std::uint32_t> inputs;
};

// One replay. Commands with bodies (loops, conditionals, nested command buffers) are inspected as a
// whole; conditions and borrowed host memory are not.
struct Inspection {
  std::string graph;                       // its label
  std::uint64_t replays = 0;               // of the graph before this one
  std::uint32_t passes = 0;                // how often the commands ran
  std::vector<InspectedCommand> commands;  // in order of execution; without disabled ones
  std::vector<InspectedRange> ranges;      // in order of execution
  std::string note;                        // why contents are missing; empty if none are

  // The first range with a NaN, or infinity; null: there is none.
  [[nodiscard]] REPRISE_API const InspectedRange* first_nan() const noexcept;
  [[nodiscard]] REPRISE_API const InspectedRange* first_infinity() const noexcept;
};
// One line for each range.
[[nodiscard]] REPRISE_API std::string to_text(const Inspection& inspection);

// Two values are equal if any of these holds:
// - their bits are equal, or both are NaN;
// - both are finite, and their difference is at most `absolute`, or at most `relative` times the
//   larger magnitude;
// - both are finite floats, at most `ulps` representable values apart; -0 and 0 are 0 apart.
struct Tolerance {
  double absolute = 0, relative = 0;
  std::uint64_t ulps = 0;
};

// Where two inspections differ first, in order of execution.
struct InspectionDifference {
  std::uint32_t range_a = 0, range_b = 0;  // indices in Inspection::ranges
  std::uint64_t index = 0;                 // of the first value that differs, in the order of rows
  std::uint64_t count = 0;                 // values of the range that differ
  double value_a = 0, value_b = 0;         // 64-bit integers are rounded
  // False: contents of one are missing, and only the hashes differ; index, count, values: 0.
  bool has_values = true;
  // Command, buffer, index and values, and what the command read at that index.
  std::string text = {};
};

// Compares ranges in order of execution: of inspections of the same commands, or of two recordings
// whose commands correspond one by one. Throws InvalidArgument if they do not: with the first
// command at which kinds of ranges differ.
[[nodiscard]] REPRISE_API std::optional<InspectionDifference> compare(
    const Inspection& a, const Inspection& b, const Tolerance& tolerance = {});

// Has `record` make the same commands for two devices, inspects one replay on each, and compares
// them. `record` creates the buffers, on the device that it gets, and fills them by commands or
// before it returns. A test helper: two devices, or a GPU and the host device. Throws what
// Device::compile, CapturedGraph::inspect and compare() throw.
[[nodiscard]] REPRISE_API std::optional<InspectionDifference> compare_devices(
    const std::function<CommandBuffer(const Device&)>& record, const Device& a, const Device& b,
    const Tolerance& tolerance = {});

}  // namespace reprise::inline REPRISE_ABI
