// Activity: what the queues and threads of a recording did: the replays of each queue and graph,
// the launches of each thread, and the idle time of each device with its causes. Threads: Activity
// is an immutable value; a builder is used by one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "model/busy_time.hpp"
#include "model/document.hpp"

namespace reprise::model {

struct ReplaySpan {
  trace::Time started = 0, ended = 0;
  GraphKey graph;
  std::uint64_t replay = 0;
};

// Why no replay ran. An idle period before a replay has up to two parts: until the host launched
// it, and from then on.
enum class IdleCause : std::uint8_t {
  Host,    // the replay was not launched yet
  Launch,  // it was launched but had not started: launch latency, or it waits for another queue
  Unknown  // the time of its launch is unknown
};

struct IdleGap {
  trace::Time started = 0, ended = 0;
  GraphKey graph;            // of the replay that ended the idle period
  std::uint64_t replay = 0;  // its number
  IdleCause cause = IdleCause::Unknown;
  std::uint32_t thread = 0;  // that launched it
};

// The replays or launches of a queue, thread or graph.
struct ReplayRow {
  ListView<ReplaySpan> spans;  // by start
  BusyTime busy;
  std::map<GraphKey, BusyTime> by_graph;
};

// The idle time of a device, between the replays of all its queues.
struct IdleRow {
  std::vector<IdleGap> gaps;         // by start
  std::array<BusyTime, 3> by_cause;  // indexed by IdleCause
};

struct Activity {
  std::map<std::uint32_t, ReplayRow> queues;   // device times, by queue
  std::map<std::uint32_t, ReplayRow> threads;  // launch calls, by thread
  // Device times. A replay without them has an empty span at its launch.
  std::map<GraphKey, ReplayRow> graphs;
  std::map<std::uint32_t, IdleRow> idle;  // by device
};

class ActivityBuilder {
 public:
  // Adds the replays that were added since the last call. Documents of one trace, oldest first.
  [[nodiscard]] Activity extend(const Document& document);

 private:
  struct Consumed {
    std::uint64_t count = 0, last = 0;  // replays, including dropped ones; the last one's number
  };
  // False if replays arrived out of order; start again.
  bool consume(const Document& document);

  std::map<GraphKey, Consumed> consumed_;
  std::map<std::uint32_t, GrowingList<ReplaySpan>> queues_, threads_;
  std::map<GraphKey, GrowingList<ReplaySpan>> graphs_;
};

// The device of a queue; 0 if unknown.
[[nodiscard]] std::uint32_t device_of(const Document& document, std::uint32_t queue);

}  // namespace reprise::model
