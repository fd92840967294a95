// Keyboard state for panels, and the table of shortcuts that F1 shows. Independent of the versions
// of ImGui and of its GLFW backend. Threads: drawing thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace reprise::viewer {

enum class Key : std::uint8_t {
  Find,
  FindNext,
  FindPrevious,
  Home,
  Escape,
  Help,
  Pause,
  Follow,
  Left,
  Right,
  Up,
  Down,
  W,
  A,
  S,
  D,
  Shift,
  Open,
  Record,
  Picture,
  Bookmarks,
  Close,
  Critical,
  Enter,
  Shade,
  View1,  // the digits: see view_key()
  View2,
  View3,
  View4,
  View5,
  View6,
  View7,
  View8,
  View9,
  View10,
  Count  // number of keys
};
// The key of the view with this index in kViews (see views.hpp); empty: it has none.
[[nodiscard]] constexpr std::optional<Key> view_key(std::size_t index) {
  const auto key = static_cast<std::size_t>(Key::View1) + index;
  return key < static_cast<std::size_t>(Key::Count) ? std::optional(static_cast<Key>(key))
                                                    : std::nullopt;
}

// True if the key was pressed in this frame; key repeat counts for movement keys. False while a
// text field has the focus, except for Escape, Help and the search keys.
[[nodiscard]] bool is_pressed(Key key);
// True while the key is held; the same exception applies while a text field has the focus.
[[nodiscard]] bool is_down(Key key);

struct KeyHelp {
  std::string keys, description;
};
// The shortcuts that F1 shows, including mouse gestures.
[[nodiscard]] std::span<const KeyHelp> key_help();

// Reports a key event. Called by the window's key callback and by tests; `glfw_key` and `mods` are
// GLFW values.
void on_key_event(int glfw_key, bool down, bool repeat, int mods);
// Clears the presses of this frame; called at the end of each frame.
void clear_key_presses();

// The keys of one user.
struct KeyState {
  std::array<bool, static_cast<std::size_t>(Key::Count)> pressed{}, down{};
};
// Exchanges the keys that the functions above report: a process that draws for several users swaps
// each one's in for the time of a frame.
void swap_keys(KeyState& keys);

}  // namespace reprise::viewer
