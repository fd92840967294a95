#include "panels/shared/keys.hpp"

#include <array>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

#include <imgui.h>

#include "panels/shared/views.hpp"

namespace reprise::viewer {

namespace {

constexpr int kShiftMod = 1, kControlMod = 2, kAltMod = 4;  // GLFW modifier bits

struct Binding {
  int glfw_key;
  int mods;  // required modifier bits; kAnyMods: any
  Key key;
};
constexpr int kAnyMods = -1;

constexpr Binding kBindings[] = {
    {'F', kControlMod, Key::Find},
    {292, 0, Key::FindNext},  // F3
    {292, kShiftMod, Key::FindPrevious},
    {'G', kControlMod, Key::FindNext},
    {268, kAnyMods, Key::Home},
    {256, kAnyMods, Key::Escape},
    {290, kAnyMods, Key::Help},  // F1
    {32, 0, Key::Pause},
    {'F', 0, Key::Follow},
    {263, kAnyMods, Key::Left},
    {262, kAnyMods, Key::Right},
    {265, kAnyMods, Key::Up},
    {264, kAnyMods, Key::Down},
    {'W', 0, Key::W},
    {'W', kShiftMod, Key::W},
    {'A', 0, Key::A},
    {'S', 0, Key::S},
    {'S', kShiftMod, Key::S},
    {'D', 0, Key::D},
    {'O', kControlMod, Key::Open},
    {'S', kControlMod, Key::Record},
    {'P', kControlMod, Key::Picture},
    {'B', kControlMod, Key::Bookmarks},
    {'W', kControlMod, Key::Close},
    {'C', 0, Key::Critical},
    {257, kAnyMods, Key::Enter},
    {335, kAnyMods, Key::Enter},  // keypad
    {'L', 0, Key::Shade},
    {340, kAnyMods, Key::Shift},
    {344, kAnyMods, Key::Shift},
    {'1', 0, Key::View1},
    {'2', 0, Key::View2},
    {'3', 0, Key::View3},
    {'4', 0, Key::View4},
    {'5', 0, Key::View5},
    {'6', 0, Key::View6},
    {'7', 0, Key::View7},
    {'8', 0, Key::View8},
    {'9', 0, Key::View9},
    {'0', 0, Key::View10},
};

KeyState key_state;

bool moves(Key key) {
  return key == Key::Left || key == Key::Right || key == Key::Up || key == Key::Down ||
         key == Key::FindNext || key == Key::FindPrevious;
}

// Keys that stay active while a text field has the focus.
bool works_in_text(Key key) {
  return key == Key::Escape || key == Key::Help || key == Key::Find || key == Key::FindNext ||
         key == Key::FindPrevious;
}

bool is_active(Key key) {
  return works_in_text(key) || ImGui::GetCurrentContext() == nullptr ||
         !ImGui::GetIO().WantTextInput;
}

// "1   2   3", "graph, replays, timeline": the keys of a row of tabs.
KeyHelp help_of(TabRow row) {
  KeyHelp help;
  for (std::size_t i = 0; i < std::size(kViews); ++i) {
    const std::optional<char> digit = view_digit(i);
    if (kViews[i].row != row || !digit) continue;
    std::string title = kViews[i].title;
    title[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
    help.keys += (help.keys.empty() ? "" : "   ") + std::string(1, *digit);
    help.description += (help.description.empty() ? "" : ", ") + title;
  }
  return help;
}

}  // namespace

bool is_pressed(Key key) {
  return key_state.pressed[static_cast<std::size_t>(key)] && is_active(key);
}

bool is_down(Key key) { return key_state.down[static_cast<std::size_t>(key)] && is_active(key); }

void on_key_event(int glfw_key, bool down, bool repeat, int mods) {
  for (const Binding& binding : kBindings) {
    if (binding.glfw_key != glfw_key) continue;
    const auto key = static_cast<std::size_t>(binding.key);
    if (!down) {
      key_state.down[key] = false;
      continue;
    }
    if (binding.mods != kAnyMods && binding.mods != (mods & (kShiftMod | kControlMod | kAltMod)))
      continue;
    if (!repeat || moves(binding.key)) key_state.pressed[key] = true;
    key_state.down[key] = true;
  }
}

void clear_key_presses() { key_state.pressed.fill(false); }

void swap_keys(KeyState& keys) { std::swap(key_state, keys); }

std::span<const KeyHelp> key_help() {
  static const std::vector<KeyHelp> kHelp = {
      {"Ctrl+F", "search: words, step.cpp:12, kernel:gemm, median>10us, -copy, /a.*b/"},
      {"F3   Shift+F3", "next and previous match"},
      {"Esc", "clear the selection, then the search, then the range of replays"},
      {"Left   Right", "previous and next sampled replay"},
      help_of(TabRow::Upper),
      help_of(TabRow::Lower),
      {"C", "highlight the critical path"},
      {"Space", "pause: freeze the view; the trace keeps recording"},
      {"F", "follow the newest replays"},
      {"L", "light or dark theme"},
      {"Home", "fit to view; in the timeline the replay, then the recording"},
      {"W   A   S   D", "pan; Shift+W, Shift+S: zoom. In the timeline W and S zoom"},
      {"Wheel", "zoom at the cursor"},
      {"Right drag", "pan; a right click opens a menu"},
      {"Middle drag", "zoom to the dragged area"},
      {"Left drag", "in the replay strip: select a range; in the timeline: a span, row heights"},
      {"Click", "select in all panels"},
      {"Double-click",
       "scroll to the item; a tab: fill the window, and back; a splitter or a row height: reset"},
      {"Ctrl+O   Ctrl+W", "open or compare another trace; back to the start page"},
      {"Ctrl+S", "live: record to file"},
      {"Ctrl+B", "bookmarks: return to a note on a node, a replay or a span of the timeline"},
      {"Ctrl+P", "save a picture of the window (PNG)"},
      {"Ctrl+C   Ctrl+Shift+C", "in a table: copy the selected row, or all rows, as CSV"},
      {"F1", "keyboard and mouse shortcuts"},
  };
  return kHelp;
}

}  // namespace reprise::viewer
