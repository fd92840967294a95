#include "window/offscreen.hpp"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#define GL_GLEXT_PROTOTYPES
#include <GL/glcorearb.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace reprise::viewer {

namespace {

constexpr char kInstallHint[] =
    "; install libegl1 and libgl1-mesa-dri (Mesa's software rasteriser)";

// Prefers surfaceless Mesa: it works without a GPU or a display, and renders the same everywhere.
EGLDisplay open_display() {
  const auto platform = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
      eglGetProcAddress("eglGetPlatformDisplayEXT"));
  const auto devices =
      reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
  if (platform) {
    const EGLDisplay display =
        platform(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr)) return display;
  }
  if (platform && devices) {
    EGLDeviceEXT found[16] = {};
    EGLint count = 0;
    if (!devices(16, found, &count)) count = 0;
    for (EGLint i = 0; i < count; ++i) {
      const EGLDisplay display = platform(EGL_PLATFORM_DEVICE_EXT, found[i], nullptr);
      if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr)) return display;
    }
  }
  const EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
  if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr)) return display;
  throw std::runtime_error(std::string("EGL found no device") + kInstallHint);
}

EGLContext open_context(EGLDisplay display) {
  if (!eglBindAPI(EGL_OPENGL_API))
    throw std::runtime_error(std::string("EGL has no OpenGL") + kInstallHint);
  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, EGL_DONT_CARE,
                           EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  eglChooseConfig(display, wanted, &config, 1, &count);
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                            3,
                            EGL_CONTEXT_MINOR_VERSION,
                            2,
                            EGL_CONTEXT_OPENGL_PROFILE_MASK,
                            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                            EGL_NONE};
  const EGLContext context =
      eglCreateContext(display, count > 0 ? config : EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
  if (context == EGL_NO_CONTEXT)
    throw std::runtime_error(std::string("EGL has no OpenGL 3.2") + kInstallHint);
  return context;
}

}  // namespace

Offscreen::Offscreen(std::uint32_t width, std::uint32_t height)
    : width_(width), height_(height), display_(open_display()) {
  try {
    context_ = open_context(display_);
    if (!eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_)) {
      throw std::runtime_error(std::string("EGL does not support surfaceless contexts") +
                               kInstallHint);
    }
    GLint largest = 0;
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
    if (std::max(width, height) > static_cast<std::uint32_t>(largest)) {
      throw std::runtime_error("a screenshot of " + std::to_string(width) + "x" +
                               std::to_string(height) + " pixels exceeds the limit of " +
                               std::to_string(largest) + " in each direction");
    }
    glGenFramebuffers(1, &framebuffer_);
    glGenRenderbuffers(1, &colour_);
    glBindRenderbuffer(GL_RENDERBUFFER, colour_);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, static_cast<GLsizei>(width),
                          static_cast<GLsizei>(height));
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour_);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
      throw std::runtime_error("OpenGL cannot create a framebuffer of " + std::to_string(width) +
                               "x" + std::to_string(height) + " pixels");
  } catch (...) {
    close();
    throw;
  }
}

Offscreen::~Offscreen() { close(); }

void Offscreen::close() noexcept {
  if (framebuffer_) glDeleteFramebuffers(1, &framebuffer_);
  if (colour_) glDeleteRenderbuffers(1, &colour_);
  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (context_) eglDestroyContext(display_, context_);
  eglTerminate(display_);
}

void Offscreen::bind() const { glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_); }

std::vector<std::uint8_t> read_pixels(PictureSize size) {
  const std::size_t row = std::size_t{size.width} * 3;
  std::vector<std::uint8_t> bottom_first(row * size.height), out(row * size.height);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, static_cast<GLsizei>(size.width), static_cast<GLsizei>(size.height), GL_RGB,
               GL_UNSIGNED_BYTE, bottom_first.data());
  for (std::size_t y = 0; y < size.height; ++y) {
    std::copy_n(bottom_first.begin() + static_cast<std::ptrdiff_t>((size.height - 1 - y) * row),
                row, out.begin() + static_cast<std::ptrdiff_t>(y * row));
  }
  return out;
}

std::vector<std::uint8_t> Offscreen::pixels() const {
  bind();
  return read_pixels({width_, height_});
}

}  // namespace reprise::viewer
