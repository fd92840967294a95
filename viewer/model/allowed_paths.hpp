// AllowedPaths: the files of this machine that a user of the viewer may read. The owner of the
// machine may read all; who uses a viewer that another one serves may read what that one names.
// Threads: a value.
#pragma once

#include <filesystem>
#include <vector>

namespace reprise::model {

class AllowedPaths {
 public:
  AllowedPaths() = default;  // every file
  // These files, and those below these folders. Resolves symbolic links.
  explicit AllowedPaths(const std::vector<std::filesystem::path>& paths);

  [[nodiscard]] bool has_all() const noexcept { return has_all_; }
  // Also of a file that does not exist. Resolves symbolic links.
  [[nodiscard]] bool contains(const std::filesystem::path& path) const;
  // The folders among the paths, without links; with has_all() none.
  [[nodiscard]] std::vector<std::filesystem::path> folders() const;

 private:
  bool has_all_ = true;
  std::vector<std::filesystem::path> paths_;
};

}  // namespace reprise::model
