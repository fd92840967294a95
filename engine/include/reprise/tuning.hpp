// Tuning: finding by measurement how a graph is lowered best: with or without a frame, in how many lanes, with what is known of its kernels.
// Nothing of it happens unless it is asked for, and whatever the lowering, every needed edge is kept.
// Knows no native header. Threads: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace reprise {

struct TuneDesc {
  // What the replays that are measured leave behind in buffers.
  enum class Contents : std::uint8_t {
    // Everything that the graph writes is saved first, and is as it was before each measurement and at the end: pool buffers, scalars, random
    // number streams, host memory that copies write. Costs their bytes once more.
    Restored,
    Repeatable  // the caller's word that the graph may be replayed at will; for graphs with host callbacks there is no other way
  } contents = Contents::Restored;
  std::uint32_t pairs = 21;                // measurements of each candidate beside the graph as it is; at least 9
  std::chrono::milliseconds budget{5000};  // what was not measured by then is not chosen
};

// One way of lowering the graph. Times are GPU time of one replay, on the host device time by its clock.
struct TuneCandidate {
  std::string name;  // "lanes 16 by cost"
  std::uint32_t nodes = 0, edges = 0, lanes = 0;
  std::uint64_t slab_bytes = 0;                    // of transients that it needs
  std::uint32_t pairs = 0;                         // measured; 0: see `reason`
  double median_us = 0;
  double ratio = 0, ratio_low = 0, ratio_high = 0;  // to the graph as it was, measured in between: median, and the interval that holds it at 95 %
  std::string reason = {};                          // why it was not measured, or not to the end
};

struct TuneReport {
  std::vector<TuneCandidate> candidates;  // [0]: the graph as it was
  std::uint32_t chosen = 0;               // differs from 0 only where it is faster beyond doubt, in two series of pairs
  std::uint64_t plan_hash = 0;
  std::chrono::nanoseconds time{0};       // of all of it
  double confirmed_ratio = 1;             // of the one chosen, in a second series of pairs
  [[nodiscard]] bool has_changed() const noexcept { return chosen != 0; }
};

// Whether a graph is tuned while the application replays it.
enum class TuningMode : std::uint8_t {
  Off,
  // By its own replays, whose times it notes from the compile on until it is done: another executable is made on a thread of the engine's, takes
  // turns with the first for some replays, and takes its place where it is faster beyond doubt, at most twice. Whatever fails, the graph stays what
  // it was. Launches look at one flag more until it is over, and make nothing; updates other than scalars wait where an executable is being made,
  // and one that makes the graph another ends it. CompileReport and plan text stay those of the compile.
  Online
};

// How long CapturedGraph::launch took.
struct LaunchTimes {
  std::uint64_t launches = 0;
  double median_us = 0, p99_us = 0;  // to 1/16
};

// One executable that was made to be tried.
struct OnlineTry {
  std::string name;                                // "lanes 16 by cost"
  std::uint32_t lanes = 0;
  std::uint32_t pairs = 0;                         // of stretches of replays, its own and the graph's as it was, in turns
  double ratio = 0, ratio_low = 0, ratio_high = 0;  // of the times of replays: median, and the interval that holds it at 95 %
  bool kept = false;                               // it is what the graph launches
  std::string reason = {};                         // why it is not
};

struct OnlineTuningReport {
  enum class State : std::uint8_t { Off, Underway, Over } state = State::Off;
  std::vector<OnlineTry> tries = {};    // at most two
  std::string reason = {};              // what ended it before it was done, or why it was not begun; empty: neither
  LaunchTimes before = {}, meanwhile = {};  // of launches before its first measurement, and from there to its end
};

}  // namespace reprise
