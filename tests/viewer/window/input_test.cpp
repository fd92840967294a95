// Drives the window with real key, mouse and drag-and-drop events on a private display.
#include <doctest/doctest.h>

#include <GLFW/glfw3.h>
#include <imgui.h>

#include <X11/keysym.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "support/paths.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_writer.hpp"
#include "viewer/hand_made_ranks.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/recorded_trace.hpp"
#include "viewer/window/display_server.hpp"
#include "viewer/window/file_drag.hpp"
#include "viewer/window/viewer_session.hpp"

namespace fs = std::filesystem;
using namespace reprise;
using namespace reprise::test;

namespace {

const std::string& recorded() {
  static const std::string path = [] {
    const fs::path file = scratch_folder() / "recorded.reprise";
    write_recorded_trace(file);
    return file.string();
  }();
  return path;
}

const std::string& hand_made() {
  static const std::string path = [] {
    const fs::path file = scratch_folder() / "hand made.reprise";
    write_hand_made_trace(file);
    return file.string();
  }();
  return path;
}

constexpr std::uint64_t kSlowing = 60;

// Each replay takes 10 us longer than the previous one.
const std::string& slowing() {
  static const std::string path = [] {
    const fs::path file = scratch_folder() / "slowing.reprise";
    trace::TraceWriter writer;
    writer.add_sink(std::make_shared<trace::TraceFile>(trace::TraceFileDesc{.path = file}));
    trace::GraphVersion graph;
    graph.version = 1;
    graph.label = "slowing";
    graph.strings = {"", "node"};
    graph.labels = {{}};
    graph.nodes.emplace_back();
    graph.nodes.back().name = 1;
    writer.push(trace::Session{"node7", 4711, 1'700'000'000'000'000'000, trace::kNone, "slowing",
                               "slowing", "0.1.0", 0, {}, {}});
    writer.push(graph);
    trace::Time at = 1'000'000'000;
    for (std::uint64_t number = 1; number <= kSlowing; ++number) {
      trace::Replay replay;
      replay.version = 1;
      replay.replay = number;
      replay.launched = at;
      replay.launch_returned = replay.started = at + 1'000;
      replay.ended = replay.started + 100'000 + static_cast<trace::Time>(number) * 10'000;
      at = replay.ended + 1'000;
      writer.push(replay);
    }
    return file.string();
  }();
  return path;
}

std::string uri_path(std::string path) {
  for (std::size_t at; (at = path.find(' ')) != std::string::npos;) path.replace(at, 1, "%20");
  return path;
}

const model::SelectedNode* node_of(const model::Selection& selection) {
  return std::get_if<model::SelectedNode>(&selection);
}

// Regions of a 1600 x 900 window: the graph is in the upper left, the table in the lower left.
constexpr Place kUpperLeast{40, 210}, kUpperGreatest{1'100, 540};
constexpr Place kLowerLeast{40, 620}, kLowerGreatest{140, 830};  // within the first column
constexpr Place kStripLeft{300, 125}, kStripRight{900, 125};
constexpr Place kHistogramLeft{70, 600}, kHistogramMiddle{350, 600};  // in the replays view

Place seek_node(ViewerSession& session, Place min, Place max) {
  return session.seek(min, max, [&] { return node_of(session.view().hovered) != nullptr; });
}

void drop(ViewerSession& session, const std::vector<std::string>& paths) {
  std::vector<std::string> as_uris;
  for (const std::string& path : paths) as_uris.push_back(uri_path(path));
  FileDrag files(display_server().name(), session.x_window(), as_uris);
  REQUIRE(session.until([&] {
    files.advance();
    return files.is_finished();
  }));
}

}  // namespace

TEST_CASE("window: a trace is drawn, and the title has its name") {
  ViewerSession session(recorded());
  REQUIRE(session.settle());
  CHECK(session.application().title() == "recorded.reprise - Reprise");
  CHECK(session.until([&] { return session.user().colours(session.x_window()) > 50; }));
}

TEST_CASE("window: clicking a node in the graph selects it in all panels") {
  ViewerSession session(recorded());
  REQUIRE(session.settle());
  session.application().show(viewer::View::Graph);
  REQUIRE(session.settle());
  const Place place = seek_node(session, kUpperLeast, kUpperGreatest);
  REQUIRE(place.x >= 0);
  const model::SelectedNode hovered = *node_of(session.view().hovered);
  session.click(place);
  REQUIRE(session.until([&] { return node_of(session.view().selection) != nullptr; }));
  CHECK(*node_of(session.view().selection) == hovered);

  SUBCASE("and Escape lets go of it") {
    session.tap(XK_Escape);
    CHECK(session.until([&] { return node_of(session.view().selection) == nullptr; }));
  }
  SUBCASE("and a row of the table selects another") {
    session.application().show(viewer::View::Nodes);
    REQUIRE(session.settle());
    const auto is_another = [&](const model::Selection& what) {
      return node_of(what) && *node_of(what) != hovered;
    };
    const Place row = session.seek(kLowerLeast, kLowerGreatest,
                                   [&] { return is_another(session.view().hovered); });
    REQUIRE(row.x >= 0);
    session.click(row);
    CHECK(session.until([&] { return is_another(session.view().selection); }));
  }
}

TEST_CASE("window: a drag over the histogram selects the replays of these durations") {
  ViewerSession session(slowing());
  REQUIRE(session.settle());
  session.application().show(viewer::View::Replays);
  REQUIRE(session.settle());
  REQUIRE(!session.view().has_range());
  session.drag(kHistogramLeft, kHistogramMiddle, 1);
  REQUIRE(session.until([&] { return session.view().range.durations.has_value(); }));
  CHECK(session.view().range.covers_all_indices());
  const model::DurationBounds durations = *session.view().range.durations;
  CHECK(durations.min < durations.max);
}

TEST_CASE("window: zooming with the wheel keeps the point under the cursor") {
  ViewerSession session(recorded());
  REQUIRE(session.settle());
  session.application().show(viewer::View::Graph);
  REQUIRE(session.settle());
  const Place place = seek_node(session, kUpperLeast, kUpperGreatest);
  REQUIRE(place.x >= 0);
  const model::SelectedNode hovered = *node_of(session.view().hovered);
  const std::uint64_t before = session.drawn();
  session.wheel(place, 4);
  CHECK(session.drawn() != before);
  REQUIRE(node_of(session.view().hovered) != nullptr);
  CHECK(*node_of(session.view().hovered) == hovered);
}

TEST_CASE("window: Ctrl+F and typed text filter the nodes") {
  ViewerSession session(recorded());
  REQUIRE(session.settle());
  session.tap_with_control(XK_f);
  REQUIRE(session.until([&] { return ImGui::GetIO().WantTextInput; }));
  session.type("tile");
  CHECK(session.until([&] { return session.view().filter.text == "tile"; }));
}

TEST_CASE("window: a drag over the replay strip selects a range, and Escape clears it") {
  ViewerSession session(recorded());
  REQUIRE(session.settle());
  REQUIRE(!session.view().has_range());
  session.drag(kStripLeft, kStripRight, 1);
  REQUIRE(session.until([&] { return session.view().has_range(); }));
  CHECK(session.view().range.count > 1);
  CHECK(session.view().range.count < kRecordedReplays);
  session.tap(XK_Escape);
  CHECK(session.until([&] { return !session.view().has_range(); }));
}

TEST_CASE("window: F1 shows the keyboard shortcuts, and Escape hides them") {
  ViewerSession session(recorded());
  REQUIRE(session.settle());
  session.move({5, 5});
  REQUIRE(session.settle());
  const std::uint64_t before = session.drawn();
  session.tap(XK_F1);
  REQUIRE(session.until([&] { return session.drawn() != before; }));
  session.tap(XK_Escape);
  CHECK(session.until([&] { return session.drawn() == before; }));
}

TEST_CASE("window: L switches to the light shade, which is saved") {
  ViewerSession session;
  session.tap(XK_l);
  REQUIRE(
      session.until([&] { return session.window().ui().theme().shade == viewer::Shade::Light; }));
  CHECK(session.settings().shade == viewer::Shade::Light);
}

TEST_CASE("window: it can shrink to 400 x 300 and grow again") {
  ViewerSession session(recorded());
  REQUIRE(session.settle());
  session.resize(400, 300);
  REQUIRE(session.settle());
  CHECK(session.window().width() == 400);
  CHECK(session.window().height() == 300);
  CHECK(session.until([&] { return session.user().colours(session.x_window()) > 10; }));
  session.resize(1600, 900);
  CHECK(session.settle());
}

TEST_CASE("window: a file dropped on the start page is opened") {
  ViewerSession session;
  REQUIRE(session.application().workspace() == nullptr);
  drop(session, {hand_made()});
  REQUIRE(session.settle());
  CHECK(session.application().title() == "hand made.reprise - Reprise");
  CHECK(session.settings().recent.front().path == hand_made());
}

TEST_CASE("window: two dropped files are compared, and so is one dropped on an open trace") {
  ViewerSession session;
  SUBCASE("two at once") { drop(session, {recorded(), hand_made()}); }
  SUBCASE("one, then another") {
    drop(session, {recorded()});
    REQUIRE(session.settle());
    drop(session, {hand_made()});
  }
  REQUIRE(session.settle());
  CHECK(session.application().title() == "recorded.reprise against hand made.reprise - Reprise");
}

TEST_CASE("window: dropped traces of the ranks of one job are opened as one") {
  const auto ranks = HandMadeJob({.ranks = 3}).write_all(scratch_folder() / "ranks");
  ViewerSession session;
  drop(session, {ranks[1], ranks[0], ranks[2]});
  REQUIRE(session.settle());
  CHECK(session.application().title() == "rank-1.reprise - Reprise");
  CHECK(session.settings().recent.empty());
}

TEST_CASE("window: of several dropped files that are not of one job, the reason is shown") {
  const auto ranks = HandMadeJob({.ranks = 2}).write_all(scratch_folder() / "two ranks");
  ViewerSession session;
  drop(session, {ranks[0], ranks[1], hand_made()});
  REQUIRE(session.until([&] { return !session.application().error().empty(); }));
  CHECK(session.application().error().find("not the trace of a rank") != std::string::npos);
  CHECK(session.application().workspace() == nullptr);
}

TEST_CASE("window: a file that is not a trace leads back to the start page with the reason") {
  ViewerSession session;
  drop(session, {"/etc/hostname"});
  REQUIRE(session.until([&] { return !session.application().error().empty(); }));
  CHECK(session.application().workspace() == nullptr);
  CHECK(session.application().error().find("hostname") != std::string::npos);
  CHECK(session.settings().recent.empty());
}

TEST_CASE("window: it closes on request of the window manager and on Ctrl+Q") {
  ViewerSession session(recorded());
  REQUIRE(session.settle());
  SUBCASE("by the window manager") { session.user().ask_to_close(session.x_window()); }
  SUBCASE("by the keys") { session.tap_with_control(XK_q); }
  CHECK(session.until([&] { return session.window().wants_to_close(); }));
}

TEST_CASE("window: Ctrl+P saves a picture of the window") {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder = test::scratch_folder() / "pictures";
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  {
    ViewerSession session(recorded());
    REQUIRE(session.settle());
    session.tap_with_control(XK_p);
    CHECK(session.until([&] { return !std::filesystem::is_empty(folder); }));
  }
  std::filesystem::current_path(before);
  const auto picture = std::filesystem::directory_iterator(folder)->path();
  CHECK(picture.extension() == ".png");
  CHECK(std::filesystem::file_size(picture) > 10'000);
}

TEST_CASE("window: the whole trace is exported to the file that the dialog proposes") {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder = test::scratch_folder() / "exports";
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  {
    ViewerSession session(recorded());
    REQUIRE(session.settle());
    for (const auto& [format, name] :
         {std::pair{"csv", "recorded.csv"}, std::pair{"sqlite", "recorded.db"},
          std::pair{"perfetto", "recorded.perfetto-trace"}, std::pair{"dot", "recorded.dot"}}) {
      session.view().export_trace = format;
      REQUIRE(session.until([] { return ImGui::GetIO().WantTextInput; }));
      session.user().key_down(XK_Return);
      CHECK(session.until([&, file = name] { return std::filesystem::exists(folder / file); }));
      session.user().key_up(XK_Return);
      REQUIRE(session.until([] { return !ImGui::GetIO().WantTextInput; }));
    }
  }
  std::filesystem::current_path(before);
}

TEST_CASE("window: Ctrl+O opens a dialog that compares a trace with the shown one") {
  ViewerSession session(recorded());
  REQUIRE(session.settle());
  session.tap_with_control(XK_o);
  REQUIRE(session.until([] { return ImGui::GetIO().WantTextInput; }));
  session.tap(XK_Escape);
  CHECK(session.until([] { return !ImGui::GetIO().WantTextInput; }));
  CHECK(session.application().workspace() != nullptr);
}

TEST_CASE("window: Ctrl+O on the start page opens a dialog as well") {
  ViewerSession session;
  session.tap_with_control(XK_o);
  CHECK(session.until([] { return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup); }));
}

TEST_CASE("window: Ctrl+W leads back to the start page") {
  ViewerSession session(recorded());
  REQUIRE(session.settle());
  session.tap_with_control(XK_w);
  REQUIRE(session.until([&] { return session.application().workspace() == nullptr; }));
  CHECK(session.application().title() == "Reprise");
  CHECK(session.application().error().empty());
}
