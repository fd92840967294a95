#include "profile/finished_trace_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace reprise::detail {

std::optional<FinishedTraceFiles::Identity> FinishedTraceFiles::identify(
    const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return Identity{status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
                  ::getpid()};
}

void FinishedTraceFiles::add(const std::filesystem::path& path, const NextIds& ids) {
  std::erase_if(finished_, [&](const Finished& one) { return one.path == path; });
  if (const auto identity = identify(path)) finished_.push_back({path, *identity, ids});
}

std::optional<NextIds> FinishedTraceFiles::find(const std::filesystem::path& path) const {
  for (const Finished& one : finished_) {
    if (one.path == path)
      return identify(path) == one.identity ? std::optional(one.ids) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace reprise::detail
