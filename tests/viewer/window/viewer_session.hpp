// ViewerSession: the viewer in a real window on the test display, drawn frame by frame, with a
// simulated user. Waits end when their condition holds, so tests do not depend on speed. Threads:
// one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "application/application.hpp"
#include "application/settings.hpp"
#include "viewer/window/x_user.hpp"
#include "window/viewer_window.hpp"
#include "window/window.hpp"

namespace reprise::test {

struct Place {
  int x = 0, y = 0;
};

class ViewerSession {
 public:
  // Without a target, shows the start page. `program`: the executable relative to which the sample
  // is located.
  explicit ViewerSession(const std::string& target = {},
                         const std::string& program = "/nowhere/bin/reprise");

  [[nodiscard]] viewer::Application& application() noexcept { return application_; }
  [[nodiscard]] viewer::Settings& settings() noexcept { return settings_; }
  [[nodiscard]] viewer::Window& window() noexcept { return window_; }
  [[nodiscard]] viewer::ViewState& view() { return application_.workspace()->view(); }
  [[nodiscard]] XUser& user() noexcept { return user_; }
  [[nodiscard]] XWindow x_window() const noexcept { return x_window_; }

  // Draws frames until the condition holds. Returns false after a timeout of minutes.
  bool until(const std::function<bool()>& condition);
  // Draws frames until the whole trace is shown.
  bool settle();

  void move(Place place);
  void click(Place place);
  void drag(Place from, Place to, unsigned button);
  void wheel(Place place, int steps);  // positive: up
  void tap(unsigned long keysym);
  void tap_with_control(unsigned long keysym);
  void type(const std::string& lower_case);
  void resize(int width, int height);
  // Moves the pointer within the area until the condition holds; {-1, -1} if it never does.
  [[nodiscard]] Place seek(Place min, Place max, const std::function<bool()>& condition);
  // A hash of the last frame's draw data; it changes if the image changes.
  [[nodiscard]] std::uint64_t drawn() const;

 private:
  viewer::Settings settings_;
  viewer::Window window_;
  viewer::Application application_;
  viewer::FrameLoop loop_;
  XUser user_;
  XWindow x_window_;
};

}  // namespace reprise::test
