// Helpers for tests of profiling: a temporary trace file, all records of a file, and the heap.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "support/environment_variable.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::test {

class TraceFolder {
 public:
  TraceFolder() {
    static std::atomic<int> made{0};
    path_ = std::filesystem::temp_directory_path() /
            ("reprise-profile-" + std::to_string(getpid()) + "-" + std::to_string(made++));
    std::filesystem::create_directory(path_);
  }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;
  ~TraceFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file() const { return (path_ / "run.reprise").string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Bytes that this process has allocated; 0 under sanitizers.
inline std::size_t heap_bytes() {
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

inline void append_records(trace::Records& all, const trace::Records& r) {
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(all.sessions, r.sessions);
  append(all.clocks, r.clocks);
  append(all.devices, r.devices);
  append(all.queues, r.queues);
  append(all.graph_versions, r.graph_versions);
  append(all.replays, r.replays);
  append(all.sample_blocks, r.sample_blocks);
  append(all.host_ranges, r.host_ranges);
  append(all.thread_names, r.thread_names);
  append(all.pool_states, r.pool_states);
  append(all.buffer_lifetimes, r.buffer_lifetimes);
  append(all.messages, r.messages);
  append(all.updates, r.updates);
  append(all.losses, r.losses);
  append(all.profiling_overheads, r.profiling_overheads);
  append(all.loop_runs, r.loop_runs);
  append(all.device_totals, r.device_totals);
  append(all.pool_uses, r.pool_uses);
  append(all.ended, r.ended);
}

[[nodiscard]] inline trace::Records all_records(const std::filesystem::path& file) {
  const trace::TraceReader reader(file);
  trace::Records all;
  for (const trace::ChunkEntry& chunk : reader.chunks()) append_records(all, reader.read(chunk));
  return all;
}

// Removes all trace settings from the environment during its lifetime.
struct NoTraceEnvironment {
  EnvironmentVariable trace{"REPRISE_TRACE", std::nullopt},
      profile{"REPRISE_PROFILE", std::nullopt}, listen{"REPRISE_LISTEN", std::nullopt},
      token{"REPRISE_TOKEN", std::nullopt}, remote_profile{"REPRISE_REMOTE_PROFILE", std::nullopt};
};

// The number of threads of this process that collect, write or serve traces. May briefly include a
// joined thread.
[[nodiscard]] inline std::size_t trace_threads() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name.starts_with("reprise-") ? 1 : 0;
  }
  return count;
}

}  // namespace reprise::test
