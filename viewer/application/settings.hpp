// The viewer's persistent settings, a JSON file in the user's configuration directory. Never
// discards unreadable data: a damaged file is kept under another name, and unknown fields are
// preserved. Knows no window. Threads: UI thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "panels/shared/theme.hpp"
#include "panels/workspace/workspace.hpp"

namespace reprise::viewer {

inline constexpr std::size_t kMaxRecentFiles = 20;

struct RecentEntry {
  std::string path;
  std::int64_t opened = 0;  // seconds since 1970, UTC; 0: unknown
  friend bool operator==(const RecentEntry&, const RecentEntry&) = default;
};

struct Settings {
  Shade shade = Shade::Dark;
  std::uint32_t width = 1600, height = 900;  // of the window, in points
  bool maximised = false;
  WorkspaceLayout layout;
  std::string tables;               // widths, order and sorting of columns, as ImGui writes them
  std::vector<RecentEntry> recent;  // newest first

  // Moves the file to the front, without duplicates, and keeps at most kMaxRecentFiles entries.
  void note_opened(const std::filesystem::path& file, std::int64_t seconds);
  void forget(const std::string& path);
};

// $XDG_CONFIG_HOME/reprise/viewer.json or ~/.config/reprise/viewer.json; empty if there is no home
// directory.
[[nodiscard]] std::filesystem::path settings_path();

class SettingsFile {
 public:
  // Reads the file; never throws. With an empty path nothing is stored.
  explicit SettingsFile(std::filesystem::path path);

  Settings values;
  // User-readable: the problem with the file and where it was kept; empty: none.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  // Writes `values` atomically if they changed. Returns the reason of a failure; empty on success.
  [[nodiscard]] std::string save();

 private:
  void read();
  void set_aside(const std::string& why);

  std::filesystem::path path_;
  nlohmann::ordered_json known_;  // the content of the file
  std::string message_;
  bool may_write_ = true;
};

}  // namespace reprise::viewer
