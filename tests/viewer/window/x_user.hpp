// XUser: somebody at an X display, with a mouse and a keyboard: real events, through the XTEST
// extension, on a connection of their own. Positions are of a window. Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>

namespace reprise::test {

using XWindow = unsigned long;

class XUser {
 public:
  // Throws std::runtime_error if the display does not answer or has no XTEST.
  explicit XUser(const std::string& display);
  XUser(const XUser&) = delete;
  XUser& operator=(const XUser&) = delete;
  ~XUser();

  void focus(XWindow window);
  void resize(XWindow window, int width, int height);
  // Asks the window to close, as a window manager does.
  void ask_to_close(XWindow window);
  // Waits for a top window with this in its title. Returns at once if it is there.
  [[nodiscard]] XWindow wait_for_window(const std::string& title_part);

  // How many colours the screen shows there.
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
