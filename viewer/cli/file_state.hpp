// Which file stands at a path, and in which state: whether a program has written it meanwhile.
// Threads: any.
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

// Empty: there is none.
[[nodiscard]] std::optional<FileState> state_of(const std::filesystem::path& path);

}  // namespace reprise::cli
