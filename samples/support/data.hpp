// Finds a sample's input, independently of the working directory. Knows the build and install
// folders and nothing about the engine. Threads: any.
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>

namespace samples {

// The path of the bundled input `file` of this sample: ../share/reprise/<sample>/ beside an
// installed or copied program, otherwise the source tree. Does not check that the file exists.
inline std::filesystem::path bundled(std::string_view file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path beside =
      program.parent_path().parent_path() / "share" / "reprise" / REPRISE_SAMPLE_NAME;
  if (!program.empty() && fs::exists(beside / file, ignored)) {
    return beside / file;
  }
  return fs::path(REPRISE_SAMPLE_DATA) / file;
}

}  // namespace samples
