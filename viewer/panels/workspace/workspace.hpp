// Workspace: one trace, or two for comparison, in a window of panels: the top bar, upper tabs, the
// replay strip, the inspector, lower tabs and the status line, with splitters between them.
// Computes the view models that panels share on workers. Depends on ImGui, the model and the
// panels, but on no window system or OpenGL, so tests draw it headless. Threads: drawing thread
// only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/trace_feed.hpp"
#include "panels/shared/async_value.hpp"
#include "panels/shared/notes.hpp"
#include "panels/shared/theme.hpp"
#include "panels/shared/view_state.hpp"
#include "panels/shared/views.hpp"

namespace reprise::viewer {

// Positions of the splitters, and the user's permission. The application stores them between runs.
struct WorkspaceLayout {
  float strip = 90;         // height of the replay strip, in points
  float inspector = 0.26f;  // fraction of the width
  float lower = 0.35f;      // fraction of the height below the strip
  float below_timeline = 0.2f;                   // the same while the timeline is shown
  std::vector<std::string> source_folders = {};  // see ViewState
  bool source_folders_are_fixed = false;
};

class Workspace {
 public:
  Workspace(std::shared_ptr<model::TraceFeed> feed, std::shared_ptr<model::TraceFeed> other,
            Background& background, NotesUse notes = NotesUse::Edit);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  // Fills the main viewport. Call between ImGui::NewFrame() and Render().
  void draw(const Theme& theme, WorkspaceLayout& layout);
  // Handles the workspace shortcuts of this frame (see keys.hpp).
  void handle_keys();
  // Selects the tab of a view and enlarges its panel.
  void show(View view);

  [[nodiscard]] ViewState& view() noexcept;
  [[nodiscard]] const model::TraceFeed& feed() const noexcept;
  // True if all view models of the current document are ready. For screenshots and tests.
  [[nodiscard]] bool is_settled() const;
  // True once for each request of the user: to show the start page, to toggle the theme, to record
  // the session, or to attach to the program's new session.
  [[nodiscard]] bool take_close_request() noexcept;
  [[nodiscard]] bool take_shade_change() noexcept;
  [[nodiscard]] bool take_record_request() noexcept;
  [[nodiscard]] bool take_attach_request() noexcept;
  // The last lines of the program that the viewer runs, and how it ended (empty: it runs).
  void set_program_output(std::vector<std::string> lines, std::string end);
  // Offers to attach to the program's new session: "process 4711"; empty: no offer.
  void offer_restart(std::string session);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer
