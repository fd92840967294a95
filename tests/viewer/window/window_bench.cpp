// Measures the viewer: the time to the first picture of a trace with 67 graphs, and with a deep
// graph of 10,000 nodes and a wide one of 50,000 the frame times of every view, of the timeline of
// the whole recording, and of the graph while it is panned and zoomed. A frame is measured without
// rendering (ImGui and the panels) and with software rendering, the worst case.
// Usage: reprise_window_bench [TRACE]: frame times with this trace.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include <imgui.h>
#include <unistd.h>

#define GL_GLEXT_PROTOTYPES
#define GLFW_INCLUDE_NONE
#include <GL/glcorearb.h>
#include <GLFW/glfw3.h>

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
  std::vector<double> drawn, whole, cpu;

  explicit Bench(Workspace& of) : workspace(of) {
    ImGui::GetIO().DisplaySize = {kWidth, kHeight};
    ImGui::GetIO().DeltaTime = 1.0f / 60;
  }

  void frame() {
    const Clock::time_point started = Clock::now();
    const std::clock_t cpu_before = std::clock();
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
    cpu.push_back(1e3 * static_cast<double>(std::clock() - cpu_before) / CLOCKS_PER_SEC);
  }
  void begin() {
    drawn.clear();
    whole.clear();
    cpu.clear();
  }
  void report(const char* what) {
    std::sort(drawn.begin(), drawn.end());
    std::sort(whole.begin(), whole.end());
    std::sort(cpu.begin(), cpu.end());
    const auto at = [](const std::vector<double>& of, double part) {
      return of[static_cast<std::size_t>(part * static_cast<double>(of.size() - 1))];
    };
    std::printf(
        "  %-28s panels %7.2f ms (p99 %7.2f)   with software GL %7.2f ms (p99 %7.2f), %6.1f "
        "frames/s, CPU %7.2f ms\n",
        what, at(drawn, 0.5), at(drawn, 0.99), at(whole, 0.5), at(whole, 0.99),
        1000 / at(whole, 0.5), at(cpu, 0.5));
  }
};

void settle(Bench& bench) {
  for (int still = 0; still < 4;) {
    bench.frame();
    still = bench.workspace.is_settled() ? still + 1 : 0;
    if (still == 0) ::usleep(1'000);
  }
}

void pan(Bench& bench) {
  ImGuiIO& io = ImGui::GetIO();
  bench.begin();
  io.MousePos = kMiddle;
  bench.frame();
  io.MouseDown[1] = true;
  for (int i = 0; i < kFrames; ++i) {
    const int step = i % 60 < 30 ? 1 : -1;
    io.MousePos = {io.MousePos.x + static_cast<float>(7 * step),
                   io.MousePos.y + static_cast<float>(3 * step)};
    bench.frame();
  }
  io.MouseDown[1] = false;
  bench.frame();
}

void zoom(Bench& bench, int steps) {
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = kMiddle;
  for (int i = 0; i < std::abs(steps); ++i) {
    io.MouseWheel = steps > 0 ? 1 : -1;
    bench.frame();
  }
}

class TemporaryTrace {
 public:
  explicit TemporaryTrace(const reprise::test::LargeTraceDesc& desc) {
    reprise::test::write_large_trace(path_, desc);
  }
  TemporaryTrace(const TemporaryTrace&) = delete;
  TemporaryTrace& operator=(const TemporaryTrace&) = delete;
  ~TemporaryTrace() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("reprise-window-bench-" + std::to_string(::getpid()) + ".reprise");
};

std::shared_ptr<reprise::model::TraceFeed> feed_of(const std::string& path) {
  return std::make_shared<reprise::model::TraceFeed>(reprise::model::TraceFeedDesc{.target = path});
}

void measure_first_picture() {
  constexpr std::uint32_t kGraphs = 67, kNodes = 400;
  const TemporaryTrace trace({.graphs = kGraphs, .nodes = kNodes, .replays = 100});
  const Clock::time_point started = Clock::now();
  Background background;
  const auto feed = feed_of(trace.path());
  Workspace workspace(feed, nullptr, background);
  Bench bench(workspace);
  double first_graph = 0;
  for (int still = 0; still < 4;) {
    bench.frame();
    if (first_graph == 0 && feed->document()->find(workspace.view().graph) != nullptr)
      first_graph = milliseconds(Clock::now() - started);
    still = workspace.is_settled() ? still + 1 : 0;
  }
  std::printf("%u graphs of %u nodes: first graph after %.0f ms, all figures after %.0f ms\n",
              kGraphs, kNodes, first_graph, milliseconds(Clock::now() - started));
}

void point(Bench& bench, const char* what) {
  settle(bench);
  bench.begin();
  for (int i = 0; i < kFrames / 4; ++i) {
    ImGui::GetIO().MousePos = {kMiddle.x + static_cast<float>(5 * (i % 40)), kMiddle.y};
    bench.frame();
  }
  bench.report(what);
}

void measure_views(Bench& bench) {
  for (const ViewDesc& view : kViews) {
    bench.workspace.show(view.view);
    point(bench, view.title);
  }
  bench.workspace.show(View::Timeline);
  settle(bench);
  on_key_event(GLFW_KEY_HOME, true, false, 0);
  bench.frame();
  on_key_event(GLFW_KEY_HOME, false, false, 0);
  point(bench, "Timeline, the recording");
  bench.workspace.show(View::Nodes);
  bench.workspace.show(View::Graph);
  settle(bench);
}

void measure_panning(Bench& bench) {
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
}

void measure_frames(const std::string& path) {
  Background background;
  const auto feed = feed_of(path);
  feed->wait_until_ready(600);
  Workspace workspace(feed, nullptr, background);
  workspace.show(View::Graph);
  Bench bench(workspace);
  settle(bench);
  const reprise::model::GraphEntry* entry = feed->document()->find(workspace.view().graph);
  std::printf("%u nodes, %ux%u\n", entry ? entry->graph->node_count() : 0, kWidth, kHeight);
  measure_views(bench);
  measure_panning(bench);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1) {
      measure_frames(argv[1]);
    } else {
      measure_first_picture();
      measure_frames(TemporaryTrace({}).path());
      measure_frames(TemporaryTrace({.nodes = 50'000, .width = 5'000, .replays = 30}).path());
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
