#include "window/ui.hpp"

#define GL_GLEXT_PROTOTYPES
#include <GL/glcorearb.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/shown_text.hpp"
#include "window/background_fills.hpp"

namespace reprise::viewer {

Ui::Ui(const UiDesc& desc)
    : context_(ImGui::CreateContext()),
      fonts_(find_fonts()),
      scale_(desc.scale),
      pixels_(desc.pixels) {
  ImGui::GetIO().IniFilename = nullptr;
  ImGui::GetIO().LogFilename = nullptr;
  for (const std::string& message : fonts_.messages) detail::print_message(message);
  if (!ImGui_ImplOpenGL3_Init(desc.glsl)) {
    ImGui::DestroyContext(context_);
    throw std::runtime_error(
        "the display's OpenGL is older than 3.0; install libgl1-mesa-dri for software rendering");
  }
  apply(theme_, desc.shade, scale_);
  make_fonts();
}

Ui::~Ui() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

void Ui::make_fonts() {
  load_fonts(theme_, fonts_, scale_ * pixels_, scale_);
  // limited by the maximum texture size of this GL
  GLint largest = 2048;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
  ImGui::GetIO().Fonts->TexDesiredWidth = std::min(largest, 4096);
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

void Ui::set_shade(Shade shade) {
  if (theme_.shade != shade) apply(theme_, shade, scale_);
}

void Ui::set_scale(float scale, float pixels) {
  if (std::abs(scale - scale_) < 0.01f && std::abs(pixels - pixels_) < 0.01f) return;
  scale_ = scale;
  pixels_ = pixels;
  apply(theme_, theme_.shade, scale_);
  make_fonts();
}

void Ui::new_frame() { ImGui_ImplOpenGL3_NewFrame(); }

void Ui::render() {
  ImGui::Render();
  ImDrawData& data = *ImGui::GetDrawData();
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 scale = io.DisplayFramebufferScale;
  const auto height = static_cast<GLsizei>(io.DisplaySize.y * scale.y);
  std::vector<BackgroundFill> fills;
  if (data.CmdListsCount > 0)
    fills = take_background_fills(*data.CmdLists[0], io.Fonts->TexUvWhitePixel);
  // A pixel belongs to a fill if its centre does.
  const auto pixel = [](float at) { return static_cast<GLint>(std::ceil(at - 0.5f)); };
  glViewport(0, 0, static_cast<GLsizei>(io.DisplaySize.x * scale.x), height);
  glDisable(GL_SCISSOR_TEST);  // for the first fill, which is the whole screen
  for (const BackgroundFill& fill : flatten_fills(fills, io.DisplaySize, theme_.background)) {
    const GLint left = pixel(fill.min.x * scale.x), top = pixel(fill.min.y * scale.y),
                right = pixel(fill.max.x * scale.x), bottom = pixel(fill.max.y * scale.y);
    const ImVec4 colour = ImGui::ColorConvertU32ToFloat4(fill.colour);
    glScissor(left, height - bottom, right - left, bottom - top);
    glClearColor(colour.x, colour.y, colour.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_SCISSOR_TEST);
  }
  glDisable(GL_SCISSOR_TEST);
  ImGui_ImplOpenGL3_RenderDrawData(&data);
}

}  // namespace reprise::viewer
