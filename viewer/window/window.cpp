#include "window/window.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "base/shown_text.hpp"
#include "panels/shared/keys.hpp"
#include "window/offscreen.hpp"

namespace reprise::viewer {

namespace {

std::string last_error = {};  // the latest error that GLFW reported

void on_error(int, const char* text) { last_error = text; }

Window& window_of(GLFWwindow* handle) {
  return *static_cast<Window*>(glfwGetWindowUserPointer(handle));
}

std::string no_display_reason() {
  const char* display = ::secure_getenv("DISPLAY");
  const std::string start =
      display && *display ? "cannot open the display " + std::string(display) + ": " + last_error
                          : std::string("there is no display: $DISPLAY is not set");
  return start +
         ". Run it on a desktop, or over ssh -X; a live session's socket can be forwarded to one "
         "(ssh -L), and --screenshot FILE.png needs no display";
}

std::string no_gl_reason() {
  return "this display has no OpenGL 3: " + last_error +
         "; install libgl1-mesa-dri (Mesa, also in software), or use --screenshot FILE.png";
}

struct GlVersion {
  int major, minor, profile;
  const char* glsl;
};
constexpr GlVersion kGlVersions[] = {{3, 2, GLFW_OPENGL_CORE_PROFILE, "#version 150"},
                                     {3, 0, GLFW_OPENGL_ANY_PROFILE, "#version 130"}};

// Clamps the size to the screen's work area.
void fit_to_screen(int& width, int& height) {
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  if (!monitor) return;
  int x = 0, y = 0, room_width = 0, room_height = 0;
  glfwGetMonitorWorkarea(monitor, &x, &y, &room_width, &room_height);
  float scale_x = 1, scale_y = 1;
  glfwGetMonitorContentScale(monitor, &scale_x, &scale_y);
  // GLFW multiplies the window size by the monitor's scale.
  if (room_width > 0)
    width = std::min(width, static_cast<int>(static_cast<float>(room_width) / scale_x));
  if (room_height > 0)
    height = std::min(height, static_cast<int>(static_cast<float>(room_height) / scale_y));
}

}  // namespace

Window::Window(const WindowDesc& desc) : requested_scale_(desc.scale), title_(desc.title) {
  last_error.clear();
  glfwSetErrorCallback(on_error);
  if (!glfwInit()) throw std::runtime_error(no_display_reason());
  try {
    open(desc);
    glfwMakeContextCurrent(handle_);
    glfwSwapInterval(1);
    const Scale scale = display_scale();
    ui_ = std::make_unique<Ui>(
        UiDesc{.glsl = glsl_, .shade = desc.shade, .scale = scale.scale, .pixels = scale.pixels});
    set_callbacks();
    ImGui_ImplGlfw_InitForOpenGL(handle_, true);
  } catch (...) {
    ui_.reset();
    glfwTerminate();
    throw;
  }
}

Window::~Window() {
  ImGui_ImplGlfw_Shutdown();
  ui_.reset();
  glfwDestroyWindow(handle_);
  glfwTerminate();
}

void Window::open(const WindowDesc& desc) {
  int width = std::max(static_cast<int>(desc.width), kMinWindowWidth),
      height = std::max(static_cast<int>(desc.height), kMinWindowHeight);
  fit_to_screen(width, height);
  for (const GlVersion& version : kGlVersions) {
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, version.major);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, version.minor);
    glfwWindowHint(GLFW_OPENGL_PROFILE, version.profile);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHint(GLFW_MAXIMIZED, desc.maximised ? GLFW_TRUE : GLFW_FALSE);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "reprise");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "reprise");
    glsl_ = version.glsl;
    handle_ = glfwCreateWindow(width, height, title_.c_str(), nullptr, nullptr);
    if (handle_) break;
  }
  if (!handle_) throw std::runtime_error(no_gl_reason());
  glfwSetWindowSizeLimits(handle_, kMinWindowWidth, kMinWindowHeight, GLFW_DONT_CARE,
                          GLFW_DONT_CARE);
}

