// Window: a GLFW window with OpenGL 3 and ImGui in it: its size, its scale, its keys, what is
// dropped on it, and how long to sleep. Knows no trace. Threads: the main thread's; wake() any,
// while it lives. One at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "window/ui.hpp"

struct GLFWwindow;

namespace reprise::viewer {

inline constexpr int kLeastWindowWidth = 400, kLeastWindowHeight = 300;

struct WindowDesc {
  std::string title = "Reprise";
  std::uint32_t width = 1600, height = 900;  // points; less where the screen is smaller
  bool maximised = false;
  float scale = 0;  // of text and distances; 0: what the display says
  Shade shade = Shade::Dark;
};

class Window {
 public:
  // Throws std::runtime_error that says what is missing.
  explicit Window(const WindowDesc& desc);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window();

  [[nodiscard]] Ui& ui() noexcept { return *ui_; }
  void set_title(const std::string& title);
  // Whole paths, in the order in which they were given; called from wait().
  void on_drop(std::function<void(std::vector<std::string>)> drop) { drop_ = std::move(drop); }

  // Takes what has come; sleeps until something comes, wake() is called, or `seconds` are over.
  void wait(double seconds);
  void wake();
  // Since the last call: a key, the mouse, a new size; wake() was called.
  [[nodiscard]] bool take_input() noexcept;
  [[nodiscard]] bool take_wake() noexcept;
  [[nodiscard]] bool wants_to_close() const;

  // False: nothing can be seen, and no frame has begun.
  [[nodiscard]] bool begin_frame();
  void add_exit();

  // As WindowDesc takes them.
  [[nodiscard]] std::uint32_t width() const;
  [[nodiscard]] std::uint32_t height() const;
  [[nodiscard]] bool is_maximised() const;
  [[nodiscard]] GLFWwindow* handle() const noexcept { return handle_; }

 private:
  struct Scale {
    float scale = 1, pixels = 1;  // see UiDesc
  };
  void open(const WindowDesc& desc);
  void listen();
  [[nodiscard]] Scale display_scale() const;

  GLFWwindow* handle_ = nullptr;
  const char* glsl_ = nullptr;
  float wanted_scale_;
  std::unique_ptr<Ui> ui_;
  std::string title_;
  std::function<void(std::vector<std::string>)> drop_;
  bool input_ = true;
  std::atomic<bool> woken_{false};
};

}  // namespace reprise::viewer
