// OpenDialog: opens another trace, or compares one with the shown trace: an address field and the
// recent files. Performs no action itself; it returns the user's request. Threads: drawing thread
// only.
#pragma once

#include <span>
#include <string>

#include "panels/shared/theme.hpp"
#include "panels/workspace/start_page.hpp"

namespace reprise::viewer {

class OpenDialog {
 public:
  // Opens the dialog in the next draw().
  void open() noexcept { is_requested_ = true; }
  // `recent`: paths, newest first. Call in every frame, after the window below the dialog.
  [[nodiscard]] StartAction draw(const Theme& theme, std::span<const std::string> recent);

 private:
  [[nodiscard]] StartAction draw_contents(const Theme& theme, std::span<const std::string> recent);

  bool is_requested_ = false;
  char address_[256] = {}, token_[256] = {};
};

}  // namespace reprise::viewer
