// StartPage: the page shown while no trace is open: live sessions of this machine, recent files, an
// address field, and a command that is run and observed. The page performs no action itself; it
// returns the user's request. Threads: drawing thread only.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "panels/shared/theme.hpp"
#include "panels/workspace/help_overlay.hpp"
#include "trace/live/session_directory.hpp"

namespace reprise::viewer {

struct OpenTarget {
  std::string target, token;  // target: a file, a socket path, or host:port
};
struct CompareTarget {
  OpenTarget first, second;  // first without a target: the shown trace
};
struct RunSample {};  // the digits sample, traced live
struct RunProgram {   // as `reprise run -- COMMAND` does
  std::string command;
};
struct StopProgram {};
struct BrowseFiles {};  // the files of this machine
struct ForgetRecent {
  std::string path;
};
using StartAction = std::variant<std::monostate, OpenTarget, CompareTarget, RunSample, RunProgram,
                                 StopProgram, BrowseFiles, ForgetRecent>;

struct RecentFile {
  std::string path, text;  // text: time and size
  bool exists = true;
};

struct StartViewModel {
  std::vector<trace::LiveSession> sessions;  // a worker refreshes them about once a second
  std::vector<RecentFile> recent;            // newest first
  std::string sample;                        // path of the digits sample; empty: not installed
  std::string program_state;                 // progress or error of the program; may be empty
  std::vector<std::string> program_output;   // its last lines
  bool is_program_running = false;           // without a session so far
  std::string error;                         // of the last attempt to open a target; may be empty
  bool is_read_only = false;                 // offers only what is listed
};

class StartPage {
 public:
  // Draws a window that fills the main viewport.
  [[nodiscard]] StartAction draw(const Theme& theme, const StartViewModel& view_model);

 private:
  void draw_recent(const Theme& theme, const StartViewModel& view_model, StartAction& action);
  void draw_recent_menu(const RecentFile& file, StartAction& action);
  void draw_title(const Theme& theme, ImVec2 at, float width);
  void draw_open(const Theme& theme, const StartViewModel& view_model, float width,
                 StartAction& action);
  void draw_address(const Theme& theme, float width, StartAction& action);
  void draw_program(const Theme& theme, const StartViewModel& view_model, StartAction& action);

  HelpOverlay help_;
  std::string compared_;  // the recent file selected as the first of two; empty: none
  char address_[256] = {}, token_[256] = {}, command_[1024] = {};
};

}  // namespace reprise::viewer
