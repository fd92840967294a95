// Console: the output of the program that the viewer started, between the views and the status
// line. Threads: drawing thread only.
#pragma once

#include <span>
#include <string>

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

class Console {
 public:
  void toggle() noexcept { is_open_ = !is_open_; }
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  // Fills the current window. `end`: how the program ended; empty: it runs. New lines stay visible
  // unless the user has scrolled up.
  void draw(const Theme& theme, std::span<const std::string> lines, const std::string& end);

 private:
  bool is_open_ = false;
};

}  // namespace reprise::viewer
