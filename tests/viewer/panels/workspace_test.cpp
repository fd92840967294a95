// The whole workspace without a window: real traces, simulated mouse and keys.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "panels/workspace/workspace.hpp"
#include "support/paths.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_writer.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/recorded_trace.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::HandMadeTrace;
using reprise::test::ImGuiFixture;

namespace {

constexpr double kTimeout = 120;  // seconds; only a hang takes this long
constexpr int kRight = 262, kLeft = 263, kEscape = 256, kHome = 268, kF1 = 290, kF3 = 292,
              kControl = 2, kShift = 1;

std::string hand_made_file() {
  const auto path = test::scratch_folder() / "workspace.reprise";
  if (!std::filesystem::exists(path)) test::write_hand_made_trace(path);
  return path.string();
}

struct WorkspaceTest {
  explicit WorkspaceTest(const std::string& file, ImVec2 size = {1600, 900},
                         const std::string& compared = {})
      : context(size),
        feed(std::make_shared<model::TraceFeed>(model::TraceFeedDesc{.target = file})),
        other(compared.empty()
                  ? nullptr
                  : std::make_shared<model::TraceFeed>(model::TraceFeedDesc{.target = compared})),
        workspace(feed, other, background) {}
  ~WorkspaceTest() { background.wait_until_idle(); }

  void draw() {
    context.frame([this] {
      workspace.handle_keys();
      workspace.draw(context.theme, layout);
    });
  }
  // Draws until all view models of the document are ready.
  void settle() {
    REQUIRE(feed->wait_until_ready(kTimeout));
    if (other) REQUIRE(other->wait_until_ready(kTimeout));
    draw();
    for (int i = 0; i < 1000 && !workspace.is_settled(); ++i) {
      background.wait_until_idle();
      draw();
    }
    background.wait_until_idle();
    draw();
    REQUIRE(workspace.is_settled());
  }
  void press(int key, int mods = 0) {
    on_key_event(key, true, false, mods);
    draw();
    on_key_event(key, false, false, mods);
    draw();
  }
  std::string text() {
    std::string all;
    context.frame([&] {
      workspace.handle_keys();
      ImGuiFixture::start_log();
      workspace.draw(context.theme, layout);
      all = context.take_log();
    });
    return all;
  }

  ImGuiFixture context;
  Background background{1};
  WorkspaceLayout layout;
  std::shared_ptr<model::TraceFeed> feed, other;
  Workspace workspace;
};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("workspace: view_named() accepts the view names of the command line") {
  for (const char* name : {"graph", "replays", "timeline", "nodes", "memory", "sync", "compare"})
    CHECK(view_named(name));
  CHECK_FALSE(view_named("nothing"));
}

TEST_CASE("workspace: a trace draws at every size and in every view") {
  for (const ImVec2 size : {ImVec2{400, 300}, ImVec2{700, 500}, ImVec2{1600, 900},
                            ImVec2{3840, 2160}, ImVec2{120, 80}}) {
    WorkspaceTest t(hand_made_file(), size);
    t.settle();
    for (const char* name :
         {"graph", "replays", "timeline", "nodes", "memory", "sync", "compare"}) {
      CAPTURE(name);
      t.workspace.show(*view_named(name));
      t.settle();
      CHECK(t.context.is_drawable());
    }
  }
}

TEST_CASE("workspace: the graph with the most replays is shown first") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  CHECK(t.workspace.view().graph == model::GraphKey{HandMadeTrace::kStep, 1});
  const std::string text = t.text();
  CHECK(has(text, "step"));
  CHECK(has(text, "p50"));
  CHECK(has(text, "ready"));
}

TEST_CASE("workspace: the top bar shows the number of lost records") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  CHECK(has(t.text(), "lost 12"));
}

TEST_CASE("workspace: a missing file shows an error") {
  for (const ImVec2 size : {ImVec2{400, 300}, ImVec2{1600, 900}}) {
    WorkspaceTest t((test::scratch_folder() / "no such file.reprise").string(), size);
    t.draw();
    REQUIRE(t.feed->wait_until_ready(kTimeout));
    t.draw();
    const std::string text = t.text();
    CHECK(has(text, "Cannot open"));
    CHECK(has(text, "no such file"));
    CHECK(t.context.is_drawable());
  }
}

TEST_CASE("workspace: a file that is not a trace shows an error") {
  const auto path = test::scratch_folder() / "garbage.reprise";
  std::ofstream(path) << "this is not a trace at all, and long enough to look like one";
  WorkspaceTest t(path.string());
  REQUIRE(t.feed->wait_until_ready(kTimeout));
  t.draw();
  CHECK(has(t.text(), "garbage"));
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
  REQUIRE(t.feed->wait_until_ready(kTimeout));
  t.draw();
  const std::string text = t.text();
  CHECK(has(text, "No graph in"));
  CHECK(has(text, "another profiler has it"));
  CHECK_FALSE(has(text, "by the way"));
}

