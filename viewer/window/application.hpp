// Application: the content of the window: the start page, or one or two traces in a workspace, and
// the transitions between them. Knows ImGui, panels and settings, but neither the window nor GL, so
// tests can draw it headless. Threads: UI thread.
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
#include "window/start_page_monitor.hpp"

namespace reprise::viewer {

struct ApplicationDesc {
  std::filesystem::path program;  // the running executable; the sample is located relative to it
  std::function<void()> wake = [] {};  // thread-safe; requests a new frame
};

class Application {
 public:
  // `settings` outlives this object, which updates shade, layout and recent files in it.
  Application(ApplicationDesc desc, Settings& settings);
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application();

  void open(const OpenTarget& target);
  // Opens both, for comparison.
  void compare(const OpenTarget& first, const OpenTarget& second);
  // One file is opened, or compared with the open one; two files are compared.
  void drop(const std::vector<std::string>& paths);
  // Starts the sample and opens its session as soon as it is available (the start page's button).
  void run_sample();
  // Selects the view, now or when a workspace opens.
  void show(View view);

  // Call between ImGui::NewFrame() and Render().
  void draw(const Theme& theme);

  // Null on the start page.
  [[nodiscard]] Workspace* workspace() noexcept { return workspace_.get(); }
  [[nodiscard]] std::string title() const;
  // Background work is running and will produce more frames.
  [[nodiscard]] bool is_busy() const;
  // Why the last target could not be opened; empty on success.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  // The start-up state of the sample, or why it failed; empty: none.
  [[nodiscard]] const std::string& sample_state() const noexcept { return sample_state_; }

 private:
  [[nodiscard]] std::shared_ptr<model::TraceFeed> feed_of(const OpenTarget& target);
  void enter(std::shared_ptr<model::TraceFeed> feed, std::shared_ptr<model::TraceFeed> other);
  void leave(std::string reason);
  void watch_feeds();
  void draw_start(const Theme& theme);
  void perform(const StartAction& action);
  void watch_sample();

  ApplicationDesc desc_;
  Settings& settings_;
  Background background_;
  StartPage start_page_;
  std::optional<StartPageMonitor> monitor_;  // exists while the start page is shown
  std::unique_ptr<SampleRun> sample_;
  std::string sample_state_, error_;
  std::shared_ptr<model::TraceFeed> feed_, other_;
  std::unique_ptr<Workspace> workspace_;
  std::optional<View> view_;
  bool requested_profile_ = false;
};

}  // namespace reprise::viewer
