#include "window/entry.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/shown_text.hpp"
#include "window/screenshot.hpp"
#include "window/viewer_window.hpp"

namespace reprise::viewer {

namespace {

std::string text(const char* given) { return given ? given : ""; }

std::optional<View> view_of(const RepriseViewRequest& request) {
  if (!request.view) return std::nullopt;
  const std::optional<View> view = view_named(request.view);
  if (!view) throw std::runtime_error("unknown view \"" + std::string(request.view) + "\"");
  return view;
}

void show_picture(const RepriseViewRequest& request) {
  ScreenshotDesc desc{.picture = text(request.screenshot),
                      .target = text(request.target),
                      .other = text(request.other),
                      .token = text(request.token)};
  desc.view = view_of(request);
  desc.select = text(request.select);
  desc.replay = request.replay;
  desc.program = text(request.program);
  if (request.width) desc.width = request.width;
  if (request.height) desc.height = request.height;
  if (request.scale > 0) desc.scale = request.scale;
  if (request.shade == kRepriseShadeLight) desc.shade = Shade::Light;
  take_screenshot(desc);
}

void show_window(const RepriseViewRequest& request) {
  ViewerWindowDesc desc{.program = text(request.program),
                        .target = text(request.target),
                        .other = text(request.other),
                        .token = text(request.token)};
  desc.view = view_of(request);
  desc.width = request.width;
  desc.height = request.height;
  desc.scale = request.scale;
  if (request.shade != kRepriseShadeRemembered)
    desc.shade = request.shade == kRepriseShadeLight ? Shade::Light : Shade::Dark;
  desc.reset_layout = request.reset_layout != 0;
  desc.is_temporary = request.is_temporary != 0;
  show_viewer(desc);
}

void run(const RepriseViewRequest& request) {
  if (request.version != kRepriseViewVersion)
    throw std::runtime_error(
        "the program and its window module have different versions; reinstall both");
  if (request.screenshot) {
    show_picture(request);
  } else {
    show_window(request);
  }
}

}  // namespace

}  // namespace reprise::viewer

int reprise_view(const RepriseViewRequest* request, char* error, std::size_t error_size) {
  try {
    reprise::viewer::run(*request);
    return 0;
  } catch (const std::exception& failure) {
    const std::string reason = reprise::detail::failure_text(failure, "drawing the viewer");
    const std::size_t count = std::min(reason.size(), error_size - 1);
    std::memcpy(error, reason.data(), count);
    error[count] = 0;
    return 1;
  }
}
