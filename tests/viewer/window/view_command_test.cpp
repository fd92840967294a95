// Runs `reprise view` and `reprise sessions` as processes.
#include <doctest/doctest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <png.h>
#include <nlohmann/json.hpp>

#include "panels/shared/views.hpp"
#include "support/contains.hpp"
#include "support/paths.hpp"
#include "viewer/hand_made_ranks.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/window/display_server.hpp"
#include "viewer/window/process.hpp"
#include "viewer/window/x_user.hpp"

namespace fs = std::filesystem;
namespace viewer = reprise::viewer;
using namespace reprise::test;

namespace {

const std::string& trace_file() {
  static const std::string path = [] {
    const fs::path file = scratch_folder() / "hand.reprise";
    write_hand_made_trace(file);
    return file.string();
  }();
  return path;
}

Environment without_display() {
  return {{"DISPLAY", std::nullopt},
          {"WAYLAND_DISPLAY", std::nullopt},
          {"XDG_CONFIG_HOME", (scratch_folder() / "config").string()}};
}

struct Picture {
  std::uint32_t width = 0, height = 0;
  std::size_t colours = 0;
};

Picture picture_of(const fs::path& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&image, path.c_str())) return {};
  image.format = PNG_FORMAT_RGB;
  std::vector<png_byte> bytes(PNG_IMAGE_SIZE(image));
  png_image_finish_read(&image, nullptr, bytes.data(), 0, nullptr);
  std::vector<std::uint32_t> colours;
  for (std::size_t i = 0; i + 2 < bytes.size(); i += 3)
    colours.push_back(bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2]);
  std::sort(colours.begin(), colours.end());
  return {image.width, image.height,
          static_cast<std::size_t>(std::unique(colours.begin(), colours.end()) - colours.begin())};
}

// A stale socket of an ended process.
fs::path leave_socket(const fs::path& folder) {
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms::owner_all);
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  const fs::path path = folder / (std::to_string(gone) + "-ended.sock");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.native().copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::close(socket);
  return path;
}

}  // namespace

TEST_CASE("view: every view renders to a screenshot of the requested size without a display") {
  for (const viewer::ViewDesc& each : viewer::kViews) {
    const std::string view = each.name;
    CAPTURE(view);
    const fs::path path = scratch_folder() / (view + ".png");
    const Finished done =
        run_process({REPRISE_PROGRAM, "view", trace_file(), trace_file(), "--screenshot",
                     path.string(), "--view", view, "--size", "900x500"},
                    without_display());
    CHECK(done.errors == "");
    REQUIRE(done.code == 0);
    const Picture picture = picture_of(path);
    CHECK(picture.width == 900);
    CHECK(picture.height == 500);
    CHECK(picture.colours > 20);
  }
}

TEST_CASE("view: a screenshot is written as its name says, or refused") {
  for (const char* name : {"picture.jpg", "picture"}) {
    const fs::path path = scratch_folder() / name;
    const Finished done = run_process(
        {REPRISE_PROGRAM, "view", trace_file(), "--screenshot", path.string()}, without_display());
    CHECK(done.code == 1);
    CHECK(contains(done.errors, path.string() + ": the name must end in .png or .svg"));
    CHECK_FALSE(fs::exists(path));
  }
}

TEST_CASE("view: traces of the ranks of one job are merged into a file that is removed") {
  const fs::path temporary = scratch_folder() / "temporary", path = scratch_folder() / "ranks.png";
  fs::create_directories(temporary);
  const auto ranks = HandMadeJob({.ranks = 3}).write_all(scratch_folder() / "ranks");
  Environment environment = without_display();
  environment["TMPDIR"] = temporary.string();
  const auto view = [&](const std::vector<std::string>& files) {
    std::vector<std::string> command = {REPRISE_PROGRAM, "view"};
    command.insert(command.end(), files.begin(), files.end());
    for (const char* more : {"--view", "timeline", "--size", "900x500", "--screenshot"})
      command.emplace_back(more);
    command.push_back(path.string());
    return run_process(command, environment);
  };
  const Finished merged = view({ranks[0], ranks[1], ranks[2]});
  CHECK(merged.errors == "");
  REQUIRE(merged.code == 0);
  CHECK(picture_of(path).colours > 20);
  CHECK(fs::is_empty(temporary));

  const Finished two = view({ranks[2], ranks[0]});  // merged, not compared
  CHECK(two.code == 0);
  CHECK(contains(two.errors, "rank 1 of 3 is missing"));
  CHECK(view({trace_file(), ranks[0]}).errors == "");  // compared
  const Finished foreign = view({ranks[0], ranks[1], trace_file()});
  CHECK(foreign.code == 1);
  CHECK(contains(foreign.errors, "hand.reprise is not the trace of a rank"));
  CHECK(fs::is_empty(temporary));
}

