// ProgramWaits: the program's calls that wait for the GPU, each with the replay that it waits for:
// after a wait, earlier replays are known to have ended, and a wait that lasts is a hang. Knows
// nothing about the driver. Threads: any; makes no callbacks.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/records.hpp"

namespace reprise::detail {

class ProgramWaits {
 public:
  struct Wait {
    std::uint32_t thread = 0;
    const char* call = "";
    trace::Time started = 0;
    // The last replay on the stream; kNone: none, or all streams.
    std::uint32_t graph = trace::kNone;
    std::uint64_t replay = 0;
    // A wait for an event or a copy ends some of the work of the streams.
    enum class For : std::uint8_t { Everything, Stream, Part } what = For::Part;
  };
  void launched(std::uint64_t stream, std::uint32_t graph, std::uint64_t replay);
  void removed(std::uint64_t stream);
  // `stream` of a wait for a stream. A thread has one wait at a time.
  void began(Wait wait, std::uint64_t stream);
  enum class Result : std::uint8_t { Success, Failure };
  void ended(std::uint32_t thread, Result result, trace::Time at);

  // A wait that has lasted `limit` or longer; each once.
  [[nodiscard]] std::optional<Wait> take_hang(trace::Time limit, trace::Time now);
  // Appends the successful waits since the last call that end replays.
  void collect(std::vector<trace::Record>& records);

 private:
  struct LastReplay {
    std::uint32_t graph = 0;
    std::uint64_t replay = 0;
  };
  struct Current {
    Wait wait;
    bool is_reported = false;
  };
  std::mutex mutex_;  // guards the members below
  std::unordered_map<std::uint64_t, LastReplay> streams_;
  std::unordered_map<std::uint32_t, Current> waits_;  // in progress, by thread
  std::vector<trace::HostRange> ranges_;
};

}  // namespace reprise::detail
