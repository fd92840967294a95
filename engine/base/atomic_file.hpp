// AtomicFile: replaces a file in one step. Data goes to a temporary file in the same folder;
// commit() renames it over the destination. A reader, or a crash at any time, sees either the old
// or the new contents. Depends only on the operating system: programs that read traces link it
// without the engine. Threads: one at a time; of several writers of one path, the last commit wins.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace reprise::detail {

// "cannot write PATH: REASON", where PATH is the destination.
class FileError : public std::runtime_error {
 public:
  FileError(const std::filesystem::path& path, std::error_code code);
  FileError(const std::filesystem::path& path, std::error_code code, const std::string& reason);

  [[nodiscard]] const std::error_code& code() const noexcept { return code_; }

 private:
  std::error_code code_;
};

class AtomicFile {
 public:
  // Creates the temporary file. The destination must not exist or must be a regular file. Throws
  // FileError, as do the other members.
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  // Without commit(), removes the temporary file and leaves the destination unchanged.
  ~AtomicFile();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  // For libraries that write a file by name. They must close it before commit().
  [[nodiscard]] const std::filesystem::path& temporary() const noexcept { return temporary_; }

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }  // of the temporary file

  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);

  // Flushes the contents to the disk and replaces the destination.
  void commit();
  // Replaces the destination without waiting for the disk. Returns a descriptor of the new file,
  // for reading and writing, positioned at its end, that the caller owns.
  [[nodiscard]] int commit_open();

 private:
  [[noreturn]] void fail() const;  // with errno
  void flush();
  void replace();

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  bool committed_ = false;
  std::string buffer_;
};

// Replaces the file at `path` by `contents`. Throws FileError.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

}  // namespace reprise::detail
