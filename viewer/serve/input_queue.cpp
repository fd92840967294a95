#include "serve/input_queue.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <imgui_internal.h>
#include <nlohmann/json.hpp>

#include "panels/shared/keys.hpp"
#include "serve/protocol.hpp"

namespace reprise::viewer {

// Physical keys: the name of browsers, the number of GLFW, and the key of ImGui, if it has one.
struct BrowserKey {
  std::string_view code;
  int glfw;
  int imgui = -1;
};

namespace {

constexpr std::size_t kMaxEvents = 4096, kMaxText = 64u << 10;
constexpr float kMaxPoint = 1e5f, kMaxNotches = 100;
constexpr int kShiftKey = 340, kControlKey = 341, kAltKey = 342, kSuperKey = 343;  // of GLFW, left
constexpr int kRightKeys = 4;  // distance to the right ones
constexpr int kFirstNamedKey = 256;  // keys below type letters, unless Ctrl is held
constexpr int kTextDelay = 8;        // frames; a shortcut opens its field within four

constexpr BrowserKey kKeys[] = {
    {"Space", 32, ImGuiKey_Space},
    {"Quote", 39},
    {"Comma", 44},
    {"Minus", 45},
    {"Period", 46},
    {"Slash", 47},
    {"Semicolon", 59},
    {"Equal", 61},
    {"BracketLeft", 91},
    {"Backslash", 92},
    {"BracketRight", 93},
    {"Backquote", 96},
    {"Escape", 256, ImGuiKey_Escape},
    {"Enter", 257, ImGuiKey_Enter},
    {"Tab", 258, ImGuiKey_Tab},
    {"Backspace", 259, ImGuiKey_Backspace},
    {"Insert", 260, ImGuiKey_Insert},
    {"Delete", 261, ImGuiKey_Delete},
    {"ArrowRight", 262, ImGuiKey_RightArrow},
    {"ArrowLeft", 263, ImGuiKey_LeftArrow},
    {"ArrowDown", 264, ImGuiKey_DownArrow},
    {"ArrowUp", 265, ImGuiKey_UpArrow},
    {"PageUp", 266, ImGuiKey_PageUp},
    {"PageDown", 267, ImGuiKey_PageDown},
    {"Home", 268, ImGuiKey_Home},
    {"End", 269, ImGuiKey_End},
    {"F1", 290},
    {"F2", 291},
    {"F3", 292},
    {"F4", 293},
    {"NumpadDecimal", 330},
    {"NumpadEnter", 335, ImGuiKey_KeyPadEnter},
    {"ShiftLeft", kShiftKey},
    {"ControlLeft", kControlKey},
    {"AltLeft", kAltKey},
    {"MetaLeft", kSuperKey},
    {"ShiftRight", kShiftKey + kRightKeys},
    {"ControlRight", kControlKey + kRightKeys},
    {"AltRight", kAltKey + kRightKeys},
    {"MetaRight", kSuperKey + kRightKeys},
    {"KeyA", 'A', ImGuiKey_A},
    {"KeyC", 'C', ImGuiKey_C},
    {"KeyV", 'V', ImGuiKey_V},
    {"KeyX", 'X', ImGuiKey_X},
    {"KeyY", 'Y', ImGuiKey_Y},
    {"KeyZ", 'Z', ImGuiKey_Z},
    {"KeyB", 'B'},
    {"KeyD", 'D'},
    {"KeyE", 'E'},
    {"KeyF", 'F'},
    {"KeyG", 'G'},
    {"KeyH", 'H'},
    {"KeyI", 'I'},
    {"KeyJ", 'J'},
    {"KeyK", 'K'},
    {"KeyL", 'L'},
    {"KeyM", 'M'},
    {"KeyN", 'N'},
    {"KeyO", 'O'},
    {"KeyP", 'P'},
    {"KeyQ", 'Q'},
    {"KeyR", 'R'},
    {"KeyS", 'S'},
    {"KeyT", 'T'},
    {"KeyU", 'U'},
    {"KeyW", 'W'},
    {"Digit0", '0'},
    {"Digit1", '1'},
    {"Digit2", '2'},
    {"Digit3", '3'},
    {"Digit4", '4'},
    {"Digit5", '5'},
    {"Digit6", '6'},
    {"Digit7", '7'},
    {"Digit8", '8'},
    {"Digit9", '9'},
};

// Null for a key that the viewer does not know.
const BrowserKey* key_of(std::string_view code) {
  const auto found = std::find_if(std::begin(kKeys), std::end(kKeys),
                                  [&](const BrowserKey& key) { return key.code == code; });
  return found == std::end(kKeys) ? nullptr : found;
}

// Changes what a text does: a modifier, or a key that edits.
bool is_named(const BrowserKey& key) { return key.glfw >= kFirstNamedKey; }

float within(const nlohmann::ordered_json& json, float limit) {
  if (!json.is_number()) throw ProtocolError("an input event has no number where one is needed");
  const double value = json.get<double>();
  return std::isfinite(value) ? static_cast<float>(std::clamp<double>(value, -limit, limit)) : 0;
}

bool flag(const nlohmann::ordered_json& json) {
  if (!json.is_boolean()) throw ProtocolError("an input event has no flag where one is needed");
  return json.get<bool>();
}

std::string text_of(const nlohmann::ordered_json& json) {
  if (!json.is_string()) throw ProtocolError("an input event has no text where one is needed");
  return json.get<std::string>();
}

}  // namespace

// What a frame has received so far.
struct InputQueue::Frame {
  bool has_moved = false, is_touch = false, has_text = false, has_named_key = false;
  bool buttons[3] = {};
  std::vector<const BrowserKey*> keys;

