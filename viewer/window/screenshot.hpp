// The viewer as a picture, without a window or a display: for documents, tests and machines without
// a screen. Threads: the thread that calls it; it makes and ends others meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "panels/widgets/theme.hpp"
#include "panels/workspace/workspace.hpp"

namespace reprise::viewer {

struct ScreenshotDesc {
  std::filesystem::path picture;  // a PNG, written when all is there
  std::string target = {};        // a file, a session's socket, or host:port; empty: the start page
  std::string other = {};         // to compare with; empty: none
  std::string token = {};
  std::optional<View> view = {};
  std::filesystem::path program = {};  // the running one
  std::string select = {};             // a node whose name has this in it is selected; empty: none
  std::uint32_t width = 1600, height = 900;
  float scale = 1;
  Shade shade = Shade::Dark;
};

// Throws std::runtime_error with the reason; the file is not touched then.
void take_screenshot(const ScreenshotDesc& desc);

}  // namespace reprise::viewer
