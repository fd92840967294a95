#include <doctest/doctest.h>

#include "panels/shared/views.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise::viewer;
namespace test = reprise::test;

namespace {

struct KeysTest {
  reprise::test::ImGuiFixture context{{200, 200}};
  ~KeysTest() {
    for (const int key : {static_cast<int>('F'), static_cast<int>('W'), test::kF1, test::kF3,
                          test::kLeft, test::kEscape, 32})
      on_key_event(key, false, false, 0);
    clear_key_presses();
  }
};

}  // namespace

TEST_CASE("keys: a modifier selects a different binding") {
  const KeysTest t;
  on_key_event('F', true, false, test::kControl);
  CHECK(is_pressed(Key::Find));
  CHECK_FALSE(is_pressed(Key::Follow));
  on_key_event('F', false, false, test::kControl);
  clear_key_presses();
  on_key_event('F', true, false, 0);
  CHECK_FALSE(is_pressed(Key::Find));
  CHECK(is_pressed(Key::Follow));
  on_key_event(test::kF3, true, false, test::kShift);
  CHECK(is_pressed(Key::FindPrevious));
  CHECK_FALSE(is_pressed(Key::FindNext));
  on_key_event('W', true, false, test::kControl);
  CHECK(is_pressed(Key::Close));
  CHECK_FALSE(is_down(Key::W));
}

TEST_CASE("keys: a press lasts one frame, and the key stays down until its release") {
  const KeysTest t;
  on_key_event('W', true, false, 0);
  CHECK(is_pressed(Key::W));
  clear_key_presses();
  CHECK_FALSE(is_pressed(Key::W));
  CHECK(is_down(Key::W));
  on_key_event('W', false, false, 0);
  CHECK_FALSE(is_down(Key::W));
}

TEST_CASE("keys: key repeat counts only for movement keys") {
  const KeysTest t;
  on_key_event(test::kLeft, true, true, 0);
  on_key_event(32, true, true, 0);
  CHECK(is_pressed(Key::Left));
  CHECK_FALSE(is_pressed(Key::Pause));
}

TEST_CASE("keys: while a text field has the focus only search keys, Escape and F1 work") {
  const KeysTest t;
  ImGui::GetIO().WantTextInput = true;
  on_key_event('F', true, false, 0);
  on_key_event(32, true, false, 0);
  on_key_event(test::kEscape, true, false, 0);
  on_key_event(test::kF1, true, false, 0);
  on_key_event(test::kF3, true, false, 0);
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
    CHECK_FALSE(help.keys.empty());
    CHECK_FALSE(help.description.empty());
  }
}

TEST_CASE("keys: the first ten views have a digit as their key, later ones none") {
  CHECK(view_digit(0) == '1');
  CHECK(view_digit(9) == '0');
  CHECK_FALSE(view_digit(10));
  CHECK(view_key(9) == Key::View10);
  CHECK_FALSE(view_key(10));
}
