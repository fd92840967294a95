#include <doctest/doctest.h>

#include "panels/workspace/start_page.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise::viewer;
using reprise::test::ImGuiFixture;

namespace {

struct StartTest {
  explicit StartTest(ImVec2 size = {1600, 900}) : context(size) {}
  void draw() {
    context.frame([this] { record(page.draw(context.theme, view_model)); });
  }
  void record(StartAction result) {
    if (!std::holds_alternative<std::monostate>(result)) action = std::move(result);
  }
  std::string text() {
    std::string all;
    context.frame([&] {
      ImGuiFixture::start_log();
      record(page.draw(context.theme, view_model));
      all = context.take_log();
    });
    return all;
  }
  // Clicks at positions from top to bottom until the page returns an action.
  void click_down(float x, float from, float to) {
    for (float y = from; y < to && std::holds_alternative<std::monostate>(action); y += 9) {
      context.move_mouse({x, y});
      draw();
      context.hold_button(0);
      draw();
      context.release_button(0);
      draw();
    }
  }

  ImGuiFixture context;
  StartPage page;
  StartViewModel view_model;
  StartAction action;
};

}  // namespace

TEST_CASE("start page: an empty page draws at every size and shows hints") {
  for (const ImVec2 size : {ImVec2{1600, 900}, ImVec2{400, 300}, ImVec2{90, 60}}) {
    StartTest t(size);
    t.draw();
    CHECK(t.context.is_drawable());
  }
  StartTest t;
  const std::string text = t.text();
  CHECK(text.find("Drop a trace") != std::string::npos);
  CHECK(text.find("F1") != std::string::npos);
}

TEST_CASE("start page: a click on a live session opens it") {
  StartTest t;
  t.view_model.sessions = {{"/run/dead.sock", 1, "dead", false},
                           {"/run/reprise/42.sock", 42, "digits", true}};
  t.draw();
  t.draw();
  t.click_down(400, 200, 600);
  REQUIRE(std::holds_alternative<OpenTarget>(t.action));
  CHECK(std::get<OpenTarget>(t.action).target == "/run/reprise/42.sock");
}

TEST_CASE("start page: a click on a recent file opens it if the file exists") {
  StartTest t;
  t.view_model.recent = {{"/traces/gone.reprise", "", false},
                         {"/traces/there.reprise", "today", true}};
  t.draw();
  t.click_down(1000, 200, 600);
  REQUIRE(std::holds_alternative<OpenTarget>(t.action));
  CHECK(std::get<OpenTarget>(t.action).target == "/traces/there.reprise");
}

TEST_CASE("start page: the button of an installed sample returns RunSample") {
  StartTest t;
  t.view_model.sample = "/usr/bin/digits";
  t.view_model.sample_state = "starting, as process 7";
  t.draw();
  t.click_down(320, 200, 700);
  CHECK(std::holds_alternative<RunSample>(t.action));
}

TEST_CASE("start page: the error of the last attempt is shown") {
  StartTest t;
  t.view_model.error = "x.reprise is no trace";
  CHECK(t.text().find("x.reprise is no trace") != std::string::npos);
  t.view_model.error.clear();
  CHECK(t.text().find("x.reprise is no trace") == std::string::npos);
}
