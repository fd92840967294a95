// MergedTraceFile: where the merged traces of the ranks of a job are stored while a viewer shows
// them: a file in a new temporary folder, which is removed on destruction. Threads: any.
#pragma once

#include <filesystem>

namespace reprise::model {

class MergedTraceFile {
 public:
  // The file has the name of an input without its rank: "run.reprise" for "run.rank0.reprise".
  // Throws std::system_error.
  explicit MergedTraceFile(const std::filesystem::path& input);
  MergedTraceFile(const MergedTraceFile&) = delete;
  MergedTraceFile& operator=(const MergedTraceFile&) = delete;
  ~MergedTraceFile();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace reprise::model
