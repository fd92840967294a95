// find_races(): finds commands that touch what they did not declare. Replays a recording in other
// orders that its declarations allow, one command after another, with garbage in memory that no
// transient owns, and compares what the buffers then hold. A tool for tests and for looking for a
// fault: it compiles a graph for every replay. Threads: any; nothing else may use the buffers
// meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/command_buffer.hpp>
#include <reprise/queue.hpp>
#include <reprise/types.hpp>

namespace reprise {

struct RaceDesc {
  std::uint32_t runs = 32;  // orders that are tried
  // Of the first order; the next ones have the next numbers. Number 0 is the order least like the
  // recorded one, every other is random; each gives the same order on every machine.
  std::uint64_t seed = 0;
  Queue queue = {};  // everything runs here; empty: on a queue of its own
  // Saved, compared and restored: all persistent buffers of the pools that the commands' buffers
  // are from, for who touches what he does not declare may well touch what no command declares; or
  // only buffers that a command declares. And borrowed host memory that copies write.
  enum class Compare : std::uint8_t { Pools, Declared } compare = Compare::Pools;
  std::vector<BufferView> ignore = {};  // saved and restored, but not compared
  std::uint32_t max_findings = 8;       // enough, then
  // The byte that is written where no transient is, and the one that takes its place to see whether
  // anybody reads it. Two different ones.
  std::uint8_t poison = 0xff, other_poison = 0x7f;
  std::function<void(std::uint32_t done, std::uint32_t runs)> on_progress =
      {};  // after each order, on this thread
};

// A command of the recording.
struct RaceCommand {
  std::uint32_t index = 0;
  std::string name;   // "dispatch scale"
  std::string label;  // "forward/layer 1"
  SourceLocation where;
};

// Bytes that are not what they are in the recorded order.
struct RaceBytes {
  std::string buffer = {};             // its name
  std::uint64_t first = 0, count = 0;  // offset of the first one; how many differ
  // What the finding's commands declare of the first one: "nothing", "read", "write", "read and
  // write"; empty where that is not asked.
  std::string first_declares = {}, second_declares = {};
};

struct RaceFinding {
  enum class Kind : std::uint8_t {
    Order,     // what `first` and `second` do depends on who comes first, and nothing that they
               // declare orders them
    Undefined  // `first` reads bytes of a transient before anybody wrote them, or after its last
               // declared use
  } kind = Kind::Order;
  RaceCommand first;               // in recorded order
  RaceCommand second;              // of Order
  std::string transient;           // of Undefined: whose bytes it reads
  std::vector<RaceBytes> at_once;  // of Order: right after the two, transients included
  std::vector<RaceBytes> at_end;   // of the replay
  std::uint64_t order = 0;         // of Order: number of the order that showed it
};

struct RaceReport {
  std::string label;  // of the command buffer
  std::uint32_t commands = 0;
  std::uint64_t seed = 0;
  std::uint32_t orders = 0;     // tried
  std::uint32_t replays = 0;    // all of them
  bool one_order_only = false;  // the declarations, or Ordering::Linear, leave no choice
  std::vector<RaceFinding> findings;
  std::vector<RaceBytes> excluded;  // not the same in two replays of one order (floating-point
                                    // atomics, clocks), and so not compared
  [[nodiscard]] bool clean() const noexcept { return findings.empty(); }
};

// Whatever it finds or throws, persistent buffers, DeviceScalars, random-number streams and
// borrowed host memory are then as they were before; what host callbacks change elsewhere is not.
// Conditions and scalar slots begin each replay as they were recorded. All but the first finding
// were found with the pairs before them kept in recorded order: repair one and find_races again.
// Throws what compile() and launches throw, InvalidArgument, WrongDevice; what a host callback
// throws in an order of ours, too.
[[nodiscard]] RaceReport find_races(const CommandBuffer& commands, const RaceDesc& desc = {});
[[nodiscard]] RaceReport find_races(const CommandBuffer& commands, std::uint32_t runs);

// Whole, for people.
[[nodiscard]] std::string to_text(const RaceReport& report);

}  // namespace reprise
