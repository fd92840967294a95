#include "cli/run_report.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "cli/progress_line.hpp"
#include "cli/text.hpp"
#include "trace/chunk.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::cli {

namespace fs = std::filesystem;

RunFiles::RunFiles(fs::path file) : file_(std::move(file)), before_(file_states()) {}

namespace {

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether `name` is that of a trace of a rank whose job writes to `file`: "run.rank3.reprise".
bool is_of_rank(std::string_view name, const fs::path& file) {
  const std::string before = file.stem().string() + ".rank", after = file.extension().string();
  if (!name.starts_with(before)) return false;
  name.remove_prefix(before.size());
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits != 0 && name.substr(digits) == after;
}

}  // namespace

std::map<fs::path, FileState> RunFiles::file_states() const {
  std::map<fs::path, FileState> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(file_.parent_path(), error)) {
    const fs::path file_name = entry.path().filename();
    std::string_view name = file_name.native();
    if (const std::size_t dot = name.rfind('.');
        dot != std::string_view::npos && are_digits(name.substr(dot + 1)))
      name = name.substr(0, dot);  // of a further process
    if (entry.path() != file_ && name != file_.filename() && !is_of_rank(name, file_)) continue;
    if (const auto state = state_of(entry.path())) found.emplace(entry.path(), *state);
  }
  return found;
}

std::vector<fs::path> RunFiles::present() const {
  std::vector<fs::path> files;
  for (const auto& [path, state] : file_states()) {
    const auto earlier = before_.find(path);
    if (earlier == before_.end() || earlier->second != state) files.push_back(path);
  }
  return files;  // sorted by name: FILE precedes FILE.PID
}

std::vector<fs::path> RunFiles::written() const {
  std::vector<fs::path> files = present();
  const bool is_of_process = files.size() == 1 && files.front() != file_ &&
                             files.front().string().starts_with(file_.string() + ".");
  if (is_of_process && !trace::is_being_written(file_)) {
    std::error_code error;
    fs::rename(files.front(), file_, error);
    if (!error) files.front() = file_;
  }
  return files;
}

std::string RunFiles::view_hint(const std::vector<fs::path>& written) const {
  const auto of_ranks = std::count_if(written.begin(), written.end(), [this](const fs::path& path) {
    return is_of_rank(path.filename().native(), file_);
  });
  if (of_ranks < 2) return {};
  const fs::path all =
      shown(file_.parent_path() / (file_.stem().string() + ".rank*" + file_.extension().string()));
  return "all ranks as one: reprise view " + all.string();
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

std::uint32_t process_of(const fs::path& file) {
  const trace::TraceReader reader(file);
  for (const trace::ChunkEntry& chunk : reader.chunks()) {
    if (chunk.header.kind != trace::ChunkKind::Topology) continue;
    const trace::Records records = reader.read(chunk);
    if (!records.sessions.empty()) return records.sessions.front().pid;
  }
  return 0;
}

void append_topology(const fs::path& file, std::span<const trace::Records> chunks) {
  if (trace::is_being_written(file))
    throw trace::TraceError(trace::TraceErrorCode::Io,
                            file.string() + ": a process writes it, so nothing is added to it");
  trace::TraceFile output({.path = file, .start = trace::TraceFileDesc::Start::Append});
  if (output.path() != file)  // another process has begun to write it
    throw trace::TraceError(trace::TraceErrorCode::Io, file.string() + ": is written again");
  for (const trace::Records& records : chunks) {
    output.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Topology, records, output.next_sequence())));
  }
  output.flush();
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
