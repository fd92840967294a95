// Lines of a source file that a trace names. Traces come from anywhere and the viewer may run on a
// server, so a file is read only if it is below a folder that the user allowed. Threads: pure
// functions; read_source_lines() reads a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace reprise::model {

struct SourceLocation {
  std::string file;  // a relative one is relative to each allowed folder
  std::uint32_t line = 0;
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

// Whether the location, as written, is below one of the folders, which are absolute. Accesses no
// file.
[[nodiscard]] bool is_source_allowed(const SourceLocation& location,
                                     std::span<const std::string> folders);

struct SourceLines {
  std::uint32_t first = 0;  // number of the first line
  std::vector<std::string> lines = {};
  std::string error = {};  // why there are none; empty: no error
};
// The line with `around` lines before and after it. Reads regular files only, and none outside of
// `folders`, also through a symbolic link.
[[nodiscard]] SourceLines read_source_lines(const SourceLocation& location,
                                            std::span<const std::string> folders,
                                            std::uint32_t around);

}  // namespace reprise::model
