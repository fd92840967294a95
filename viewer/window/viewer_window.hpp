// The viewer in a window, until the user leaves: puts window, application, settings and signals
// together. Threads: the main thread's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "panels/widgets/theme.hpp"
#include "panels/workspace/workspace.hpp"
#include "window/application.hpp"
#include "window/window.hpp"

namespace reprise::viewer {

struct ViewerWindowDesc {
  std::filesystem::path program;     // the running one
  std::string target, other, token;  // empty: none
  std::optional<View> view = {};
  std::uint32_t width = 0, height = 0;  // 0: as last time
  float scale = 0;                      // 0: what the display says
  std::optional<Shade> shade = {};      // none: as last time
  bool reset_layout = false;
};

// Throws std::runtime_error if there is no window to be had.
void show_viewer(const ViewerWindowDesc& desc);

// Sleeps as long as nothing is to be drawn, then draws a frame.
class FrameLoop {
 public:
  FrameLoop(Window& window, Application& application, Settings& settings)
      : window_(window), application_(application), settings_(settings) {}
  void step();

 private:
  [[nodiscard]] double pause() const;

  Window& window_;
  Application& application_;
  Settings& settings_;
  double active_until_ = 0;  // seconds, of GLFW's clock
  int due_ = 3;              // frames that something new takes to come to rest
  double began_ = 0;
};

}  // namespace reprise::viewer
