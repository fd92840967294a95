// The whole workspace without a window: real traces, simulated mouse and keys.
#include <doctest/doctest.h>

#include <imgui_internal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "panels/nodes/nodes_columns.hpp"
#include "panels/workspace/workspace.hpp"
#include "support/contains.hpp"
#include "support/paths.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_writer.hpp"
#include "viewer/hand_made_ranks.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/recorded_trace.hpp"
#include "viewer/panels/workspace_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::hand_made_file;
using reprise::test::HandMadeTrace;
using reprise::test::ImGuiFixture;
using reprise::test::WorkspaceTest;

using test::contains;

TEST_CASE("workspace: view_named() accepts the view names of the command line") {
  for (const ViewDesc& each : kViews) CHECK(view_named(each.name) == each.view);
  CHECK_FALSE(view_named("nothing"));
}

TEST_CASE("workspace: a trace draws at every size and in every view") {
  for (const ImVec2 size : {ImVec2{400, 300}, ImVec2{700, 500}, ImVec2{1600, 900},
                            ImVec2{3840, 2160}, ImVec2{120, 80}}) {
    WorkspaceTest t(hand_made_file(), size);
    t.settle();
    for (const ViewDesc& each : kViews) {
      CAPTURE(each.name);
      t.workspace.show(each.view);
      t.settle();
      CHECK(t.context.is_drawable());
    }
  }
}

TEST_CASE("workspace: a trace with a fault opens at the faulting node") {
  const auto path = test::scratch_folder() / "fault.reprise";
  test::write_hand_made_trace(path);
  trace::Message fault{1, trace::Severity::Error, "run.fault", "illegal address"};
  fault.graph = HandMadeTrace::kOther;
  fault.version = 1;
  fault.command = 0;
  {
    trace::TraceFile file({.path = path, .start = trace::TraceFileDesc::Start::Append});
    trace::Records records;
    records.messages = {fault};
    file.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Topology, records, file.next_sequence())));
  }
  WorkspaceTest t(path.string());
  t.settle();
  CHECK(t.workspace.view().graph == model::GraphKey{HandMadeTrace::kOther, 1});
  const auto* const node = std::get_if<model::SelectedNode>(&t.workspace.view().selection);
  REQUIRE(node != nullptr);
  CHECK(node->graph == model::GraphKey{HandMadeTrace::kOther, 1});
  t.press(test::kEscape);  // clears the selection; another graph has more replays
  t.settle();
  CHECK(std::holds_alternative<std::monostate>(t.workspace.view().selection));
  CHECK(t.workspace.view().graph == model::GraphKey{HandMadeTrace::kOther, 1});
}

TEST_CASE("workspace: the graph with the most replays is shown first") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  CHECK(t.workspace.view().graph == model::GraphKey{HandMadeTrace::kStep, 1});
  const std::string text = t.text();
  CHECK(contains(text, "step"));
  CHECK(contains(text, "p50"));
  CHECK(contains(text, "ready"));
}

TEST_CASE("workspace: the top bar shows the number of lost records") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  CHECK(contains(t.text(), "lost 12"));
}

TEST_CASE("workspace: a missing file shows an error") {
  for (const ImVec2 size : {ImVec2{400, 300}, ImVec2{1600, 900}}) {
    WorkspaceTest t((test::scratch_folder() / "no such file.reprise").string(), size);
    t.draw();
    REQUIRE(t.feed->wait_until_ready(test::kTimeout));
    t.draw();
    const std::string text = t.text();
    CHECK(contains(text, "Cannot open"));
    CHECK(contains(text, "no such file"));
    CHECK(t.context.is_drawable());
  }
}

TEST_CASE("workspace: a file that is not a trace shows an error") {
  const auto path = test::scratch_folder() / "garbage.reprise";
  std::ofstream(path) << "this is not a trace at all, and long enough to look like one";
  WorkspaceTest t(path.string());
  REQUIRE(t.feed->wait_until_ready(test::kTimeout));
  t.draw();
  CHECK(contains(t.text(), "garbage"));
  CHECK(t.context.is_drawable());
}

