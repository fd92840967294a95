#include "model/source_lines.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/paths.hpp"

using namespace reprise;
namespace fs = std::filesystem;

namespace {

using Folders = std::vector<std::string>;

bool is_allowed(const char* file, const Folders& folders) {
  return model::is_source_allowed({file, 1}, folders);
}

}  // namespace

TEST_CASE("source lines: a location is allowed below a folder of the user, however it is written") {
  CHECK(is_allowed("/src/a/x.cpp", {"/src"}));
  CHECK(is_allowed("/src/a/x.cpp", {"/other", "/src/a/"}));
  CHECK(is_allowed("a/x.cpp", {"/src"}));
  CHECK(is_allowed("/x.cpp", {"/"}));
  CHECK_FALSE(is_allowed("/src/x.cpp", {}));
  CHECK_FALSE(is_allowed("/src2/x.cpp", {"/src"}));
  CHECK_FALSE(is_allowed("/src/../etc/passwd", {"/src"}));
  CHECK_FALSE(is_allowed("../etc/passwd", {"/src"}));
  CHECK_FALSE(is_allowed("a/../../etc/passwd", {"/src"}));
  CHECK_FALSE(is_allowed("/src", {"/src"}));
  CHECK_FALSE(is_allowed("/src/x.cpp", {"src"}));
  CHECK_FALSE(is_allowed("/src/x.cpp", {""}));
}

TEST_CASE("source lines: the lines around a location are read") {
  const fs::path folder = test::scratch_folder() / "sources";
  fs::create_directories(folder / "sub");
  std::ofstream(folder / "sub" / "x.cpp") << "one\n\ttwo\r\nthree\nfour\nfive";
  const Folders folders = {folder.string()};
  const auto lines = [&](const std::string& file, std::uint32_t line) {
    return model::read_source_lines({file, line}, folders, 1);
  };
  const model::SourceLines middle = lines((folder / "sub" / "x.cpp").string(), 3);
  CHECK(middle.first == 2);
  CHECK(middle.lines == std::vector<std::string>{"  two", "three", "four"});
  CHECK(middle.error.empty());
  CHECK(lines("sub/x.cpp", 1).lines == std::vector<std::string>{"one", "  two"});
  CHECK(lines("sub/x.cpp", 5).lines == std::vector<std::string>{"four", "five"});
  CHECK(lines("sub/x.cpp", 6).error == (folder / "sub/x.cpp").string() + " has no line 6");
  CHECK(lines("sub/x.cpp", 4'294'967'295u).lines.empty());
  CHECK(lines("sub/y.cpp", 1).error ==
        "cannot read " + (folder / "sub/y.cpp").string() + ": No such file or directory");
  CHECK(lines("/etc/passwd", 1).error == "/etc/passwd is not below an allowed folder");
}

TEST_CASE("source lines: no link leads out of the folder, and only regular files are read") {
  const fs::path root = test::scratch_folder() / "linked", folder = root / "allowed";
  fs::create_directories(folder);
  std::ofstream(root / "secret.cpp") << "secret\n";
  std::ofstream(folder / "real.cpp") << "real\n";
  fs::create_symlink("../secret.cpp", folder / "out.cpp");
  fs::create_symlink("real.cpp", folder / "in.cpp");
  fs::create_directory_symlink(folder, root / "alias");
  REQUIRE(::mkfifo((folder / "pipe.cpp").c_str(), 0600) == 0);
  const auto read = [&](const std::string& file, const fs::path& in) {
    const Folders folders = {in.string()};
    return model::read_source_lines({file, 1}, folders, 0);
  };
  const model::SourceLines out = read("out.cpp", folder);
  CHECK(out.lines.empty());
  CHECK(out.error.find("leads out of the allowed folder") != std::string::npos);
  CHECK(read("in.cpp", folder).lines == std::vector<std::string>{"real"});
  CHECK(read("real.cpp", root / "alias").lines == std::vector<std::string>{"real"});
  CHECK(read("pipe.cpp", folder).error.find("is not a regular file") != std::string::npos);
}
