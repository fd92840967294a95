// Fuzzes what a foreign page or browser sends to a served viewer: the names of hosts and origins,
// and input messages, with the frames that they become. Checks that no foreign host is taken for an
// allowed one, that only errors of the protocol leave the queue, and that what Dear ImGui receives
// is finite and drawn in a bounded number of frames. ctest runs it for half a minute (fuzz.serve).
// To run it longer:
//   bin/reprise_fuzz_serve -max_total_time=3600 -fork=2 FOLDER tests/fuzz/corpus/serve
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <imgui.h>
#include <nlohmann/json.hpp>

#include "base/json_parser.hpp"
#include "panels/shared/keys.hpp"
#include "serve/input_queue.hpp"
#include "serve/protocol.hpp"
#include "serve/request_checks.hpp"

using namespace reprise;

namespace {

constexpr int kMaxFrames = 9 * 4096;  // a text waits for up to eight

void require_served(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void names(const std::string& text) {
  const std::vector<std::string> allowed = {"gpu-box"};
  if (viewer::is_allowed_host(text, allowed)) {
    const std::size_t port =
        text.rfind(':') != std::string::npos && text.back() != ']' ? text.rfind(':') : text.size();
    std::string name = text.substr(0, port);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    require_served(
        name == "127.0.0.1" || name == "localhost" || name == "[::1]" || name == "gpu-box",
        "an allowed host is one of the names");
    require_served(text.find_first_of("/@;, '\r\n") == std::string::npos,
                   "an allowed host cannot break a header");
  }
  if (viewer::is_allowed_origin(text, allowed))
    require_served(text.starts_with("http://") || text.starts_with("https://"), "an origin");
}

class Frames {
 public:
  Frames() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {400, 300};
    io.DeltaTime = 1.0f / 60;
    io.Fonts->Build();
    viewer::InputQueue::set_up(io);
  }
  void draw(viewer::InputQueue& input) {
    ImGuiIO& io = ImGui::GetIO();
    input.apply(io, [](const std::string&) {});
    require_served(!std::isnan(io.MousePos.x) && std::isfinite(io.MouseWheel), "finite input");
    ImGui::NewFrame();
    ImGui::Begin("window");
    static char text[64] = "text";
    ImGui::InputText("text", text, sizeof text);
    for (int i = 0; i < 100; ++i) ImGui::Selectable("row");
    ImGui::End();
    ImGui::EndFrame();
    viewer::clear_key_presses();
  }
};

void input(const std::string& text) {
  static Frames frames;
  viewer::InputQueue queue;
  const nlohmann::ordered_json events = detail::parse_ordered_json(text);
  if (events.is_discarded()) return;
  try {
    queue.add(events);
  } catch (const viewer::ProtocolError&) {
  } catch (const nlohmann::json::exception&) {
  }
  int drawn = 0;
  while (!queue.empty()) {
    frames.draw(queue);
    require_served(++drawn < kMaxFrames, "the events end");
  }
  queue.reset();
  frames.draw(queue);
  require_served(queue.empty() && !queue.is_held(), "a reset releases everything");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 2 == 0) {
    names(text);
  } else {
    input(text);
  }
  return 0;
}
