// Files that exist while an object does, in new folders of the system's folder for temporary files.
// Threads: any.
#pragma once

#include <filesystem>
#include <string_view>

namespace reprise::model {

// A new folder, which is removed with its contents on destruction unless keep() was called.
class TemporaryFolder {
 public:
  // Its name begins with `name`. Throws std::system_error.
  explicit TemporaryFolder(std::string_view name = "reprise");
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  void keep() noexcept { is_kept_ = true; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  bool is_kept_ = false;
};

// Where the merged traces of the ranks of a job are stored while a viewer shows them.
class MergedTraceFile {
 public:
  // The file has the name of an input without its rank: "run.reprise" for "run.rank0.reprise".
  // Throws std::system_error.
  explicit MergedTraceFile(const std::filesystem::path& input);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  TemporaryFolder folder_;
  std::filesystem::path path_;
};

}  // namespace reprise::model
