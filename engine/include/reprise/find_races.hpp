// find_races: detects commands that access undeclared bytes. Replays a recording serially in other
// orders that its declarations allow, fills memory outside the live ranges of transients with
// garbage, and compares the resulting contents of buffers. Intended for tests: each replay compiles
// a graph. Threads: safe from any thread; nothing else may use the buffers during the call.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/command_buffer.hpp>
#include <reprise/queue.hpp>
#include <reprise/types.hpp>

namespace reprise::inline REPRISE_ABI {

struct RaceDesc {
  std::uint32_t runs = 32;  // number of orders; at least 1
  // Number of the first order; later orders have the following numbers. Order 0 differs most from
  // the recorded order, all others are random. A number gives the same order on every machine.
  std::uint64_t seed = 0;
  Queue queue = {};  // executes all replays; empty: a temporary queue
  // The memory that is saved, compared and restored, in addition to borrowed host memory that
  // copies write. Pools: all persistent buffers of the pools that the commands' buffers belong to,
  // because an undeclared access may hit a buffer that no command declares. Declared: only buffers
  // that a command declares.
  enum class Compare : std::uint8_t { Pools, Declared } compare = Compare::Pools;
  std::vector<BufferView> ignore = {};  // saved and restored, but not compared
  std::uint32_t max_findings = 8;       // stops after this many; at least 1
  // The byte that fills memory outside the live ranges of transients, and a different byte that
  // replaces it to detect whether a command reads it.
  std::uint8_t pattern = 0xff, alternate = 0x7f;
  // Called after each order, on the calling thread.
  std::function<void(std::uint32_t done, std::uint32_t runs)> on_progress = {};
};

// A command of the recording.
struct RaceCommand {
  std::uint32_t index = 0;
  std::string name;   // "dispatch scale"
  std::string label;  // "forward/layer 1"
  SourceLocation where;
};

// Bytes of one buffer that differ from those of the recorded order.
struct RaceBytes {
  std::string buffer = {};             // its name
  std::uint64_t first = 0, count = 0;  // offset of the first differing byte; number of them
  // The access that the commands of the finding declare for the first byte: "nothing", "read",
  // "write", "read and write". Empty if it does not apply.
  std::string first_declares = {}, second_declares = {};
};

struct RaceFinding {
  enum class Kind : std::uint8_t {
    Order,  // the result depends on the order of `first` and `second`, which no declaration fixes
    Undefined,  // `first` reads bytes of a transient before they are written or after its last
                // declared use
    Undeclared  // op `first` writes bytes that it does not declare as written
  } kind = Kind::Order;
  RaceCommand first;      // the earlier command in recorded order
  RaceCommand second;     // Order: the later command
  std::string transient;  // Undefined: name of the transient
  // Order: differences directly after both, including transients. Undeclared: the bytes that the op
  // changed.
  std::vector<RaceBytes> at_once;
  std::vector<RaceBytes> at_end;  // Order, Undefined: differences after the replay
  std::uint64_t order = 0;        // Order: number of the order that shows the difference
};

[[nodiscard]] REPRISE_API std::string_view to_string(RaceDesc::Compare compare) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(RaceFinding::Kind kind) noexcept;

struct [[nodiscard]] RaceReport {
  std::string label;  // of the command buffer
  std::uint32_t commands = 0;
  std::uint64_t seed = 0;
  std::uint32_t orders = 0;     // number of orders that were replayed
  std::uint32_t replays = 0;    // total, including repetitions that isolate findings
  bool one_order_only = false;  // the declarations, or Ordering::Linear, allow one order only
  std::vector<RaceFinding> findings;
  // Bytes that differ between two replays of one order (floating-point atomics, clocks), which are
  // not compared.
  std::vector<RaceBytes> excluded;
  [[nodiscard]] bool clean() const noexcept { return findings.empty(); }
};

// Afterwards, even after an exception, persistent buffers, DeviceScalars, random number streams and
// borrowed host memory have their previous contents. Other effects of host callbacks remain.
// Conditions and scalar slots start each replay with their recorded values. Findings after the
// first keep the pairs of earlier findings in recorded order: fix one and run it again. Throws what
// Device::compile, launches and host callbacks throw, InvalidArgument, WrongDevice, InvalidState in
// a host callback.
[[nodiscard]] REPRISE_API RaceReport find_races(const CommandBuffer& commands,
                                                const RaceDesc& desc = {});
[[nodiscard]] REPRISE_API RaceReport find_races(const CommandBuffer& commands, std::uint32_t runs);

// The whole report as text.
[[nodiscard]] REPRISE_API std::string to_text(const RaceReport& report);

}  // namespace reprise::inline REPRISE_ABI
