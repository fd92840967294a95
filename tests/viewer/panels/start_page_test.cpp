#include <doctest/doctest.h>

#include <imgui_internal.h>

#include <filesystem>
#include <fstream>

#include "panels/shared/keys.hpp"
#include "panels/workspace/open_dialog.hpp"
#include "panels/workspace/start_page.hpp"
#include "support/paths.hpp"
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
  CHECK(text.find("reprise run --") != std::string::npos);
  CHECK(text.find("No live programs") != std::string::npos);
}

TEST_CASE("start page: a click on a live session opens it") {
  StartTest t;
  t.view_model.sessions = {{"/run/dead.sock", 1, "dead"},
                           {"/run/reprise/42.sock", 42, "digits", reprise::trace::kNone, 0, true}};
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

TEST_CASE("start page: two recent files are compared through their menus") {
  StartTest t;
  t.view_model.recent = {{"/traces/a.reprise", "", true}, {"/traces/b.reprise", "", true}};
  t.draw();
  // Right-clicks in a row and clicks the menu item that contains the text.
  const auto choose = [&](float y, const char* item) {
    t.context.move_mouse({1000, y});
    t.draw();
    t.context.hold_button(1);
    t.draw();
    t.context.release_button(1);
    t.draw();
    t.draw();
    const ImGuiWindow* menu = nullptr;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      if ((window->Flags & ImGuiWindowFlags_Popup) != 0 && window->Active) menu = window;
    }
    if (menu == nullptr) return false;
    if (t.text().find(item) == std::string::npos) return false;
    const int row = std::string(item) == "Select to compare" ? 1 : 2;
    t.context.move_mouse({menu->Pos.x + 20, menu->Pos.y + ImGui::GetStyle().WindowPadding.y +
                                                (static_cast<float>(row) + 0.5f) *
                                                    ImGui::GetTextLineHeightWithSpacing()});
    t.draw();
    t.context.hold_button(0);
    t.draw();
    t.context.release_button(0);
    t.draw();
    return true;
  };
  // Rows are found from top to bottom; the first has "Select to compare", the other the comparison.
  float y = 200;
  while (y < 600 && !choose(y, "Select to compare")) y += 9;
  REQUIRE(y < 600);
  while (y < 600 && std::holds_alternative<std::monostate>(t.action)) {
    y += 9;
    choose(y, "Compare with a.reprise");
  }
  REQUIRE(std::holds_alternative<CompareTarget>(t.action));
  CHECK(std::get<CompareTarget>(t.action).first.target == "/traces/a.reprise");
  CHECK(std::get<CompareTarget>(t.action).second.target == "/traces/b.reprise");
}

TEST_CASE("start page: a command is run, its output is shown, and it can be stopped") {
  StartTest t;
  t.draw();
  const auto find_field = [&] {
    for (float y = 300; y < 700 && !ImGui::GetIO().WantTextInput; y += 9) {
      t.context.move_mouse({400, y});
      t.draw();
      t.context.hold_button(0);
      t.draw();
      t.context.release_button(0);
      t.draw();
    }
    return ImGui::GetIO().WantTextInput;
  };
  REQUIRE(find_field());
  t.context.type("python3 train.py");
  t.draw();
  ImGuiIO& io = ImGui::GetIO();
  io.KeysDown[io.KeyMap[ImGuiKey_Enter]] = true;
  t.draw();
  io.KeysDown[io.KeyMap[ImGuiKey_Enter]] = false;
  REQUIRE(std::holds_alternative<RunProgram>(t.action));
  CHECK(std::get<RunProgram>(t.action).command == "python3 train.py");
  t.action = {};
  t.view_model.is_program_running = true;
  t.view_model.program_state = "started python3 as process 7";
  t.view_model.program_output = {"epoch 1", "epoch 2"};
  t.draw();
  const std::string text = t.text();
  reprise::test::check_in_order(text,
                                {"Stop", "started python3 as process 7", "epoch 1", "epoch 2"});
  for (float x = 560; x < 790 && std::holds_alternative<std::monostate>(t.action); x += 20)
    t.click_down(x, 200, 700);
  CHECK(std::holds_alternative<StopProgram>(t.action));
}

TEST_CASE("start page: its button asks for the files of this machine") {
  StartTest t;
  t.draw();
  for (float x = 1310; x > 1200 && std::holds_alternative<std::monostate>(t.action); x -= 20)
    t.click_down(x, 150, 300);
  CHECK(std::holds_alternative<BrowseFiles>(t.action));
}

