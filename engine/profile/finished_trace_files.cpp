#include "profile/finished_trace_files.hpp"

#include <sys/stat.h>

namespace reprise::detail {

std::optional<FinishedTraceFiles::Identity> FinishedTraceFiles::identify(
    const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return Identity{status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size)};
}

void FinishedTraceFiles::add(const std::filesystem::path& target, const FinishedTraceFile& file) {
  std::erase_if(finished_, [&](const Finished& one) { return one.target == target; });
  if (const auto identity = identify(file.path)) finished_.push_back({target, file, *identity});
}

std::optional<FinishedTraceFile> FinishedTraceFiles::find(
    const std::filesystem::path& target) const {
  for (const Finished& one : finished_) {
    if (one.target == target)
      return identify(one.file.path) == one.identity ? std::optional(one.file) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace reprise::detail
