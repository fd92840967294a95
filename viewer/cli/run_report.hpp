// The traces that an observed program wrote: summaries, and what is added to them afterwards.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/file_state.hpp"
#include "trace/codec.hpp"

namespace reprise::cli {

// The traces of one run's processes: FILE, usually of the program itself, and FILE.PID of each
// further process. Ranks of a job have one each: see trace::rank_path().
class RunFiles {
 public:
  // Construct before the run starts: existing files belong to earlier runs.
  explicit RunFiles(std::filesystem::path file);

  // The traces written since, FILE first. A single trace is renamed to FILE, unless another process
  // is writing that.
  [[nodiscard]] std::vector<std::filesystem::path> written() const;
  // The same while the run writes them; renames none.
  [[nodiscard]] std::vector<std::filesystem::path> present() const;

  // How to view traces of several ranks; empty if there are none.
  [[nodiscard]] std::string view_hint(const std::vector<std::filesystem::path>& written) const;

 private:
  [[nodiscard]] std::map<std::filesystem::path, FileState> file_states() const;

  std::filesystem::path file_;
  std::map<std::filesystem::path, FileState> before_;
};

// The path relative to the current directory where that is shorter to read.
[[nodiscard]] std::filesystem::path shown(const std::filesystem::path& file);

// A report has at most this many lines of files; the rest of a large job is counted.
inline constexpr std::size_t kReportedFiles = 16;

struct RunSummary {
  std::string application;
  std::uint32_t pid = 0;
  std::uint64_t graphs = 0, replays = 0, bytes = 0;
  std::vector<std::string> warnings;  // warnings that the trace contains
};

// Reads the whole trace. Throws std::exception if the file is not a trace.
[[nodiscard]] RunSummary summarise(const std::filesystem::path& file);
// "run.reprise: python3 (process 7): 2 graphs, 1,050 replays, 12 kB".
[[nodiscard]] std::string summary_line(const std::filesystem::path& file,
                                       const RunSummary& summary);
// The process that wrote the trace; 0: it does not state it. Throws trace::TraceError.
[[nodiscard]] std::uint32_t process_of(const std::filesystem::path& file);
// Appends chunks of topology to the trace, unless a process writes it. Throws trace::TraceError.
void append_topology(const std::filesystem::path& file, std::span<const trace::Records> chunks);

}  // namespace reprise::cli
