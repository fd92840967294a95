// Offscreen: an OpenGL 3.2 framebuffer without a display, through EGL; uses a software rasteriser
// if there is no GPU. Depends only on EGL and GL. Threads: the constructing thread, on which the
// context is current for the object's lifetime.
#pragma once

#include <cstdint>
#include <vector>

#include "window/picture.hpp"

namespace reprise::viewer {

// The pixels of the bound framebuffer, as write_png() takes them. Requires a current GL context.
[[nodiscard]] std::vector<std::uint8_t> read_pixels(PictureSize size);

class Offscreen {
 public:
  // Throws std::runtime_error that names the missing packages.
  Offscreen(std::uint32_t width, std::uint32_t height);
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;
  ~Offscreen();

  [[nodiscard]] const char* glsl() const noexcept { return "#version 150"; }
  // Binds the framebuffer for drawing.
  void bind() const;
  // The image, as write_png() takes it.
  [[nodiscard]] std::vector<std::uint8_t> pixels() const;

 private:
  void close() noexcept;

  std::uint32_t width_, height_;
  void* display_ = nullptr;
  void* context_ = nullptr;
  std::uint32_t framebuffer_ = 0, colour_ = 0;
};

}  // namespace reprise::viewer
