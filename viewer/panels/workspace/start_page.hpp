// StartPage: what stands there before a trace is open: live sessions of this machine, recent files,
// a place to type an address, and a button that runs the digits sample and looks at it. Says what
// to do where there is nothing. Acts on nothing itself: returns what the user wants. Threads: the
// drawing thread's.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "panels/widgets/theme.hpp"
#include "panels/workspace/help_overlay.hpp"
#include "trace/live/session_directory.hpp"

namespace reprise::viewer {

struct OpenTarget {
  std::string target, token;  // a file, a socket's path, or host:port
};
struct RunSample {};  // digits, live
struct ForgetRecent {
  std::string path;
};
using StartAction = std::variant<std::monostate, OpenTarget, RunSample, ForgetRecent>;

struct RecentFile {
  std::string path, text;  // text: when, how large
  bool is_there = true;
};

struct StartViewModel {
  std::vector<trace::LiveSession> sessions;  // looked for in the background, about once a second
  std::vector<RecentFile> recent;            // newest first
  std::string sample;        // path of the digits sample; empty: it is not installed
  std::string sample_state;  // while it starts, or why it did not; empty: nothing to say
  std::string error;         // of what was opened last; empty: none
};

class StartPage {
 public:
  // Fills the main viewport, with a window of its own.
  [[nodiscard]] StartAction draw(const Theme& theme, const StartViewModel& view_model);

 private:
  void draw_title(const Theme& theme, ImVec2 at, float width);
  void draw_open(const Theme& theme, const StartViewModel& view_model, float width,
                 StartAction& action);
  void draw_sample(const Theme& theme, const StartViewModel& view_model, StartAction& action);

  HelpOverlay help_;
  char address_[256] = {}, token_[256] = {};
};

}  // namespace reprise::viewer
