// What a user of a served viewer may do: files below allowed folders, and nothing that changes a
// read-only server.
#include <doctest/doctest.h>
#include <imgui.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

#include "application/application.hpp"
#include "model/allowed_paths.hpp"
#include "panels/workspace/file_browser.hpp"
#include "support/paths.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/window/large_trace.hpp"

using namespace reprise;
using namespace reprise::test;
using namespace reprise::viewer;

namespace {

namespace fs = std::filesystem;

// allowed/{run.reprise, inner/, link -> ../secret}, secret/hidden.reprise
fs::path access_folders() {
  const fs::path root = scratch_folder() / "access";
  if (fs::exists(root)) return root;
  fs::create_directories(root / "allowed/inner");
  fs::create_directories(root / "secret");
  write_large_trace(root / "allowed/run.reprise", {.nodes = 30, .replays = 20});
  fs::copy_file(root / "allowed/run.reprise", root / "secret/hidden.reprise");
  fs::create_directory_symlink(root / "secret", root / "allowed/link");
  return root;
}

// An application on the start page or with a trace, as a served client has it.
class ServedApplication : public ImGuiFixture {
 public:
  explicit ServedApplication(Access::Changes changes) {
    const fs::path root = access_folders();
    application.emplace(
        ApplicationDesc{
            .program = {},
            .access = {.paths = model::AllowedPaths({root / "allowed"}), .changes = changes},
            .folder =
                [root] {
                  fs::create_directories(root / "saved");
                  return root / "saved";
                },
            .deliver = [this](const fs::path& file) { delivered = file; }},
        settings_);
    ImGui::GetIO().KeyMap[ImGuiKey_Enter] = 500;
  }
  void draw() {
    frame([&] { application->draw(theme); });
  }
  void draw_until(const std::function<bool()>& holds) {
    for (int i = 0; i < 2000 && !holds(); ++i) {
      draw();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    REQUIRE(holds());
  }
  // Types the path in the address field of the start page.
  void enter_address(const std::string& path) {
    draw();
    draw();
    move_mouse({400, 212});
    draw();
    hold_button(0);
    draw();
    release_button(0);
    draw();
    REQUIRE(ImGui::GetIO().WantTextInput);
    type(path);
    draw();
    ImGui::GetIO().KeysDown[500] = true;
    draw();
    ImGui::GetIO().KeysDown[500] = false;
    draw();
  }
  std::string shown() {
    std::string text;
    frame([&] {
      start_log();
      application->draw(theme);
      text = take_log();
    });
    return text;
  }

  std::optional<Application> application;
  fs::path delivered;

 private:
  Settings settings_;
};

}  // namespace

TEST_CASE("allowed paths: a path is allowed by itself or by a folder, after its links") {
  const fs::path root = access_folders();
  const model::AllowedPaths paths({root / "allowed/", root / "secret/hidden.reprise"});
  CHECK(paths.contains(root / "allowed"));
  CHECK(paths.contains(root / "allowed/run.reprise"));
  CHECK(paths.contains(root / "allowed/new/file"));
  CHECK(paths.contains(root / "secret/hidden.reprise"));
  CHECK_FALSE(paths.contains(root / "secret"));
  CHECK_FALSE(paths.contains(root / "secret/other.reprise"));
  CHECK_FALSE(paths.contains(root / "allowed/../secret/other"));
  CHECK_FALSE(paths.contains(root / "allowed/link/other"));
  CHECK_FALSE(paths.contains(root / "allowed2"));
  CHECK_FALSE(paths.contains(root));
  CHECK_FALSE(paths.contains("/etc/passwd"));
  CHECK_FALSE(paths.contains(""));
  CHECK_FALSE(model::AllowedPaths(std::vector<fs::path>{}).contains("/"));
  CHECK(model::AllowedPaths().contains("/etc/passwd"));
  REQUIRE(paths.folders().size() == 1);
}

TEST_CASE(
    "file browser: it lists the allowed folder without links out of it, and does not leave it") {
  const fs::path root = access_folders();
  ImGuiFixture fixture;
  Background background(1);
  FileBrowser browser(background, model::AllowedPaths({root / "allowed"}));
  const auto draw = [&] { static_cast<void>(browser.draw(fixture.theme, 300)); };
  fixture.window(draw);
  background.wait_until_idle();
  const std::string text = fixture.text(draw);
  CHECK(text.find("run.reprise") != std::string::npos);
  CHECK(text.find("inner/") != std::string::npos);
  CHECK(text.find("link") == std::string::npos);
  // The button of the folder above leads to the list of allowed folders.
  fixture.click({16, 16}, draw);
  fixture.window(draw);
  background.wait_until_idle();
  CHECK(fixture.text(draw).find("allowed/") != std::string::npos);
  CHECK(fixture.text(draw).find("secret") == std::string::npos);
}

TEST_CASE("application: an address outside of the allowed folders is refused by name") {
  const fs::path root = access_folders();
  ServedApplication served(Access::Changes::Allowed);
  const std::string hidden = (root / "allowed/link/hidden.reprise").string();
  served.enter_address(hidden);
  CHECK(served.application->workspace() == nullptr);
  CHECK(served.application->error() == hidden + " is not below a folder that is allowed here.");
}

TEST_CASE("application: an address in an allowed folder opens") {
  ServedApplication served(Access::Changes::Allowed);
  served.enter_address((access_folders() / "allowed/run.reprise").string());
  CHECK(served.application->workspace() != nullptr);
}

TEST_CASE("application: a read-only start page offers neither addresses nor programs") {
  ServedApplication served(Access::Changes::Forbidden);
  served.draw();
  CHECK(served.shown().find("Browse") == std::string::npos);
  CHECK(served.shown().find("Run") == std::string::npos);
}

TEST_CASE("application: what is saved is delivered, without a question") {
  ServedApplication served(Access::Changes::Allowed);
  served.application->open({(access_folders() / "allowed/run.reprise").string(), {}});
  served.draw_until([&] { return served.application->workspace()->is_settled(); });
  served.application->workspace()->view().save = FileToSave{"nodes.csv", "a,b\n"};
  served.draw_until([&] { return !served.delivered.empty(); });
  CHECK(served.delivered.filename() == "nodes.csv");
  std::ifstream file(served.delivered);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "a,b\n");
  served.delivered.clear();
  served.application->workspace()->view().export_trace = "csv";
  served.draw_until([&] { return !served.delivered.empty(); });
  CHECK(served.delivered.filename() == "run.csv");
  CHECK(fs::file_size(served.delivered) > 100);
}
