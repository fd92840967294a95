// The keys of the workspace.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include "panels/workspace/workspace.hpp"
#include "support/contains.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/workspace_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::hand_made_file;
using reprise::test::HandMadeTrace;
using reprise::test::WorkspaceTest;
using test::contains;

TEST_CASE("workspace: F3 and Shift+F3 select the next and the previous match") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  t.workspace.view().filter.text = "blur";
  t.settle();
  t.press(test::kF3);
  const auto* node = std::get_if<model::SelectedNode>(&t.workspace.view().selection);
  REQUIRE(node != nullptr);
  CHECK(node->node == 2);
  t.workspace.view().filter.text = "o";  // load, forward: nodes 0 to 2, store: 4
  t.settle();
  t.press(test::kF3);
  CHECK(std::get<model::SelectedNode>(t.workspace.view().selection).node != 2);
  t.press(test::kF3, test::kShift);
  CHECK(std::get<model::SelectedNode>(t.workspace.view().selection).node == 2);
}

TEST_CASE("workspace: Ctrl+F focuses the search field, and typed text sets the filter") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  t.press('F', test::kControl);
  t.draw();
  CHECK(ImGui::GetIO().WantTextInput);
  t.context.type("sum");
  t.draw();
  CHECK(t.workspace.view().filter.text == "sum");
  t.settle();
  CHECK(contains(t.text(), "1 of 5"));
}

TEST_CASE("workspace: Escape clears the selection, then the search, then the range") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  view.select(model::SelectedNode{view.graph, 1});
  view.filter.text = "blur";
  view.range = {3, 10};
  t.settle();
  t.press(test::kEscape);
  CHECK(std::holds_alternative<std::monostate>(view.selection));
  CHECK(view.filter.text == "blur");
  t.press(test::kEscape);
  CHECK(view.filter.text.empty());
  CHECK(view.has_range());
  t.press(test::kEscape);
  CHECK_FALSE(view.has_range());
  view.range.durations = model::DurationBounds{.min = 1, .max = 2};
  t.press(test::kEscape);
  CHECK_FALSE(view.has_range());
}

TEST_CASE("workspace: Left and Right select the adjacent replay and stop at the ends") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  t.press(test::kRight);  // the newest replay is shown already
  CHECK_FALSE(view.replay);
  t.press(test::kLeft);
  REQUIRE(view.replay);
  CHECK(*view.replay == HandMadeTrace::kStepReplays - 1);
  t.settle();
  t.press(test::kLeft);
  CHECK(*view.replay == HandMadeTrace::kStepReplays - 2);
  view.replay = 1;
  t.settle();
  t.press(test::kLeft);
  CHECK(*view.replay == 1);
}

TEST_CASE("workspace: Left and Right keep a selected node") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  view.select(model::SelectedNode{view.graph, 2});
  t.press(test::kLeft);
  REQUIRE(view.replay);
  CHECK(view.selection == model::Selection{model::SelectedNode{view.graph, 2}});
  view.selection = {};
  t.settle();
  t.press(test::kLeft);
  CHECK(view.selection == model::Selection{model::SelectedReplay{view.graph, *view.replay}});
}

TEST_CASE("workspace: number keys select tabs, and C toggles the critical path") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  for (std::size_t i = 0; i < std::size(kViews); ++i) {
    CAPTURE(kViews[i].name);
    t.press(*view_digit(i));
    CHECK((kViews[i].row == TabRow::Upper ? view.upper : view.lower) == kViews[i].view);
  }
  t.press('1');
  CHECK(view.upper == View::Graph);
  CHECK(view.lower == View::Graphs);
  const bool marked = view.critical_path;
  t.press('C');
  CHECK(view.critical_path != marked);
}

TEST_CASE("workspace: F1 shows the shortcuts until Escape") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  CHECK_FALSE(contains(t.text(), "Keyboard and mouse"));
  ViewState& view = t.workspace.view();
  view.selection = model::SelectedNode{view.graph, 1};
  t.press(test::kF1);
  const int with_help = t.context.vertices();
  t.press(test::kEscape);
  t.draw();
  CHECK(t.context.vertices() < with_help);
  CHECK_FALSE(
      std::holds_alternative<std::monostate>(view.selection));  // Escape closed only the help
}

TEST_CASE("workspace: Ctrl+B lists the bookmarks of the trace, and Escape closes the list") {
  const auto path = test::scratch_folder() / "bookmarked.reprise";
  if (!std::filesystem::exists(path)) test::write_hand_made_trace(path);
  std::ofstream(path.string() + ".notes.json") << R"({"format": "reprise notes", "version": 1,
             "notes": [{"graph": 3, "version": 1, "node": 2, "name": "blur", "text": "look here"}]})";
  WorkspaceTest t(path.string());
  t.settle();
  CHECK_FALSE(contains(t.text(), "Bookmark the selection"));
  t.press('B', test::kControl);
  test::check_in_order(t.text(), {"look here", "step, blur", "Bookmark the selection"});
  t.press(test::kEscape);
  CHECK_FALSE(contains(t.text(), "Bookmark the selection"));
}
