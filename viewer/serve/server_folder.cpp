#include "serve/server_folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace reprise::viewer {

namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "reprise-serve-";

// The open folder, if it is this user's, not a link, and locked now; else -1. The system releases
// the lock of a process that ends, however it ends.
int locked(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status {};
  if (file < 0) return -1;
  if (::fstat(file, &status) == 0 && status.st_uid == ::geteuid() &&
      ::flock(file, LOCK_EX | LOCK_NB) == 0)
    return file;
  ::close(file);
  return -1;
}

void remove_those_of_killed_servers(const fs::path& temporary) {
  std::error_code error;
  for (fs::directory_iterator at(temporary, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with(kPrefix)) continue;
    const int file = locked(at->path());
    if (file < 0) continue;
    std::error_code ignored;
    fs::remove_all(at->path(), ignored);
    ::close(file);
  }
}

}  // namespace

ServerFolder::ServerFolder() {
  const fs::path temporary = fs::temp_directory_path();
  remove_those_of_killed_servers(temporary);
  // Again if another server has just taken it for that of a killed one.
  for (std::error_code ignored; lock_ < 0 || !fs::exists(path_, ignored); lock_ = locked(path_)) {
    if (lock_ >= 0) ::close(lock_);
    std::string pattern = (temporary / kPrefix).string() + "XXXXXX";
    if (!::mkdtemp(pattern.data()))
      throw std::system_error(errno, std::generic_category(), "cannot create " + pattern);
    path_ = pattern;
  }
}

ServerFolder::~ServerFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

}  // namespace reprise::viewer
