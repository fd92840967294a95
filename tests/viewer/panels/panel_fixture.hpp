// PanelFixture: an ImGui context without a window, a document of a real trace, and the frame that a
// panel is given. Draws a panel as large as the window, and plays mouse and keys. Threads: one at a
// time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <imgui.h>

#include "panels/graph/graph_view_model.hpp"
#include "panels/shared/keys.hpp"
#include "panels/shared/panel_context.hpp"
#include "panels/widgets/theme.hpp"

namespace reprise::test {

// Of a trace made by hand (two graphs, "step" and "other", of five nodes: see hand_made_trace.hpp).
[[nodiscard]] std::shared_ptr<const model::Document> hand_made_document();
// Of a file, read to its end.
[[nodiscard]] std::shared_ptr<const model::Document> document_of(const std::filesystem::path& path);

// An ImGui context alone: for what draws without a document.
class PanelContext {
 public:
  explicit PanelContext(ImVec2 size = {1600, 900}, viewer::Shade shade = viewer::Shade::Dark);
  PanelContext(const PanelContext&) = delete;
  PanelContext& operator=(const PanelContext&) = delete;
  ~PanelContext();

  // One frame, of 1/60 s: `contents` draws whatever windows it wants.
  void context(const std::function<void()>& contents);
  // One frame with one window that fills the display.
  void window(const std::function<void()>& contents);
  // The same as text: what was drawn as ImGui's items, in order. What a panel draws by ImDrawList
  // is not in it.
  [[nodiscard]] std::string text(const std::function<void()>& contents);

  // The same for what has windows of its own, in frame(): around the drawing.
  static void start_log();
  [[nodiscard]] static std::string take_log();

  void resize(ImVec2 size);
  // For the next frames.
  void move_mouse(ImVec2 to);
  void wheel(float notches);  // in the next frame alone
  void hold_button(int button);
  void release_button(int button);
  // Down in one frame, held in the next, up in the one after; each is drawn with `contents` in a
  // window.
  void click(ImVec2 at, const std::function<void()>& contents, int button = 0);
  void double_click(ImVec2 at, const std::function<void()>& contents);
  void drag(ImVec2 from, ImVec2 to, const std::function<void()>& contents, int button = 0);
  // By GLFW's number; down in the next frame drawn with `contents`, up after it.
  void press(int glfw_key, const std::function<void()>& contents, int mods = 0);
  // Typed in the next frame.
  void type(const std::string& text);

  // Of the last frame.
  [[nodiscard]] int vertices() const;
  // Every vertex is a finite place: true for what anybody can look at.
  [[nodiscard]] bool is_drawable() const;

  viewer::Theme theme;

 private:
  ImGuiContext* context_;
};

class PanelFixture : public PanelContext {
 public:
  explicit PanelFixture(ImVec2 size = {1600, 900},
                        std::shared_ptr<const model::Document> of = hand_made_document());

  // Shows another graph: the frame's facts are made of it.
  void show(model::GraphKey key);
  // Makes the facts anew, after a change of view.range, view.replay or view.filter.
  void update();
  // Of the present state; refers to this fixture.
  [[nodiscard]] viewer::PanelContext frame_of_now();
  // Draws a panel, which is anything with draw(Frame&), until nothing is being made for it in the
  // background, and once more.
  template <class Panel>
  void settle(Panel& panel) {
    for (int i = 0; i < 4; ++i) {
      window([&] { draw(panel); });
      background.wait_until_idle();
    }
    window([&] { draw(panel); });
  }
  template <class Panel>
  void draw(Panel& panel) {
    viewer::PanelContext now = frame_of_now();
    panel.draw(now);
  }
  [[nodiscard]] const model::GraphEntry& entry() const { return *document->find(view.graph); }

  std::shared_ptr<const model::Document> document, other;
  std::string name = "hand-made.reprise", other_name;
  bool is_live = false;
  viewer::ViewState view;
  viewer::GraphViewModel view_model;
  std::optional<viewer::ReplayViewModel> replay;
  std::vector<std::uint8_t> matches;
  viewer::Background background{1};
};

}  // namespace reprise::test
