// The input of a browser, as a text field of Dear ImGui takes it.
#include "serve/input_queue.hpp"

#include <doctest/doctest.h>

#include <string>

#include <nlohmann/json.hpp>

#include "panels/shared/keys.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::test;
using namespace reprise::viewer;

namespace {

using Json = nlohmann::ordered_json;

// A text field that F focuses in the frame after the key, with Ctrl and without, as those of the
// viewer.
class SearchField : public ImGuiFixture {
 public:
  SearchField() {
    ImGuiIO& io = ImGui::GetIO();
    InputQueue::set_up(io);
    io.ConfigInputTextCursorBlink = false;
  }
  void draw() {
    queue.apply(ImGui::GetIO(),
                [](const std::string& text) { ImGui::SetClipboardText(text.c_str()); });
    window([&] {
      if (is_focused_next_) ImGui::SetKeyboardFocusHere();
      ImGui::InputText("field", typed, sizeof typed);
      is_focused_next_ = is_pressed(Key::Find) || is_pressed(Key::Follow);
    });
  }
  // Returns the frames until the events are applied and shown; at most 50.
  int draw_all(const Json& events) {
    queue.add(events);
    int frames = 0;
    for (; frames < 50 && !queue.empty(); ++frames) draw();
    draw();
    return frames;
  }
  void focus() {
    is_focused_next_ = true;
    for (int i = 0; i < 3; ++i) draw();
    REQUIRE(ImGui::GetIO().WantTextInput);
  }

  InputQueue queue;
  char typed[64] = "";

 private:
  bool is_focused_next_ = false;
};

const Json kControlDown = {"k", "ControlLeft", true}, kControlUp = {"k", "ControlLeft", false};

}  // namespace

TEST_CASE("input queue: a text directly before and after a shortcut is typed") {
  SearchField field;
  field.focus();
  field.draw_all({{"t", "first"},
                  kControlDown,
                  {"k", "KeyA", true},
                  {"k", "KeyA", false},
                  {"k", "KeyX", true},
                  {"k", "KeyX", false},
                  kControlUp,
                  {"t", "second"},
                  kControlDown,
                  kControlUp,
                  {"k", "ShiftLeft", true},
                  {"t", "?"},
                  {"k", "ShiftLeft", false}});
  CHECK(std::string(ImGui::GetClipboardText()) == "first");
  CHECK(std::string(field.typed) == "second?");
}

TEST_CASE("input queue: a text after a shortcut waits for the field that the shortcut opens") {
  SearchField field;
  field.draw();
  field.draw_all(
      {kControlDown, {"k", "KeyF", true}, {"k", "KeyF", false}, kControlUp, {"t", "blur"}});
  CHECK(std::string(field.typed) == "blur");
}

TEST_CASE("input queue: a text after a shortcut that opens no field waits for a few frames") {
  SearchField field;
  field.draw();
  CHECK(field.draw_all(
            {kControlDown, {"k", "KeyC", true}, {"k", "KeyC", false}, kControlUp, {"t", "a"}}) <=
        10);
  CHECK(field.queue.empty());
}

TEST_CASE("input queue: the text of a key that opens a field does not land in it") {
  SearchField field;
  field.draw();
  field.draw_all({{"k", "KeyF", true}, {"t", "f"}, {"k", "KeyF", false}});
  for (int i = 0; i < 3; ++i) field.draw();
  REQUIRE(ImGui::GetIO().WantTextInput);
  CHECK(std::string(field.typed).empty());
}

TEST_CASE("input queue: a text and the keys around it are applied in their order") {
  SearchField field;
  field.focus();
  field.draw_all({{"t", "ab"},
                  {"k", "Backspace", true},
                  {"k", "Backspace", false},
                  {"t", "c"},
                  {"k", "Home", true},
                  {"k", "Home", false},
                  {"t", "d"}});
  CHECK(std::string(field.typed) == "dac");
}
