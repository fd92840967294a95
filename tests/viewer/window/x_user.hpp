// XUser: a simulated user of an X display: real mouse and keyboard events through the XTEST
// extension, on a connection of its own. Positions are relative to a window. Threads: one at a
// time.
#pragma once

#include <cstddef>
#include <string>

namespace reprise::test {

using XWindow = unsigned long;

class XUser {
 public:
  // Throws std::runtime_error if the display does not respond or lacks XTEST.
  explicit XUser(const std::string& display);
  XUser(const XUser&) = delete;
  XUser& operator=(const XUser&) = delete;
  ~XUser();

  void focus(XWindow window);
  void resize(XWindow window, int width, int height);
  // Requests the window to close, as a window manager does.
  void ask_to_close(XWindow window);
  // Waits for a top-level window whose title contains the text. Returns at once if it exists.
  [[nodiscard]] XWindow wait_for_window(const std::string& title_part);

  // The number of distinct colours on the screen in the area.
  [[nodiscard]] std::size_t colours(XWindow window);

  void move(XWindow window, int x, int y);
  void press(unsigned button);  // 1 left, 2 middle, 3 right, 4 and 5 the wheel up and down
  void release(unsigned button);
  void key_down(unsigned long keysym);
  void key_up(unsigned long keysym);

 private:
  void* display_;
};

}  // namespace reprise::test
