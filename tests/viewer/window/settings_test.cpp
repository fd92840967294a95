#include "application/settings.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <optional>

#include "support/environment_variable.hpp"
#include "support/paths.hpp"

namespace fs = std::filesystem;
using namespace reprise;
using namespace reprise::viewer;

namespace {

fs::path new_folder() {
  static int count = 0;
  const fs::path folder = test::scratch_folder() / ("settings-" + std::to_string(++count));
  fs::create_directories(folder);
  return folder;
}

fs::path file_with(const std::string& text) {
  const fs::path path = new_folder() / "viewer.json";
  std::ofstream(path) << text;
  return path;
}

}  // namespace

TEST_CASE("settings: saved values are read back") {
  const fs::path path = new_folder() / "below" / "viewer.json";
  {
    SettingsFile file(path);
    CHECK(file.message().empty());
    file.values.shade = Shade::Light;
    file.values.width = 1234;
    file.values.height = 567;
    file.values.maximised = true;
    file.values.layout = {.strip = 120,
                          .inspector = 0.5f,
                          .lower = 0.25f,
                          .below_timeline = 0.125f,
                          .source_folders = {"/src/digits"}};
    file.values.tables = "[Table][0x1,2]\nColumn 0  Width=80\n";
    file.values.note_opened("/traces/a.reprise", 1'700'000'000);
    CHECK(file.save().empty());
  }
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  const SettingsFile file(path);
  CHECK(file.message().empty());
  CHECK(file.values.shade == Shade::Light);
  CHECK(file.values.width == 1234);
  CHECK(file.values.height == 567);
  CHECK(file.values.maximised);
  CHECK(file.values.layout.strip == 120);
  CHECK(file.values.tables == "[Table][0x1,2]\nColumn 0  Width=80\n");
  CHECK(file.values.layout.inspector == 0.5f);
  CHECK(file.values.layout.lower == 0.25f);
  CHECK(file.values.layout.below_timeline == 0.125f);
  CHECK(file.values.layout.source_folders == std::vector<std::string>{"/src/digits"});
  REQUIRE(file.values.recent.size() == 1);
  CHECK(file.values.recent[0] == RecentEntry{"/traces/a.reprise", 1'700'000'000});
}

TEST_CASE("settings: recent files are newest first, without duplicates, and at most twenty") {
  Settings settings;
  for (int i = 0; i < 25; ++i) settings.note_opened("/traces/" + std::to_string(i), i);
  settings.note_opened("/traces/20", 100);
  REQUIRE(settings.recent.size() == kMaxRecentFiles);
  CHECK(settings.recent[0] == RecentEntry{"/traces/20", 100});
  CHECK(settings.recent[1].path == "/traces/24");
  CHECK(settings.recent.back().path == "/traces/5");
  settings.forget("/traces/24");
  CHECK(settings.recent[1].path == "/traces/23");
}

TEST_CASE("settings: a damaged file yields the defaults and is kept under another name") {
  const std::string damaged = "{\"shade\": \"light\", \"win";
  const fs::path path = file_with(damaged);
  SettingsFile file(path);
  CHECK(file.message().find("viewer.json.damaged") != std::string::npos);
  CHECK(file.values.shade == Shade::Dark);
  CHECK(file.save().empty());
  CHECK(test::text_of_file(path.string() + ".damaged") == damaged);
  CHECK(SettingsFile(path).message().empty());
}

TEST_CASE("settings: a second damaged file does not replace the first") {
  const fs::path path = file_with("first");
  { const SettingsFile file(path); }
  std::ofstream(path) << "second";
  { const SettingsFile file(path); }
  CHECK(test::text_of_file(path.string() + ".damaged") == "first");
  CHECK(test::text_of_file(path.string() + ".damaged-2") == "second");
}

TEST_CASE(
    "settings: one invalid value does not lose the others, and the file is kept under another "
    "name") {
  const fs::path path = file_with(
      R"({"shade": "light", "window": {"width": "wide"}, "layout": {"strip": 70},
          "recent": [{"path": "/a"}, {"path": 3}]})");
  const SettingsFile file(path);
  CHECK(!file.message().empty());
  CHECK(file.values.shade == Shade::Light);
  CHECK(file.values.width == Settings().width);
  CHECK(file.values.layout.strip == 70);
  REQUIRE(file.values.recent.size() == 1);
  CHECK(file.values.recent[0].path == "/a");
  CHECK(fs::exists(path.string() + ".damaged"));
}

TEST_CASE("settings: out-of-range numbers are clamped") {
  const fs::path path = file_with(
      R"({"window": {"width": -5, "height": 1e300},
          "layout": {"strip": -1e9, "inspector": 7, "lower": -7}})");
  const SettingsFile file(path);
  CHECK(file.values.width == 400);
  CHECK(file.values.height == 16'384);
  CHECK(file.values.layout.strip == 0);
  CHECK(file.values.layout.inspector == 1);
  CHECK(file.values.layout.lower == 0);
}

TEST_CASE("settings: fields of a later version are preserved") {
  const fs::path path = file_with(R"({"colours": ["red"], "window": {"monitor": 2}})");
  SettingsFile file(path);
  file.values.shade = Shade::Light;
  CHECK(file.save().empty());
  const auto json = nlohmann::json::parse(test::text_of_file(path));
  CHECK(json["colours"][0] == "red");
  CHECK(json["window"]["monitor"] == 2);
  CHECK(json["shade"] == "light");
}

TEST_CASE("settings: without changes nothing is written") {
  const fs::path path = new_folder() / "viewer.json";
  SettingsFile file(path);
  REQUIRE(file.save().empty());
  fs::remove(path);
  CHECK(file.save().empty());
  CHECK(!fs::exists(path));
}

TEST_CASE("settings: a directory that cannot be created is reported") {
  const fs::path file_in_the_way = file_with("{}");
  SettingsFile file(file_in_the_way / "below" / "viewer.json");
  CHECK(file.save().find("cannot write") == 0);
}

TEST_CASE("settings: the path follows $XDG_CONFIG_HOME or the home directory") {
  {
    const test::EnvironmentVariable config("XDG_CONFIG_HOME", "/config"), home("HOME", "/home/me");
    CHECK(settings_path() == "/config/reprise/viewer.json");
  }
  {
    const test::EnvironmentVariable config("XDG_CONFIG_HOME", std::nullopt),
        home("HOME", "/home/me");
    CHECK(settings_path() == "/home/me/.config/reprise/viewer.json");
  }
  const test::EnvironmentVariable config("XDG_CONFIG_HOME", std::nullopt),
      home("HOME", std::nullopt);
  CHECK(settings_path().empty());
  SettingsFile nowhere(settings_path());
  nowhere.values.shade = Shade::Light;
  CHECK(nowhere.save().empty());
}

TEST_CASE("settings: a file of deeply nested values is damaged") {
  const std::string deep =
      "{\"later\": " + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  const fs::path path = file_with(deep);
  SettingsFile file(path);
  CHECK(file.message().find("viewer.json.damaged") != std::string::npos);
  file.values.width = 1000;
  CHECK(file.save().empty());
  CHECK(test::text_of_file(path.string() + ".damaged") == deep);
}
