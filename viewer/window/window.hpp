// Window: a GLFW window with OpenGL 3 and ImGui: size, scale, keyboard, dropped files and event
// waiting. Knows no trace. Threads: main thread; wake() from any thread during the object's
// lifetime. At most one instance.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "window/ui.hpp"

struct GLFWwindow;

namespace reprise::viewer {

inline constexpr int kMinWindowWidth = 400, kMinWindowHeight = 300;

struct WindowDesc {
  std::string title = "Reprise";
  std::uint32_t width = 1600, height = 900;  // points; clamped to the screen
  bool maximised = false;
  float scale = 0;  // of text and layout; 0: the display's setting
  Shade shade = Shade::Dark;
};

class Window {
 public:
  // Throws std::runtime_error that states what is missing.
  explicit Window(const WindowDesc& desc);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window();

  [[nodiscard]] Ui& ui() noexcept { return *ui_; }
  void set_title(const std::string& title);
  // `drop` receives full paths in the given order; called from wait().
  void on_drop(std::function<void(std::vector<std::string>)> drop) { drop_ = std::move(drop); }

  // Processes pending events; sleeps until an event, wake(), or `seconds` have passed.
  void wait(double seconds);
  void wake();
  // Whether since the last call the user gave input or the size changed, and whether wake() was
  // called.
  [[nodiscard]] bool take_input() noexcept;
  [[nodiscard]] bool take_wake() noexcept;
  [[nodiscard]] bool wants_to_close() const;
  void keep_open();  // until the user closes the window again

  // Returns false, without starting a frame, if the window is not visible.
  [[nodiscard]] bool begin_frame();
  void add_exit();
  // Saves the next finished frame. `saved` receives the error, or an empty text; called from
  // add_exit().
  void save_picture(std::filesystem::path path, std::function<void(std::string)> saved);

  // In the units of WindowDesc.
  [[nodiscard]] std::uint32_t width() const;
  [[nodiscard]] std::uint32_t height() const;
  [[nodiscard]] bool is_maximised() const;
  [[nodiscard]] GLFWwindow* handle() const noexcept { return handle_; }

 private:
  struct Scale {
    float scale = 1, pixels = 1;  // see UiDesc
  };
  void open(const WindowDesc& desc);
  void set_callbacks();
  [[nodiscard]] Scale display_scale() const;
  void write_picture();

  GLFWwindow* handle_ = nullptr;
  const char* glsl_ = nullptr;
  float requested_scale_;
  std::unique_ptr<Ui> ui_;
  std::string title_;
  std::function<void(std::vector<std::string>)> drop_;
  std::filesystem::path picture_;  // empty: none
  std::function<void(std::string)> picture_saved_;
  bool input_ = true;
  std::atomic<bool> woken_{false};
};

}  // namespace reprise::viewer
