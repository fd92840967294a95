// What the viewer remembers from one run to the next, as a JSON file of the user's. What it cannot
// read it never throws away: a damaged file is kept beside the new one, and fields that it does not
// know stay as they are. Knows no window. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "panels/widgets/theme.hpp"
#include "panels/workspace/workspace.hpp"

namespace reprise::viewer {

inline constexpr std::size_t kMostRecentFiles = 20;

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
  std::vector<RecentEntry> recent;  // newest first

  // To the front, once, and no more than kMostRecentFiles.
  void note_opened(const std::filesystem::path& file, std::int64_t seconds);
  void forget(const std::string& path);
};

// $XDG_CONFIG_HOME/reprise/viewer.json, or in ~/.config; empty: there is no home.
[[nodiscard]] std::filesystem::path settings_path();

class SettingsFile {
 public:
  // Reads it; throws nothing. Empty: nothing is remembered.
  explicit SettingsFile(std::filesystem::path path);

  Settings values;
  // For people: what was wrong with the file, and where it is kept now; empty: nothing.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  // Writes `values`, if they changed, all or nothing. Returns why that failed; empty: it did not.
  [[nodiscard]] std::string save();

 private:
  void read();
  void keep_aside(const std::string& why);

  std::filesystem::path path_;
  nlohmann::ordered_json known_;  // as it is in the file
  std::string message_;
  bool may_write_ = true;
};

}  // namespace reprise::viewer
