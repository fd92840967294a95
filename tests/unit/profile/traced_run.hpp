// Helpers for tests of profiling: a temporary trace file, all records of a file, and the heap.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::test {

// Removes all trace settings from the environment during its lifetime.
struct NoTraceEnvironment {
  EnvironmentVariable trace{"REPRISE_TRACE", std::nullopt},
      profile{"REPRISE_PROFILE", std::nullopt}, listen{"REPRISE_LISTEN", std::nullopt},
      token{"REPRISE_TOKEN", std::nullopt}, remote_profile{"REPRISE_REMOTE_PROFILE", std::nullopt};
};

// A folder for a trace, without trace settings in the environment.
struct TraceFolder : TemporaryFolder {
  [[nodiscard]] std::string file() const { return (path() / "run.reprise").string(); }

 private:
  const NoTraceEnvironment none_;
};

// Bytes that this process has allocated; 0 under sanitizers.
inline std::size_t heap_bytes() {
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

inline void append_records(trace::Records& all, const trace::Records& r) {
  trace::Records::each([&](auto kind) {
    (all.*kind).insert((all.*kind).end(), (r.*kind).begin(), (r.*kind).end());
  });
}

[[nodiscard]] inline trace::Records all_records(const std::filesystem::path& file) {
  const trace::TraceReader reader(file);
  trace::Records all;
  for (const trace::ChunkEntry& chunk : reader.chunks()) append_records(all, reader.read(chunk));
  return all;
}

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
