// ViewerSession: the viewer in a real window on the test's display, its frames drawn one by one,
// and a user in front of it. Nothing depends on how fast anything is: a wait ends when what it
// waits for is there. Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "viewer/window/x_user.hpp"
#include "window/application.hpp"
#include "window/settings.hpp"
#include "window/viewer_window.hpp"
#include "window/window.hpp"

namespace reprise::test {

struct Place {
  int x = 0, y = 0;
};

class ViewerSession {
 public:
  // Without a target: the start page. `program`: beside which the sample is looked for.
  explicit ViewerSession(const std::string& target = {},
                         const std::string& program = "/nowhere/bin/reprise");

  [[nodiscard]] viewer::Application& application() noexcept { return application_; }
  [[nodiscard]] viewer::Settings& settings() noexcept { return settings_; }
  [[nodiscard]] viewer::Window& window() noexcept { return window_; }
  [[nodiscard]] viewer::ViewState& view() { return application_.workspace()->view(); }
  [[nodiscard]] XUser& user() noexcept { return user_; }
  [[nodiscard]] XWindow x_window() const noexcept { return x_window_; }

  // Draws frames until the condition holds after one. False: it did not within minutes, which
  // nothing that works comes near.
  bool until(const std::function<bool()>& condition);
  // Until all that the trace gives is there.
  bool settle();

  void move(Place place);
  void click(Place place);
  void drag(Place from, Place to, unsigned button);
  void wheel(Place place, int steps);  // above 0: up
  void tap(unsigned long keysym);
  void tap_with_control(unsigned long keysym);
  void type(const std::string& lower_case);
  void resize(int width, int height);
  // Moves about in the part until the condition holds there; {-1, -1}: nowhere.
  [[nodiscard]] Place seek(Place least, Place greatest, const std::function<bool()>& condition);
  // A number of what the last frame drew: another one, another picture.
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
