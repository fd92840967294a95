// InputQueue: the input of a browser for Dear ImGui, which takes the state of a frame: what must
// not be in one frame (a press and its release, a text and a key that edits it) is spread over
// several. A text after a shortcut waits for the field that the shortcut opens, a few frames at
// most. Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <imgui.h>

namespace reprise::viewer {

struct BrowserKey;  // a row of the table of keys

class InputQueue {
 public:
  // Adds the events of an "input" message. Throws ProtocolError for anything else, and if the
  // queue is full.
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
  struct Move {
    float x, y;
  };
  struct Leave {};
  struct Button {
    std::size_t button;
    bool down;
  };
  struct Wheel {
    float x, y;
  };
  struct KeyEvent {
    const BrowserKey* key;
    bool down;
  };
  struct Text {
    std::string text;
  };
  struct Focus {
    bool has;
  };
  struct Device {
    bool is_touch;
  };
  struct Paste {
    std::string text;
  };
  using Event = std::variant<Move, Leave, Button, Wheel, KeyEvent, Text, Focus, Device, Paste>;
  struct Frame;

  void push(Event event);
  [[nodiscard]] static Event event_of(const nlohmann::ordered_json& json);
  [[nodiscard]] bool fits(const Frame& frame, const Event& event) const;
  void apply(ImGuiIO& io, const KeyEvent& event);
  void apply(ImGuiIO& io, const Button& event);
  void release_all(ImGuiIO& io);
  // A finger that drags (as the right button) scrolls a window that can. Returns whether it does.
  [[nodiscard]] bool begin_scroll();
  void scroll(const ImGuiIO& io, ImVec2 to);
  void end_scroll();

  std::deque<Event> events_;
  bool is_touch_ = false;
  ImGuiID scrolled_ = 0;  // the window under the finger; 0: none
  bool has_scrolled_ = false, is_click_ = false;
  bool buttons_[3] = {};
  std::vector<const BrowserKey*> held_;
  int text_delay_ = 0;  // frames that a text waits for a field
};

}  // namespace reprise::viewer
