#include "window/screenshot.hpp"

#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "application/application.hpp"
#include "application/settings.hpp"
#include "base/atomic_file.hpp"
#include "panels/shared/keys.hpp"
#include "window/offscreen.hpp"
#include "window/picture.hpp"
#include "window/ui.hpp"

namespace reprise::viewer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFileSeconds = 600,
                 // time limits for reading a file, and for a session to send a graph
    kLiveSeconds = 20;
constexpr std::chrono::seconds kSettle{120};  // time limit for the views
// the start page searches for sessions and files meanwhile
constexpr std::chrono::milliseconds kStartPage{300};
constexpr std::chrono::milliseconds kPollInterval{2};
// frames until layout that depends on the previous frame has settled
constexpr int kStillFrames = 8;

std::shared_ptr<model::TraceFeed> open_feed(const std::string& target, const std::string& token) {
  auto feed =
      std::make_shared<model::TraceFeed>(model::TraceFeedDesc{.target = target, .token = token});
  const bool ready = feed->wait_until_ready(feed->is_live() ? kLiveSeconds : kFileSeconds);
  const model::FeedStatus status = feed->status();
  if (status.state == model::FeedState::Failed) throw std::runtime_error(status.reason);
  if (!ready && !feed->is_live())
    throw std::runtime_error(target + " could not be read within ten minutes");
  return feed;
}

void select_node(Workspace& workspace, const std::string& name) {
  const auto document = workspace.feed().document();
  const model::GraphEntry* entry = document->find(workspace.view().graph);
  for (std::uint32_t node = 0; entry && node < entry->graph->node_count(); ++node) {
    if (entry->graph->node_name(node).find(name) == std::string::npos) continue;
    workspace.view().select(model::SelectedNode{workspace.view().graph, node});
    return;
  }
  throw std::runtime_error("no node name of this graph contains \"" + name + "\"");
}

// Prefers the shown graph, then the first graph that has the replay.
void show_replay(Workspace& workspace, std::uint64_t replay) {
  const auto document = workspace.feed().document();
  ViewState& view = workspace.view();
  model::GraphKey key = view.graph;
  if (document->find_replay(key, replay) == nullptr) {
    const auto found = std::find_if(
        document->graphs.begin(), document->graphs.end(),
        [&](const auto& graph) { return document->find_replay(graph.first, replay) != nullptr; });
    if (found == document->graphs.end())
      throw std::runtime_error("the trace has no replay " + std::to_string(replay));
    key = found->first;
  }
  view.show_replay(key, replay);
  view.select(model::SelectedReplay{key, replay});
}

// Mode and group of the traces that the picture shows. The start page, which shows the names of
// other files, and a connection, which has no file, count as private.
std::vector<detail::FileAccess> shown_by(const ScreenshotDesc& desc) {
  std::vector<detail::FileAccess> sources = {detail::access_of(desc.target)};
  if (!desc.other.empty()) sources.push_back(detail::access_of(desc.other));
  return sources;
}

// Drives ImGui without a window: supplies its display size and time.
class Frames {
 public:
  explicit Frames(const ScreenshotDesc& desc)
      : offscreen_(desc.width, desc.height),
        ui_({.glsl = offscreen_.glsl(), .shade = desc.shade, .scale = desc.scale}),
        desc_(desc) {
    ImGui::GetIO().DisplaySize = {static_cast<float>(desc.width), static_cast<float>(desc.height)};
    ImGui::GetIO().DeltaTime = 1.0f / 60;
  }

  // `body` receives the theme.
  template <class Body>
  void draw(Body body) {
    offscreen_.bind();
    ui_.new_frame();
    ImGui::NewFrame();
    body(ui_.theme());
    clear_key_presses();
    ui_.render();
  }
  void write() const {
    write_png(desc_.picture, {desc_.width, desc_.height}, offscreen_.pixels(), shown_by(desc_));
  }

 private:
  Offscreen offscreen_;
  Ui ui_;
  const ScreenshotDesc& desc_;
};

void take_start_page(const ScreenshotDesc& desc) {
  Frames frames(desc);
  Settings settings = SettingsFile(settings_path()).values;
  settings.shade = desc.shade;
  Application application({.program = desc.program}, settings);
  for (int context = 0; context <= kStillFrames; ++context) {
    frames.draw([&](const Theme& theme) { application.draw(theme); });
    if (context == 0) std::this_thread::sleep_for(kStartPage);
  }
  frames.write();
}

}  // namespace

void take_screenshot(const ScreenshotDesc& desc) {
  const std::filesystem::path ending = desc.picture.extension();
  const bool is_svg = ending == ".svg";
  if (!is_svg && ending != ".png")
    throw std::runtime_error("--screenshot " + desc.picture.string() +
                             ": the name must end in .png or .svg");
  if (is_svg && (desc.target.empty() || desc.view.value_or(View::Graph) != View::Graph))
    throw std::runtime_error("only the graph view of a trace can be written as SVG");
  if (desc.target.empty()) return take_start_page(desc);
  Background background;
  const auto feed = open_feed(desc.target, desc.token);
  const auto other = desc.other.empty() ? nullptr : open_feed(desc.other, desc.token);
  Frames frames(desc);
  Workspace workspace(feed, other, background);
  WorkspaceLayout layout;
  if (desc.view) workspace.show(*desc.view);
  const Clock::time_point end = Clock::now() + kSettle;
  bool selected = desc.select.empty() && desc.replay == 0;
  for (int still = 0; still < kStillFrames; ++still) {
    frames.draw([&](const Theme& theme) {
      workspace.handle_keys();
      workspace.draw(theme, layout);
    });
    if (!selected && workspace.is_settled()) {
      if (desc.replay != 0) show_replay(workspace, desc.replay);
      if (!desc.select.empty()) select_node(workspace, desc.select);
      selected = true;
      still = 0;
    }
    if (workspace.is_settled() && selected) {
      background.wait_until_idle();  // panels start background work of their own
      continue;
    }
    still = -1;
    if (Clock::now() > end)
      throw std::runtime_error("the views of " + desc.target +
                               " were not ready within two minutes");
    std::this_thread::sleep_for(kPollInterval);
  }
  if (!is_svg) return frames.write();
  ViewState& view = workspace.view();
  view.show(View::Graph);
  view.graph_svg = true;
  frames.draw([&](const Theme& theme) { workspace.draw(theme, layout); });
  if (!view.save) throw std::runtime_error("the trace has no graph to draw");
  detail::write_file_atomically(desc.picture, view.save->contents, {.sources = shown_by(desc)});
}

}  // namespace reprise::viewer
