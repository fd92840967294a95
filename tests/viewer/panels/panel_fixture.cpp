#include "viewer/panels/panel_fixture.hpp"

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include <imgui_internal.h>

#include "support/paths.hpp"
#include "viewer/hand_made_trace.hpp"

namespace reprise::test {

std::shared_ptr<const model::Document> hand_made_document() {
  const std::filesystem::path path = scratch_folder() / "panels.reprise";
  if (!std::filesystem::exists(path)) write_hand_made_trace(path);
  return document_of(path);
}

void check_in_order(const std::string& text, std::initializer_list<const char*> words) {
  std::size_t at = 0;
  for (const char* word : words) {
    INFO(text);
    at = text.find(word, at);
    REQUIRE_MESSAGE(at != std::string::npos, word);
    ++at;
  }
}

void check_well_formed(const std::string& xml) {
  for (std::size_t at = xml.find('&'); at != std::string::npos; at = xml.find('&', at + 1)) {
    const std::string entity = xml.substr(at + 1, xml.find(';', at) - at - 1);
    CAPTURE(entity);
    const bool is_number = entity.size() > 1 && entity[0] == '#' &&
                           entity.find_first_not_of("0123456789", 1) == std::string::npos;
    REQUIRE((is_number || entity == "amp" || entity == "lt" || entity == "gt" || entity == "quot"));
  }
  std::vector<std::string> open;
  std::size_t at = xml.find("?>") + 2, roots = 0;
  while ((at = xml.find('<', at)) != std::string::npos) {
    const std::size_t end = xml.find('>', at);
    REQUIRE(end != std::string::npos);
    const std::string tag = xml.substr(at + 1, end - at - 1), name = tag.substr(0, tag.find(' '));
    INFO(tag);
    CHECK(tag.find('<') == std::string::npos);
    CHECK(std::count(tag.begin(), tag.end(), '"') == 2 * std::count(tag.begin(), tag.end(), '='));
    if (tag[0] == '/') {
      REQUIRE_FALSE(open.empty());
      CHECK(open.back() == tag.substr(1));
      open.pop_back();
    } else {
      roots += open.empty() ? 1 : 0;
      if (tag.back() != '/') open.push_back(name);
    }
    at = end + 1;
  }
  CHECK(open.empty());
  CHECK(roots == 1);
}

ImGuiFixture::ImGuiFixture(ImVec2 size, viewer::Shade shade) : context_(ImGui::CreateContext()) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.DisplaySize = size;
  io.DeltaTime = 1.0f / 60;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  io.MousePos = {-FLT_MAX, -FLT_MAX};
  for (int i = 0; i < ImGuiKey_COUNT; ++i) io.KeyMap[i] = 400 + i;
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
  io.Fonts->SetTexID(nullptr);
  ImFont* const font = io.Fonts->Fonts[0];
  theme.text = theme.small = theme.heading = theme.mono = font;
  viewer::apply(theme, shade, 1);
  viewer::clear_key_presses();
}

ImGuiFixture::~ImGuiFixture() { ImGui::DestroyContext(context_); }

void ImGuiFixture::frame(const std::function<void()>& contents) {
  ImGui::NewFrame();
  contents();
  ImGui::Render();
  viewer::clear_key_presses();
  ImGuiIO& io = ImGui::GetIO();
  io.MouseWheel = io.MouseWheelH = 0;
}

