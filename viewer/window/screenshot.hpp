// Renders the viewer to an image without a window or a display: for documentation, tests and
// headless machines. Threads: the calling thread; uses background threads internally.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "panels/shared/theme.hpp"
#include "panels/workspace/workspace.hpp"

namespace reprise::viewer {

struct ScreenshotDesc {
  // Written when all views are complete: with the extension .png the window, with .svg the drawing
  // of the graph.
  std::filesystem::path picture;
  std::string target = {};  // a file, a session's socket, or host:port; empty: the start page
  std::string other = {};   // second target, for comparison; empty: none
  std::string token = {};
  std::optional<View> view = {};
  std::filesystem::path program = {};  // the running executable
  std::string select = {};  // selects the first node whose name contains this text; empty: none
  std::uint64_t replay =
      0;  // shows this replay, and selects it if `select` is empty; 0: the newest
  std::uint32_t width = 1600, height = 900;
  float scale = 1;
  Shade shade = Shade::Dark;
};

// Throws std::runtime_error with the reason and leaves the file unmodified.
void take_screenshot(const ScreenshotDesc& desc);

}  // namespace reprise::viewer
