#include "cli/run_report.hpp"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "cli/progress_line.hpp"
#include "cli/text.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::cli {

namespace fs = std::filesystem;

RunFiles::RunFiles(fs::path file) : file_(std::move(file)), before_(file_states()) {}

std::map<fs::path, FileState> RunFiles::file_states() const {
  std::map<fs::path, FileState> found;
  const std::string stem = file_.filename().string() + ".";
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(file_.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    const bool is_of_process =
        name.size() > stem.size() && name.starts_with(stem) &&
        name.find_first_not_of("0123456789", stem.size()) == std::string::npos;
    if (entry.path() != file_ && !is_of_process) continue;
    if (const auto state = state_of(entry.path())) found.emplace(entry.path(), *state);
  }
  return found;
}

std::vector<fs::path> RunFiles::written() const {
  std::vector<fs::path> files;
  for (const auto& [path, state] : file_states()) {
    const auto earlier = before_.find(path);
    if (earlier == before_.end() || earlier->second != state) files.push_back(path);
  }
  if (files.size() == 1 && files.front() != file_ && !trace::is_being_written(file_)) {
    std::error_code error;
    fs::rename(files.front(), file_, error);
    if (!error) files.front() = file_;
  }
  return files;  // sorted by name: FILE precedes FILE.PID
}

fs::path shown(const fs::path& file) {
  fs::path from_here = fs::proximate(file);
  return from_here.string().starts_with("..") ? file : from_here;
}

RunSummary summarise(const fs::path& file) {
  RunSummary summary;
  const trace::TraceReader reader(file);
  std::error_code ignored;
  summary.bytes = fs::file_size(file, ignored);
  std::set<std::uint32_t> graphs;
  ProgressLine progress("reading " + file.filename().string());
  std::uint64_t done = 0;
  for (const trace::ChunkEntry& chunk : reader.chunks()) {
    progress.update(done++, reader.chunks().size());
    if (chunk.header.kind == trace::ChunkKind::Samples) continue;
    const trace::Records records = reader.read(chunk);
    for (const trace::Session& session : records.sessions) {
      summary.application = session.application;
      summary.pid = session.pid;
    }
    for (const trace::GraphVersion& version : records.graph_versions) graphs.insert(version.graph);
    for (const trace::Message& message : records.messages) {
      if (message.severity != trace::Severity::Info && message.id.starts_with("run."))
        summary.warnings.push_back(message.text);
    }
    summary.replays += records.replays.size();
  }
  summary.graphs = graphs.size();
  return summary;
}

std::string summary_line(const fs::path& file, const RunSummary& summary) {
  return file.string() + ": " + summary.application + " (process " + std::to_string(summary.pid) +
         "): " +
         (summary.graphs == 0
              ? "no CUDA graphs were observed"
              : counted(summary.graphs, "graph") + ", " + counted(summary.replays, "replay")) +
         ", " + bytes(summary.bytes);
}

}  // namespace reprise::cli