// Call before ImGui's backend installs its callbacks, which chain to these.
void Window::set_callbacks() {
  glfwSetWindowUserPointer(handle_, this);
  glfwSetKeyCallback(handle_, [](GLFWwindow* handle, int key, int, int action, int mods) {
    window_of(handle).input_ = true;
    on_key_event(key, action != GLFW_RELEASE, action == GLFW_REPEAT, mods);
    if (key == GLFW_KEY_Q && action == GLFW_PRESS && mods == GLFW_MOD_CONTROL)
      glfwSetWindowShouldClose(handle, GLFW_TRUE);
  });
  glfwSetCharCallback(handle_,
                      [](GLFWwindow* handle, unsigned) { window_of(handle).input_ = true; });
  glfwSetMouseButtonCallback(
      handle_, [](GLFWwindow* handle, int, int, int) { window_of(handle).input_ = true; });
  glfwSetScrollCallback(
      handle_, [](GLFWwindow* handle, double, double) { window_of(handle).input_ = true; });
  glfwSetCursorPosCallback(
      handle_, [](GLFWwindow* handle, double, double) { window_of(handle).input_ = true; });
  glfwSetCursorEnterCallback(handle_,
                             [](GLFWwindow* handle, int) { window_of(handle).input_ = true; });
  glfwSetWindowFocusCallback(handle_,
                             [](GLFWwindow* handle, int) { window_of(handle).input_ = true; });
  glfwSetFramebufferSizeCallback(
      handle_, [](GLFWwindow* handle, int, int) { window_of(handle).input_ = true; });
  glfwSetWindowContentScaleCallback(
      handle_, [](GLFWwindow* handle, float, float) { window_of(handle).input_ = true; });
  glfwSetWindowRefreshCallback(handle_,
                               [](GLFWwindow* handle) { window_of(handle).input_ = true; });
  glfwSetWindowCloseCallback(handle_, [](GLFWwindow* handle) { window_of(handle).input_ = true; });
  glfwSetDropCallback(handle_, [](GLFWwindow* handle, int count, const char** paths) {
    Window& window = window_of(handle);
    window.input_ = true;
    if (window.drop_) window.drop_(std::vector<std::string>(paths, paths + count));
  });
}

Window::Scale Window::display_scale() const {
  int width = 0, height = 0, pixel_width = 0, pixel_height = 0;
  glfwGetWindowSize(handle_, &width, &height);
  glfwGetFramebufferSize(handle_, &pixel_width, &pixel_height);
  float x = 1, y = 1;
  glfwGetWindowContentScale(handle_, &x, &y);
  const float pixels = width > 0 && pixel_width > 0
                           ? static_cast<float>(pixel_width) / static_cast<float>(width)
                           : 1;
  const float wanted =
      requested_scale_ > 0 ? requested_scale_ : std::clamp(std::isfinite(x) ? x : 1.0f, 0.5f, 4.0f);
  return {.scale = wanted / pixels, .pixels = pixels};
}

void Window::set_title(const std::string& title) {
  if (title == title_) return;
  title_ = title;
  glfwSetWindowTitle(handle_, title.c_str());
}

void Window::wait(double seconds) {
  if (seconds > 0) {
    glfwWaitEventsTimeout(seconds);
  } else {
    glfwPollEvents();
  }
}

void Window::wake() {
  woken_.store(true);
  glfwPostEmptyEvent();
}

bool Window::take_input() noexcept { return std::exchange(input_, false); }
bool Window::take_wake() noexcept { return woken_.exchange(false); }
void Window::keep_open() { glfwSetWindowShouldClose(handle_, GLFW_FALSE); }
bool Window::wants_to_close() const { return glfwWindowShouldClose(handle_) != 0; }

bool Window::begin_frame() {
  int width = 0, height = 0;
  glfwGetFramebufferSize(handle_, &width, &height);
  if (width <= 0 || height <= 0 || glfwGetWindowAttrib(handle_, GLFW_ICONIFIED)) return false;
  const Scale scale = display_scale();
  ui_->set_scale(scale.scale, scale.pixels);
  ui_->new_frame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  return true;
}

void Window::add_exit() {
  ui_->render();
  write_picture();
  glfwSwapBuffers(handle_);
  clear_key_presses();
}

void Window::save_picture(std::filesystem::path path, std::function<void(std::string)> saved) {
  picture_ = std::move(path);
  picture_saved_ = std::move(saved);
}

void Window::write_picture() {
  if (picture_.empty()) return;
  int width = 0, height = 0;
  glfwGetFramebufferSize(handle_, &width, &height);
  const PictureSize size{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
  std::string error;
  try {
    write_png(picture_, size, read_pixels(size), {detail::kOwnerOnly});
  } catch (const std::exception& failed) {
    error = detail::failure_text(failed, "saving ", picture_.native());
  }
  picture_.clear();
  picture_saved_(std::move(error));
}

std::uint32_t Window::width() const {
  int width = 0, height = 0;
  float x = 1, y = 1;
  glfwGetWindowSize(handle_, &width, &height);
  glfwGetWindowContentScale(handle_, &x, &y);
  return static_cast<std::uint32_t>(std::lround(static_cast<float>(width) / std::max(x, 0.1f)));
}

std::uint32_t Window::height() const {
  int width = 0, height = 0;
  float x = 1, y = 1;
  glfwGetWindowSize(handle_, &width, &height);
  glfwGetWindowContentScale(handle_, &x, &y);
  return static_cast<std::uint32_t>(std::lround(static_cast<float>(height) / std::max(y, 0.1f)));
}

bool Window::is_maximised() const { return glfwGetWindowAttrib(handle_, GLFW_MAXIMIZED) != 0; }

}  // namespace reprise::viewer
