#include "viewer/window/viewer_session.hpp"

#define GLFW_INCLUDE_NONE
#define GLFW_EXPOSE_NATIVE_X11
#include <GLFW/glfw3.h>
#include <GLFW/glfw3native.h>
#include <imgui.h>

#include <X11/keysym.h>

#include <chrono>
#include <cmath>
#include <span>
#include <stdexcept>

#include "viewer/window/display_server.hpp"

namespace reprise::test {

namespace {

constexpr std::chrono::minutes kHang{5};
constexpr int kSeekPlaces = 4'000;

// Halton's low-discrepancy sequence in 0 to 1: finds large targets quickly and small ones
// eventually.
double spread(int number, int base) {
  double out = 0, part = 1;
  for (; number > 0; number /= base) {
    part /= base;
    out += part * (number % base);
  }
  return out;
}

int imgui_button(unsigned button) { return button == 1 ? 0 : button == 3 ? 1 : 2; }

unsigned long x_window_of(const viewer::Window& window) {
  return glfwGetX11Window(window.handle());
}

}  // namespace

ViewerSession::ViewerSession(const std::string& target, const std::string& program)
    : window_((display_server(), viewer::WindowDesc{.width = 1600, .height = 900, .scale = 1})),
      application_({.program = program, .wake = [this] { window_.wake(); }}, settings_),
      loop_(window_, application_, settings_),
      user_(display_server().name()),
      x_window_(x_window_of(window_)) {
  window_.on_drop([this](const std::vector<std::string>& paths) { application_.drop(paths); });
  user_.focus(x_window_);
  if (!target.empty()) application_.open({target, {}});
  until([&] { return glfwGetWindowAttrib(window_.handle(), GLFW_FOCUSED) != 0; });
}

bool ViewerSession::until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kHang;
  do {
    loop_.step();
    if (condition()) return true;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

bool ViewerSession::settle() {
  int still = 0;
  return until([&] {
    still = application_.workspace() && application_.workspace()->is_settled() ? still + 1 : 0;
    return still > 3;
  });
}

void ViewerSession::move(Place place) {
  user_.move(x_window_, place.x, place.y);
  if (!until([&] {
        const ImVec2 at = ImGui::GetIO().MousePos;
        return std::lround(at.x) == place.x && std::lround(at.y) == place.y;
      })) {
    throw std::runtime_error("the mouse did not arrive");
  }
}

void ViewerSession::click(Place place) { drag(place, place, 1); }

void ViewerSession::drag(Place from, Place to, unsigned button) {
  const bool& down = ImGui::GetIO().MouseDown[imgui_button(button)];
  move(from);
  user_.press(button);
  if (!until([&] { return down; })) throw std::runtime_error("the button was not seen");
  for (int i = 1; i <= 4 && (from.x != to.x || from.y != to.y); ++i)
    move({from.x + (to.x - from.x) * i / 4, from.y + (to.y - from.y) * i / 4});
  user_.release(button);
  if (!until([&] { return !down; })) throw std::runtime_error("the button is still down");
}

void ViewerSession::wheel(Place place, int steps) {
  move(place);
  for (int i = 0; i < std::abs(steps); ++i) {
    user_.press(steps > 0 ? 4 : 5);
    user_.release(steps > 0 ? 4 : 5);
  }
  // Events arrive in order: once these are processed, the wheel events are as well.
  move({place.x + 1, place.y});
  move(place);
}

void ViewerSession::tap(unsigned long keysym) {
  user_.key_down(keysym);
  user_.key_up(keysym);
}

void ViewerSession::tap_with_control(unsigned long keysym) {
  user_.key_down(XK_Control_L);
  tap(keysym);
  user_.key_up(XK_Control_L);
}

void ViewerSession::type(const std::string& lower_case) {
  for (const char c : lower_case) tap(static_cast<unsigned char>(c));
}

void ViewerSession::resize(int width, int height) {
  user_.resize(x_window_, width, height);
  if (!until([&] {
        const ImVec2 size = ImGui::GetIO().DisplaySize;
        return std::lround(size.x) == width && std::lround(size.y) == height;
      })) {
    throw std::runtime_error("the window did not take its new size");
  }
}

Place ViewerSession::seek(Place min, Place max, const std::function<bool()>& condition) {
  for (int i = 1; i <= kSeekPlaces; ++i) {
    const Place place{min.x + static_cast<int>((max.x - min.x) * spread(i, 2)),
                      min.y + static_cast<int>((max.y - min.y) * spread(i, 3))};
    move(place);
    if (condition()) return place;
  }
  return {-1, -1};
}

std::uint64_t ViewerSession::drawn() const {
  std::uint64_t hash = 14'695'981'039'346'656'037u;
  const ImDrawData& data = *ImGui::GetDrawData();
  for (int i = 0; i < data.CmdListsCount; ++i) {
    const auto& vertices = data.CmdLists[i]->VtxBuffer;
    const std::span bytes(reinterpret_cast<const unsigned char*>(vertices.Data),
                          static_cast<std::size_t>(vertices.size_in_bytes()));
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1'099'511'628'211u;
  }
  return hash;
}

}  // namespace reprise::test
