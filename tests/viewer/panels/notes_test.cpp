#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "panels/messages/message_list.hpp"
#include "panels/messages/note_bar.hpp"
#include "panels/shared/notes.hpp"
#include "support/paths.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::PanelFixture;

namespace {

const model::Selection kNode = model::SelectedNode{{3, 1}, 2},
                       kReplay = model::SelectedReplay{{3, 1}, 7},
                       kBuffer = model::SelectedBuffer{{3, 1}, 0};

// A path for a trace without a notes file.
std::filesystem::path fresh_trace(const char* name) {
  const auto path = test::scratch_folder() / name;
  std::filesystem::remove(notes_path(path));
  return path;
}

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("notes: parse_notes() restores what notes_text() wrote") {
  const std::vector<Note> notes = {
      {{3, 1}, Note::Target::Node, 2, "blur \"x\"", "slow since\nTuesday"},
      {{3, 2}, Note::Target::Replay, 12'345'678'901, {}, "odd"},
      {{}, Note::Target::Span, 0, "timeline at 1 ms", "stall", {1'000'000, 2'500'000}}};
  CHECK(parse_notes(notes_text(notes)) == notes);
  CHECK(parse_notes(notes_text({})).empty());
}

TEST_CASE("notes: parse_notes() throws on malformed input") {
  for (const char* text : {"", "{", "[]", "{}", R"({"format": "reprise notes"})",
                           R"({"format": "reprise notes", "version": 2, "notes": []})",
                           R"({"format": "reprise notes", "version": 1, "notes": [{}]})",
                           R"({"format": "reprise notes", "version": 1,
           "notes": [{"graph": 1, "version": 1, "node": 99999999999, "text": ""}]})",
                           R"({"format": "reprise notes", "version": 1,
           "notes": [{"graph": 4294967297, "version": 1, "node": 1, "text": ""}]})",
                           R"({"format": "reprise notes", "version": 1,
           "notes": [{"graph": 1, "version": 1, "node": 1.5, "text": ""}]})",
                           R"({"format": "reprise notes", "version": 1,
           "notes": [{"span": [0, 9223372036854775808], "text": ""}]})",
                           R"({"format": "reprise notes", "version": 1,
           "notes": [{"span": [5, 4], "text": ""}]})",
                           R"({"format": "reprise notes", "version": 1,
           "notes": [{"span": [5], "text": ""}]})"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)parse_notes(text), std::runtime_error);
  }
  CHECK_THROWS_AS((void)parse_notes(std::string(1'000'000, '[')), std::runtime_error);
}

TEST_CASE("notes: the notes file stores, replaces and removes notes") {
  const auto trace = fresh_trace("noted.reprise");
  Background background(1);
  {
    Notes notes(trace, background);
    background.wait_until_idle();
    CHECK(notes.is_read());
    CHECK(notes.error().empty());
    notes.set(kNode, "blur", "first");
    notes.set(kReplay, "replay 7", "odd one");
    notes.set(kBuffer, "x", "no note on a buffer");
    notes.set(kNode, "blur", "second");
    background.wait_until_idle();
  }
  Notes reloaded(trace, background);
  background.wait_until_idle();
  CHECK(reloaded.text_of(kNode) == "second");
  CHECK(reloaded.text_of(kReplay) == "odd one");
  CHECK(reloaded.text_of(kBuffer).empty());
  CHECK(reloaded.all().size() == 2);
  reloaded.set(kNode, "blur", "");
  background.wait_until_idle();
  CHECK(parse_notes(content(notes_path(trace))).size() == 1);
}

TEST_CASE("notes: the notes file is no more public than the trace") {
  using std::filesystem::perms;
  const auto trace = fresh_trace("private.reprise");
  std::ofstream(trace) << "a trace";
  const auto permissions_with = [&](perms of_trace) {
    std::filesystem::permissions(trace, of_trace);
    std::filesystem::remove(notes_path(trace));
    Background background(1);
    Notes notes(trace, background);
    notes.set(kNode, "blur", "secret");
    background.wait_until_idle();
    return std::filesystem::status(notes_path(trace)).permissions();
  };
  constexpr perms kOwner = perms::owner_read | perms::owner_write;
  CHECK(permissions_with(kOwner) == kOwner);
  CHECK((permissions_with(kOwner | perms::group_read | perms::others_read) & perms::owner_all) ==
        kOwner);
}

TEST_CASE("notes: a note set before the file is read is merged with the file") {
  const auto trace = fresh_trace("early.reprise");
  std::ofstream(notes_path(trace))
      << notes_text({{{3, 1}, Note::Target::Replay, 7, {}, "from before"},
                     {{3, 1}, Note::Target::Node, 2, "blur", "old"}});
  Background background(1);
  Notes notes(trace, background);
  notes.set(kNode, "blur", "new");
  background.wait_until_idle();
  CHECK(notes.text_of(kNode) == "new");
  CHECK(notes.text_of(kReplay) == "from before");
  CHECK(parse_notes(content(notes_path(trace))).size() == 2);
}

TEST_CASE("notes: a file that cannot be parsed is reported and not overwritten") {
  const auto trace = fresh_trace("strange.reprise");
  std::ofstream(notes_path(trace)) << "somebody's own notes";
  Background background(1);
  Notes notes(trace, background);
  background.wait_until_idle();
  CHECK_FALSE(notes.error().empty());
  notes.set(kNode, "blur", "new");
  background.wait_until_idle();
  CHECK(content(notes_path(trace)) == "somebody's own notes");
}

TEST_CASE("notes: a failed write sets error() and keeps the note in memory") {
  const auto trace = test::scratch_folder() / "no such folder" / "x.reprise";
  Background background(1);
  Notes notes(trace, background);
  background.wait_until_idle();
  notes.set(kNode, "blur", "new");
  background.wait_until_idle();
  CHECK(notes.error().find("cannot write") != std::string::npos);
  CHECK(notes.text_of(kNode) == "new");
}

TEST_CASE("notes: the message list shows notes first, with their targets") {
  const PanelFixture fixture;
  const std::vector<Note> notes = {{{3, 1}, Note::Target::Node, 2, "blur", "look here"},
                                   {{3, 1}, Note::Target::Node, 99, "gone", "nowhere"}};
  const MessageList list = make_message_list(*fixture.document, {}, 0xff, notes);
  REQUIRE(list.lines.size() >= 3);
  CHECK(list.counts[static_cast<std::size_t>(MessageRank::Note)] == 2);
  CHECK(list.lines[0].text == "look here");
  CHECK(list.lines[0].target == kNode);
  CHECK(list.lines[0].location == "step, blur");
  CHECK(std::holds_alternative<std::monostate>(list.lines[1].target));
}

TEST_CASE("notes: a span of the timeline has a note, and its name is its place") {
  const auto trace = fresh_trace("span.reprise");
  PanelFixture fixture;
  const trace::Time first = fixture.document->first;
  const model::Selection span = model::SelectedSpan{first + 1'000'000, first + 1'030'000};
  REQUIRE(Notes::can_have_one(span));
  Notes notes(trace, fixture.background);
  fixture.background.wait_until_idle();
  notes.set(span, "a place", "stall");
  fixture.background.wait_until_idle();
  CHECK(notes.text_of(span) == "stall");
  CHECK(notes.text_of(model::SelectedSpan{first, first + 5}).empty());
  const MessageList list = make_message_list(*fixture.document, {}, 0xff, notes.all());
  CHECK(list.lines[0].location == "timeline at 1.000 ms, 30.00 us");
  CHECK(list.lines[0].target == span);
}

TEST_CASE("bookmarks: an item for each note returns to it, and the last one notes the selection") {
  const auto trace = fresh_trace("bookmarks.reprise");
  PanelFixture fixture;
  Notes notes(trace, fixture.background);
  fixture.background.wait_until_idle();
  bool opens = true;
  const auto draw = [&] {
    if (std::exchange(opens, false)) ImGui::OpenPopup("list");
    if (!ImGui::BeginPopup("list")) return;
    PanelContext context = fixture.panel_context();
    draw_bookmark_items(context, notes);
    ImGui::EndPopup();
  };
  const auto choose = [&](const char* item) {
    opens = true;
    fixture.window(draw);
    fixture.choose(item, draw);
  };
  fixture.window(draw);
  CHECK(fixture.text(draw).find("No bookmarks") != std::string::npos);
  const model::GraphKey step{test::HandMadeTrace::kStep, 1}, other{test::HandMadeTrace::kOther, 1};
  const model::Selection node = model::SelectedNode{step, 2},
                         replay = model::SelectedReplay{other, 3},
                         span = model::SelectedSpan{fixture.document->first + 5,
                                                    fixture.document->first + 50};
  notes.set(node, "blur", "slow since Tuesday");
  notes.set(replay, "replay 3", "odd one");
  notes.set(span, "place", "stall");
  notes.set(model::SelectedNode{step, 999}, "gone", "no such node");
  fixture.view.show(View::Graph);
  choose("odd one");
  CHECK(fixture.view.selection == replay);
  CHECK(fixture.view.graph == other);
  CHECK(fixture.view.replay == 3);
  choose("slow since Tuesday");
  CHECK(fixture.view.selection == node);
  CHECK(fixture.view.graph == step);
  CHECK(fixture.view.upper == View::Graph);
  choose("stall");
  CHECK(fixture.view.selection == span);
  CHECK(fixture.view.upper == View::Timeline);
  choose("no such node");
  CHECK(fixture.view.selection == span);  // disabled
  choose("Bookmark the selection");
  CHECK(fixture.view.focus_note);
}

TEST_CASE("note bar: Bookmark moves the keyboard focus to the note") {
  const auto trace = fresh_trace("focus.reprise");
  PanelFixture fixture({600, 60});
  Notes notes(trace, fixture.background);
  fixture.background.wait_until_idle();
  NoteBar bar;
  fixture.view.selection = kNode;
  fixture.view.focus_note = true;
  const auto draw = [&] {
    PanelContext context = fixture.panel_context();
    bar.draw(context, notes);
  };
  for (int i = 0; i < 3; ++i) fixture.window(draw);
  CHECK_FALSE(fixture.view.focus_note);
  fixture.type("here");
  for (int i = 0; i < 2; ++i) fixture.window(draw);
  fixture.view.selection = kReplay;
  fixture.window(draw);
  CHECK(notes.text_of(kNode) == "here");
}

TEST_CASE("note bar: a change of the selection saves the edited text") {
  const auto trace = fresh_trace("typed.reprise");
  PanelFixture fixture({600, 60});
  Notes notes(trace, fixture.background);
  fixture.background.wait_until_idle();
  NoteBar bar;
  fixture.view.selection = kNode;
  const auto draw = [&] {
    PanelContext context = fixture.panel_context();
    bar.draw(context, notes);
  };
  fixture.click({200, 20}, draw);
  fixture.type("why so slow");
  fixture.window(draw);
  fixture.view.selection = kReplay;
  fixture.window(draw);
  CHECK(notes.text_of(kNode) == "why so slow");
  CHECK(notes.text_of(kReplay).empty());
}
