#include "cli/native_lines.hpp"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/child_process.hpp"
#include "cli/progress_line.hpp"
#include "cli/run_report.hpp"
#include "model/temporary_files.hpp"
#include "trace/latest_records.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::cli {

namespace fs = std::filesystem;

namespace {

struct CodeLine {
  std::string function, file;  // function: empty if unknown
  std::uint32_t line = 0;
};
using Offsets = std::set<std::uint64_t>;
using CodeLines = std::map<std::uint64_t, CodeLine>;  // by offset

bool is_native(const trace::Frame& frame) { return frame.line == 0 && frame.offset != 0; }

// What the file's addresses start with: 0 unless it is a program with a fixed address. None: not a
// file for 64-bit Linux.
std::optional<std::uint64_t> first_address(const fs::path& module) {
  std::ifstream file(module, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
      std::string_view(reinterpret_cast<const char*>(header.e_ident), SELFMAG) != ELFMAG ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
    return std::nullopt;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {  // in the order of their addresses
    Elf64_Phdr part{};
    if (!file.read(reinterpret_cast<char*>(&part), sizeof part)) return std::nullopt;
    if (part.p_type == PT_LOAD)
      return part.p_vaddr - part.p_vaddr % std::max<std::uint64_t>(part.p_align, 1);
  }
  return std::nullopt;
}

// "/src/main.cpp:12" or "/src/main.cpp:12 (discriminator 3)" of addr2line.
void read_location(const std::string& text, CodeLine& code) {
  const std::size_t end = std::min(text.rfind(" (discriminator "), text.size()),
                    colon = text.rfind(':', end);
  if (colon == std::string::npos) return;
  const auto read = std::from_chars(text.data() + colon + 1, text.data() + end, code.line);
  if (read.ec != std::errc() || read.ptr != text.data() + end) code.line = 0;  // "??:?"
  if (code.line != 0) code.file = text.substr(0, colon);
}

CodeLines code_lines(const fs::path& module, const Offsets& offsets) {
  const std::optional<std::uint64_t> start = first_address(module);
  if (!start) return {};
  const model::TemporaryFolder folder;
  const fs::path addresses = folder.path() / "addresses", answers = folder.path() / "lines";
  {
    std::ofstream out(addresses);
    // The call precedes the address that it returns to.
    for (const std::uint64_t offset : offsets) out << std::hex << "0x" << *start + offset - 1 << '\n';
  }
  const ChildExit exit = run_child(
      {.command = {"addr2line", "-f", "-C", "-e", module.string(), "@" + addresses.string()},
       .environment = {},
       .output = answers.string()});
  if (!exit.error.empty())
    throw std::runtime_error("native stacks have no source lines: cannot run addr2line (package "
                             "binutils): " +
                             exit.error);
  if (exit.signal != 0) throw std::runtime_error("reading source lines was interrupted");
  CodeLines lines;
  std::ifstream in(answers);
  std::string function, location;
  for (const std::uint64_t offset : offsets) {
    if (!std::getline(in, function) || !std::getline(in, location)) break;
    CodeLine code{function == "??" ? std::string() : function, {}, 0};
    read_location(location, code);
    if (code.line != 0) lines.emplace(offset, std::move(code));
  }
  return lines;
}

// A line of the program, not of a header of the system that its function was inlined from.
bool is_of_program(std::string_view file) {
  return !file.starts_with("/usr/include/") && !file.starts_with("/usr/lib/");
}

// One graph version whose frames get lines.
class LinedVersion {
 public:
  explicit LinedVersion(trace::GraphVersion& version) : version_(version) {
    for (std::uint32_t i = 0; i < version.strings.size(); ++i)
      texts_.emplace(version.strings[i], i);
  }

  // Returns the number of frames with a new line.
  std::size_t add(const std::map<std::string, CodeLines>& modules) {
    std::size_t added = 0;
    for (trace::Frame& frame : version_.frames) {
      if (!is_native(frame)) continue;
      const auto module = modules.find(version_.strings[frame.file]);
      if (module == modules.end()) continue;
      const auto code = module->second.find(frame.offset);
      if (code == module->second.end()) continue;
      frame.file = text(code->second.file);
      frame.line = code->second.line;
      frame.offset = 0;
      if (!code->second.function.empty()) frame.function = text(code->second.function);
      ++added;
    }
    if (added == 0) return 0;
    for (const trace::NodeStack& stack : version_.stacks)
      set_source(stack.frame, version_.nodes[stack.node]);
    for (trace::LaunchStack& stack : version_.launch_stacks) set_source(stack.frame, stack);
    return added;
  }

 private:
  std::uint32_t text(const std::string& of) {
    const auto [at, is_new] =
        texts_.emplace(of, static_cast<std::uint32_t>(version_.strings.size()));
    if (is_new) version_.strings.push_back(of);
    return at->second;
  }
  void set_source(std::uint32_t innermost, auto& of) {
    if (of.line != 0) return;
    for (std::uint32_t at = innermost; at != trace::kNone; at = version_.frames[at].caller) {
      const trace::Frame& frame = version_.frames[at];
      if (frame.line == 0 || !is_of_program(version_.strings[frame.file])) continue;
      of.file = frame.file;
      of.line = frame.line;
      return;
    }
  }

  trace::GraphVersion& version_;
  std::map<std::string, std::uint32_t> texts_;
};

}  // namespace

NativeLines add_native_lines(const fs::path& trace) {
  trace::LatestRecords latest;
  {
    const trace::TraceReader reader(trace);
    for (const trace::ChunkEntry& chunk : reader.chunks()) {
      if (chunk.header.kind != trace::ChunkKind::Topology) continue;
      trace::Records records = reader.read(chunk);
      latest.add(records);
    }
  }
  NativeLines result;
  std::map<std::string, Offsets> wanted;  // by module
  for (const auto& [key, version] : latest.graphs) {
    for (const trace::Frame& frame : version.frames) {
      if (!is_native(frame)) continue;
      ++result.frames;
      wanted[version.strings[frame.file]].insert(frame.offset);
    }
  }
  std::map<std::string, CodeLines> modules;
  {
    ProgressLine progress("reading source lines");
    for (const auto& [module, offsets] : wanted) {
      progress.update(modules.size(), wanted.size());
      modules.emplace(module, code_lines(module, offsets));
    }
  }
  std::vector<trace::Records> changed;
  for (auto& [key, version] : latest.graphs) {
    const std::size_t lines = LinedVersion(version).add(modules);
    if (lines != 0) changed.emplace_back().add(std::move(version));
    result.lines += lines;
  }
  if (!changed.empty()) append_topology(trace, changed);
  return result;
}

}  // namespace reprise::cli
