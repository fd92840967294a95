// InputQueue: the input of a browser for Dear ImGui, which takes the state of a frame: what must
// not be in one frame (a press and its release, a text and a key that edits it) is spread over
// several. A text after a shortcut waits for the field that the shortcut opens, a few frames at
// most. Threads: drawing thread only.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <imgui.h>

namespace reprise::viewer {

class InputQueue {
 public:
  // Adds the events of an "input" message. Throws ProtocolError or nlohmann::json::exception for
  // anything else, and if the queue is full.
  void add(const nlohmann::ordered_json& events);
  // Text for the clipboard, in the order of the events.
  void add_paste(std::string text);
  // Forgets what waits, and releases buttons and keys in the next frame.
  void reset();
  [[nodiscard]] bool empty() const noexcept { return events_.empty(); }
  // A button or key is held.
  [[nodiscard]] bool is_held() const noexcept;

  // Sets the map of keys of a new context.
  static void set_up(ImGuiIO& io);
  // Applies the events of the next frame to the current context and the viewer's keys. `paste`
  // receives texts for the clipboard.
  void apply(ImGuiIO& io, const std::function<void(std::string)>& paste);

 private:
  enum class Kind : std::uint8_t { Move, Leave, Button, Wheel, Key, Text, Focus, Device, Paste };
  struct Event {
    Kind kind = Kind::Leave;
    float x = 0, y = 0;     // of Move and Wheel
    int code = 0;           // of Button; of Key as GLFW numbers it
    bool is_set = false;    // down, has the focus, is touch
    std::string text = {};  // of Text and Paste
  };
  struct Frame;

  [[nodiscard]] static Event event_of(const nlohmann::ordered_json& json);
  void push(Event event);
  [[nodiscard]] bool fits(const Frame& frame, const Event& event) const;
  void apply_key(ImGuiIO& io, int key, bool is_down);
  void apply_button(ImGuiIO& io, int button, bool is_down);
  void release_all(ImGuiIO& io);
  // A finger that drags (as the right button) scrolls a window that can. Returns whether it does.
  [[nodiscard]] bool begin_scroll();
  void scroll(const ImGuiIO& io, ImVec2 to);
  void end_scroll();

  std::deque<Event> events_;
  bool is_touch_ = false;
  ImGuiID scrolled_ = 0;  // the window under the finger; 0: none
  bool has_scrolled_ = false, is_click_ = false;
  std::array<bool, 3> buttons_ = {};
  std::set<int> held_;  // keys
  int text_delay_ = 0;  // frames that a text waits for a field
};

}  // namespace reprise::viewer
