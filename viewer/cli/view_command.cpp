#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/window_module.hpp"

namespace reprise::cli {

namespace {

constexpr std::uint32_t kLeastSide = 16, kGreatestSide = 16'384;

struct ViewOptions {
  std::string target, other, token, screenshot, view, select, size, shade;
  float scale = 0;
  bool reset_layout = false;
};

struct Size {
  std::uint32_t width = 0, height = 0;
};

Size window_size_of(const std::string& text) {
  Size size;
  char end = 0;
  if (std::sscanf(text.c_str(), "%ux%u%c", &size.width, &size.height, &end) != 2 ||
      std::min(size.width, size.height) < kLeastSide ||
      std::max(size.width, size.height) > kGreatestSide) {
    throw UsageError("--size: \"" + text + "\" is no size such as 1600x900");
  }
  return size;
}

const char* if_any(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

int run(ViewOptions options) {
  if (!options.select.empty() && options.screenshot.empty())
    throw UsageError("--select is for --screenshot");
  if (options.token.empty()) {
    if (const char* token = std::getenv("REPRISE_TOKEN")) options.token = token;
  }
  RepriseViewRequest request{};
  request.target = if_any(options.target);
  request.other = if_any(options.other);
  request.token = if_any(options.token);
  request.screenshot = if_any(options.screenshot);
  request.view = if_any(options.view);
  request.select = if_any(options.select);
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
  WindowModule().view(request);
  return kDone;
}

}  // namespace

Command add_view(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("view", "Look at a trace or at a program that runs, in a window");
  auto options = std::make_shared<ViewOptions>();
  app->add_option("TRACE", options->target,
                  "a trace, the socket of a live session (see reprise sessions), or host:port; "
                  "none: the window offers what there is");
  app->add_option("OTHER", options->other, "a second one, to compare with the first");
  app->add_option("--token", options->token, "of a session at host:port; otherwise $REPRISE_TOKEN");
  app->add_option("--view", options->view,
                  "what is in front: graph, replays, timeline, nodes, memory, sync or compare")
      ->check(
          CLI::IsMember({"graph", "replays", "timeline", "nodes", "memory", "sync", "compare"}));
  app->add_option("--shade", options->shade, "dark or light; otherwise as last time")
      ->check(CLI::IsMember({"dark", "light"}));
  app->add_option(
      "--size", options->size,
      "WIDTHxHEIGHT of the window, or of the picture, in pixels; otherwise as last time");
  app->add_option("--scale", options->scale,
                  "of text and distances; otherwise what the display says")
      ->check(CLI::Range(0.5, 4.0));
  app->add_option("--screenshot", options->screenshot,
                  "write a PNG of the view instead; needs no display");
  app->add_option("--select", options->select,
                  "with --screenshot: select the first node with this in its name");
  app->add_flag("--reset-layout", options->reset_layout,
                "put the splitters back to where they were at first");
  app->footer(
      "F1 shows the keys. Files can be dropped on the window; two of them are compared.\n"
      "Examples:\n  reprise view\n  reprise view run.reprise\n  reprise view before.reprise "
      "after.reprise\n"
      "  REPRISE_TRACE=live ./server & reprise view\n  REPRISE_TOKEN=secret reprise view "
      "gpu-box:7777\n"
      "  reprise view run.reprise --screenshot graph.png --view graph --size 1600x900");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