TEST_CASE("view: a screenshot shows the replay that --replay names, or fails without it") {
  const auto picture = [&](const std::string& replay) {
    const fs::path path = scratch_folder() / ("replay-" + replay + ".png");
    const Finished done =
        run_process({REPRISE_PROGRAM, "view", trace_file(), "--screenshot", path.string(), "--view",
                     "timeline", "--size", "900x500", "--replay", replay},
                    without_display());
    std::ifstream file(path);
    return std::pair(done, std::string(std::istreambuf_iterator<char>(file), {}));
  };
  const auto [second, second_picture] = picture("2");
  CHECK(second.errors == "");
  const auto [third, third_picture] = picture("3");
  CHECK(third.code == 0);
  CHECK(second_picture != third_picture);
  const auto [none, no_picture] = picture("4000");
  CHECK(none.code == 1);
  CHECK(contains(none.errors, "the trace has no replay 4000"));
  CHECK(no_picture.empty());
}

TEST_CASE("view: a screenshot named .svg is the drawing of the graph, and of no other view") {
  const fs::path path = scratch_folder() / "graph.svg";
  const Finished done = run_process(
      {REPRISE_PROGRAM, "view", trace_file(), "--screenshot", path.string()}, without_display());
  CHECK(done.errors == "");
  REQUIRE(done.code == 0);
  std::ifstream file(path);
  const std::string svg(std::istreambuf_iterator<char>(file), {});
  CHECK(svg.starts_with("<?xml"));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(contains(svg, "<rect class=\"box\""));
  const Finished other = run_process({REPRISE_PROGRAM, "view", trace_file(), "--view", "nodes",
                                      "--screenshot", (scratch_folder() / "nodes.svg").string()},
                                     without_display());
  CHECK(other.code == 1);
  CHECK(contains(other.errors, "only the graph view of a trace can be written as SVG"));
}

TEST_CASE("view: the start page renders to a screenshot, and the shades differ") {
  const fs::path dark = scratch_folder() / "dark.png", light = scratch_folder() / "light.png";
  REQUIRE(run_process({REPRISE_PROGRAM, "view", "--screenshot", dark.string(), "--shade", "dark"},
                      without_display())
              .code == 0);
  REQUIRE(run_process({REPRISE_PROGRAM, "view", "--screenshot", light.string(), "--shade", "light"},
                      without_display())
              .code == 0);
  CHECK(picture_of(dark).width == 1600);
  std::ifstream a(dark), b(light);
  CHECK(std::string(std::istreambuf_iterator<char>(a), {}) !=
        std::string(std::istreambuf_iterator<char>(b), {}));
}

TEST_CASE("view: without a display the error suggests alternatives") {
  const Finished done = run_process({REPRISE_PROGRAM, "view", trace_file()}, without_display());
  CHECK(done.code == 1);
  CHECK(contains(done.errors, "there is no display"));
  CHECK(contains(done.errors, "--screenshot"));
}

TEST_CASE("view: a screenshot of a missing trace fails and writes no file") {
  const fs::path path = scratch_folder() / "never.png";
  const Finished done =
      run_process({REPRISE_PROGRAM, "view", "/nowhere/a.reprise", "--screenshot", path.string()},
                  without_display());
  CHECK(done.code == 1);
  CHECK(contains(done.errors, "/nowhere/a.reprise"));
  CHECK(!fs::exists(path));
}

TEST_CASE("view: an unwritable screenshot is reported") {
  const Finished done = run_process(
      {REPRISE_PROGRAM, "view", trace_file(), "--screenshot", "/nowhere/a.png"}, without_display());
  CHECK(done.code == 1);
  CHECK(contains(done.errors, "cannot write /nowhere/a.png"));
}

