// LaunchedGraph: a graph as the fences of its launches know it: its names, the exceptions of its
// host callbacks, and while it exists its replays. Knows no executable. Threads: any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <reprise/error.hpp>

namespace reprise::detail {

// The replays of one graph.
class GraphReplays {
 public:
  virtual ~GraphReplays() = default;
  // Throws RankLost once a rank was lost, if the graph has collectives.
  virtual void require_all_ranks() const = 0;
  // `error`; for a DeviceLost and a graph with fault markers, with the commands that had started
  // and not completed: indices in details().unfinished, names and replays in the text.
  [[nodiscard]] virtual Error add_unfinished(const Error& error) const = 0;
  // For a graph with fault markers, a message with the commands of replay `replay` on a queue that
  // had started and not completed after a fence's timeout; once for each replay.
  virtual void report_timeout(std::uint64_t replay, std::chrono::nanoseconds timeout,
                              const std::string& queue) const = 0;
};

// An executable of the graph. Knows its exceptions until it is destroyed.
class CallbackErrorSource {
 public:
  // Whether `replay` is of this executable or of a later one of the graph.
  [[nodiscard]] virtual bool is_reached_by(std::uint64_t replay) const noexcept = 0;
  // The exception of a host callback of that replay, or null.
  [[nodiscard]] virtual std::exception_ptr callback_error(std::uint64_t replay) const = 0;

 protected:
  ~CallbackErrorSource() = default;
};

// Fences share it. It keeps nothing of the graph but exceptions.
class LaunchedGraph {
 public:
  struct Thrown {
    std::uint64_t replay = 0;
    std::exception_ptr error;
  };

  LaunchedGraph(std::string name, std::uint32_t number, std::weak_ptr<const GraphReplays> of)
      : label(std::move(name)), replica(number), replays(std::move(of)) {}

  const std::string label;
  const std::uint32_t replica;  // which replica of its graph this is, from 0
  const std::weak_ptr<const GraphReplays> replays;
  std::atomic<bool> has_collectives{false};  // set before the first launch with collectives
  // Locked while a source is asked. Sources share it, so that they can end after the last question
  // even where this no longer exists.
  const std::shared_ptr<std::mutex> asking = std::make_shared<std::mutex>();

  // A source is added before its first replay, after those of earlier executables.
  void add(const CallbackErrorSource& source);
  // The source ends, all its replays have completed, and they threw `thrown`.
  void remove(const CallbackErrorSource& source, const std::vector<Thrown>& thrown);
  // The exception of a host callback of that replay, or null.
  [[nodiscard]] std::exception_ptr callback_error(std::uint64_t replay) const;

 private:
  std::vector<const CallbackErrorSource*> sources_;  // under `asking`, as is thrown_
  std::vector<Thrown> thrown_;
};

}  // namespace reprise::detail
