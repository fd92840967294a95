// FinishedTraceFiles: the trace files that this process has closed. A later trace to the same
// target continues such a file with ids that it does not contain yet. A file that was replaced or
// changed since is not continued. Threads: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace reprise::detail {

inline constexpr std::size_t kTraceIds = 6;  // kinds of ids that a session allocates

// The first unused id of each kind.
using NextIds = std::array<std::uint32_t, kTraceIds>;

struct FinishedTraceFile {
  std::filesystem::path path;  // the target, or FILE.PID if another process was writing the target
  NextIds ids{};
};

class FinishedTraceFiles {
 public:
  // Called immediately after the file was closed.
  void add(const std::filesystem::path& target, const FinishedTraceFile& file);
  // Empty: there is none, or it is not the file that was closed.
  [[nodiscard]] std::optional<FinishedTraceFile> find(const std::filesystem::path& target) const;

 private:
  struct Identity {
    std::uint64_t device = 0, inode = 0, bytes = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  [[nodiscard]] static std::optional<Identity> identify(const std::filesystem::path& path);
  struct Finished {
    std::filesystem::path target;
    FinishedTraceFile file;
    Identity identity;
  };
  std::vector<Finished> finished_;
};

}  // namespace reprise::detail
