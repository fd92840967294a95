#include <doctest/doctest.h>

#include <string>

#include "panels/graph/graph_panel.hpp"
#include "panels/memory/memory_panel.hpp"
#include "panels/nodes/nodes_panel.hpp"
#include "panels/replays/replays_panel.hpp"
#include "panels/sync/sync_panel.hpp"
#include "panels/timeline/timeline_panel.hpp"
#include "panels/widgets/widgets.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/recorded_trace.hpp"

using namespace reprise;
using namespace reprise::viewer;
using test::ImGuiFixture;
using test::PanelFixture;

namespace {

// Moves the mouse over the panel and returns the number of tooltips seen. Each must be wide enough
// to read: a tooltip of many lines is not narrow.
template <class Panel>
int check_tooltips() {
  PanelFixture fixture({900, 600}, test::recorded_document());
  Panel panel(fixture.background);
  fixture.settle(panel);
  const float line = ImGui::GetIO().Fonts->Fonts[0]->FontSize;
  int seen = 0;
  for (float y = 12; y < 600; y += 36) {
    for (float x = 20; x < 900; x += 60) {
      fixture.move_mouse({x, y});
      // A tooltip fits its contents after one frame; it must not shrink later.
      for (int i = 0; i < 3; ++i) fixture.window([&] { fixture.draw(panel); });
      const ImVec2 size = ImGuiFixture::tooltip_size();
      if (size.x == 0) continue;
      ++seen;
      CAPTURE(x);
      CAPTURE(y);
      CAPTURE(size.y);
      if (size.y > 3 * line) CHECK(size.x > 10 * line);
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("tooltips: no panel has a tooltip that is too narrow to read") {
  CHECK(check_tooltips<GraphPanel>() > 0);
  CHECK(check_tooltips<ReplaysPanel>() > 0);
  CHECK(check_tooltips<TimelinePanel>() > 0);
  CHECK(check_tooltips<SyncPanel>() > 0);
  CHECK(check_tooltips<NodesPanel>() > 0);
  CHECK(check_tooltips<MemoryPanel>() > 0);
}

TEST_CASE("tooltips: a field keeps the width of its text and wraps only a long one") {
  ImGuiFixture context;
  const auto size_with = [&](const std::string& value) {
    for (int i = 0; i < 5; ++i) {
      context.window([&] {
        ImGui::BeginTooltip();
        draw_field(context.theme, "kernel", value, 110);
        ImGui::EndTooltip();
      });
    }
    return ImGuiFixture::tooltip_size();
  };
  const float character = 7, line = 13;  // of ImGui's built-in font
  const ImVec2 one_line = size_with("saxpy_kernel<float, 4>");
  CHECK(one_line.x >= 110 + 22 * character);
  CHECK(one_line.y < 3 * line);
  const ImVec2 wrapped = size_with(std::string(40, 'a') + " " + std::string(40, 'b'));
  CHECK(wrapped.x >= 110 + 40 * character);
  CHECK(wrapped.y < 4 * line);
}
