#include "serve/input_queue.hpp"

#include <algorithm>
#include <cctype>
#include <cfloat>
#include <iterator>
#include <string_view>
#include <utility>

#include <imgui_internal.h>
#include <nlohmann/json.hpp>

#include "panels/shared/keys.hpp"
#include "serve/protocol.hpp"

namespace reprise::viewer {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxEvents = 4096;
constexpr float kMaxPoint = 1e5f, kMaxNotches = 100;
constexpr int kShiftKey = 340, kControlKey = 341, kAltKey = 342, kSuperKey = 343;  // of GLFW, left
constexpr int kRightKeys = 4;        // distance to the right ones
constexpr int kFirstNamedKey = 256;  // keys below type letters, unless Ctrl is held
constexpr int kTextDelay = 8;        // frames; a shortcut opens its field within four

// Physical keys that the viewer uses, except letters and digits, as browsers name them: those from
// kFirstNamedKey on in GLFW's order, the modifiers from kShiftKey on, and others.
constexpr std::string_view kNamedKeys[] = {
    "Escape",    "Enter",     "Tab",     "Backspace", "Insert",   "Delete", "ArrowRight",
    "ArrowLeft", "ArrowDown", "ArrowUp", "PageUp",    "PageDown", "Home",   "End"};
constexpr std::string_view kModifiers[] = {"ShiftLeft",  "ControlLeft",  "AltLeft",  "MetaLeft",
                                           "ShiftRight", "ControlRight", "AltRight", "MetaRight"};
constexpr std::pair<std::string_view, int> kOtherKeys[] = {
    {"Space", 32}, {"F1", 290}, {"F3", 292}, {"NumpadEnter", 335}};

// The keys that ImGui knows: those of kNamedKeys, and others.
constexpr ImGuiKey_ kNamedImGuiKeys[] = {
    ImGuiKey_Escape, ImGuiKey_Enter,      ImGuiKey_Tab,       ImGuiKey_Backspace, ImGuiKey_Insert,
    ImGuiKey_Delete, ImGuiKey_RightArrow, ImGuiKey_LeftArrow, ImGuiKey_DownArrow, ImGuiKey_UpArrow,
    ImGuiKey_PageUp, ImGuiKey_PageDown,   ImGuiKey_Home,      ImGuiKey_End};
constexpr std::pair<ImGuiKey_, int> kOtherImGuiKeys[] = {
    {ImGuiKey_Space, 32}, {ImGuiKey_KeyPadEnter, 335}, {ImGuiKey_A, 'A'}, {ImGuiKey_C, 'C'},
    {ImGuiKey_V, 'V'},    {ImGuiKey_X, 'X'},           {ImGuiKey_Y, 'Y'}, {ImGuiKey_Z, 'Z'}};

// 0 for a key that the viewer does not know.
int glfw_key(std::string_view code) {
  for (const std::string_view prefix : {"Key", "Digit"}) {  // "KeyA", "Digit0"
    const bool is_one = code.starts_with(prefix) && code.size() == prefix.size() + 1;
    if (is_one && std::isalnum(static_cast<unsigned char>(code.back()))) return code.back();
  }
  for (std::size_t i = 0; i < std::size(kNamedKeys); ++i) {
    if (code == kNamedKeys[i]) return kFirstNamedKey + static_cast<int>(i);
  }
  for (std::size_t i = 0; i < std::size(kModifiers); ++i) {
    if (code == kModifiers[i]) return kShiftKey + static_cast<int>(i);
  }
  for (const auto& [name, key] : kOtherKeys) {
    if (code == name) return key;
  }
  return 0;
}

// Changes what a text does: a modifier, or a key that edits.
bool is_named(int key) { return key >= kFirstNamedKey; }

}  // namespace

// What a frame has received so far.
struct InputQueue::Frame {
  bool has_moved = false, has_text = false, has_named_key = false;
  std::set<int> buttons = {}, keys = {};
};

void InputQueue::add(const Json& events) {
  for (const Json& event : events.get_ref<const Json::array_t&>()) push(event_of(event));
}

void InputQueue::add_paste(std::string text) {
  push({.kind = Kind::Paste, .text = std::move(text)});
}

void InputQueue::reset() { events_.assign(1, {.kind = Kind::Focus}); }

InputQueue::Event InputQueue::event_of(const Json& json) {
  const auto number = [&](std::size_t at, float limit) {
    return static_cast<float>(std::clamp<double>(json.at(at).get<double>(), -limit, limit));
  };
  const auto flag = [&](std::size_t at) { return json.at(at).get<bool>(); };
  const auto kind = json.at(0).get<std::string>();
  if (kind == "m")
    return {.kind = Kind::Move, .x = number(1, kMaxPoint), .y = number(2, kMaxPoint)};
  if (kind == "w")
    return {.kind = Kind::Wheel, .x = number(1, kMaxNotches), .y = number(2, kMaxNotches)};
  if (kind == "l") return {.kind = Kind::Leave};
  if (kind == "k")
    return {.kind = Kind::Key, .code = glfw_key(json.at(1).get<std::string>()), .is_set = flag(2)};
  if (kind == "f") return {.kind = Kind::Focus, .is_set = flag(1)};
  if (kind == "d") return {.kind = Kind::Device, .is_set = json.at(1) == 1};
  if (kind == "b") {
    for (const int button : {0, 1, 2}) {
      if (json.at(1) == button) return {.kind = Kind::Button, .code = button, .is_set = flag(2)};
    }
    throw ProtocolError("an input event has an unknown button");
  }
  if (kind == "t") return {.kind = Kind::Text, .text = json.at(1).get<std::string>()};
  throw ProtocolError("an input event has the unknown kind \"" + kind + "\"");
}

