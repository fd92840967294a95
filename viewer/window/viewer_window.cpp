#include "window/viewer_window.hpp"

#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "application/quit_signals.hpp"
#include "base/shown_text.hpp"
#include "panels/shared/keys.hpp"

namespace reprise::viewer {

namespace {

constexpr double kFrame = 1.0 / 60;  // seconds
constexpr double kAfterInput = 1;    // tooltips appear after the mouse rests
constexpr double kCaret = 0.25;      // blink interval
constexpr double kIdle = 1;          // refresh interval for displayed times and unannounced changes
constexpr int kSettleFrames = 3;     // layout that depends on the previous frame

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void print_message(const std::string& text) {
  if (!text.empty()) detail::print_message(text);
}

void store_window_state(const Window& window, Settings& settings) {
  settings.maximised = window.is_maximised();
  if (settings.maximised) return;
  settings.width = std::max(window.width(), static_cast<std::uint32_t>(kMinWindowWidth));
  settings.height = std::max(window.height(), static_cast<std::uint32_t>(kMinWindowHeight));
}

}  // namespace

double FrameLoop::pause() const {
  if (due_ > 0 || application_.is_busy() || now() < active_until_)
    return std::max(0.0, kFrame - (now() - start_time_));
  return ImGui::GetIO().WantTextInput ? kCaret : kIdle;
}

void FrameLoop::step() {
  window_.wait(pause());
  if (window_.take_input()) active_until_ = now() + kAfterInput;
  if (window_.take_wake()) due_ = kSettleFrames;
  start_time_ = now();
  due_ = std::max(due_ - 1, 0);
  window_.ui().set_shade(settings_.shade);
  if (!window_.begin_frame()) return;
  application_.draw(window_.ui().theme());
  if (is_pressed(Key::Picture)) {
    const std::filesystem::path path = application_.picture_path();
    window_.save_picture(path, [this, path](const std::string& error) {
      application_.show_message(error.empty() ? "Saved " + path.string() : error);
      due_ = kSettleFrames;
    });
  }
  window_.add_exit();
  window_.set_title(application_.title());
}

void show_viewer(const ViewerWindowDesc& desc) {
  SettingsFile file(settings_path());
  print_message(file.message());
  Settings& settings = file.values;
  if (desc.shade) settings.shade = *desc.shade;
  if (desc.reset_layout) {
    settings.layout = {.source_folders = std::move(settings.layout.source_folders)};
    settings.tables.clear();
  }
  const bool sized = desc.width && desc.height;

  std::atomic<Window*> opened{nullptr};
  const QuitSignals signals([&opened] {
    if (Window* window = opened.load()) window->wake();
  });
  Window window({.title = "Reprise",
                 .width = sized ? desc.width : settings.width,
                 .height = sized ? desc.height : settings.height,
                 .maximised = !sized && settings.maximised,
                 .scale = desc.scale,
                 .shade = settings.shade});
  opened.store(&window);
  ImGui::LoadIniSettingsFromMemory(settings.tables.c_str(), settings.tables.size());
  {
    Application application({.program = desc.program, .wake = [&window] { window.wake(); }},
                            settings);
    window.on_drop(
        [&application](const std::vector<std::string>& paths) { application.drop(paths); });
    if (desc.view) application.show(*desc.view);
    if (!desc.other.empty()) {
      application.compare({desc.target, desc.token}, {desc.other, desc.token});
    } else if (!desc.target.empty()) {
      application.open({desc.target, desc.token});
    }
    if (desc.is_temporary) settings.forget(desc.target);
    print_message(file.save());  // saves the recent files
    FrameLoop loop(window, application, settings);
    while (!signals.received() && !application.is_closed()) {
      if (window.wants_to_close()) {
        if (application.may_close()) break;
        window.keep_open();
      }
      loop.step();
    }
    window.on_drop({});
    if (!sized) store_window_state(window, settings);
    settings.tables = ImGui::SaveIniSettingsToMemory();
    print_message(file.save());
  }
  opened.store(nullptr);
}

}  // namespace reprise::viewer
