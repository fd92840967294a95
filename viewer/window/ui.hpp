// Ui: an ImGui context with the viewer's theme and fonts, drawn with OpenGL 3 into the bound
// framebuffer. At most one instance. Requires a current GL context for its lifetime; knows no
// window. Threads: UI thread.
#pragma once

#include "application/fonts.hpp"
#include "panels/shared/theme.hpp"

struct ImGuiContext;

namespace reprise::viewer {

struct UiDesc {
  const char* glsl = "#version 150";  // GLSL version of the GL context
  Shade shade = Shade::Dark;
  float scale = 1;   // ImGui points per design point
  float pixels = 1;  // screen pixels per ImGui point
};

class Ui {
 public:
  // Throws std::runtime_error if the GL version is too old.
  explicit Ui(const UiDesc& desc);
  Ui(const Ui&) = delete;
  Ui& operator=(const Ui&) = delete;
  ~Ui();

  [[nodiscard]] const Theme& theme() const noexcept { return theme_; }
  void set_shade(Shade shade);
  // Rebuilds the fonts if the values changed.
  void set_scale(float scale, float pixels);

  // Call between frames: starts GL's part of the next frame. The platform sets size and time, then
  // calls ImGui::NewFrame().
  void new_frame();
  // Calls ImGui::Render() and draws the result over the theme's background into the bound
  // framebuffer.
  void render();

 private:
  void make_fonts();

  ImGuiContext* context_;
  FontFiles fonts_;
  Theme theme_;
  float scale_, pixels_;
};

}  // namespace reprise::viewer
