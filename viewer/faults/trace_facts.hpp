// TraceFacts: the records of a trace that faults are matched to. Threads: values.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "trace/codec.hpp"

namespace reprise::faults {

// Observed waits for everything that was launched before on a device; other names concern one
// queue.
inline constexpr char kWaitForAll[] = "cuCtxSynchronize";

struct TraceFacts {
  std::uint32_t pid = 0;
  std::map<std::uint32_t, trace::GraphVersion> graphs;         // the latest version of each
  std::map<std::uint32_t, std::uint64_t> buffers;              // addresses
  std::map<std::uint32_t, std::deque<trace::Replay>> replays;  // not known to have ended, by graph
  trace::Time last = 0;  // of all moments

  // Adds the records of the next chunk.
  void add(trace::Records records);
  // After the last chunk: removes the replays that had ended, because the program waited for them.
  void finish();

 private:
  std::vector<trace::HostRange> waits_;
  std::set<std::uint32_t> devices_;  // that have queues
};

// Throws trace::TraceError.
[[nodiscard]] TraceFacts read_trace_facts(const std::filesystem::path& file);

}  // namespace reprise::faults
