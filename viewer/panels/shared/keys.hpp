// Keys, whatever the version of ImGui and of its GLFW backend: what panels ask for, and the table
// that F1 shows. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <span>

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
  Close,
  Critical,
  Enter,
  Shade,
  TabGraph,
  TabTimeline,
  TabSync,
  TabNodes,
  TabMemory,
  TabCompare,
  TabMessages,
  Count  // no key
};

// Pressed in this frame (repeats count for movement). False while text is being typed, except for
// Escape, Help, and the keys of the search.
[[nodiscard]] bool is_pressed(Key key);
// Is held down now; false while text is being typed.
[[nodiscard]] bool is_down(Key key);

struct KeyHelp {
  const char *keys, *what;
};
// What F1 shows, the mouse included.
[[nodiscard]] std::span<const KeyHelp> key_help();

// How the window tells: called by the window's key callback, and by tests. `glfw_key` and `mods` as
// GLFW numbers them.
void note_key(int glfw_key, bool down, bool repeat, int mods);
// Forgets presses, at the end of each frame.
void end_key_frame();

}  // namespace reprise::viewer
