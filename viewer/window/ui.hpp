// Ui: ImGui's context with the viewer's theme and fonts, drawn with OpenGL 3 into whatever is
// bound. One at a time. Needs a current GL context while it lives; knows no window. Threads: the
// drawing thread's.
#pragma once

#include "panels/widgets/theme.hpp"
#include "window/fonts.hpp"

struct ImGuiContext;

namespace reprise::viewer {

struct UiDesc {
  const char* glsl = "#version 150";  // what the GL context understands
  Shade shade = Shade::Dark;
  float scale = 1;   // points of ImGui for one of the design
  float pixels = 1;  // screen pixels for one point of ImGui
};

class Ui {
 public:
  // Throws std::runtime_error if GL is not what it needs.
  explicit Ui(const UiDesc& desc);
  Ui(const Ui&) = delete;
  Ui& operator=(const Ui&) = delete;
  ~Ui();

  [[nodiscard]] const Theme& theme() const noexcept { return theme_; }
  void set_shade(Shade shade);
  // Makes the fonts anew if that is not what they are.
  void set_scale(float scale, float pixels);

  // Between frames: prepares GL's part of the next one; the platform sets size and time itself,
  // then calls ImGui::NewFrame().
  void new_frame();
  // ImGui::Render(), and its result into the bound framebuffer, over the theme's background.
  void render();

 private:
  void make_fonts();

  ImGuiContext* context_;
  FontFiles fonts_;
  Theme theme_;
  float scale_, pixels_;
};

}  // namespace reprise::viewer