TEST_CASE("open dialog: Enter opens the address, and a recent file opens or is compared") {
  ImGuiFixture context;
  Background background{1};
  OpenDialog dialog(background);
  StartAction action;
  const std::vector<std::string> recent = {"/traces/a.reprise"};
  const auto draw = [&] {
    context.frame([&] {
      StartAction result = dialog.draw(context.theme, recent);
      if (!std::holds_alternative<std::monostate>(result)) action = std::move(result);
    });
  };
  draw();
  CHECK_FALSE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup));
  dialog.open(OpenedFrom::Trace);
  for (int i = 0; i < 3; ++i) draw();
  CHECK(ImGui::GetIO().WantTextInput);
  context.type("run.reprise");
  draw();
  const int enter = ImGui::GetIO().KeyMap[ImGuiKey_Enter];
  ImGui::GetIO().KeysDown[enter] = true;
  draw();
  ImGui::GetIO().KeysDown[enter] = false;
  draw();
  REQUIRE(std::holds_alternative<OpenTarget>(action));
  CHECK(std::get<OpenTarget>(action).target == "run.reprise");
  CHECK_FALSE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup));

  // Clicks from top to bottom at a fraction of the dialog's width.
  const auto click_down = [&](float part) {
    action = {};
    dialog.open(OpenedFrom::Trace);
    for (int i = 0; i < 3; ++i) draw();
    for (float y = 330; y < 620 && std::holds_alternative<std::monostate>(action); y += 7) {
      context.move_mouse({490 + 620 * part, y});
      draw();
      context.hold_button(0);
      draw();
      context.release_button(0);
      draw();
    }
  };
  click_down(0.4f);
  REQUIRE(std::holds_alternative<OpenTarget>(action));
  CHECK(std::get<OpenTarget>(action).target == "/traces/a.reprise");
  click_down(0.95f);
  REQUIRE(std::holds_alternative<CompareTarget>(action));
  CHECK(std::get<CompareTarget>(action).first.target.empty());
  CHECK(std::get<CompareTarget>(action).second.target == "/traces/a.reprise");
}

TEST_CASE("start page: the button of an installed sample returns RunSample") {
  StartTest t;
  t.view_model.sample = "/usr/bin/digits";
  t.view_model.program_state = "starting, as process 7";
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

TEST_CASE("open dialog: it shows the folders and traces of the current folder, and opens them") {
  namespace fs = std::filesystem;
  const fs::path folder = reprise::test::scratch_folder() / "browsed", before = fs::current_path();
  fs::create_directories(folder / "older runs");
  for (const char* name : {"b.reprise", "a.reprise", "notes.txt", ".hidden.reprise"})
    std::ofstream(folder / name) << "12345";
  std::ofstream(folder / "older runs" / "c.reprise") << "1";
  fs::current_path(folder);
  Background background{1};
  OpenDialog dialog(background);
  fs::current_path(before);
  ImGuiFixture context;
  StartAction action;
  const auto contents = [&] {
    StartAction result = dialog.draw(context.theme, {});
    if (!std::holds_alternative<std::monostate>(result)) action = std::move(result);
  };
  dialog.open(OpenedFrom::StartPage);
  const auto settled_text = [&] {
    for (int i = 0; i < 4; ++i) {
      context.frame(contents);
      background.wait_until_idle();
    }
    std::string all;
    context.frame([&] {
      ImGuiFixture::start_log();
      contents();
      all = ImGuiFixture::take_log();
    });
    return all;
  };
  std::string text = settled_text();
  reprise::test::check_in_order(text, {"older runs/", "a.reprise", "5 B", "b.reprise"});
  CHECK(text.find("notes.txt") == std::string::npos);
  CHECK(text.find("hidden") == std::string::npos);
  CHECK(text.find("Compare") == std::string::npos);
  // Clicks down the list: the folder is entered, and a double-click opens its file.
  const auto click = [&](float y) {
    context.move_mouse({600, y});
    context.frame(contents);
    context.hold_button(0);
    context.frame(contents);
    context.release_button(0);
    context.frame(contents);
  };
  float y = 300;
  for (; y < 600 && text.find("c.reprise") == std::string::npos; y += 6) {
    click(y);
    for (int i = 0; i < 40; ++i) context.frame(contents);  // no double-click
    text = settled_text();
  }
  REQUIRE(text.find("c.reprise") != std::string::npos);
  for (int i = 0; i < 3 && std::holds_alternative<std::monostate>(action); ++i) click(y - 6);
  REQUIRE(std::holds_alternative<OpenTarget>(action));
  CHECK(std::get<OpenTarget>(action).target == (folder / "older runs" / "c.reprise").string());
}
