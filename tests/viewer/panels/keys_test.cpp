#include <doctest/doctest.h>

#include <cstring>

#include "viewer/panels/panel_fixture.hpp"

using namespace reprise::viewer;

namespace {

constexpr int kShift = 1, kControl = 2, kF1 = 290, kF3 = 292, kLeft = 263, kEscape = 256;

struct KeysTest {
  reprise::test::ImGuiFixture context{{200, 200}};
  ~KeysTest() {
    for (const int key :
         {static_cast<int>('F'), static_cast<int>('W'), kF1, kF3, kLeft, kEscape, 32})
      note_key(key, false, false, 0);
    end_key_frame();
  }
};

}  // namespace

TEST_CASE("keys: a modifier selects a different binding") {
  const KeysTest t;
  note_key('F', true, false, kControl);
  CHECK(is_pressed(Key::Find));
  CHECK_FALSE(is_pressed(Key::Follow));
  note_key('F', false, false, kControl);
  end_key_frame();
  note_key('F', true, false, 0);
  CHECK_FALSE(is_pressed(Key::Find));
  CHECK(is_pressed(Key::Follow));
  note_key(kF3, true, false, kShift);
  CHECK(is_pressed(Key::FindPrevious));
  CHECK_FALSE(is_pressed(Key::FindNext));
  note_key('W', true, false, kControl);
  CHECK(is_pressed(Key::Close));
  CHECK_FALSE(is_down(Key::W));
}

TEST_CASE("keys: a press lasts one frame, and the key stays down until its release") {
  const KeysTest t;
  note_key('W', true, false, 0);
  CHECK(is_pressed(Key::W));
  end_key_frame();
  CHECK_FALSE(is_pressed(Key::W));
  CHECK(is_down(Key::W));
  note_key('W', false, false, 0);
  CHECK_FALSE(is_down(Key::W));
}

TEST_CASE("keys: key repeat counts only for movement keys") {
  const KeysTest t;
  note_key(kLeft, true, true, 0);
  note_key(32, true, true, 0);
  CHECK(is_pressed(Key::Left));
  CHECK_FALSE(is_pressed(Key::Pause));
}

TEST_CASE("keys: while a text field has the focus only search keys, Escape and F1 work") {
  const KeysTest t;
  ImGui::GetIO().WantTextInput = true;
  note_key('F', true, false, 0);
  note_key(32, true, false, 0);
  note_key(kEscape, true, false, 0);
  note_key(kF1, true, false, 0);
  note_key(kF3, true, false, 0);
  CHECK_FALSE(is_pressed(Key::Follow));
  CHECK_FALSE(is_down(Key::Follow));
  CHECK_FALSE(is_pressed(Key::Pause));
  CHECK(is_pressed(Key::Escape));
  CHECK(is_pressed(Key::Help));
  CHECK(is_pressed(Key::FindNext));
}

TEST_CASE("keys: every line of the help has keys and a description") {
  CHECK(key_help().size() > 12);
  for (const KeyHelp& help : key_help()) {
    CHECK(std::strlen(help.keys) > 0);
    CHECK(std::strlen(help.description) > 0);
  }
}