void InputQueue::push(Event event) {
  if (event.kind == Kind::Key && event.code == 0) return;
  const bool repeats = !events_.empty() && events_.back().kind == event.kind;
  if (repeats && event.kind == Kind::Move) {
    events_.back() = std::move(event);
  } else if (repeats && event.kind == Kind::Wheel) {
    Event& last = events_.back();
    last.x = std::clamp(last.x + event.x, -kMaxNotches, kMaxNotches);
    last.y = std::clamp(last.y + event.y, -kMaxNotches, kMaxNotches);
  } else if (events_.size() < kMaxEvents) {
    events_.push_back(std::move(event));
  } else {
    throw ProtocolError("more than 4,096 input events wait for a frame");
  }
}

bool InputQueue::is_held() const noexcept {
  return !held_.empty() || std::find(buttons_.begin(), buttons_.end(), true) != buttons_.end();
}

void InputQueue::set_up(ImGuiIO& io) {
  for (std::size_t i = 0; i < std::size(kNamedImGuiKeys); ++i)
    io.KeyMap[kNamedImGuiKeys[i]] = kFirstNamedKey + static_cast<int>(i);
  for (const auto& [imgui, glfw] : kOtherImGuiKeys) io.KeyMap[imgui] = glfw;
}

bool InputQueue::fits(const Frame& frame, const Event& event) const {
  switch (event.kind) {
    case Kind::Move:
    case Kind::Leave:
    case Kind::Wheel:
    case Kind::Focus: return frame.buttons.empty();
    case Kind::Button:  // a finger hovers over nothing before it presses
      return !frame.buttons.contains(event.code) && !(frame.has_moved && is_touch_);
    case Kind::Key:
      return !frame.keys.contains(event.code) && !(frame.has_text && is_named(event.code));
    case Kind::Text: return !frame.has_named_key && text_delay_ == 0;
    case Kind::Device:
    case Kind::Paste: return true;
  }
  return true;
}

void InputQueue::apply(ImGuiIO& io, const std::function<void(std::string)>& paste) {
  Frame frame;
  const bool has_field = ImGui::GetCurrentContext()->WantTextInputNextFrame == 1;
  text_delay_ = has_field ? 0 : std::max(text_delay_ - 1, 0);
  while (!events_.empty() && fits(frame, events_.front())) {
    Event event = std::move(events_.front());
    events_.pop_front();
    switch (event.kind) {
      case Kind::Move:
        if (scrolled_ != 0) scroll(io, {event.x, event.y});
        io.MousePos = {event.x, event.y};
        frame.has_moved = true;
        break;
      case Kind::Leave:
        if (!is_held()) io.MousePos = {-FLT_MAX, -FLT_MAX};
        break;
      case Kind::Button:
        apply_button(io, event.code, event.is_set);
        frame.buttons.insert(event.code);
        break;
      case Kind::Wheel:
        io.MouseWheelH += event.x;
        io.MouseWheel += event.y;
        break;
      case Kind::Key:
        apply_key(io, event.code, event.is_set);
        frame.keys.insert(event.code);
        frame.has_named_key |= is_named(event.code);
        break;
      case Kind::Text:
        io.AddInputCharactersUTF8(event.text.c_str());
        frame.has_text = true;
        break;
      case Kind::Focus:
        if (!event.is_set) release_all(io);
        break;
      case Kind::Device: is_touch_ = event.is_set; break;
      case Kind::Paste: paste(std::move(event.text)); break;
    }
  }
}

void InputQueue::apply_key(ImGuiIO& io, int key, bool is_down) {
  const bool repeats = is_down && !held_.insert(key).second;
  if (!is_down) held_.erase(key);
  io.KeysDown[key] = is_down;
  const auto has = [&](int left) { return io.KeysDown[left] || io.KeysDown[left + kRightKeys]; };
  io.KeyShift = has(kShiftKey);
  io.KeyCtrl = has(kControlKey);
  io.KeyAlt = has(kAltKey);
  io.KeySuper = has(kSuperKey);
  if (is_down && !is_named(key) && io.KeyCtrl && !io.KeyAlt) text_delay_ = kTextDelay;
  on_key_event(key, is_down, repeats,
               (io.KeyShift ? 1 : 0) | (io.KeyCtrl ? 2 : 0) | (io.KeyAlt ? 4 : 0));
}

void InputQueue::apply_button(ImGuiIO& io, int button, bool is_down) {
  const bool is_finger = is_touch_ && button == 1 && !is_click_;
  if (button == 1 && !is_down) is_click_ = false;
  if (is_finger && is_down && begin_scroll()) return;
  if (is_finger && !is_down && scrolled_ != 0) return end_scroll();
  io.MouseDown[button] = buttons_[static_cast<std::size_t>(button)] = is_down;
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
  has_scrolled_ |= by.x != 0 || by.y != 0;
  window->Scroll.x = std::clamp(window->Scroll.x + by.x, 0.0f, window->ScrollMax.x);
  window->Scroll.y = std::clamp(window->Scroll.y + by.y, 0.0f, window->ScrollMax.y);
}

// A finger that did not move asks for the menu.
void InputQueue::end_scroll() {
  scrolled_ = 0;
  if (has_scrolled_) return;
  is_click_ = true;
  for (const bool is_down : {false, true})
    events_.push_front({.kind = Kind::Button, .code = 1, .is_set = is_down});
}

void InputQueue::release_all(ImGuiIO& io) {
  scrolled_ = 0;
  while (!held_.empty()) apply_key(io, *held_.begin(), false);
  buttons_.fill(false);
  std::fill_n(io.MouseDown, buttons_.size(), false);
  io.MousePos = {-FLT_MAX, -FLT_MAX};
}

}  // namespace reprise::viewer