TEST_CASE("workspace: a trace without a graph shows the trace's warnings") {
  const auto path = test::scratch_folder() / "no graph.reprise";
  {
    trace::TraceWriter writer;
    writer.add_sink(std::make_shared<trace::TraceFile>(trace::TraceFileDesc{.path = path}));
    static_cast<void>(
        writer.push(trace::Message{1, trace::Severity::Info, "run.cupti", "by the way"}));
    static_cast<void>(writer.push(
        trace::Message{2, trace::Severity::Warning, "run.cupti", "another profiler has it"}));
  }
  WorkspaceTest t(path.string());
  REQUIRE(t.feed->wait_until_ready(test::kTimeout));
  t.draw();
  const std::string text = t.text();
  CHECK(contains(text, "No graph in"));
  CHECK(contains(text, "another profiler has it"));
  CHECK_FALSE(contains(text, "by the way"));
}

TEST_CASE("workspace: a missing session shows its address") {
  WorkspaceTest t("127.0.0.1:1");
  t.draw();
  CHECK(t.context.is_drawable());
  t.feed->wait_until_ready(test::kTimeout);
  t.draw();
  CHECK(contains(t.text(), "127.0.0.1"));
}

TEST_CASE("workspace: selected durations filter all views, and the rest can be compared") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  view.range.durations = model::DurationBounds{.min = 14'000, .max = 14'000};  // every 7th replay
  t.settle();
  CHECK(contains(t.text(), "range: 5 replays, 14.00 us to 14.00 us"));
  t.press(test::kLeft);
  CHECK(view.replay == 28u);  // before 35, the newest of them
  view.compare_with_rest = true;
  view.show(View::Compare);
  t.settle();
  const std::string text = t.text();
  CHECK(contains(text, "all 40 replays except of 14.00 us to 14.00 us"));
  CHECK(contains(text, "all 40 replays of 14.00 us to 14.00 us"));
  CHECK_FALSE(view.compare_with_rest);
}

TEST_CASE("workspace: in small windows no view covers the status line, and Nodes shows rows") {
  struct Case {
    ImVec2 size;
    float scale;
  };
  for (const auto& [size, scale] :
       {Case{{1000, 600}, 1}, Case{{1000, 600}, 2}, Case{{1600, 900}, 2}, Case{{700, 500}, 1},
        Case{{1280, 720}, 1.5f}}) {
    CAPTURE(size.x);
    CAPTURE(scale);
    WorkspaceTest t(hand_made_file(), size);
    apply(t.context.theme, Shade::Dark, scale);
    for (const ViewDesc& each : kViews) {
      CAPTURE(each.name);
      t.workspace.show(each.view);
      t.settle();
      float status = 0;
      const auto& windows = ImGui::GetCurrentContext()->Windows;
      for (const ImGuiWindow* const window : windows) {
        if (window->Active && contains(window->Name, "/status_")) status = window->Pos.y;
      }
      REQUIRE(status > 0);
      for (const ImGuiWindow* const window : windows) {
        if (!window->Active || contains(window->Name, "/status_") ||
            (window->Flags & ImGuiWindowFlags_ChildWindow) == 0)
          continue;
        CAPTURE(window->Name);
        CHECK(std::min(window->Pos.y + window->Size.y, window->ClipRect.Max.y) <= status);
      }
    }
    t.workspace.show(View::Nodes);
    t.settle();
    auto& tables = ImGui::GetCurrentContext()->Tables;
    float height = 0, row = 0;
    for (int i = 0; i < tables.GetMapSize(); ++i) {
      const ImGuiTable* const table = tables.TryGetMapData(i);
      if (table == nullptr || table->ColumnsCount != static_cast<int>(kNodeColumns)) continue;
      height = table->InnerWindow->ClipRect.GetHeight();
      row = t.context.theme.row;
    }
    REQUIRE(row > 0);
    CHECK(height >= 4 * row);  // the header and three nodes
  }
}

