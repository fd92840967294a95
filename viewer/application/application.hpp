// Application: the content of a window or of a browser: the start page, or one or two traces in a
// workspace, and the transitions between them. Knows ImGui, panels and settings, but neither the
// window nor GL, so tests can draw it headless. Threads: UI thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "application/program_run.hpp"
#include "application/settings.hpp"
#include "application/start_page_monitor.hpp"
#include "model/allowed_paths.hpp"
#include "model/temporary_files.hpp"
#include "panels/shared/async_value.hpp"
#include "panels/workspace/file_dialog.hpp"
#include "panels/workspace/open_dialog.hpp"
#include "panels/workspace/start_page.hpp"
#include "panels/workspace/workspace.hpp"

namespace reprise::viewer {

// What the user may do with this machine.
struct Access {
  model::AllowedPaths paths = {};
  // Forbidden: starts no program, changes no profile mode and no note, records nothing, and opens
  // only what is listed.
  enum class Changes : std::uint8_t { Allowed, Forbidden } changes = Changes::Allowed;
};

struct ApplicationDesc {
  std::filesystem::path program;  // the running executable; the sample is located relative to it
  std::function<void()> wake = [] {};  // thread-safe; requests a new frame
  Access access = {};
  // Opens the feed of a trace; a process with several applications shares feeds.
  std::function<std::shared_ptr<model::TraceFeed>(model::TraceFeedDesc)> open_feed =
      [](model::TraceFeedDesc desc) { return std::make_shared<model::TraceFeed>(std::move(desc)); };
  // For a user without the files of this machine: what is saved goes to a file in `folder`, a new
  // one each time, and then to `deliver`. Without them, the user chooses a path.
  std::function<std::filesystem::path()> folder = {};
  std::function<void(const std::filesystem::path& file)> deliver = {};
};

class Application {
 public:
  // `settings` outlives this object, which updates shade, layout and recent files in it.
  Application(ApplicationDesc desc, Settings& settings);
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application();

  void open(const OpenTarget& target);
  // What the user asks for: shows why it is not allowed, or asks before a session is discarded.
  void perform(const StartAction& action);
  // Opens both, for comparison.
  void compare(const OpenTarget& first, const OpenTarget& second);
  // One file is opened, or compared with the open one. Files of ranks of one job are merged and
  // opened; two others are compared.
  void drop(const std::vector<std::string>& paths);
  // Start a program and open its session as soon as it is available (the start page's buttons). The
  // program ends when its session is left.
  void run_sample();
  void run_program(const std::string& command);
  // Selects the view, now or when a workspace opens.
  void show(View view);

  // Call between ImGui::NewFrame() and Render().
  void draw(const Theme& theme);
  // Whether the window may close. If not, asks the user whether to discard the live session;
  // is_closed() is true once the user agreed.
  [[nodiscard]] bool may_close();
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

  // Whether the new session of a program that exited is offered.
  [[nodiscard]] bool has_offer() const noexcept { return !restarted_.empty(); }
  // Null on the start page.
  [[nodiscard]] Workspace* workspace() noexcept { return workspace_.get(); }
  [[nodiscard]] std::string title() const;
  // A new file for a picture of the window, in the current directory.
  [[nodiscard]] std::filesystem::path picture_path() const;
  // Shows the text for some seconds.
  void show_message(std::string text);
  // Background work is running and will produce more frames.
  [[nodiscard]] bool is_busy() const;
  // What is shown changes with time: a live session, or the output of a program.
  [[nodiscard]] bool changes_with_time() const;
  // Why the last target could not be opened; empty on success.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  // The start-up state of the program, or why it failed; empty: none.
  [[nodiscard]] const std::string& program_state() const noexcept { return program_state_; }

 private:
  [[nodiscard]] std::shared_ptr<model::TraceFeed> feed_of(const OpenTarget& target);
  void enter(std::shared_ptr<model::TraceFeed> feed, std::shared_ptr<model::TraceFeed> other);
  void leave(std::string reason);
  void watch_feeds();
  // Merges the files on a worker; watch_merge() opens the result.
  void merge(const std::vector<std::string>& paths);
  void cancel_merge();
  void watch_merge();
  void draw_start(const Theme& theme);
  void draw_dialog(const Theme& theme);
  // Why the user may not do or open this; empty: it is allowed.
  [[nodiscard]] std::string refusal(const StartAction& action) const;
  [[nodiscard]] std::string refusal(const OpenTarget& target) const;
  [[nodiscard]] bool may_change() const noexcept {
    return desc_.access.changes == Access::Changes::Allowed;
  }
  // Compares the shown trace with the target; keeps the view.
  void compare_shown(const OpenTarget& target);
  void start(ProgramRunDesc desc);
  void watch_program();
  void show_output();
  // Offers the new session of a program that exited and runs again.
  void watch_restart();
  // Runs the action, after asking if it discards a live session that is not recorded or stops a
  // program.
  void discard_then(std::function<void()> action);
  [[nodiscard]] bool has_unrecorded_session() const;
  [[nodiscard]] bool stops_program() const;
  void draw_record(const Theme& theme);
  void draw_save(const Theme& theme);
  void open_recorder(std::string discarded);
  void draw_message(const Theme& theme) const;

  ApplicationDesc desc_;
  Settings& settings_;
  Background background_;
  StartPage start_page_;
  OpenDialog open_dialog_{background_, desc_.access.paths};
  // The result of a file written on a worker.
  struct WriteResult {
    std::atomic<bool> is_finished{false};
    std::string error;  // read after is_finished
  };
  // A dialog for a file, and the file that is being written after the user's choice.
  struct FileWriter {
    FileDialog dialog;
    std::shared_ptr<WriteResult> result;  // null: nothing is being written
    std::string error;                    // of the last attempt
  };
  // Runs `write` on a worker. is_written() reports its success once and closes the dialog.
  void write(FileWriter& writer, std::function<void()> write);
  [[nodiscard]] static bool is_written(FileWriter& writer);

  // Asks for the path of a file that `save` writes, or delivers it.
  void open_saver(const char* title, const std::string& name,
                  std::function<void(const std::string& path)> save);

  FileWriter recorder_, saver_;
  // Writes what the user saves: the contents of a file, or an export.
  std::function<void(const std::string& path)> save_;
  std::filesystem::path delivered_;      // the file to deliver when it is written
  std::function<void()> after_discard_;  // the action that waits for the user's choice
  bool closed_ = false;
  std::string message_;
  double message_end_ = 0;  // ImGui time
  // Exists while the start page or a session that ended is shown.
  std::optional<StartPageMonitor> monitor_;
  std::string restarted_;  // the offered session
  std::unique_ptr<ProgramRun> program_;
  bool is_sample_ = false;
  std::string program_state_, error_;
  std::vector<std::string> program_output_;  // of the start page
  double output_read_ = -1e9;                // ImGui time
  struct Merge {
    std::vector<std::string> paths;
    std::atomic<bool> is_cancelled{false}, is_finished{false};
    // Read after is_finished.
    std::optional<model::MergedTraceFile> file;
    std::string error;
  };
  std::shared_ptr<Merge> merging_;       // null: none runs
  std::shared_ptr<const Merge> merged_;  // whose file is shown
  std::shared_ptr<model::TraceFeed> feed_, other_;
  std::unique_ptr<Workspace> workspace_;
  std::optional<View> view_;
  bool requested_profile_ = false;
};

}  // namespace reprise::viewer