TEST_CASE("view: wrong usage is rejected") {
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--size", "wide"},
                                               {"--view", "stars"},
                                               {"--select", "a"},
                                               {"--replay", "3"}}) {
    std::vector<std::string> command = {REPRISE_PROGRAM, "view"};
    command.insert(command.end(), more.begin(), more.end());
    CHECK(run_process(command, without_display()).code == 2);
  }
}

TEST_CASE("view: the module is found in an installation, and a missing one is reported") {
  const fs::path root = scratch_folder() / "installed",
                 picture = scratch_folder() / "installed.png";
  fs::create_directories(root / "bin");
  fs::copy_file(REPRISE_PROGRAM, root / "bin" / "reprise");
  const std::vector<std::string> command = {(root / "bin" / "reprise").string(),
                                            "view",
                                            trace_file(),
                                            "--screenshot",
                                            picture.string(),
                                            "--size",
                                            "320x200"};
  const Finished without = run_process(command, without_display());
  CHECK(without.code == 1);
  CHECK(contains(without.errors, "libreprise_window.so is not in"));

  const fs::path folder = root / "lib" / "reprise";
  fs::create_directories(folder);
  std::ofstream(folder / "libreprise_window.so") << "no library";
  CHECK(contains(run_process(command, without_display()).errors, "cannot load the viewer window"));

  fs::copy_file(REPRISE_WINDOW_MODULE, folder / "libreprise_window.so",
                fs::copy_options::overwrite_existing);
  const Finished done = run_process(command, without_display());
  CHECK(done.errors == "");
  CHECK(done.code == 0);
  CHECK(picture_of(picture).width == 320);
}

TEST_CASE("view: SIGTERM ends it as closing the window does, and saves the recent files") {
  const fs::path config = scratch_folder() / "remembered";
  const std::string display = display_server().name();
  XUser user(display);
  Process viewer({REPRISE_PROGRAM, "view", trace_file()},
                 {{"XDG_CONFIG_HOME", config.string()}, {"DISPLAY", display}});
  CHECK(user.wait_for_window("hand.reprise") != 0);
  viewer.signal(SIGTERM);
  const Finished done = viewer.wait();
  CHECK(done.errors == "");
  CHECK(done.code == 0);
  std::ifstream file(config / "reprise" / "viewer.json");
  const auto json = nlohmann::json::parse(file);
  CHECK(json["recent"][0]["path"] == trace_file());
}

TEST_CASE("sessions: without a session it prints help, and an empty list as JSON") {
  const fs::path runtime = scratch_folder() / "none";
  fs::create_directories(runtime);
  fs::permissions(runtime, fs::perms::owner_all);
  const Environment environment = {{"XDG_RUNTIME_DIR", runtime.string()}};
  const Finished text = run_process({REPRISE_PROGRAM, "sessions"}, environment);
  CHECK(text.code == 0);
  const Finished json = run_process({REPRISE_PROGRAM, "sessions", "--json"}, environment);
  REQUIRE(json.code == 0);
  CHECK(nlohmann::json::parse(json.output)["sessions"].is_array());
}

TEST_CASE("sessions: stale sockets are listed as ended and removed by --clean") {
  const fs::path runtime = scratch_folder() / "stale";
  fs::create_directories(runtime);
  fs::permissions(runtime, fs::perms::owner_all);
  const fs::path socket = leave_socket(runtime / "reprise");
  const Environment environment = {{"XDG_RUNTIME_DIR", runtime.string()}};
  const auto listed = [&] {
    const auto all = nlohmann::json::parse(
        run_process({REPRISE_PROGRAM, "sessions", "--json"}, environment).output);
    for (const auto& each : all["sessions"]) {
      if (each["path"] == socket.string()) return each;
    }
    return nlohmann::json();
  };
  REQUIRE(listed().is_object());
  CHECK(listed()["alive"] == false);
  CHECK(listed()["application"] == "ended");
  const Finished cleaned = run_process({REPRISE_PROGRAM, "sessions", "--clean"}, environment);
  CHECK(cleaned.code == 0);
  CHECK(contains(cleaned.output, "removed"));
  CHECK(!fs::exists(socket));
  CHECK(listed().is_null());
}