TEST_CASE("workspace: the tables remember their columns") {
  WorkspaceTest t(hand_made_file());
  for (const ViewDesc& each : kViews) {
    t.workspace.show(each.view);
    t.settle();
  }
  auto& tables = ImGui::GetCurrentContext()->Tables;
  int resizable = 0;
  for (int i = 0; i < tables.GetMapSize(); ++i) {
    const ImGuiTable* const table = tables.TryGetMapData(i);
    if (table == nullptr || (table->Flags & ImGuiTableFlags_Resizable) == 0) continue;
    ++resizable;
    CHECK((table->Flags & ImGuiTableFlags_NoSavedSettings) == 0);
  }
  CHECK(resizable > 1);
}

TEST_CASE("workspace: the width of a column is found again after a restart") {
  const auto nodes_table = [](WorkspaceTest& t) -> ImGuiTable& {
    t.workspace.show(View::Nodes);
    t.settle();
    auto& tables = ImGui::GetCurrentContext()->Tables;
    ImGuiTable* found = nullptr;
    for (int i = 0; i < tables.GetMapSize(); ++i) {
      ImGuiTable* const table = tables.TryGetMapData(i);
      if (table != nullptr && table->ColumnsCount == static_cast<int>(kNodeColumns)) found = table;
    }
    REQUIRE(found != nullptr);
    return *found;
  };
  constexpr int kColumn = static_cast<int>(NodeColumn::Median);
  std::string saved;
  float width = 0;
  {
    WorkspaceTest t(hand_made_file());
    const ImGuiTable& table = nodes_table(t);
    const ImGuiTableColumn& column = table.Columns[kColumn];
    REQUIRE(column.IsEnabled);
    const float before = column.WidthGiven;
    const ImVec2 border{column.MaxX, table.OuterRect.Min.y + 6};
    t.drag(border, {border.x + 50, border.y});
    width = column.WidthGiven;
    CHECK(width > before + 25);
    saved = ImGui::SaveIniSettingsToMemory();  // Settings::tables
  }
  WorkspaceTest restarted(hand_made_file());
  ImGui::LoadIniSettingsFromMemory(saved.c_str(), saved.size());
  CHECK(nodes_table(restarted).Columns[kColumn].WidthGiven == doctest::Approx(width).epsilon(0.01));
}

TEST_CASE("workspace: the status line shows the output of the program, and how it ended") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  t.workspace.set_program_output({"epoch 1", "epoch 2"}, {});
  CHECK(contains(t.text(), "epoch 2"));
  t.workspace.set_program_output({"epoch 2"}, "digits exited with code 3");
  CHECK(contains(t.text(), "digits exited with code 3"));
}

TEST_CASE("workspace: a change of the graph clears range and replay") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  view.range = {3, 10};
  view.replay = 7;
  t.settle();
  view.show_graph({HandMadeTrace::kOther, 1});
  t.settle();
  CHECK_FALSE(view.has_range());
  CHECK_FALSE(view.replay);
  CHECK(view.graph == model::GraphKey{HandMadeTrace::kOther, 1});  // the user's choice is kept
}

TEST_CASE("workspace: the same replay number in another graph stays shown") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  view.replay = 2;
  t.settle();
  view.show_replay({HandMadeTrace::kOther, 1}, 2);
  t.settle();
  CHECK(view.replay == 2);
}