void ImGuiFixture::window(const std::function<void()>& contents) {
  frame([&] {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin(
        "window", nullptr,
        ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    contents();
    ImGui::End();
  });
}

std::string ImGuiFixture::text(const std::function<void()>& contents) {
  std::string all;
  window([&] {
    start_log();
    contents();
    all = take_log();
  });
  return all;
}

// LogFinish() copies the log to the clipboard. ImGui also finishes a log at the end of the window.
void ImGuiFixture::start_log() {
  ImGui::SetClipboardText("");
  ImGui::LogToClipboard(0);
}

std::string ImGuiFixture::take_log() {
  ImGui::LogFinish();
  return ImGui::GetClipboardText();
}

void ImGuiFixture::resize(ImVec2 size) { ImGui::GetIO().DisplaySize = size; }
void ImGuiFixture::move_mouse(ImVec2 to) { ImGui::GetIO().MousePos = to; }
void ImGuiFixture::wheel(float notches) { ImGui::GetIO().MouseWheel += notches; }
void ImGuiFixture::hold_button(int button) { ImGui::GetIO().MouseDown[button] = true; }
void ImGuiFixture::release_button(int button) { ImGui::GetIO().MouseDown[button] = false; }

void ImGuiFixture::click(ImVec2 at, const std::function<void()>& contents, int button) {
  move_mouse(at);
  window(contents);
  hold_button(button);
  window(contents);
  window(contents);
  release_button(button);
  window(contents);
  window(contents);
  // Prevents the next click from counting as a double click.
  ImGui::GetIO().MouseClickedTime[button] = -FLT_MAX;
}

void ImGuiFixture::double_click(ImVec2 at, const std::function<void()>& contents) {
  move_mouse(at);
  window(contents);
  for (int i = 0; i < 2; ++i) {
    hold_button(0);
    window(contents);
    release_button(0);
    window(contents);
  }
  ImGui::GetIO().MouseClickedTime[0] = -FLT_MAX;
}

void ImGuiFixture::drag(ImVec2 from, ImVec2 to, const std::function<void()>& contents, int button) {
  move_mouse(from);
  window(contents);
  hold_button(button);
  window(contents);
  constexpr int kSteps = 4;
  for (int i = 1; i <= kSteps; ++i) {
    const float part = static_cast<float>(i) / kSteps;
    move_mouse({from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part});
    window(contents);
  }
  release_button(button);
  window(contents);
  window(contents);
  ImGui::GetIO().MouseClickedTime[button] = -FLT_MAX;
}

void ImGuiFixture::choose(const std::string& item, const std::function<void()>& contents) {
  move_mouse({-FLT_MAX, -FLT_MAX});
  std::istringstream log(text(contents));  // ends with the menu
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start != std::string::npos) lines.push_back(line.substr(start));
  }
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  REQUIRE(context.OpenPopupStack.Size > 0);
  const ImGuiWindow& menu = *context.OpenPopupStack.back().Window;
  const float spacing = context.Style.ItemSpacing.y, padding = menu.WindowPadding.y;
  float y = menu.Pos.y + menu.Size.y - padding + spacing;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const float height = (*line)[0] == '-' ? spacing : context.FontSize + spacing;
    if (line->find(item) != std::string::npos)
      return click({menu.Pos.x + menu.Size.x / 2, y - height / 2 - spacing / 2}, contents);
    y -= height;
  }
  FAIL("the menu has no item " << item);
}

void ImGuiFixture::press(int glfw_key, const std::function<void()>& contents, int mods) {
  viewer::on_key_event(glfw_key, true, false, mods);
  window(contents);
  viewer::on_key_event(glfw_key, false, false, mods);
}

void ImGuiFixture::type(const std::string& text) {
  ImGui::GetIO().AddInputCharactersUTF8(text.c_str());
}

ImVec2 ImGuiFixture::tooltip_size() {
  for (const ImGuiWindow* const each : ImGui::GetCurrentContext()->Windows) {
    if ((each->Flags & ImGuiWindowFlags_Tooltip) != 0 && each->Active && !each->Hidden)
      return each->Size;
  }
  return {0, 0};
}

int ImGuiFixture::vertices() const { return ImGui::GetDrawData()->TotalVtxCount; }

bool ImGuiFixture::is_drawable() const {
  const ImDrawData& data = *ImGui::GetDrawData();
  for (int i = 0; i < data.CmdListsCount; ++i) {
    for (const ImDrawVert& vertex : data.CmdLists[i]->VtxBuffer) {
      if (!std::isfinite(vertex.pos.x) || !std::isfinite(vertex.pos.y)) return false;
    }
  }
  return data.TotalVtxCount > 0;
}

PanelFixture::PanelFixture(ImVec2 size, std::shared_ptr<const model::Document> of)
    : ImGuiFixture(size), document(std::move(of)) {
  const auto largest = std::max_element(document->graphs.begin(), document->graphs.end(),
                                        [](const auto& a, const auto& b) {
                                          return a.second.replays.size() < b.second.replays.size();
                                        });
  if (largest != document->graphs.end()) show(largest->first);
}

void PanelFixture::show(model::GraphKey key) {
  view.graph = key;
  update();
}

void PanelFixture::update() {
  REQUIRE(document->find(view.graph) != nullptr);
  view_model = viewer::make_graph_view_model(*document, entry(), view.range);
  summary = viewer::make_replay_summary(entry(), view.range, viewer::RateOver::Range);
  replay = viewer::make_replay_view_model(*document, entry(), view.replay);
  matches = view.filter.is_empty() ? std::vector<std::uint8_t>()
                                   : model::matching_nodes(view.filter, *entry().graph);
}

viewer::PanelContext PanelFixture::panel_context() {
  const model::GraphEntry* const shown = document->find(view.graph);
  return {document,
          shown,
          shown != nullptr ? &view_model : nullptr,
          shown != nullptr ? &summary : nullptr,
          replay ? &*replay : nullptr,
          matches,
          other,
          name,
          other_name,
          is_live,
          incomplete,
          view,
          theme,
          background};
}

}  // namespace reprise::test
