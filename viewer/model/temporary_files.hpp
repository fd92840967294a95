// Files that exist while an object does, in new folders of the system's folder for temporary files.
// Threads: any.
#pragma once

#include <filesystem>

namespace reprise::model {

// A new folder, which is removed with its contents on destruction.
class TemporaryFolder {
 public:
  TemporaryFolder();  // throws std::system_error
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
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
