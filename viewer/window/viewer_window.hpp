// Runs the viewer in a window until the user closes it: connects window, application, settings and
// signals. Threads: main thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "application/application.hpp"
#include "panels/shared/theme.hpp"
#include "panels/workspace/workspace.hpp"
#include "window/window.hpp"

namespace reprise::viewer {

struct ViewerWindowDesc {
  std::filesystem::path program;     // the running executable
  std::string target, other, token;  // empty: none
  std::optional<View> view = {};
  std::uint32_t width = 0, height = 0;  // 0: as in the last session
  float scale = 0;                      // 0: the display's setting
  std::optional<Shade> shade = {};      // empty: as in the last session
  bool reset_layout = false;
  bool is_temporary = false;  // the target is an absolute path that is removed later
};

// Throws std::runtime_error if no window can be opened.
void show_viewer(const ViewerWindowDesc& desc);

// Sleeps while nothing needs drawing, then draws a frame.
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
  double active_until_ = 0;  // seconds of GLFW's clock
  int due_ = 3;              // frames to draw until the layout has settled
  double start_time_ = 0;
};

}  // namespace reprise::viewer
