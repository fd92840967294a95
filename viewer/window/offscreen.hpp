// Offscreen: OpenGL 3.2 without a display, through EGL: a picture of a size, drawn in software
// where there is no GPU for it. Knows EGL and GL alone. Threads: the thread that makes it, where
// its context is current while it lives.
#pragma once

#include <cstdint>
#include <vector>

namespace reprise::viewer {

class Offscreen {
 public:
  // Throws std::runtime_error that says what to install.
  Offscreen(std::uint32_t width, std::uint32_t height);
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;
  ~Offscreen();

  [[nodiscard]] const char* glsl() const noexcept { return "#version 150"; }
  // Binds the picture: what is drawn now goes there.
  void bind() const;
  // Of the picture, top row first: width * height * 3 bytes, red green blue.
  [[nodiscard]] std::vector<std::uint8_t> pixels() const;

 private:
  void close() noexcept;

  std::uint32_t width_, height_;
  void* display_ = nullptr;
  void* context_ = nullptr;
  std::uint32_t framebuffer_ = 0, colour_ = 0;
};

}  // namespace reprise::viewer