TEST_CASE("workspace: a selection of a missing item is cleared") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  view.select(model::SelectedNode{view.graph, 5'000});
  t.settle();
  CHECK(std::holds_alternative<std::monostate>(view.selection));
  view.select(model::SelectedBuffer{{77, 1}, 0});
  t.settle();
  CHECK(std::holds_alternative<std::monostate>(view.selection));
}

TEST_CASE("workspace: a drag moves a splitter, and a double click resets it") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  const WorkspaceLayout first;
  const auto contents = [&] { t.workspace.draw(t.context.theme, t.layout); };
  const float strip =
      40 + t.context.theme.splitter + 30 /* tabs */ + t.layout.strip + t.context.theme.splitter / 2;
  t.drag({800, strip}, {800, strip + 60});
  CHECK(t.layout.strip == doctest::Approx(first.strip + 60).epsilon(0.03));
  t.context.move_mouse({800, strip + 60});
  for (int i = 0; i < 2; ++i) {
    t.context.hold_button(0);
    t.context.frame(contents);
    t.context.release_button(0);
    t.context.frame(contents);
  }
  CHECK(t.layout.strip == doctest::Approx(first.strip));
}

TEST_CASE("workspace: two traces draw in the compare view") {
  const auto second = test::scratch_folder() / "workspace other.reprise";
  test::write_hand_made_trace(second, {.slow_node = 2});
  WorkspaceTest t(hand_made_file(), {1600, 900}, second.string());
  t.workspace.show(View::Compare);
  t.settle();
  CHECK(t.workspace.view().lower == View::Compare);
  CHECK(t.context.is_drawable());
}

TEST_CASE("workspace: a recorded trace draws in the light theme") {
  const auto path = test::scratch_folder() / "workspace recorded.reprise";
  test::write_recorded_trace(path);
  WorkspaceTest t(path.string());
  apply(t.context.theme, Shade::Light, 1.5f);
  for (const char* name : {"graph", "timeline", "memory", "sync", "nodes"}) {
    t.workspace.show(*view_named(name));
    t.settle();
    CHECK(t.context.is_drawable());
  }
  CHECK(contains(t.text(), "frame"));
}

namespace {

// The size of the region of the upper or lower view; {0, 0}: not drawn.
ImVec2 size_of(const char* region) {
  for (const ImGuiWindow* const window : ImGui::GetCurrentContext()->Windows) {
    if (window->Active && contains(window->Name, std::string("/") + region + "_"))
      return window->Size;
  }
  return {};
}

}  // namespace

TEST_CASE("workspace: a double-click on its tab lets a view fill the window, and back") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  const ImVec2 before = size_of("upper");
  REQUIRE(size_of("lower").y > 0);
  REQUIRE(size_of("inspector").x > 0);
  const auto draw = [&] { t.workspace.draw(t.context.theme, t.layout); };
  const auto double_click = [&](ImVec2 at) {
    t.context.move_mouse(at);
    t.context.frame(draw);
    for (int i = 0; i < 2; ++i) {
      t.context.hold_button(0);
      t.context.frame(draw);
      t.context.release_button(0);
      t.context.frame(draw);
    }
    for (int i = 0; i < 40; ++i) t.context.frame(draw);
    t.settle();
  };
  const ImVec2 tab{30, 40 + t.context.theme.splitter + 15};
  double_click(tab);
  CHECK(t.workspace.view().front == View::Graph);
  CHECK(size_of("upper").x == 1600);
  CHECK(size_of("upper").y > 790);
  CHECK(size_of("lower").y == 0);
  CHECK(size_of("inspector").x == 0);
  CHECK(size_of("strip").y == 0);
  t.press('5');  // every view fills it
  t.settle();
  CHECK(t.workspace.view().front == View::Nodes);
  CHECK(size_of("upper").x == 1600);
  t.press('1');
  double_click(tab);
  CHECK(size_of("upper").y == before.y);
  CHECK(size_of("lower").y > 0);
}

