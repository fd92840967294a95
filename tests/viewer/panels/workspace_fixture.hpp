// WorkspaceTest: the whole workspace without a window, with simulated mouse and keys. Threads: one
// at a time.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "panels/workspace/workspace.hpp"
#include "support/paths.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"

namespace reprise::test {

inline constexpr double kTimeout = 120;  // seconds; only a hang takes this long

inline std::string hand_made_file() {
  const auto path = scratch_folder() / "workspace.reprise";
  if (!std::filesystem::exists(path)) write_hand_made_trace(path);
  return path.string();
}

struct WorkspaceTest {
  explicit WorkspaceTest(const std::string& file, ImVec2 size = {1600, 900},
                         const std::string& compared = {})
      : context(size),
        feed(std::make_shared<model::TraceFeed>(model::TraceFeedDesc{.target = file})),
        other(compared.empty()
                  ? nullptr
                  : std::make_shared<model::TraceFeed>(model::TraceFeedDesc{.target = compared})),
        workspace(feed, other, background) {}
  ~WorkspaceTest() { background.wait_until_idle(); }

  void draw() {
    context.frame([this] {
      workspace.handle_keys();
      workspace.draw(context.theme, layout);
    });
  }
  // Draws until all view models of the document are ready.
  void settle() {
    REQUIRE(feed->wait_until_ready(kTimeout));
    if (other) REQUIRE(other->wait_until_ready(kTimeout));
    draw();
    for (int i = 0; i < 1000 && !workspace.is_settled(); ++i) {
      background.wait_until_idle();
      draw();
    }
    background.wait_until_idle();
    draw();
    REQUIRE(workspace.is_settled());
  }
  void press(int key, int mods = 0) {
    viewer::on_key_event(key, true, false, mods);
    draw();
    viewer::on_key_event(key, false, false, mods);
    draw();
  }
  void drag(ImVec2 from, ImVec2 to) {
    context.move_mouse(from);
    draw();
    context.hold_button(0);
    draw();
    context.move_mouse(to);
    draw();
    draw();
    context.release_button(0);
    draw();
  }
  std::string text() {
    std::string all;
    context.frame([&] {
      workspace.handle_keys();
      ImGuiFixture::start_log();
      workspace.draw(context.theme, layout);
      all = context.take_log();
    });
    return all;
  }

  ImGuiFixture context;
  viewer::Background background{1};
  viewer::WorkspaceLayout layout;
  std::shared_ptr<model::TraceFeed> feed, other;
  viewer::Workspace workspace;
};

}  // namespace reprise::test
