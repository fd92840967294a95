// Source lines of native call stacks. The observed process records modules and offsets only;
// addr2line of binutils reads the modules' debug information when the program has ended. Threads:
// the main thread.
#pragma once

#include <cstddef>
#include <filesystem>

namespace reprise::cli {

struct NativeLines {
  std::size_t frames = 0;  // native ones without a line before
  std::size_t lines = 0;   // of them, those that have got one
};

// Adds source lines to the native frames of the graphs of a trace, and to their nodes those of the
// innermost frames that have one. Frames of modules that are gone or have no debug information are
// left as they are. Throws trace::TraceError, and std::runtime_error if addr2line cannot be run.
NativeLines add_native_lines(const std::filesystem::path& trace);

}  // namespace reprise::cli
