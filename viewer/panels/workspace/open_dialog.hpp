// OpenDialog: opens a trace, or compares one with the shown trace: an address field, the recent
// files, and the files of a folder. Performs no action itself; it returns the user's request.
// Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "panels/shared/theme.hpp"
#include "panels/workspace/file_browser.hpp"
#include "panels/workspace/start_page.hpp"

namespace reprise::viewer {

// From where the dialog was opened; a trace can be compared.
enum class OpenedFrom : std::uint8_t { StartPage, Trace };

class OpenDialog {
 public:
  explicit OpenDialog(Background& background, model::AllowedPaths paths = {})
      : browser_(background, std::move(paths)) {}
  // Opens the dialog in the next draw().
  void open(OpenedFrom from) noexcept {
    is_requested_ = true;
    from_ = from;
  }
  // `recent`: paths, newest first. Call in every frame, after the window below the dialog.
  [[nodiscard]] StartAction draw(const Theme& theme, std::span<const std::string> recent);

 private:
  [[nodiscard]] StartAction draw_contents(const Theme& theme, std::span<const std::string> recent);

  [[nodiscard]] StartAction draw_recent(const Theme& theme, std::span<const std::string> recent,
                                        float height) const;
  [[nodiscard]] StartAction draw_files(const Theme& theme, float height);

  FileBrowser browser_;
  enum class List : std::uint8_t { Recent, Files } list_ = List::Files;
  OpenedFrom from_ = OpenedFrom::Trace;
  bool is_requested_ = false;
  std::string address_, token_;
};

}  // namespace reprise::viewer
