#include "cli/file_state.hpp"

#include <sys/stat.h>

namespace reprise::cli {

std::optional<FileState> state_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileState{status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size};
}

}  // namespace reprise::cli
