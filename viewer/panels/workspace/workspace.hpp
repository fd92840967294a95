// Workspace: one trace, or two to compare, as a window full of panels: the bar with session, graph,
// mode, rates and search above, the strip of replays, the upper and the lower tabs, the inspector
// beside them, splitters between. Makes the facts that panels share, in the background. Knows
// ImGui, model and panels; no window, no GL, so that tests draw it headless. Threads: the drawing
// thread's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/trace_feed.hpp"
#include "panels/shared/async_value.hpp"
#include "panels/shared/view_state.hpp"
#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

// Which picture `--view` names.
enum class View : std::uint8_t { Graph, Replays, Timeline, Nodes, Memory, Sync, Compare };
[[nodiscard]] std::optional<View> view_named(const std::string& name);

// Where the splitters stand, as parts of the window; remembered between runs.
struct WorkspaceLayout {
  float strip = 90;         // height of the replay strip, in points
  float inspector = 0.26f;  // of the width
  float lower = 0.35f;      // of the height below the strip
};

class Workspace {
 public:
  Workspace(std::shared_ptr<model::TraceFeed> feed, std::shared_ptr<model::TraceFeed> other,
            Background& background);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  // Fills the main viewport. Call between ImGui::NewFrame() and Render().
  void draw(const Theme& theme, WorkspaceLayout& layout);
  // The keys that belong to it (see keys.hpp), for this frame; false while text is being typed.
  void handle_keys();
  // Brings that view to the front, as large as it is most useful.
  void show(View view);

  [[nodiscard]] ViewState& view() noexcept;
  [[nodiscard]] const model::TraceFeed& feed() const noexcept;
  // All facts that the present document needs are there, and nothing is being made: for pictures
  // and tests.
  [[nodiscard]] bool is_settled() const;
  // The user wants to leave for the start page.
  [[nodiscard]] bool wants_to_close() const noexcept;
  // The user clicked the button that changes between light and dark; true once for each click.
  [[nodiscard]] bool take_shade_change() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer
