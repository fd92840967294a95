#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "panels/messages/message_list.hpp"
#include "panels/shared/note_bar.hpp"
#include "panels/shared/notes.hpp"
#include "support/paths.hpp"
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
      {{3, 2}, Note::Target::Replay, 12'345'678'901, {}, "odd"}};
  CHECK(parse_notes(notes_text(notes)) == notes);
  CHECK(parse_notes(notes_text({})).empty());
}

TEST_CASE("notes: parse_notes() throws on malformed input") {
  for (const char* text : {"", "{", "[]", "{}", R"({"format": "reprise notes"})",
                           R"({"format": "reprise notes", "version": 2, "notes": []})",
                           R"({"format": "reprise notes", "version": 1, "notes": [{}]})",
                           R"({"format": "reprise notes", "version": 1,
           "notes": [{"graph": 1, "version": 1, "node": 99999999999, "text": ""}]})"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)parse_notes(text), std::runtime_error);
  }
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
