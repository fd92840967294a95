// Application: what is in the window: the start page, or a trace (or two) in its workspace, and the
// ways from one to the other. Knows ImGui, panels and settings; no window and no GL, so that tests
// draw it headless. Threads: the drawing thread's.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "panels/shared/async_value.hpp"
#include "panels/workspace/start_page.hpp"
#include "panels/workspace/workspace.hpp"
#include "window/sample_run.hpp"
#include "window/settings.hpp"
#include "window/start_watch.hpp"

namespace reprise::viewer {

struct ApplicationDesc {
  std::filesystem::path program;       // the running one: the sample is looked for beside it
  std::function<void()> wake = [] {};  // from any thread: there is something new to draw
};

class Application {
 public:
  // `settings` outlives it; shade, layout and recent files change there.
  Application(ApplicationDesc desc, Settings& settings);
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application();

  void open(const OpenTarget& target);
  // Opens both, side by side.
  void compare(const OpenTarget& first, const OpenTarget& second);
  // Files: one is opened, or compared with the one that is open; two are compared.
  void drop(const std::vector<std::string>& paths);
  // Starts the sample, and looks at it as soon as it listens: what the button of the start page
  // does.
  void run_sample();
  // In front as soon as there is a workspace.
  void show(View view);

  // Between ImGui::NewFrame() and Render().
  void draw(const Theme& theme);

  [[nodiscard]] Workspace* workspace() noexcept {
    return workspace_.get();
  }  // null: the start page
  [[nodiscard]] std::string title() const;
  // Something is being made, and is drawn as it comes.
  [[nodiscard]] bool is_busy() const;
  // Why the last one could not be opened; empty: it could.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  // How the sample starts, or why it did not; empty: nothing to say.
  [[nodiscard]] const std::string& sample_state() const noexcept { return sample_state_; }

 private:
  [[nodiscard]] std::shared_ptr<model::TraceFeed> feed_of(const OpenTarget& target);
  void enter(std::shared_ptr<model::TraceFeed> feed, std::shared_ptr<model::TraceFeed> other);
  void leave(std::string reason);
  void watch_feeds();
  void draw_start(const Theme& theme);
  void act(const StartAction& action);
  void watch_sample();

  ApplicationDesc desc_;
  Settings& settings_;
  Background background_;
  StartPage start_page_;
  std::optional<StartPageMonitor> watch_;  // while the start page is there
  std::unique_ptr<SampleRun> sample_;
  std::string sample_state_, error_;
  std::shared_ptr<model::TraceFeed> feed_, other_;
  std::unique_ptr<Workspace> workspace_;
  std::optional<View> view_;
  bool asked_profile_ = false;
};

}  // namespace reprise::viewer
