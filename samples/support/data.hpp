// Where a sample's input is, from whatever directory it was started.
//
// Knows the build's and the install's folders, and nothing of the engine. Safe from any thread.
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>

namespace samples {

/// The bundled input `file` of this sample: beside an installed or copied program in
/// ../share/reprise/<sample>/, else in the source tree. The path is returned whether or not such a
/// file exists.
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
