// LaunchedGraph: a graph as the fences of its launches know it: its names, and while it exists its
// replays. Knows no executable. Threads: any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <reprise/error.hpp>

namespace reprise::detail {

// The replays of one graph.
class GraphReplays {
 public:
  virtual ~GraphReplays() = default;
  // Rethrows the exception of a host callback of replay `replay`, if one threw.
  virtual void rethrow_callback_error(std::uint64_t replay) const = 0;
  // `error`; for a DeviceLost and a graph with fault markers, with the commands that had started
  // and not completed: indices in details().unfinished, names and replays in the text.
  [[nodiscard]] virtual Error add_unfinished(const Error& error) const = 0;
  // For a graph with fault markers, a message with the commands of replay `replay` on a queue that
  // had started and not completed after a fence's timeout; once for each replay.
  virtual void report_timeout(std::uint64_t replay, std::chrono::nanoseconds timeout,
                              const std::string& queue) const = 0;
};

// Fences share it. It keeps nothing of the graph.
class LaunchedGraph {
 public:
  const std::string label;
  const std::uint32_t replica = 0;  // which replica of its graph this is, from 0
  const std::weak_ptr<const GraphReplays> replays;
};

}  // namespace reprise::detail
