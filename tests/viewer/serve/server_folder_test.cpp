#include "serve/server_folder.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/paths.hpp"

using namespace reprise;
using namespace reprise::test;
using namespace reprise::viewer;

namespace fs = std::filesystem;

TEST_CASE("server folder: it is this user's alone, and goes with the server") {
  fs::path folder;
  {
    ServerFolder server;
    folder = server.next().parent_path();
    CHECK(server.next() != server.next());
    CHECK((fs::status(folder).permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
          fs::perms::none);
    fs::create_directory(server.next());
  }
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("server folder: those of killed servers are removed, and neither others nor links") {
  ::setenv("TMPDIR", scratch_folder().c_str(), 1);
  std::string killed = (fs::temp_directory_path() / "reprise-serve-XXXXXX").string();
  REQUIRE(::mkdtemp(killed.data()) != nullptr);
  fs::create_directories(fs::path(killed) / "1/1");
  std::ofstream(fs::path(killed) / "1/1/upload.reprise") << "bytes";
  const fs::path kept = scratch_folder() / "kept", link = killed + "-link";
  fs::create_directories(kept / "inner");
  fs::create_directory_symlink(kept, link);
  ServerFolder running;
  CHECK_FALSE(fs::exists(killed));
  ServerFolder other;
  CHECK(fs::exists(running.next().parent_path()));
  CHECK(fs::exists(kept / "inner"));
  fs::remove(link);
}
