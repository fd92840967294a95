// ImGuiFixture: an ImGui context without a window, with simulated mouse and keys. PanelFixture:
// also a document and the PanelContext of a panel. Threads: one at a time.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <imgui.h>

#include "panels/graph/graph_view_model.hpp"
#include "panels/shared/keys.hpp"
#include "panels/shared/panel_context.hpp"
#include "panels/shared/theme.hpp"
#include "viewer/trace_document.hpp"

namespace reprise::test {

// Keys and modifiers as GLFW numbers them.
constexpr int kShift = 1, kControl = 2, kEscape = 256, kRight = 262, kLeft = 263, kHome = 268,
              kF1 = 290, kF3 = 292;

// The document of the hand-made trace: two graphs, "step" and "other", of five nodes each; see
// hand_made_trace.hpp.
[[nodiscard]] std::shared_ptr<const model::Document> hand_made_document();

// Requires that `text` contains the words one after the other.
void check_in_order(const std::string& text, std::initializer_list<const char*> words);

// Requires that `xml` is well-formed, as far as tags, attributes and entities go.
void check_well_formed(const std::string& xml);

// An ImGui context, for widgets that draw without a document.
class ImGuiFixture {
 public:
  explicit ImGuiFixture(ImVec2 size = {1600, 900}, viewer::Shade shade = viewer::Shade::Dark);
  ImGuiFixture(const ImGuiFixture&) = delete;
  ImGuiFixture& operator=(const ImGuiFixture&) = delete;
  ~ImGuiFixture();

  // Draws one frame of 1/60 s. `contents` opens its own windows.
  void frame(const std::function<void()>& contents);
  // Draws one frame with one window that fills the display.
  void window(const std::function<void()>& contents);
  // window(), and returns the text of its ImGui items in order. Text drawn through ImDrawList is
  // not included.
  [[nodiscard]] std::string text(const std::function<void()>& contents);

  // Capture the text of contents with their own windows; call around the drawing, in frame().
  static void start_log();
  [[nodiscard]] static std::string take_log();

  void resize(ImVec2 size);
  // Input for the next frames.
  void move_mouse(ImVec2 to);
  void wheel(float notches);  // only for the next frame
  void hold_button(int button);
  void release_button(int button);
  // Simulate a gesture over several frames, each drawn with `contents` in a window.
  void click(ImVec2 at, const std::function<void()>& contents, int button = 0);
  void double_click(ImVec2 at, const std::function<void()>& contents);
  void drag(ImVec2 from, ImVec2 to, const std::function<void()>& contents, int button = 0);
  // Clicks the item of the open menu whose text contains `item`. `contents` draws the menu.
  void choose(const std::string& item, const std::function<void()>& contents);
  // Presses a key (a GLFW key code) for one frame drawn with `contents`.
  void press(int glfw_key, const std::function<void()>& contents, int mods = 0);
  // Types text in the next frame.
  void type(const std::string& text);

  // The size of the tooltip of the last frame; {0, 0}: none.
  [[nodiscard]] static ImVec2 tooltip_size();
  // The number of vertices of the last frame.
  [[nodiscard]] int vertices() const;
  // True if the last frame has vertices and all their coordinates are finite.
  [[nodiscard]] bool is_drawable() const;

  viewer::Theme theme;

 private:
  ImGuiContext* context_;
};

class PanelFixture : public ImGuiFixture {
 public:
  explicit PanelFixture(ImVec2 size = {1600, 900},
                        std::shared_ptr<const model::Document> of = hand_made_document());

  // Shows another graph and recomputes its view models.
  void show(model::GraphKey key);
  // Recomputes the view models after a change of view.range, view.replay or view.filter.
  void update();
  // The context for the present state. Holds references into this fixture.
  [[nodiscard]] viewer::PanelContext panel_context();
  // Draws a panel (any class with draw(PanelContext&)) until its background work is complete, and
  // then once more.
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
    viewer::PanelContext context = panel_context();
    panel.draw(context);
  }
  // The CSV export of the first table of a panel.
  template <class Panel>
  [[nodiscard]] std::string csv(Panel& panel) {
    ImGui::SetClipboardText("");
    view.table_export = viewer::TableExport{};
    window([&] { draw(panel); });
    return ImGui::GetClipboardText();
  }
  [[nodiscard]] const model::GraphEntry& entry() const { return *document->find(view.graph); }

  std::shared_ptr<const model::Document> document, other;
  std::string name = "hand-made.reprise", other_name;
  bool is_live = false;
  std::string incomplete;
  viewer::ViewState view;
  viewer::GraphViewModel view_model;
  viewer::ReplaySummary summary;
  std::optional<viewer::ReplayViewModel> replay;
  std::vector<std::uint8_t> matches;
  viewer::Background background{1};
};

}  // namespace reprise::test