TEST_CASE("workspace: a missing session shows its address") {
  WorkspaceTest t("127.0.0.1:1");
  t.draw();
  CHECK(t.context.is_drawable());
  t.feed->wait_until_ready(kTimeout);
  t.draw();
  CHECK(has(t.text(), "127.0.0.1"));
}

TEST_CASE("workspace: F3 and Shift+F3 select the next and the previous match") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  t.workspace.view().filter.text = "blur";
  t.settle();
  t.press(kF3);
  const auto* node = std::get_if<model::SelectedNode>(&t.workspace.view().selection);
  REQUIRE(node != nullptr);
  CHECK(node->node == 2);
  t.workspace.view().filter.text = "o";  // load, forward: nodes 0 to 2, store: 4
  t.settle();
  t.press(kF3);
  CHECK(std::get<model::SelectedNode>(t.workspace.view().selection).node != 2);
  t.press(kF3, kShift);
  CHECK(std::get<model::SelectedNode>(t.workspace.view().selection).node == 2);
}

TEST_CASE("workspace: Ctrl+F focuses the search field, and typed text sets the filter") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  t.press('F', kControl);
  t.draw();
  CHECK(ImGui::GetIO().WantTextInput);
  t.context.type("sum");
  t.draw();
  CHECK(t.workspace.view().filter.text == "sum");
  t.settle();
  CHECK(has(t.text(), "1 of 5"));
}

TEST_CASE("workspace: Escape clears the selection, then the search, then the range") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  view.select(model::SelectedNode{view.graph, 1});
  view.filter.text = "blur";
  view.range = {3, 10};
  t.settle();
  t.press(kEscape);
  CHECK(std::holds_alternative<std::monostate>(view.selection));
  CHECK(view.filter.text == "blur");
  t.press(kEscape);
  CHECK(view.filter.text.empty());
  CHECK(view.has_range());
  t.press(kEscape);
  CHECK_FALSE(view.has_range());
}

TEST_CASE("workspace: Left and Right select the adjacent replay and stop at the ends") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  t.press(kRight);  // the newest replay is shown already
  CHECK_FALSE(view.replay);
  t.press(kLeft);
  REQUIRE(view.replay);
  CHECK(*view.replay == HandMadeTrace::kStepReplays - 1);
  t.settle();
  t.press(kLeft);
  CHECK(*view.replay == HandMadeTrace::kStepReplays - 2);
  view.replay = 1;
  t.settle();
  t.press(kLeft);
  CHECK(*view.replay == 1);
}

TEST_CASE("workspace: number keys select tabs, and C toggles the critical path") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  t.press('2');
  CHECK(view.upper == UpperTab::Timeline);
  t.press('3');
  CHECK(view.upper == UpperTab::Sync);
  t.press('7');
  CHECK(view.lower == LowerTab::Messages);
  t.press('1');
  t.press('4');
  CHECK(view.upper == UpperTab::Graph);
  CHECK(view.lower == LowerTab::Nodes);
  const bool marked = view.critical_path;
  t.press('C');
  CHECK(view.critical_path != marked);
}

TEST_CASE("workspace: F1 shows the shortcuts until Escape") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  CHECK_FALSE(has(t.text(), "Keyboard and mouse"));
  ViewState& view = t.workspace.view();
  view.selection = model::SelectedNode{view.graph, 1};
  t.press(kF1);
  const int with_help = t.context.vertices();
  t.press(kEscape);
  t.draw();
  CHECK(t.context.vertices() < with_help);
  CHECK_FALSE(
      std::holds_alternative<std::monostate>(view.selection));  // Escape closed only the help
}

TEST_CASE("workspace: a change of the graph clears range and replay") {
  WorkspaceTest t(hand_made_file());
  t.settle();
  ViewState& view = t.workspace.view();
  view.range = {3, 10};
  view.replay = 7;
  t.settle();
  view.graph = {HandMadeTrace::kOther, 1};
  t.settle();
  CHECK_FALSE(view.has_range());
  CHECK_FALSE(view.replay);
  CHECK(view.graph == model::GraphKey{HandMadeTrace::kOther, 1});  // the user's choice is kept
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
  const auto drag = [&](ImVec2 from, ImVec2 to) {
    t.context.move_mouse(from);
    t.draw();
    t.context.hold_button(0);
    t.draw();
    t.context.move_mouse(to);
    t.draw();
    t.draw();
    t.context.release_button(0);
    t.draw();
  };
  const float strip = 40 + t.context.theme.splitter + t.layout.strip + t.context.theme.splitter / 2;
  drag({800, strip}, {800, strip + 60});
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
  CHECK(t.workspace.view().lower == LowerTab::Compare);
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
  CHECK(has(t.text(), "frame"));
}
