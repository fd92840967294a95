// AtomicFile: replaces a file in one step. Data goes to a temporary file in the same folder;
// commit() renames it over the destination. A reader, or a crash at any time, sees either the old
// or the new contents. Symbolic links to the destination stay. Pipes and character devices receive
// the data directly. Depends only on the operating system: programs that read traces link it
// without the engine. Threads: one at a time; of several writers of one path, the last commit wins.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

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

// The permission bits of a file, and the group that its group bits are for.
struct FileAccess {
  mode_t mode = 0;
  gid_t group = 0;
};
inline constexpr FileAccess kOwnerOnly{0600, 0};
// kOwnerOnly if there is no such file.
[[nodiscard]] FileAccess access_of(const std::filesystem::path& path) noexcept;
[[nodiscard]] FileAccess access_of(int descriptor) noexcept;

struct AtomicFileDesc {
  // The files that the contents come from: nobody but the owner gets a permission that one of them
  // lacks, also where the destination had it before.
  std::vector<FileAccess> sources = {};
  // A write beyond the limit fails; `limit` names it in the error.
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
  std::string limit = {};
};

class AtomicFile {
 public:
  // Creates the temporary file beside the file that `path` names, where links are followed, except
  // those of other users in a folder that everybody can write to. An existing pipe, character
  // device or open descriptor (/dev/stdout) is opened instead; it receives what is written, with or
  // without commit(). Any other file that is not regular is refused. Throws FileError, as do the
  // other members.
  explicit AtomicFile(std::filesystem::path path, const AtomicFileDesc& desc = {});
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  // Without commit(), removes the temporary file and leaves the destination unchanged.
  ~AtomicFile();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  // For libraries that write a file by name. They must close it before commit(). Throws if the
  // destination is not a regular file.
  [[nodiscard]] const std::filesystem::path& temporary() const;

  // The descriptor of the temporary file, or of a destination that is not a regular file. Owned by
  // this object.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  // Counts bytes that a library writes by name. Throws beyond AtomicFileDesc::max_bytes.
  void count(std::uint64_t bytes);
  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);

  // Flushes the contents to the disk and replaces the destination.
  void commit();
  // Replaces the destination without waiting for the disk. Returns a descriptor of the new file,
  // for reading and writing, positioned at its end, that the caller owns.
  [[nodiscard]] int commit_open();

 private:
  [[noreturn]] void fail() const;  // with errno
  [[noreturn]] void fail(std::errc code, const std::string& reason) const;
  [[nodiscard]] std::filesystem::path follow_links();
  void create(const std::vector<FileAccess>& sources);
  void flush();
  void replace();

  std::filesystem::path path_, target_;
  std::filesystem::path temporary_;  // empty: the destination is written directly
  std::uint64_t bytes_ = 0, max_bytes_;
  std::string limit_;
  int descriptor_ = -1;
  bool committed_ = false;
  std::string buffer_;
};

// Replaces the file at `path` by `contents`. Throws FileError.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents,
                           const AtomicFileDesc& desc = {});

}  // namespace reprise::detail
