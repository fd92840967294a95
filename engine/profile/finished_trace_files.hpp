// FinishedTraceFiles: the files that this process has finished, so that a later trace of the same
// name goes on where the last one ended, with ids that nothing in it has yet. A file that is
// another one now is nobody's past. Threads: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace reprise::detail {

inline constexpr std::size_t kTraceIds = 5;  // kinds of ids that a session counts

// The first of each kind that is not in the file yet.
using NextIds = std::array<std::uint32_t, kTraceIds>;

class FinishedTraceFiles {
 public:
  // Right after the file was closed.
  void add(const std::filesystem::path& path, const NextIds& ids);
  // Empty: the file is not what was finished; it is to be made anew.
  [[nodiscard]] std::optional<NextIds> find(const std::filesystem::path& path) const;

 private:
  struct Identity {
    std::uint64_t device = 0, inode = 0, bytes = 0;
    std::int64_t process = 0;  // after a fork the file is the parent's
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  [[nodiscard]] static std::optional<Identity> identify(const std::filesystem::path& path);
  struct Finished {
    std::filesystem::path path;
    Identity identity;
    NextIds ids;
  };
  std::vector<Finished> finished_;
};

}  // namespace reprise::detail
