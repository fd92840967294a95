// PendingFile: a file that is written beside its place and takes it only when it is whole: commit()
// renames it, and without commit() it goes away. PendingText writes one piece after the other.
// Errors name the path that was asked for. Threads: one at a time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace reprise::trace {

class PendingFile {
 public:
  // Refuses a place that is there and no regular file. Creates nothing. Throws ExportError.
  explicit PendingFile(std::filesystem::path path);
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  // Where to write until then.
  [[nodiscard]] const std::filesystem::path& temporary() const noexcept { return temporary_; }
  void commit();  // throws ExportError

 private:
  std::filesystem::path path_, temporary_;
  bool committed_ = false;
};

class PendingText {
 public:
  explicit PendingText(std::filesystem::path path);  // throws ExportError
  PendingText(const PendingText&) = delete;
  PendingText& operator=(const PendingText&) = delete;
  ~PendingText();

  void write(std::string_view text);  // throws ExportError
  void commit();                      // throws ExportError

 private:
  void flush();

  PendingFile file_;
  int descriptor_ = -1;
  std::string buffer_;
};

}  // namespace reprise::trace
