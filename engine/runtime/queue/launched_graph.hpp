// LaunchedGraph: a graph as the fences of its launches see it. Knows no executable. Threads: any
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <reprise/error.hpp>

namespace reprise::detail {

class LaunchedGraph {
 public:
  virtual ~LaunchedGraph() = default;
  [[nodiscard]] virtual const std::string& label() const noexcept = 0;
  // Which replica of its graph this is, from 0.
  [[nodiscard]] virtual std::uint32_t replica() const noexcept = 0;
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

}  // namespace reprise::detail