  [[nodiscard]] bool has_button() const { return buttons[0] || buttons[1] || buttons[2]; }
};

void InputQueue::add(const nlohmann::ordered_json& events) {
  if (!events.is_array()) throw ProtocolError("\"input\" has no list of events");
  for (const nlohmann::ordered_json& event : events) {
    if (!event.is_array() || event.empty() || !event[0].is_string())
      throw ProtocolError("an input event is no list that begins with its kind");
    push(event_of(event));
  }
}

void InputQueue::add_paste(std::string text) { push(Paste{std::move(text)}); }

void InputQueue::reset() { events_.assign(1, Focus{false}); }

InputQueue::Event InputQueue::event_of(const nlohmann::ordered_json& json) {
  const std::string kind = json[0].get<std::string>();
  const std::size_t values = json.size() - 1;
  if (kind == "m" && values == 2)
    return Move{within(json[1], kMaxPoint), within(json[2], kMaxPoint)};
  if (kind == "l" && values == 0) return Leave{};
  if (kind == "b" && values == 2) {
    const float button = within(json[1], kMaxPoint);
    if (button != 0 && button != 1 && button != 2)
      throw ProtocolError("an input event has an unknown button");
    return Button{static_cast<std::size_t>(button), flag(json[2])};
  }
  if (kind == "w" && values == 2)
    return Wheel{within(json[1], kMaxNotches), within(json[2], kMaxNotches)};
  if (kind == "k" && values == 2) return KeyEvent{key_of(text_of(json[1])), flag(json[2])};
  if (kind == "t" && values == 1) {
    std::string text = text_of(json[1]);
    if (text.size() > kMaxText) throw ProtocolError("a typed text is longer than 64 KiB");
    return Text{std::move(text)};
  }
  if (kind == "f" && values == 1) return Focus{flag(json[1])};
  if (kind == "d" && values == 1) return Device{within(json[1], kMaxPoint) == 1};
  throw ProtocolError("an input event has an unknown kind or number of values");
}

void InputQueue::push(Event event) {
  if (const auto* key = std::get_if<KeyEvent>(&event); key && !key->key) return;
  Event* const last = events_.empty() ? nullptr : &events_.back();
  if (last && std::holds_alternative<Move>(event) && std::holds_alternative<Move>(*last)) {
    *last = std::move(event);
    return;
  }
  if (const auto* wheel = std::get_if<Wheel>(&event)) {
    if (auto* before = last ? std::get_if<Wheel>(last) : nullptr) {
      before->x = std::clamp(before->x + wheel->x, -kMaxNotches, kMaxNotches);
      before->y = std::clamp(before->y + wheel->y, -kMaxNotches, kMaxNotches);
      return;
    }
  }
  if (events_.size() >= kMaxEvents)
    throw ProtocolError("more than 4,096 input events wait for a frame");
  events_.push_back(std::move(event));
}

bool InputQueue::is_held() const noexcept {
  return buttons_[0] || buttons_[1] || buttons_[2] || !held_.empty();
}

void InputQueue::set_up(ImGuiIO& io) {
  for (const BrowserKey& key : kKeys) {
    if (key.imgui >= 0) io.KeyMap[key.imgui] = key.glfw;
  }
}

bool InputQueue::fits(const Frame& frame, const Event& event) const {
  if (std::holds_alternative<Move>(event) || std::holds_alternative<Leave>(event) ||
      std::holds_alternative<Wheel>(event) || std::holds_alternative<Focus>(event))
    return !frame.has_button();
  // A finger hovers over nothing before it presses.
  if (const auto* button = std::get_if<Button>(&event))
    return !frame.buttons[button->button] && !(frame.has_moved && frame.is_touch);
  if (const auto* key = std::get_if<KeyEvent>(&event)) {
    return std::find(frame.keys.begin(), frame.keys.end(), key->key) == frame.keys.end() &&
           !(frame.has_text && is_named(*key->key));
  }
  if (std::holds_alternative<Text>(event)) return !frame.has_named_key && text_delay_ == 0;
  return true;
}

void InputQueue::apply(ImGuiIO& io, const std::function<void(std::string)>& paste) {
  Frame frame;
  const bool has_field = ImGui::GetCurrentContext()->WantTextInputNextFrame == 1;
  text_delay_ = has_field ? 0 : std::max(text_delay_ - 1, 0);
  while (!events_.empty() && fits(frame, events_.front())) {
    Event event = std::move(events_.front());
    events_.pop_front();
    if (const auto* move = std::get_if<Move>(&event)) {
      if (scrolled_ != 0) scroll(io, {move->x, move->y});
      io.MousePos = {move->x, move->y};
      frame.has_moved = true;
      frame.is_touch = is_touch_;
    } else if (std::holds_alternative<Leave>(event)) {
      if (!is_held()) io.MousePos = {-FLT_MAX, -FLT_MAX};
    } else if (const auto* button = std::get_if<Button>(&event)) {
      apply(io, *button);
      frame.buttons[button->button] = true;
    } else if (const auto* wheel = std::get_if<Wheel>(&event)) {
      io.MouseWheelH += wheel->x;
      io.MouseWheel += wheel->y;
    } else if (const auto* key = std::get_if<KeyEvent>(&event)) {
      apply(io, *key);
      frame.keys.push_back(key->key);
      frame.has_named_key |= is_named(*key->key);
    } else if (const auto* text = std::get_if<Text>(&event)) {
      io.AddInputCharactersUTF8(text->text.c_str());
      frame.has_text = true;
    } else if (const auto* focus = std::get_if<Focus>(&event)) {
      if (!focus->has) release_all(io);
    } else if (const auto* device = std::get_if<Device>(&event)) {
      is_touch_ = device->is_touch;
    } else if (auto* pasted = std::get_if<Paste>(&event)) {
      paste(std::move(pasted->text));
    }
  }
}

void InputQueue::apply(ImGuiIO& io, const KeyEvent& event) {
  const int glfw = event.key->glfw;
  const auto held = std::find(held_.begin(), held_.end(), event.key);
  const bool repeats = event.down && held != held_.end();
  if (event.down && !repeats) held_.push_back(event.key);
  if (!event.down && held != held_.end()) held_.erase(held);
  io.KeysDown[glfw] = event.down;
  const auto is_down = [&](int left) {
    return io.KeysDown[left] || io.KeysDown[left + kRightKeys];
  };
  io.KeyShift = is_down(kShiftKey);
  io.KeyCtrl = is_down(kControlKey);
  io.KeyAlt = is_down(kAltKey);
  io.KeySuper = is_down(kSuperKey);
  if (event.down && !is_named(*event.key) && io.KeyCtrl && !io.KeyAlt) text_delay_ = kTextDelay;
  on_key_event(glfw, event.down, repeats,
               (io.KeyShift ? 1 : 0) | (io.KeyCtrl ? 2 : 0) | (io.KeyAlt ? 4 : 0));
}

void InputQueue::apply(ImGuiIO& io, const Button& event) {
  const bool is_finger = is_touch_ && event.button == 1 && !is_click_;
  if (is_click_ && event.button == 1 && !event.down) is_click_ = false;
  if (is_finger && event.down && begin_scroll()) return;
  if (is_finger && !event.down && scrolled_ != 0) return end_scroll();
  io.MouseDown[event.button] = buttons_[event.button] = event.down;
}

bool InputQueue::begin_scroll() {
  ImGuiWindow* window = ImGui::GetCurrentContext()->HoveredWindow;
  while (window && window->ScrollMax.x <= 0 && window->ScrollMax.y <= 0)
    window = (window->Flags & ImGuiWindowFlags_ChildWindow) ? window->ParentWindow : nullptr;
  scrolled_ = window ? window->ID : 0;
  has_scrolled_ = false;
  return window != nullptr;
}

void InputQueue::scroll(const ImGuiIO& io, ImVec2 to) {
  ImGuiWindow* const window = ImGui::FindWindowByID(scrolled_);
  if (!window) return;
  const ImVec2 by{io.MousePos.x - to.x, io.MousePos.y - to.y};
  if (by.x != 0 || by.y != 0) has_scrolled_ = true;
  window->Scroll.x = std::clamp(window->Scroll.x + by.x, 0.0f, window->ScrollMax.x);
  window->Scroll.y = std::clamp(window->Scroll.y + by.y, 0.0f, window->ScrollMax.y);
}

// A finger that did not move asks for the menu.
void InputQueue::end_scroll() {
  scrolled_ = 0;
  if (has_scrolled_) return;
  is_click_ = true;
  events_.push_front(Button{1, false});
  events_.push_front(Button{1, true});
}

void InputQueue::release_all(ImGuiIO& io) {
  scrolled_ = 0;
  while (!held_.empty()) apply(io, KeyEvent{held_.front(), false});
  for (std::size_t i = 0; i < std::size(buttons_); ++i) io.MouseDown[i] = buttons_[i] = false;
  io.MousePos = {-FLT_MAX, -FLT_MAX};
}

}  // namespace reprise::viewer
