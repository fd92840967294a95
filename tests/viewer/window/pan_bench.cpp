// Measures the viewer's frame rate while a large graph is panned and zoomed: the time of ImGui and
// the panels alone, and including software rendering, the worst case.
// Usage: reprise_pan_bench [TRACE]; the default is a graph of 10,000 nodes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <imgui.h>
#include <unistd.h>

#define GL_GLEXT_PROTOTYPES
#include <GL/glcorearb.h>

#include "panels/shared/keys.hpp"
#include "panels/workspace/workspace.hpp"
#include "viewer/window/large_trace.hpp"
#include "window/offscreen.hpp"
#include "window/ui.hpp"

namespace {

using namespace reprise::viewer;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kWidth = 1600, kHeight = 900;
constexpr int kFrames = 240;
const ImVec2 kMiddle{500, 380};  // of the graph

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

struct Bench {
  Offscreen offscreen{kWidth, kHeight};
  Ui ui{{.glsl = offscreen.glsl()}};
  Workspace& workspace;
  WorkspaceLayout layout;
  std::vector<double> drawn, whole;

  explicit Bench(Workspace& of) : workspace(of) {
    ImGui::GetIO().DisplaySize = {kWidth, kHeight};
    ImGui::GetIO().DeltaTime = 1.0f / 60;
  }

  void context() {
    const Clock::time_point started = Clock::now();
    offscreen.bind();
    ui.new_frame();
    ImGui::NewFrame();
    workspace.handle_keys();
    workspace.draw(ui.theme(), layout);
    clear_key_presses();
    ImGui::EndFrame();
    const Clock::time_point drawn_at = Clock::now();
    ui.render();
    glFinish();
    drawn.push_back(milliseconds(drawn_at - started));
    whole.push_back(milliseconds(Clock::now() - started));
  }
  void begin() {
    drawn.clear();
    whole.clear();
  }
  void report(const char* what) {
    std::sort(drawn.begin(), drawn.end());
    std::sort(whole.begin(), whole.end());
    const auto at = [](const std::vector<double>& of, double part) {
      return of[static_cast<std::size_t>(part * static_cast<double>(of.size() - 1))];
    };
    std::printf(
        "  %-28s panels %7.2f ms (p99 %7.2f)   with software GL %7.2f ms (p99 %7.2f), %6.1f "
        "frames/s\n",
        what, at(drawn, 0.5), at(drawn, 0.99), at(whole, 0.5), at(whole, 0.99),
        1000 / at(whole, 0.5));
  }
};

void settle(Bench& bench) {
  for (int still = 0; still < 4;) {
    bench.context();
    still = bench.workspace.is_settled() ? still + 1 : 0;
    if (still == 0) ::usleep(1'000);
  }
}

void pan(Bench& bench) {
  ImGuiIO& io = ImGui::GetIO();
  bench.begin();
  io.MousePos = kMiddle;
  bench.context();
  io.MouseDown[1] = true;
  for (int i = 0; i < kFrames; ++i) {
    const int step = i % 60 < 30 ? 1 : -1;
    io.MousePos = {io.MousePos.x + static_cast<float>(7 * step),
                   io.MousePos.y + static_cast<float>(3 * step)};
    bench.context();
  }
  io.MouseDown[1] = false;
  bench.context();
}

void zoom(Bench& bench, int steps) {
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = kMiddle;
  for (int i = 0; i < std::abs(steps); ++i) {
    io.MouseWheel = steps > 0 ? 1 : -1;
    bench.context();
  }
}

int run(const std::string& given) {
  std::string path = given;
  if (path.empty()) {
    path = (std::filesystem::temp_directory_path() /
            ("reprise-pan-" + std::to_string(::getpid()) + ".reprise"))
               .string();
    reprise::test::write_large_trace(path);
  }
  Background background;
  const auto feed =
      std::make_shared<reprise::model::TraceFeed>(reprise::model::TraceFeedDesc{.target = path});
  feed->wait_until_ready(600);
  if (given.empty()) std::filesystem::remove(path);
  Workspace workspace(feed, nullptr, background);
  workspace.show(View::Graph);
  Bench bench(workspace);
  settle(bench);
  const reprise::model::GraphEntry* entry = feed->document()->find(workspace.view().graph);
  std::printf("%u nodes, %ux%u\n", entry ? entry->graph->node_count() : 0, kWidth, kHeight);
  pan(bench);
  bench.report("moved, everything in sight");
  for (const int steps : {6, 6, 6}) {
    zoom(bench, steps);
    settle(bench);
    pan(bench);
    bench.report("moved, magnified further");
  }
  bench.begin();
  zoom(bench, -18);
  bench.report("back to everything");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
