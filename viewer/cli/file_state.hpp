// The identity and state of the file at a path; detects whether a program wrote it. Threads: any.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace reprise::cli {

struct FileState {
  ino_t inode = 0;
  std::int64_t seconds = 0, nanoseconds = 0, bytes = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};

// Empty if no file exists.
[[nodiscard]] std::optional<FileState> state_of(const std::filesystem::path& path);

}  // namespace reprise::cli
