#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/merge_report.hpp"
#include "cli/number.hpp"
#include "cli/served_viewer.hpp"
#include "cli/viewer_modules.hpp"
#include "panels/shared/views.hpp"

namespace reprise::cli {

namespace {

constexpr std::uint32_t kMinSide = 16, kMaxSide = 16'384;

struct ViewOptions {
  std::vector<std::string> targets;
  std::string token, screenshot, view, select, size, shade;
  std::uint64_t replay = 0;
  float scale = 0;
  bool reset_layout = false, browser = false;
};

struct Size {
  std::uint32_t width = 0, height = 0;
};

Size window_size_of(const std::string& text) {
  const CLI::Validator side = number(kMinSide, kMaxSide);
  const std::size_t x = std::min(text.find('x'), text.size());
  const std::string width = text.substr(0, x), height = text.substr(std::min(x + 1, text.size()));
  if (!side(width).empty() || !side(height).empty())
    throw UsageError("--size: \"" + text + "\" is not a size such as 1600x900");
  return {static_cast<std::uint32_t>(std::stoul(width)),
          static_cast<std::uint32_t>(std::stoul(height))};
}

int run(ViewOptions options) {
  if (!options.select.empty() && options.screenshot.empty())
    throw UsageError("--select requires --screenshot");
  if (options.replay != 0 && options.screenshot.empty())
    throw UsageError("--replay requires --screenshot");
  if (options.browser) {
    if (!options.screenshot.empty()) throw UsageError("--browser opens no --screenshot");
    return serve_viewer(
        {.targets = options.targets, .token = options.token, .port = 0, .opens_browser = true});
  }
  if (options.token.empty()) {
    if (const char* token = ::secure_getenv("REPRISE_TOKEN")) options.token = token;
  }
  const WindowModule window;
  const auto merged = merge_ranks(options.targets);
  options.targets.resize(2);
  RepriseViewRequest request{};
  request.target = or_null(options.targets[0]);
  request.is_temporary = merged ? 1 : 0;
  request.other = or_null(options.targets[1]);
  request.token = or_null(options.token);
  request.screenshot = or_null(options.screenshot);
  request.view = or_null(options.view);
  request.select = or_null(options.select);
  request.replay = options.replay;
  if (!options.size.empty()) {
    const Size size = window_size_of(options.size);
    request.width = size.width;
    request.height = size.height;
  }
  request.scale = options.scale;
  request.shade = options.shade.empty()      ? kRepriseShadeRemembered
                  : options.shade == "light" ? kRepriseShadeLight
                                             : kRepriseShadeDark;
  request.reset_layout = options.reset_layout ? 1 : 0;
  window.view(request);
  return kDone;
}

}  // namespace

Command add_view(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("view", "Open a trace or a live session in the viewer window");
  auto options = std::make_shared<ViewOptions>();
  app->add_option("TRACES", options->targets,
                  "trace file, socket of a live session (see reprise sessions), or host:port; the "
                  "other ranks of its job are found on this machine, and are joined by commas on "
                  "others; "
                  "two are compared, but traces of the ranks of one job are merged; "
                  "default: a start page with sessions and recent files");
  app->add_option("--token", options->token,
                  "token of the session at host:port; default: $REPRISE_TOKEN");
  std::vector<std::string> views;
  for (const viewer::ViewDesc& view : viewer::kViews) views.emplace_back(view.name);
  app->add_option("--view", options->view, "initial view: " + CLI::detail::join(views, ", "))
      ->check(CLI::IsMember(views));
  app->add_option("--shade", options->shade, "dark or light; default: as in the last session")
      ->check(CLI::IsMember({"dark", "light"}));
  app->add_option(
      "--size", options->size,
      "WIDTHxHEIGHT of the window or screenshot, in pixels; default: as in the last session");
  app->add_option("--scale", options->scale,
                  "scale of text and layout, 0.5 to 4; default: the display's setting")
      ->check(number(0.5f, 4.0f));
  app->add_option(
      "--screenshot", options->screenshot,
      "write a picture of the view (.png) or the graph as a drawing (.svg), as the name "
      "ends, and exit; needs no display");
  app->add_option("--select", options->select,
                  "with --screenshot: select the first node whose name contains this text");
  app->add_option("--replay", options->replay, "with --screenshot: show and select this replay")
      ->check(number<std::uint64_t>(1));
  app->add_flag("--browser", options->browser,
                "show it in a browser of this machine, which needs no OpenGL here (see reprise "
                "serve); until Ctrl+C");
  app->add_flag("--reset-layout", options->reset_layout, "restore the default panel layout");
  app->footer(
      "F1 shows the keyboard shortcuts. Drop a file on the window to open it, those of the ranks "
      "of one "
      "job to open them as one, or two others to compare them.\n"
      "Examples:\n  reprise view\n  reprise view run.reprise\n  reprise view before.reprise "
      "after.reprise\n  reprise view run.rank*.reprise\n"
      "  REPRISE_TRACE=live ./server & reprise view\n  REPRISE_TOKEN=secret reprise view "
      "gpu-box:7777\n"
      "  reprise view run.reprise --screenshot graph.png --view graph --size 1600x900");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
