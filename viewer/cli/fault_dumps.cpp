#include "cli/fault_dumps.hpp"

#include <signal.h>

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <regex>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "cli/run_report.hpp"
#include "cli/text.hpp"
#include "trace/trace_error.hpp"

namespace reprise::cli {

namespace fs = std::filesystem;

namespace {

constexpr char kOnException[] = "CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
               kOnRequest[] = "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
               kDumpFile[] = "CUDA_COREDUMP_FILE", kDumpPipe[] = "CUDA_COREDUMP_PIPE",
               kDumpParts[] = "CUDA_COREDUMP_GENERATION_FLAGS";
// Code with its addresses, and the parameters of kernels.
constexpr char kParts[] =
    "skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory";
// For a program that hangs and continues.
constexpr char kPartsWithoutEnd[] =
    "skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory,"
    "skip_abort";

}  // namespace

std::regex names_of_dumps(const std::string& pattern) {
  std::string expression;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char kind = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    switch (kind) {
      case 'p': expression += "([0-9]+)"; break;
      case 't': expression += "[0-9]+"; break;
      case 'h': expression += ".+"; break;
      default:
        if (std::ispunct(static_cast<unsigned char>(pattern[i])) != 0) expression += '\\';
        expression += pattern[i];
        continue;
    }
    ++i;
  }
  return std::regex(expression);
}

std::int64_t process_of_dump(const std::string& name, const std::regex& names) {
  std::smatch parts;
  if (!std::regex_match(name, parts, names)) return -1;
  if (parts.size() < 2) return 0;
  std::int64_t process = 0;
  const std::string digits = parts[1];
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), process);
  return read.ec == std::errc() ? process : -1;
}

FaultDumps::FaultDumps(const Desc& desc) : desc_(desc) {
  if (!desc.faults && desc.hang_seconds == 0) return;
  folder_.emplace("reprise-dumps");
  const char* const file = ::secure_getenv(kDumpFile);
  is_own_pattern_ = file == nullptr || *file == '\0';
  pattern_ = is_own_pattern_ ? folder_->path() / "dump.%p" : fs::absolute(file);
  names_ = names_of_dumps(pattern_.filename().string());
  began_ = fs::last_write_time(folder_->path());
}

FaultDumps::~FaultDumps() {
  if (folder_ && desc_.keep && is_own_pattern_ && !dumps_.empty()) folder_->keep();
}

std::map<std::string, std::string> FaultDumps::environment() const {
  std::map<std::string, std::string> variables;
  if (!are_requested()) return variables;
  const auto set = [&](const char* name, const std::string& value) {
    if (const char* const own = ::secure_getenv(name); own == nullptr || *own == '\0')
      variables[name] = value;
  };
  set(kDumpFile, pattern_.string());
  set(kDumpParts, desc_.faults ? kParts : kPartsWithoutEnd);
  if (desc_.faults) {
    set(kOnException, "1");
    variables["REPRISE_RUN_FAULTS"] = "1";
  }
  if (desc_.hang_seconds != 0) {
    set(kOnRequest, "1");
    set(kDumpPipe, (folder_->path() / "request.%p").string());
    variables["REPRISE_RUN_HANG_AFTER"] = std::to_string(desc_.hang_seconds);
  }
  return variables;
}

void FaultDumps::find() {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(pattern_.parent_path(), error)) {
    const std::int64_t pid = process_of_dump(entry.path().filename().string(), names_);
    std::error_code ignored;
    // An earlier run's file of the user's own name is older.
    if (pid < 0 || !entry.is_regular_file(ignored) || entry.last_write_time(ignored) < began_)
      continue;
    dumps_[entry.path()].pid = static_cast<std::uint32_t>(pid);
  }
}

void FaultDumps::print(const fs::path& file, Dump& dump, const std::vector<fs::path>& traces) {
  const faults::CoreDump contents = faults::read_core_dump(file);
  dump.is_reported = true;
  faults::TraceFacts facts;
  for (const fs::path& trace : traces) {
    try {
      // A dump whose name states no process is that of the only one.
      if (dump.pid != 0 ? process_of(trace) != dump.pid : traces.size() != 1) continue;
      facts = faults::read_trace_facts(trace);
      dump.pid = facts.pid;
      break;
    } catch (const trace::TraceError& error) {
      print_message(error.what());
    }
  }
  faults::FaultReport report = faults::report_dump(contents, facts);
  for (const std::string& line : report.lines) print_message(line);
  dump.messages = std::move(report.messages);
}

void FaultDumps::poll(const std::vector<fs::path>& traces) {
  if (desc_.hang_seconds == 0) return;  // a dump at an exception is followed by the end
  find();
  for (auto& [file, dump] : dumps_) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(file, error);
    if (error || dump.is_reported || bytes == 0 || std::exchange(dump.bytes, bytes) != bytes)
      continue;
    try {
      print(file, dump, traces);
    } catch (const std::exception&) {
      // The driver still writes it, or report() states the error.
    }
  }
}

std::string FaultDumps::why_no_dump(const ChildExit& exit) const {
  const char* const enabled = ::secure_getenv(kOnException);
  if (desc_.faults && enabled != nullptr && std::string_view(enabled) != "1")
    return detail::concat("no GPU core dump was requested: ", kOnException, " is ", enabled);
  if (exit.signal == SIGABRT || exit.code == kKilled + SIGABRT)
    return "the program aborted, and the driver wrote no GPU core dump: no kernel faulted, or the "
           "driver cannot debug here (another debugger, MPS, or a container without the right)";
  return {};
}

void FaultDumps::append(const Dump& dump, const std::vector<fs::path>& traces) {
  if (dump.messages.empty() || dump.pid == 0) return;
  trace::Records records;
  for (const trace::Message& message : dump.messages) records.add(message);
  const bool is_hang = dump.messages.front().id == faults::kHangMessage;
  for (const fs::path& trace : traces) {
    try {
      if (process_of(trace) != dump.pid) continue;
    } catch (const trace::TraceError&) {
      continue;  // print() has stated it
    }
    append_topology(trace, {&records, 1});
    print_message(
        (is_hang ? "the running node: reprise view " : "the faulting node: reprise view ") +
        shown(trace).string());
  }
}

void FaultDumps::report(const std::vector<fs::path>& traces, const ChildExit& exit) {
  if (!are_requested()) return;
  find();
  for (auto& [file, dump] : dumps_) {
    try {
      if (!dump.is_reported) print(file, dump, traces);
      append(dump, traces);
    } catch (const std::exception& error) {
      print_message(error.what());
    }
    if (desc_.keep || !is_own_pattern_) print_message("GPU core dump: " + file.string());
  }
  if (dumps_.empty()) {
    if (const std::string why = why_no_dump(exit); !why.empty()) print_message(why);
  }
}

}  // namespace reprise::cli