TEST_CASE("workspace: the timeline is taller than other views, and keeps a height of its own") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  const float graph = size_of("upper").y;
  t.workspace.view().show(View::Timeline);
  t.settle();
  const float timeline = size_of("upper").y;
  CHECK(timeline > 1.15f * graph);
  const float splitter = 900 - 24 - 5 - size_of("lower").y - 30 - 2;
  t.drag({700, splitter}, {700, splitter - 100});
  CHECK(size_of("upper").y == doctest::Approx(timeline - 100).epsilon(0.02));
  CHECK(t.layout.lower == WorkspaceLayout{}.lower);
  t.workspace.view().show(View::Graph);
  t.settle();
  CHECK(size_of("upper").y == graph);
}

TEST_CASE("workspace: the replays view shows its bars in place of the strip, and no tab moves") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  const auto tabs_top = [] {
    for (const ImGuiWindow* const window : ImGui::GetCurrentContext()->Windows) {
      if (window->Active && contains(window->Name, "/tabs_")) return window->Pos.y;
    }
    return 0.0f;
  };
  const float top = tabs_top();
  CHECK(size_of("strip").y > 0);
  t.press('2');
  t.settle();
  CHECK(size_of("strip").y == 0);
  CHECK(tabs_top() == top);
}

TEST_CASE("workspace: a click on the output of the program opens and closes the console") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  std::vector<std::string> lines;
  for (int i = 0; i < 200; ++i) lines.push_back("line " + std::to_string(i));
  t.workspace.set_program_output(lines, {});
  CHECK_FALSE(contains(t.text(), "line 198"));
  const auto click_status = [&](const char* until, bool is_there) {
    for (float x = 60; x < 900 && contains(t.text(), until) != is_there; x += 12) {
      t.context.move_mouse({x, 888});
      t.draw();
      t.context.hold_button(0);
      t.draw();
      t.context.release_button(0);
      for (int i = 0; i < 3; ++i) t.draw();
    }
    return contains(t.text(), until) == is_there;
  };
  CHECK(click_status("line 198", true));
  CHECK(contains(t.text(), "200 lines"));
  for (const ImGuiWindow* const window : ImGui::GetCurrentContext()->Windows) {
    if (!window->Active || !contains(window->Name, "/lines_")) continue;
    CHECK(window->ScrollMax.y > 1'000);
    CHECK(window->Scroll.y == window->ScrollMax.y);  // the newest line is visible
  }
  CHECK(click_status("line 198", false));
}

TEST_CASE("workspace: a window of 1000 x 600 has room for eight rows in every table") {
  const auto ranks =
      test::HandMadeJob({.ranks = 2}).write_all(test::scratch_folder() / "workspace ranks");
  for (const std::string& file : {hand_made_file(), ranks.front().string()}) {
    WorkspaceTest t(file, {1000, 600});
    t.settle();
    for (const ViewDesc& each : kViews) {
      CAPTURE(each.name);
      t.workspace.view().show(each.view);
      t.settle();
      CHECK(size_of("upper").y > 300);
      auto& tables = ImGui::GetCurrentContext()->Tables;
      for (int i = 0; i < tables.GetMapSize(); ++i) {
        const ImGuiTable* const table = tables.TryGetMapData(i);
        // Tables that scroll: those of a fixed number of rows do not.
        if (table == nullptr || table->LastFrameActive < ImGui::GetFrameCount() ||
            (table->Flags & ImGuiTableFlags_ScrollY) == 0)
          continue;
        CAPTURE(table->InnerWindow->Name);
        CHECK(table->InnerWindow->ClipRect.GetHeight() >= 9 * t.context.theme.row * 0.8f);
      }
    }
  }
}

TEST_CASE("workspace: a search compares medians, and one with an error keeps the last result") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  view.filter.text = "median>3.5us";
  t.settle();
  CHECK(contains(t.text(), "2 of 5"));  // 4 and 5 us
  view.filter.text = "median>3.5u";
  t.settle();
  view.show(View::Nodes);
  t.settle();
  CHECK(contains(t.text(), "2 of 5 nodes match"));
  view.filter.text = "store";
  t.settle();
  CHECK(contains(t.text(), "1 of 5 nodes match"));
}
