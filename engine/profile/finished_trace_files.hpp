// FinishedTraceFiles: the trace files that this process has closed. A later trace to the same path
// continues such a file with ids that it does not contain yet. A file that was replaced or changed
// since is not continued. Threads: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace reprise::detail {

inline constexpr std::size_t kTraceIds = 5;  // kinds of ids that a session allocates

// The first unused id of each kind.
using NextIds = std::array<std::uint32_t, kTraceIds>;

class FinishedTraceFiles {
 public:
  // Called immediately after the file was closed.
  void add(const std::filesystem::path& path, const NextIds& ids);
  // Empty: the file is not the one that was closed and must be replaced.
  [[nodiscard]] std::optional<NextIds> find(const std::filesystem::path& path) const;

 private:
  struct Identity {
    std::uint64_t device = 0, inode = 0, bytes = 0;
    std::int64_t process = 0;  // a forked child does not continue the parent's file
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
